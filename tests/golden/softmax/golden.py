"""What softmax means, in double precision: y[i, j] = e^(x[i, j] - max_j x) / sum_j e^(x[i, j] - max_j x)."""

import torch


def golden(x: torch.Tensor) -> torch.Tensor:
    """The result for float64 tensors of one shape."""
    return torch.softmax(x, dim=-1)
