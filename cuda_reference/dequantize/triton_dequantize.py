"""y = (x - zero_point) * scale, in the dtype of scale, in Triton.

One program per block of elements; the arithmetic is fp32, rounded once on the way out. Runs on a GPU and, with
TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _kernel(x_ptr, scale_ptr, y_ptr, n, zero_point, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside, other=0).to(tl.float32)
    y = (x - zero_point) * tl.load(scale_ptr).to(tl.float32)
    tl.store(y_ptr + offsets, y.to(y_ptr.dtype.element_ty), mask=inside)


def dequantize(x: torch.Tensor, scale: torch.Tensor, zero_point: int = 0) -> torch.Tensor:
    """Like x, int8 of any shape, in the dtype of scale [1], float32, float16 or bfloat16."""
    x = x.contiguous()
    y = torch.empty_like(x, dtype=scale.dtype)
    n = x.numel()
    if n:
        block = 4096 if x.is_cuda else 65536  # the interpreter's cost is per program
        _kernel[(triton.cdiv(n, block),)](x, scale.contiguous(), y, n, float(zero_point), BLOCK=block)
    return y
