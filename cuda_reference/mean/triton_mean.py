"""y = mean of x along dim, in Triton.

The input is seen as outer x length x inner. A program takes a block of results and walks along a part of their lines with one
accumulator per result and lane, so that rounding errors grow slowly; neighbouring results are neighbours in memory when inner
> 1. Where few blocks of results would leave processors idle, lines are shared out: each part gives float32 results, and these are
reduced in the same way. Runs on a GPU and, with TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _kernel(x_ptr, y_ptr, results, length, inner, share, count, RESULTS: tl.constexpr, LANES: tl.constexpr):
    result = tl.program_id(0).to(tl.int64) * RESULTS + tl.arange(0, RESULTS)
    valid = result < results
    base = result // inner * length * inner + result % inner
    lane = tl.arange(0, LANES).to(tl.int64)
    first = tl.program_id(1) * share  # a multiple of LANES
    total = tl.zeros((RESULTS, LANES), tl.float32)
    for start in range(first, tl.minimum(first + share, length), LANES):
        line = start + lane
        offsets = base[:, None] + line[None, :] * inner
        total += tl.load(x_ptr + offsets, mask=valid[:, None] & (line[None, :] < length), other=0.0).to(tl.float32)
    y = tl.sum(total, axis=1)
    y = y / count
    tl.store(y_ptr + tl.program_id(1) * results + result, y.to(y_ptr.dtype.element_ty), mask=valid)


def _config(results: int, length: int, inner: int, cuda: bool) -> tuple[dict[str, int], int]:
    """(block sizes, lines of a part): on a GPU along the memory, in the interpreter few programs and few steps."""
    elements, programs = (4096, 1056) if cuda else (65536, 2)
    widest = 32 if cuda and inner >= 32 else elements
    lanes = triton.next_power_of_2(length or 1)
    lanes = lanes if lanes < widest else widest
    wanted, room = triton.next_power_of_2(results), elements // lanes
    some = wanted if wanted < room else room
    steps = triton.cdiv(length or 1, lanes)
    together = steps * triton.cdiv(results, some) // programs  # steps of a part
    shortest = 4 if cuda else 1
    return {"RESULTS": some, "LANES": lanes}, lanes * (together if together > shortest else shortest)


def _reduce(x: torch.Tensor, y: torch.Tensor, length: int, inner: int, count: int) -> None:
    config, share = _config(y.numel(), length, inner, x.is_cuda)
    parts = triton.cdiv(length or 1, share)
    out = y if parts == 1 else torch.empty((parts, y.numel()), dtype=torch.float32, device=x.device)
    grid = (triton.cdiv(y.numel(), config["RESULTS"]), parts)
    _kernel[grid](x, out, y.numel(), length, inner, share, count if parts == 1 else 1, **config)
    if parts > 1:
        _reduce(out, y, parts, y.numel(), count)


def mean(x: torch.Tensor, dim: int = -1, keepdim: bool = False) -> torch.Tensor:
    """y = mean of x along dim; a tensor of any shape, float32, float16 or bfloat16."""
    x = x.contiguous()
    shape = list(x.shape) or [1]
    dim = dim % len(shape)
    length = shape[dim]
    inner = 1
    for size in shape[dim + 1 :]:
        inner *= size
    kept = [*shape[:dim], 1, *shape[dim + 1 :]] if x.dim() else []
    y = torch.empty(kept, dtype=x.dtype, device=x.device)
    if y.numel():
        _reduce(x, y, length, inner, length)
    return y if keepdim or not x.dim() else y.squeeze(dim)
