"""y = x, then y[..., indices[..., j]] += src[..., j] for all j, in Triton.

Each element of src is added by an atomic to sums in fp32 (int32 for int32), which are rounded once at the end: the order, and with it the
last bits, differ from run to run, as those of torch.scatter_add. Under torch.use_deterministic_algorithms(True), places are sorted by
index first, stably, and a program adds up what belongs to each of a block of elements of y, in the order of j: every run has the same
bits. Runs on a GPU and, with TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _add_atomically(indices_ptr, src_ptr, sums_ptr, rows, length, count, blocks, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = (tl.program_id(0) // blocks).to(tl.int64)
    j = (tl.program_id(0) % blocks).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = j < count
    if ROWS > 1:  # for the interpreter, whose cost is per program
        row = (row * ROWS + tl.arange(0, ROWS))[:, None]
        inside = (row < rows) & inside[None, :]
    to = tl.load(indices_ptr + row * count + j, mask=inside, other=0)
    value = tl.load(src_ptr + row * count + j, mask=inside, other=0).to(sums_ptr.dtype.element_ty)
    tl.atomic_add(sums_ptr + row * length + to, value, mask=inside & (to >= 0) & (to < length), sem="relaxed")


@triton.jit
def _add_in_order(x_ptr, src_ptr, places_ptr, ends_ptr, y_ptr, total, SUM: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = i < total
    at = tl.load(ends_ptr + i, mask=inside, other=0)
    end = tl.load(ends_ptr + i + 1, mask=inside, other=0)
    sums = tl.load(x_ptr + i, mask=inside, other=0).to(SUM)
    for _ in range(tl.max(end - at)):
        more = at < end
        place = tl.load(places_ptr + at, mask=more, other=0)
        sums += tl.load(src_ptr + place, mask=more, other=0).to(SUM)
        at += 1
    tl.store(y_ptr + i, sums.to(y_ptr.dtype.element_ty), mask=inside)


def scatter_add(x: torch.Tensor, indices: torch.Tensor, src: torch.Tensor) -> torch.Tensor:
    """y for x [*batch, n] and src [*batch, m], float32, float16, bfloat16 or int32, and indices [*batch, m], int64 or int32."""
    x, indices, src = x.contiguous(), indices.contiguous(), src.contiguous()
    if x.numel() == 0 or src.numel() == 0:
        return x.clone()
    return _in_order(x, indices, src) if torch.are_deterministic_algorithms_enabled() else _atomically(x, indices, src)


def _atomically(x: torch.Tensor, indices: torch.Tensor, src: torch.Tensor) -> torch.Tensor:
    length, count = x.shape[-1], indices.shape[-1]
    sums = x.to(torch.int32 if x.dtype == torch.int32 else torch.float32, copy=True)
    rows = x.numel() // length
    block = min(1024 if x.is_cuda else 1 << 18, triton.next_power_of_2(count))
    blocks = triton.cdiv(count, block)
    some = 1 if x.is_cuda else min(triton.next_power_of_2(rows), (1 << 18) // block)
    _add_atomically[(triton.cdiv(rows, some) * blocks,)](indices, src, sums, rows, length, count, blocks, ROWS=some, BLOCK=block)
    return sums.to(x.dtype)


def _in_order(x: torch.Tensor, indices: torch.Tensor, src: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    total, length, count = x.numel(), x.shape[-1], indices.shape[-1]
    kind = torch.int32 if max(total, src.numel()) < 1 << 31 else torch.int64  # a sort takes as long as its keys are wide
    rows = torch.arange(0, total, length, device=x.device, dtype=kind)[:, None]
    flat = (indices.reshape(total // length, count).to(kind) + rows).reshape(-1)
    ordered, places = flat.sort(stable=True)
    ends = torch.searchsorted(ordered, torch.arange(total + 1, device=x.device, dtype=kind), out_int32=kind == torch.int32)
    block = min(128 if x.is_cuda else 1 << 18, triton.next_power_of_2(total))
    _add_in_order[(triton.cdiv(total, block),)](x, src, places, ends, y, total, SUM=tl.int32 if x.dtype == torch.int32 else tl.float32, BLOCK=block)
    return y
