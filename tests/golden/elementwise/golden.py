"""What gelu means, in double precision: y = x * Phi(x), Phi the normal distribution function (the exact form, with erf)."""

import math

import torch


def golden(x: torch.Tensor) -> torch.Tensor:
    """The result for float64 tensors of one shape."""
    return x * torch.special.erfc(-x * math.sqrt(0.5)) / 2
