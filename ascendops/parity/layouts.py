"""How a tensor lies in memory: the layouts a case can ask for, as torch views."""

from __future__ import annotations

from collections.abc import Callable

import torch

from ascendops.errors import ParityError, did_you_mean

_PAD = 3  # columns and elements left unused; odd, so that rows also lose their 32-byte alignment


def _transposed(x: torch.Tensor) -> torch.Tensor:
    if x.dim() < 2:
        return _strided(x)
    return x.transpose(-1, -2).contiguous().transpose(-1, -2)


def _strided(x: torch.Tensor) -> torch.Tensor:
    if x.dim() == 0:
        return _offset(x)
    storage = x.new_zeros((*x.shape[:-1], 2 * x.shape[-1]))
    view = storage[..., ::2]
    view.copy_(x)
    return view


def _sliced(x: torch.Tensor) -> torch.Tensor:
    if x.dim() == 0:
        return _offset(x)
    view = x.new_zeros((*x.shape[:-1], x.shape[-1] + _PAD))[..., : x.shape[-1]]
    view.copy_(x)
    return view


def _expanded(x: torch.Tensor) -> torch.Tensor:
    if x.dim() == 0 or x.numel() == 0:
        return x
    axis = 0 if x.dim() > 1 or x.shape[0] == 1 else -1
    return x.narrow(axis, 0, 1).expand(x.shape)


def _offset(x: torch.Tensor) -> torch.Tensor:
    view = x.new_zeros(x.numel() + 1)[1:].view(x.shape)
    view.copy_(x)
    return view


_LAYOUTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "contiguous": lambda x: x,
    "transposed": _transposed,
    "sliced": _sliced,
    "expanded": _expanded,
    "offset": _offset,
}
LAYOUTS = tuple(_LAYOUTS)


def apply(x: torch.Tensor, layout: str) -> torch.Tensor:
    """The same values (for `expanded`: the first row repeated with stride 0) in another layout.

    `transposed` swaps the strides of the last two dims (1-D: every second element), `sliced` leaves three unused columns after
    each row, `offset` starts one element into its storage.

    Raises:
        ParityError: Unknown layout.
    """
    if layout not in _LAYOUTS:
        raise ParityError(f"no layout is called '{layout}'", help=did_you_mean(layout, LAYOUTS))
    return _LAYOUTS[layout](x.contiguous())
