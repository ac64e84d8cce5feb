"""What swiglu means, in double precision: y = a / (1 + e^-a) * b, a and b the first and the second half of each row of x."""

import torch


def golden(
    x: torch.Tensor
) -> torch.Tensor:
    """The result for float64 tensors."""
    a, b = x.chunk(2, -1)
    return a * torch.sigmoid(a) * b


def swiglu_backward(
    grad_y: torch.Tensor, x: torch.Tensor
) -> torch.Tensor:
    """The result for float64 tensors."""
    a, b = x.chunk(2, -1)
    s = torch.sigmoid(a)
    return torch.cat([grad_y * b * s * (1 + a * (1 - s)), grad_y * a * s], -1)
