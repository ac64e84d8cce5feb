"""grad_x = grad_y * s * (1 + x * (1 - s)), s = 1 / (1 + e^-x), in Triton.

One program per block of elements; the arithmetic is fp32, rounded once on the way out. Runs on a GPU and, with
TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _slope(x):
    z = tl.exp(-tl.abs(x))  # does not overflow
    s = tl.where(x >= 0.0, 1.0, z) / (1.0 + z)
    return s * (1.0 + x * (1.0 - s))


@triton.jit
def _kernel(g_ptr, x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    grad = tl.load(g_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    x = tl.load(x_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    tl.store(out_ptr + offsets, (grad * _slope(x)).to(out_ptr.dtype.element_ty), mask=inside)


def silu_backward(grad_y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """grad_x for tensors of one shape, float32, float16 or bfloat16."""
    grad_y, x = grad_y.contiguous(), x.contiguous()
    grad_x = torch.empty_like(x)
    n = x.numel()
    if n:
        block = 1024 if x.is_cuda else 65536  # the interpreter's cost is per program
        _kernel[(triton.cdiv(n, block),)](grad_y, x, grad_x, n, BLOCK=block)
    return grad_x
