"""What embedding means, in double precision: y[i, :] = weight[indices[i], :]."""

import torch


def golden(
    weight: torch.Tensor, indices: torch.Tensor
) -> torch.Tensor:
    """The result for float64 tensors."""
    return weight[indices.long()]


def embedding_backward(
    grad_y: torch.Tensor, indices: torch.Tensor, weight: torch.Tensor
) -> torch.Tensor:
    """The result for float64 tensors."""
    rows = grad_y.reshape(indices.numel(), weight.shape[-1])
    return torch.zeros(weight.shape, dtype=grad_y.dtype).index_add(0, indices.reshape(-1).long(), rows)
