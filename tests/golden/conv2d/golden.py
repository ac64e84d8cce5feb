"""What conv2d means, in double precision: y[i, f, :, :] = sum of x[i, c, :, :] correlated with weight[f, c, :, :] over c of the group of f, + bias[f]."""

import torch


def golden(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, stride: list[int], padding: list[int], dilation: list[int], groups: int
) -> torch.Tensor:
    """The result for float64 tensors."""
    return torch.conv2d(x, weight, bias, stride, padding, dilation, groups)
