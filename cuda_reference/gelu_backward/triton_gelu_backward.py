"""grad_x = grad_y * (Phi(x) + x * Phi'(x)), Phi the normal distribution function (the exact form, with erf), in Triton.

One program per block of elements; the arithmetic is fp32, rounded once on the way out. Runs on a GPU and, with
TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _distribution(a):
    t = 1.0 / (tl.abs(a) + 3.0)
    u = 1.0 - 6.0 * t
    p = 2.99815019e-5 * u + 1.13176932e-4
    p = p * u - 2.00725073e-4
    p = p * u - 1.00547099e-3
    p = p * u + 9.95528419e-4
    p = p * u + 6.95577403e-3
    p = p * u - 1.04541946e-2
    p = p * u - 4.72602099e-2
    p = p * u + 2.30016842e-1
    p = p * u - 5.0933212e-1
    p = p * u + 7.29083717e-1
    q = tl.exp(-0.5 * a * a) * t * p  # 1 - Phi(|a|); 1 + erf would cancel for a < 0
    return tl.where(a >= 0.0, 1.0 - q, q)


@triton.jit
def _slope(x):
    return _distribution(x) + x * (tl.exp(-0.5 * x * x) * 0.3989422804014327)


@triton.jit
def _kernel(g_ptr, x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    grad = tl.load(g_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    x = tl.load(x_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    tl.store(out_ptr + offsets, (grad * _slope(x)).to(out_ptr.dtype.element_ty), mask=inside)


def gelu_backward(grad_y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """grad_x for tensors of one shape, float32, float16 or bfloat16."""
    grad_y, x = grad_y.contiguous(), x.contiguous()
    grad_x = torch.empty_like(x)
    n = x.numel()
    if n:
        block = 1024 if x.is_cuda else 65536  # the interpreter's cost is per program
        _kernel[(triton.cdiv(n, block),)](grad_y, x, grad_x, n, BLOCK=block)
    return grad_x
