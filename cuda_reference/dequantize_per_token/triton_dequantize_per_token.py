"""y[i, j] = x[i, j] * scale[i], in the dtype of scale, in Triton.

One program per block of a row; the arithmetic is fp32, rounded once on the way out. Runs on a GPU and, with
TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _kernel(x_ptr, scale_ptr, y_ptr, rows, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = (row[:, None] < rows) & (column[None, :] < columns)
    offsets = row[:, None] * columns + column[None, :]
    x = tl.load(x_ptr + offsets, mask=inside, other=0).to(tl.float32)
    scale = tl.load(scale_ptr + row, mask=row < rows, other=0.0).to(tl.float32)
    tl.store(y_ptr + offsets, (x * scale[:, None]).to(y_ptr.dtype.element_ty), mask=inside)


def dequantize_per_token(x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """Like x, int8 [*batch, n], in the dtype of scale [*batch, 1], float32, float16 or bfloat16."""
    x, scale = x.contiguous(), scale.contiguous()
    y = torch.empty_like(x, dtype=scale.dtype)
    if x.numel() == 0:
        return y
    columns = x.shape[-1]
    rows = x.numel() // columns
    elements = 4096 if x.is_cuda else 262144  # the interpreter's cost is per program
    block = min(triton.next_power_of_2(columns), 4096 if x.is_cuda else 65536)
    some = max(1, min(triton.next_power_of_2(rows), elements // block))
    _kernel[(triton.cdiv(rows, some), triton.cdiv(columns, block))](x, scale, y, rows, columns, ROWS=some, BLOCK=block)
    return y
