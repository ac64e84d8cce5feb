"""y[..., j, i] = x[..., i, j], in Triton.

A program transposes a tile in registers, so that both reading and writing are coalesced. Runs on a GPU and, with
TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _transpose(x_ptr, y_ptr, rows, columns, across, matrices, ROWS: tl.constexpr, COLUMNS: tl.constexpr, BATCH: tl.constexpr):
    matrix = tl.program_id(1).to(tl.int64)
    if BATCH > 1:  # for the interpreter, whose cost is per program
        matrix = (matrix * BATCH + tl.arange(0, BATCH))[:, None, None]
    start = matrix * rows * columns
    row = tl.program_id(0) // across * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(0) % across * COLUMNS + tl.arange(0, COLUMNS)
    inside = (row[:, None] < rows) & (column[None, :] < columns)
    if BATCH > 1:
        inside = inside & (matrix < matrices)
    x = tl.load(x_ptr + start + row[:, None].to(tl.int64) * columns + column[None, :], mask=inside)
    inside = (column[:, None] < columns) & (row[None, :] < rows)
    if BATCH > 1:
        inside = inside & (matrix < matrices)
        x = tl.trans(x, 0, 2, 1)
    else:
        x = tl.trans(x)
    tl.store(y_ptr + start + column[:, None].to(tl.int64) * rows + row[None, :], x, mask=inside)


def transpose(x: torch.Tensor) -> torch.Tensor:
    """The last two dims exchanged; float32, float16, bfloat16 or int32 [*batch, m, n] -> [*batch, n, m]."""
    x = x.contiguous()
    rows, columns = x.shape[-2:]
    y = torch.empty([*x.shape[:-2], columns, rows], dtype=x.dtype, device=x.device)
    if x.numel() == 0:
        return y
    side = 64 if x.is_cuda else 512  # the interpreter's cost is per program
    tall, wide = min(side, triton.next_power_of_2(rows)), min(side, triton.next_power_of_2(columns))
    across = triton.cdiv(columns, wide)
    matrices = x.numel() // (rows * columns)
    batch = 1 if x.is_cuda else max(1, min(triton.next_power_of_2(matrices), side * side // (tall * wide)))
    grid = (triton.cdiv(rows, tall) * across, triton.cdiv(matrices, batch))
    _transpose[grid](x, y, rows, columns, across, matrices, ROWS=tall, COLUMNS=wide, BATCH=batch)
    return y
