"""grad_x = (grad_y * b * s * (1 + a * (1 - s)), grad_y * a * s), s = 1 / (1 + e^-a), in Triton.

a and b are the first and the second half of each row of x; what the forward pass computed from them is computed again. The
arithmetic is fp32, rounded once on the way out. Runs on a GPU and, with TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _sigmoid(a):
    z = tl.exp(-tl.abs(a))  # does not overflow
    return tl.where(a >= 0.0, 1.0, z) / (1.0 + z)


@triton.jit
def _kernel(g_ptr, x_ptr, out_ptr, rows, half, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = (row[:, None] < rows) & (column[None, :] < half)
    offsets = row[:, None] * 2 * half + column[None, :]
    g = tl.load(g_ptr + row[:, None] * half + column[None, :], mask=inside, other=0.0).to(tl.float32)
    a = tl.load(x_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    b = tl.load(x_ptr + offsets + half, mask=inside, other=0.0).to(tl.float32)
    s = _sigmoid(a)
    value = a * s
    slope = s * (1.0 + a * (1.0 - s))
    tl.store(out_ptr + offsets, (g * b * slope).to(out_ptr.dtype.element_ty), mask=inside)
    tl.store(out_ptr + offsets + half, (g * value).to(out_ptr.dtype.element_ty), mask=inside)


def swiglu_backward(grad_y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
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
