"""Faults that any operator can have, planted into a right output."""

from __future__ import annotations

import torch
from torch import Tensor


def _last(y: Tensor, count: int) -> Tensor:
    out = y.clone()
    if out.dim() == 0 or out.shape[-1] <= count:
        out.flatten()[-1:] = 0
    else:
        out[..., -count:] = 0
    return out


def tail_of_one(y: Tensor) -> Tensor:
    """The last element of every row is 0."""
    return _last(y, 1)


def last_percent_unwritten(y: Tensor) -> Tensor:
    """The last hundredth of the output keeps what was in memory."""
    out = torch.empty_like(y)
    keep = y.numel() - max(1, y.numel() // 100)
    out.view(-1)[:keep] = y.reshape(-1)[:keep]
    return out


def truncated(y: Tensor) -> Tensor:
    """Rounded towards zero to the dtype (float32: to 16 bits of mantissa)."""
    return y


def swapped(y: Tensor) -> Tensor:
    """Rows 0 and 1 swapped (elements, if there is one row)."""
    flat = y if y.dim() > 1 and y.shape[0] > 1 else y.reshape(-1, 1)
    index = torch.arange(flat.shape[0])
    index[:2] = torch.tensor([1, 0])
    return flat[index].reshape(y.shape)


def shifted(y: Tensor) -> Tensor:
    """Every element one place later."""
    return torch.roll(y.reshape(-1), 1).reshape(y.shape)


def lost_block(y: Tensor) -> Tensor:
    """One block of 32 bytes keeps zeros."""
    out = y.clone().reshape(-1)
    size = max(1, 32 // y.itemsize)
    start = (out.numel() // 2) // size * size
    out[start : start + size] = 0
    return out.reshape(y.shape)


def every_eighth_core(y: Tensor) -> Tensor:
    """One of eight equal shares is zero."""
    out = y.clone().reshape(-1)
    share = max(1, out.numel() // 8)
    out[3 * share : 4 * share] = 0
    return out.reshape(y.shape)


def zeros(y: Tensor) -> Tensor:
    """Nothing but zeros."""
    return torch.zeros_like(y)


def scaled(y: Tensor) -> Tensor:
    """1 % too large."""
    return (y.float() * 1.01).to(y.dtype)


def noisy(y: Tensor) -> Tensor:
    """Noise of 1 % of each value."""
    generator = torch.Generator().manual_seed(3)
    return (y.float() * (1 + 0.01 * torch.randn(y.shape, generator=generator))).to(y.dtype)


FAULTS = {f.__name__.replace("_", " "): f for f in (
    tail_of_one, last_percent_unwritten, swapped, shifted, lost_block, every_eighth_core, zeros, scaled, noisy,
)}  # fmt: skip


def truncating(full: Tensor, dtype: torch.dtype) -> Tensor:
    """float32 values cut off to `dtype` instead of rounded (float32 stays)."""
    if dtype == torch.bfloat16:
        return (full.contiguous().view(torch.int32) & -65536).view(torch.float32).to(dtype)
    if dtype == torch.float16:
        down = full.half()
        over = down.float().abs() > full.abs()
        bits = down.contiguous().view(torch.int16)
        return torch.where(over & torch.isfinite(down), bits - 1, bits).view(torch.float16)
    return full.half().float()
