"""Faults to plant into right outputs: each is a way in which kernels go wrong, so a set of cases must notice it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Fault:
    """One fault: a name, what a kernel would have done wrong, and the change it makes to an output tensor."""

    name: str
    about: str
    change: Callable[[torch.Tensor], torch.Tensor]


def _rows(x: torch.Tensor) -> torch.Tensor:
    """A fresh copy as a table: rows of the last dim (one element per row for vectors)."""
    return x.clone().reshape(-1, x.shape[-1] if x.dim() > 1 else 1)


def _flat(x: torch.Tensor) -> torch.Tensor:
    return x.clone().reshape(-1)


def tail_zero(x: torch.Tensor) -> torch.Tensor:
    """The last element of every row keeps 0."""
    out = x.clone()
    if out.dim():
        out[..., -1:] = 0
    else:
        out.zero_()
    return out


def tail_block(x: torch.Tensor) -> torch.Tensor:
    """What does not fill a last block of 32 bytes keeps 0."""
    out, each = _flat(x), max(1, 32 // x.itemsize)
    start = out.numel() // each * each
    out[start:] = 0
    return out.reshape(x.shape)


def stale_row(x: torch.Tensor) -> torch.Tensor:
    """The last row is the one before it."""
    out = _rows(x)
    out[-1] = out[-2] if len(out) > 1 else out[-1]
    return out.reshape(x.shape)


def lost_store(x: torch.Tensor) -> torch.Tensor:
    """One block of 32 bytes keeps what was in memory (0x5a)."""
    out, each = _flat(x), max(1, 32 // x.itemsize)
    start = out.numel() // 2 // each * each
    out[start : start + each].view(torch.uint8).fill_(0x5A if x.dtype != torch.bool else 0)
    return out.reshape(x.shape)


def swapped_rows(x: torch.Tensor) -> torch.Tensor:
    """The first two rows are swapped."""
    out = _rows(x)
    if len(out) > 1:
        out[:2] = out[:2].flip(0)
    return out.reshape(x.shape)


def dropped_core(x: torch.Tensor) -> torch.Tensor:
    """One of eight equal shares keeps 0."""
    out = _flat(x)
    share = -(-out.numel() // 8)
    out[share : 2 * share] = 0
    return out.reshape(x.shape)


def off_by_one_mask(x: torch.Tensor) -> torch.Tensor:
    """The first element of every row is 0: the mask starts one too late."""
    out = x.clone()
    if out.dim():
        out[..., :1] = 0
    else:
        out.zero_()
    return out


def truncated(x: torch.Tensor) -> torch.Tensor:
    """Rounded towards zero: one ulp less wherever the last bit is odd, as a cast that truncates does on average."""
    if not x.is_floating_point() or x.itemsize not in (2, 4):
        return x
    bits = x.clone().view(torch.int16 if x.itemsize == 2 else torch.int32)
    magnitude = bits & (0x7FFF if x.itemsize == 2 else 0x7FFFFFFF)
    lower = torch.isfinite(x) & (magnitude > 0) & (bits & 1 == 1)
    return torch.where(lower, bits - 1, bits).view(x.dtype)


def scaled(x: torch.Tensor) -> torch.Tensor:
    """One percent too large: another epsilon, n - 1 for n."""
    return (x.double() * 1.01).to(x.dtype) if x.is_floating_point() else x


def shifted_value(x: torch.Tensor) -> torch.Tensor:
    """A constant is added: 1/64 of the largest magnitude."""
    if not x.is_floating_point():
        return x + 1 if x.dtype != torch.bool else ~x
    finite = x[torch.isfinite(x)]
    return x + finite.abs().max().double().div(64).to(x.dtype) if finite.numel() else x


def half_precision(x: torch.Tensor) -> torch.Tensor:
    """Computed in a format of half the mantissa."""
    smaller = {torch.float32: torch.float16, torch.float16: torch.float8_e4m3fn, torch.bfloat16: torch.float8_e5m2}.get(x.dtype)
    return x if smaller is None else x.to(smaller).to(x.dtype)


def nan_swallowed(x: torch.Tensor) -> torch.Tensor:
    """nan comes out as 0."""
    return torch.where(torch.isnan(x), torch.zeros_like(x), x) if x.is_floating_point() else x


def inf_clamped(x: torch.Tensor) -> torch.Tensor:
    """Infinities come out as the largest number."""
    return x.clamp(-torch.finfo(x.dtype).max, torch.finfo(x.dtype).max) if x.is_floating_point() and x.dtype != torch.float64 else x


def one_row_for_all(x: torch.Tensor) -> torch.Tensor:
    """Every row is the first one: a wrong broadcast."""
    out = _rows(x)
    return out[:1].expand_as(out).clone().reshape(x.shape) if len(out) else x


def sign_lost(x: torch.Tensor) -> torch.Tensor:
    """Magnitudes only."""
    return x.abs() if x.is_floating_point() or x.dtype in (torch.int8, torch.int16, torch.int32, torch.int64) else x


def doubled(x: torch.Tensor) -> torch.Tensor:
    """Added twice: two cores own the same part."""
    return x * 2 if x.dtype != torch.bool else x


def half_written(x: torch.Tensor) -> torch.Tensor:
    """The second half keeps 0: half the blocks were launched."""
    out = _flat(x)
    out[out.numel() // 2 :] = 0
    return out.reshape(x.shape)


def reversed_rows(x: torch.Tensor) -> torch.Tensor:
    """Each row backwards."""
    return x.flip(-1) if x.dim() else x


def one_wrong(x: torch.Tensor) -> torch.Tensor:
    """A single element is wrong by a quarter."""
    out = _flat(x)
    place = out.numel() * 2 // 3
    if out.numel():
        out[place] = ~out[place] if x.dtype == torch.bool else (out[place] * 1.25 + (out[place] == 0)).to(x.dtype)
    return out.reshape(x.shape)


def _named(function: Callable[[torch.Tensor], torch.Tensor]) -> Fault:
    return Fault(function.__name__, (function.__doc__ or "").strip(), function)


FAULTS = tuple(
    map(
        _named,
        (
            tail_zero, tail_block, stale_row, lost_store, swapped_rows, dropped_core, off_by_one_mask, truncated, scaled, shifted_value,
            half_precision, nan_swallowed, inf_clamped, one_row_for_all, sign_lost, doubled, half_written, reversed_rows, one_wrong,
        ),
    )
)  # fmt: skip
