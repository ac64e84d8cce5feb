"""y = a * Phi(a) * b, a and b the first and the second half of each row of x, in Triton.

One program per block of a row; the arithmetic is fp32, rounded once on the way out. Runs on a GPU and, with
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
def _gelu(a):
    v = a * a - 0.5625
    p = -6.80502399e-6 * v + 9.18843419e-5
    p = p * v - 9.55541385e-4
    p = p * v + 8.173245e-3
    p = p * v - 5.63194677e-2
    p = p * v + 3.64496857e-1
    return tl.where(tl.abs(a) < 1.25, a * (p * a + 0.5), a * _distribution(a))


@triton.jit
def _kernel(x_ptr, y_ptr, rows, half, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = (row[:, None] < rows) & (column[None, :] < half)
    offsets = row[:, None] * 2 * half + column[None, :]
    a = tl.load(x_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    b = tl.load(x_ptr + offsets + half, mask=inside, other=0.0).to(tl.float32)
    y = _gelu(a) * b
    tl.store(y_ptr + row[:, None] * half + column[None, :], y.to(y_ptr.dtype.element_ty), mask=inside)


def geglu(x: torch.Tensor) -> torch.Tensor:
    """y [*batch, m / 2] for x [*batch, m], float32, float16 or bfloat16."""
    x = x.contiguous()
    half = x.shape[-1] // 2
    y = torch.empty([*x.shape[:-1], half], dtype=x.dtype, device=x.device)
    if y.numel() == 0:
        return y
    rows = y.numel() // half
    elements = 2048 if x.is_cuda else 262144  # the interpreter's cost is per program
    block = min(triton.next_power_of_2(half), 1024 if x.is_cuda else 65536)
    some = max(1, min(triton.next_power_of_2(rows), elements // block))
    _kernel[(triton.cdiv(rows, some), triton.cdiv(half, block))](x, y, rows, half, ROWS=some, BLOCK=block)
    return y
