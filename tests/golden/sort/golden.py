"""What sort means, in double precision: values[i, :] = the row x[i, :] in ascending or descending order, x[i, indices[i, j]] = values[i, j]."""

import torch


def golden(
    x: torch.Tensor, descending: bool
) -> tuple[torch.Tensor, ...]:
    """The results for float64 tensors."""
    return tuple(torch.sort(x, stable=True, dim=-1, descending=descending))
