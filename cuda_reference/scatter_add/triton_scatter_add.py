"""y = x, then y[..., indices[..., j]] += src[..., j] for all j in order, in Triton.

Places are sorted by index first, stably; a program then adds up what belongs to each of a block of elements of y, in order, in fp32
(int32 for int32). So there are no atomics, and every run has the same bits. Runs on a GPU and, with TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _add(x_ptr, src_ptr, places_ptr, ends_ptr, y_ptr, total, SUM: tl.constexpr, BLOCK: tl.constexpr):
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
    x, src = x.contiguous(), src.contiguous()
    y = torch.empty_like(x)
    total = x.numel()
    if total == 0:
        return y
    length, count = x.shape[-1], indices.shape[-1]
    kind = torch.int32 if max(total, src.numel()) < 1 << 31 else torch.int64  # a sort takes as long as its keys are wide
    rows = torch.arange(0, total, length, device=x.device, dtype=kind)[:, None]
    flat = (indices.reshape(total // length, count).to(kind) + rows).reshape(-1)
    ordered, places = flat.sort(stable=True)
    ends = torch.searchsorted(ordered, torch.arange(total + 1, device=x.device, dtype=kind), out_int32=kind == torch.int32)
    block = min(128 if x.is_cuda else 1 << 18, triton.next_power_of_2(total))
    _add[(triton.cdiv(total, block),)](x, src, places, ends, y, total, SUM=tl.int32 if x.dtype == torch.int32 else tl.float32, BLOCK=block)
    return y
