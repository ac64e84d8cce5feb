"""What permute means, in double precision: y[i_0, i_1, ...] = x[j_0, j_1, ...] with j[dims[k]] = i[k]."""

import torch


def golden(
    x: torch.Tensor, dims: list[int]
) -> torch.Tensor:
    """The result for float64 tensors."""
    return x.permute(tuple(dims))
