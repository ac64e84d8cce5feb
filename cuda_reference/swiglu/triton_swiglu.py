"""y = a / (1 + e^-a) * b, a and b the first and the second half of each row of x, in Triton.

One program per block of a row; the arithmetic is fp32, rounded once on the way out. Runs on a GPU and, with
TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _sigmoid(a):
    z = tl.exp(-tl.abs(a))  # does not overflow
    return tl.where(a >= 0.0, 1.0, z) / (1.0 + z)


@triton.jit
def _kernel(x_ptr, y_ptr, rows, half, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = (row[:, None] < rows) & (column[None, :] < half)
    offsets = row[:, None] * 2 * half + column[None, :]
    a = tl.load(x_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    b = tl.load(x_ptr + offsets + half, mask=inside, other=0.0).to(tl.float32)
    y = a * _sigmoid(a) * b
    tl.store(y_ptr + row[:, None] * half + column[None, :], y.to(y_ptr.dtype.element_ty), mask=inside)


def swiglu(x: torch.Tensor) -> torch.Tensor:
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
