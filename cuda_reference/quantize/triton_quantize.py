"""y = round(x / scale) + zero_point, ties to even, clamped to [-128, 127], in Triton.

One program per block of elements; the arithmetic is fp32. Runs on a GPU and, with TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _round(x):
    low = tl.floor(x)
    rest = x - low
    odd = low - 2.0 * tl.floor(low * 0.5)
    return low + tl.where((rest > 0.5) | ((rest == 0.5) & (odd == 1.0)), 1.0, 0.0)  # ties to even


@triton.jit
def _kernel(x_ptr, scale_ptr, y_ptr, n, zero_point, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    y = _round(x / tl.load(scale_ptr)) + zero_point
    tl.store(y_ptr + offsets, tl.minimum(tl.maximum(y, -128.0), 127.0).to(tl.int8), mask=inside)


def quantize(x: torch.Tensor, scale: torch.Tensor, zero_point: int = 0) -> torch.Tensor:
    """int8 like x, a tensor of any shape, float32, float16 or bfloat16; scale is float32 [1]."""
    x = x.contiguous()
    y = torch.empty_like(x, dtype=torch.int8)
    n = x.numel()
    if n:
        block = 2048 if x.is_cuda else 65536  # the interpreter's cost is per program
        _kernel[(triton.cdiv(n, block),)](x, scale.contiguous(), y, n, float(zero_point), BLOCK=block)
    return y
