"""What rope means, in double precision: y = x * cos + rotated(x) * sin; rotated(a, b) = (-b, a) for the halves of a head, or for neighbours."""

import torch


def golden(
    x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, interleaved: bool
) -> torch.Tensor:
    """The result for float64 tensors."""
    a, b = (x[..., ::2], x[..., 1::2]) if interleaved else x.chunk(2, -1)
    rotated = torch.stack([-b, a], -1).flatten(-2) if interleaved else torch.cat([-b, a], -1)
    return x * cos[:, None] + rotated * sin[:, None]


def rope_backward(
    grad_y: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, interleaved: bool
) -> torch.Tensor:
    """The result for float64 tensors."""
    turned = grad_y * sin[:, None]
    a, b = (turned[..., ::2], turned[..., 1::2]) if interleaved else turned.chunk(2, -1)
    rotated = torch.stack([-b, a], -1).flatten(-2) if interleaved else torch.cat([-b, a], -1)
    return grad_y * cos[:, None] - rotated
