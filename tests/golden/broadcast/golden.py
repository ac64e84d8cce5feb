"""What add means, in double precision: y = x1 + x2."""

import torch


def golden(x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
    """The result for float64 tensors of one shape."""
    return x1 + x2
