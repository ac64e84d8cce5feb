"""What sum means, in double precision: y = sum of x along dim."""

import torch


def golden(x: torch.Tensor, dim: int, keepdim: bool) -> torch.Tensor:
    """The result for a float64 tensor."""
    return torch.sum(x, dim, keepdim=keepdim)
