"""y[..., j, i, :] = x[..., i, j, :], in Triton.

A program copies a block of columns of several rows; rows are found by arithmetic on their number. Runs on a GPU and, with
TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _copy_rows(x_ptr, y_ptr, count, first, second, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = (row[:, None] < count) & (column[None, :] < columns)
    batch = row // (first * second)
    target = (batch * second + row % second) * first + row // second % first
    x = tl.load(x_ptr + row[:, None] * columns + column[None, :], mask=inside)
    tl.store(y_ptr + target[:, None] * columns + column[None, :], x, mask=inside)


def transpose_rows(x: torch.Tensor) -> torch.Tensor:
    """Two dims before the last one exchanged; float32, float16, bfloat16 or int32 [*batch, m, n, d] -> [*batch, n, m, d]."""
    x = x.contiguous()
    first, second, columns = x.shape[-3:]
    y = torch.empty([*x.shape[:-3], second, first, columns], dtype=x.dtype, device=x.device)
    if x.numel() == 0:
        return y
    count = x.numel() // columns
    widest, elements = (1024, 2048) if x.is_cuda else (65536, 262144)  # the interpreter's cost is per program
    block = min(widest, triton.next_power_of_2(columns))
    some = max(1, min(triton.next_power_of_2(count), elements // block))
    _copy_rows[(triton.cdiv(count, some), triton.cdiv(columns, block))](x, y, count, first, second, columns, ROWS=some, BLOCK=block)
    return y
