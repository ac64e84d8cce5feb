"""What cumsum means, in double precision: y[..., j, ...] = sum of x[..., i, ...] over i <= j, along one dim."""

import torch


def golden(
    x: torch.Tensor, dim: int
) -> torch.Tensor:
    """The result for float64 tensors."""
    return torch.cumsum(x, dim)
