"""What quantize_per_token means, in double precision: scale[i] = max_j |x[i, j]| / 127, y[i, j] = round(x[i, j] / scale[i]), ties to even; a row of zeros has scale 0."""

import torch


def golden(
    x: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    """The results for float64 tensors."""
    scale = torch.abs(x).amax(-1, keepdim=True) / 127 if x.shape[-1] else torch.zeros_like(x.sum(-1, keepdim=True))
    return torch.where(scale > 0, x / scale, 0), scale  # what rounds to y
