"""grad_x = (grad_y * b * (Phi(a) + a * Phi'(a)), grad_y * a * Phi(a)), Phi the normal distribution, in Triton.

a and b are the first and the second half of each row of x; what the forward pass computed from them is computed again. The
arithmetic is fp32, rounded once on the way out. Runs on a GPU and, with TRITON_INTERPRET=1, on a CPU.
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
def _gelu(a):
    v = a * a - 0.5625
    p = -6.80502399e-6 * v + 9.18843419e-5
    p = p * v - 9.55541385e-4
    p = p * v + 8.173245e-3
    p = p * v - 5.63194677e-2
    p = p * v + 3.64496857e-1
    return tl.where(tl.abs(a) < 1.25, a * (p * a + 0.5), a * _distribution(a))


@triton.jit
def _kernel(g_ptr, x_ptr, out_ptr, rows, half, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = (row[:, None] < rows) & (column[None, :] < half)
    offsets = row[:, None] * 2 * half + column[None, :]
    g = tl.load(g_ptr + row[:, None] * half + column[None, :], mask=inside, other=0.0).to(tl.float32)
    a = tl.load(x_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    b = tl.load(x_ptr + offsets + half, mask=inside, other=0.0).to(tl.float32)
    value = _gelu(a)
    slope = _distribution(a) + a * (tl.exp(-0.5 * a * a) * 0.3989422804014327)
    tl.store(out_ptr + offsets, (g * b * slope).to(out_ptr.dtype.element_ty), mask=inside)
    tl.store(out_ptr + offsets + half, (g * value).to(out_ptr.dtype.element_ty), mask=inside)


def geglu_backward(grad_y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """grad_x like x [*batch, m], for grad_y [*batch, m / 2] of the same dtype, float32, float16 or bfloat16."""
    grad_y, x = grad_y.contiguous(), x.contiguous()
    half = x.shape[-1] // 2
    grad_x = torch.empty_like(x)
    if x.numel() == 0:
        return grad_x
    rows = x.numel() // (2 * half)
    elements = 2048 if x.is_cuda else 262144  # the interpreter's cost is per program
    block = min(triton.next_power_of_2(half), 1024 if x.is_cuda else 65536)
    some = max(1, min(triton.next_power_of_2(rows), elements // block))
    grid = (triton.cdiv(rows, some), triton.cdiv(half, block))
    _kernel[grid](grad_y, x, grad_x, rows, half, ROWS=some, BLOCK=block)
    return grad_x
