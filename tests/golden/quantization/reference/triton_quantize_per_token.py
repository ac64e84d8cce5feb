"""scale[i] = max_j |x[i, j]| / 127, y[i, j] = round(x[i, j] / scale[i]), ties to even, in Triton.

Rows that fit a block are read once, longer ones twice; the arithmetic is fp32. Runs on a GPU and, with TRITON_INTERPRET=1, on
a CPU.
"""

import torch
import triton
import triton.language as tl

SMALLEST = tl.constexpr(1.17549435e-38)  # normal number: a divisor for rows of zeros


@triton.jit
def _round(x):
    low = tl.floor(x)
    rest = x - low
    odd = low - 2.0 * tl.floor(low * 0.5)
    return low + tl.where((rest > 0.5) | ((rest == 0.5) & (odd == 1.0)), 1.0, 0.0)  # ties to even


@triton.jit
def _whole_rows(x_ptr, y_ptr, scale_ptr, rows, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    offsets = row[:, None] * columns + column[None, :]
    inside = (row[:, None] < rows) & (column[None, :] < columns)
    x = tl.load(x_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    scale = tl.max(tl.abs(x), axis=1) / 127.0
    y = _round(x / tl.maximum(scale, SMALLEST)[:, None])
    tl.store(y_ptr + offsets, y.to(tl.int8), mask=inside)
    tl.store(scale_ptr + row, scale, mask=row < rows)


@triton.jit
def _long_rows(x_ptr, y_ptr, scale_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, BLOCK)
    largest = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + lane
        x = tl.load(x_ptr + row * columns + column, mask=column < columns, other=0.0).to(tl.float32)
        largest = tl.maximum(largest, tl.abs(x))
    scale = tl.max(largest) / 127.0
    for start in range(0, columns, BLOCK):
        column = start + lane
        x = tl.load(x_ptr + row * columns + column, mask=column < columns, other=0.0).to(tl.float32)
        y = _round(x / tl.maximum(scale, SMALLEST))
        tl.store(y_ptr + row * columns + column, y.to(tl.int8), mask=column < columns)
    tl.store(scale_ptr + row, scale)


def quantize_per_token(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(y, scale): int8 like x [*batch, n], float32, float16 or bfloat16; scale is float32 [*batch, 1]."""
    x = x.contiguous()
    y = torch.empty_like(x, dtype=torch.int8)
    scale = torch.zeros([*x.shape[:-1], 1], dtype=torch.float32, device=x.device)
    if x.numel() == 0:
        return y, scale
    columns = x.shape[-1]
    rows = x.numel() // columns
    widest, elements = (16384, 4096) if x.is_cuda else (32768, 262144)  # the interpreter's cost is per program
    if columns <= widest:
        block = triton.next_power_of_2(columns)
        some = max(1, min(triton.next_power_of_2(rows), elements // block))
        warps = max(4, min(16, block * some // 512))
        _whole_rows[(triton.cdiv(rows, some),)](x, y, scale, rows, columns, ROWS=some, BLOCK=block, num_warps=warps)
    else:
        _long_rows[(rows,)](x, y, scale, columns, BLOCK=8192 if x.is_cuda else widest, num_warps=16)
    return y, scale
