"""y = minimum of x along dim, NaN where there is a NaN, in Triton.

The input is seen as outer x length x inner. A program takes a block of results and walks along their lines with one
accumulator per result and lane, so that rounding errors grow slowly; neighbouring results are neighbours in memory when inner
> 1. Runs on a GPU and, with TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _kernel(x_ptr, y_ptr, results, length, inner, RESULTS: tl.constexpr, LANES: tl.constexpr):
    result = tl.program_id(0).to(tl.int64) * RESULTS + tl.arange(0, RESULTS)
    valid = result < results
    base = result // inner * length * inner + result % inner
    lane = tl.arange(0, LANES).to(tl.int64)
    best = tl.full((RESULTS, LANES), float("inf"), tl.float32)
    has_nan = tl.zeros((RESULTS, LANES), tl.int32)
    for start in range(0, length, LANES):
        line = start + lane
        offsets = base[:, None] + line[None, :] * inner
        inside = valid[:, None] & (line[None, :] < length)
        x = tl.load(x_ptr + offsets, mask=inside, other=float("inf")).to(tl.float32)
        best = tl.minimum(best, x)
        has_nan = tl.where(x != x, 1, has_nan)  # tl.minimum drops NaN by default
    y = tl.min(best, axis=1)
    y = tl.where(tl.max(has_nan, axis=1) > 0, float("nan"), y)
    tl.store(y_ptr + result, y.to(y_ptr.dtype.element_ty), mask=valid)


def _config(results: int, length: int, inner: int, cuda: bool) -> dict[str, int]:
    """Block sizes: on a GPU along the memory, in the interpreter few programs and few steps."""
    elements = 4096 if cuda else 262144
    widest = 32 if cuda and inner >= 32 else elements
    lanes = triton.next_power_of_2(length or 1)
    lanes = lanes if lanes < widest else widest
    wanted, room = triton.next_power_of_2(results), elements // lanes
    return {"RESULTS": wanted if wanted < room else room, "LANES": lanes}


def min(x: torch.Tensor, dim: int = -1, keepdim: bool = False) -> torch.Tensor:
    """y = minimum of x along dim, NaN where there is a NaN; a tensor of any shape, float32, float16 or bfloat16."""
    x = x.contiguous()
    shape = list(x.shape) or [1]
    dim = dim % len(shape)
    length = shape[dim]
    inner = 1
    for size in shape[dim + 1 :]:
        inner *= size
    kept = [*shape[:dim], 1, *shape[dim + 1 :]] if x.dim() else []
    y = torch.empty(kept, dtype=x.dtype, device=x.device)
    results = y.numel()
    if results and length == 0:
        raise ValueError("nothing has no minimum")
    if results:
        config = _config(results, length, inner, x.is_cuda)
        _kernel[(triton.cdiv(results, config["RESULTS"]),)](x, y, results, length, inner, **config)
    return y if keepdim or not x.dim() else y.squeeze(dim)
