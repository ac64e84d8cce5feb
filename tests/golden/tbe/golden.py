"""What layer_norm means, in double precision: y[i, j] = (x[i, j] - mean[i]) / sqrt(variance of row i + eps) * weight[j] + bias[j]."""

import torch


def golden(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float) -> torch.Tensor:
    """The result for float64 tensors."""
    centered = x - x.mean(-1, keepdim=True)
    rstd = torch.rsqrt(centered.square().mean(-1, keepdim=True) + eps)
    return centered * rstd * weight + bias
