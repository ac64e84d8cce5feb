"""y = (x1 - x2)^2, in Triton.

One program per block of elements; the arithmetic is fp32, rounded once on the way out. Runs on a GPU and, with
TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _kernel(x1_ptr, x2_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x1 = tl.load(x1_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    x2 = tl.load(x2_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    d = x1 - x2
    y = d * d
    tl.store(y_ptr + offsets, y.to(y_ptr.dtype.element_ty), mask=inside)


def squared_difference(x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
    """y = (x1 - x2)^2; tensors of one shape, float32, float16 or bfloat16."""
    x1 = x1.contiguous()
    x2 = x2.contiguous()
    y = torch.empty_like(x1)
    n = x1.numel()
    if n:
        block = 1024 if x1.is_cuda else 65536  # the interpreter's cost is per program
        _kernel[(triton.cdiv(n, block),)](x1, x2, y, n, BLOCK=block)
    return y
