"""y = |x|, in Triton.

One program per block of elements; the arithmetic is fp32, rounded once on the way out. Runs on a GPU and, with
TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    y = tl.abs(x)
    tl.store(y_ptr + offsets, y.to(y_ptr.dtype.element_ty), mask=inside)


def abs(x: torch.Tensor) -> torch.Tensor:
    """y = |x|; tensors of any shape, float32, float16 or bfloat16."""
    x = x.contiguous()
    y = torch.empty_like(x)
    n = x.numel()
    if n:
        block = 1024 if x.is_cuda else 65536  # the interpreter's cost is per program
        _kernel[(triton.cdiv(n, block),)](x, y, n, BLOCK=block)
    return y
