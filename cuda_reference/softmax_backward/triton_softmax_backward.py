"""grad_x[i, j] = y[i, j] * (grad_y[i, j] - sum_k grad_y[i, k] * y[i, k]), in Triton.

Rows that fit a block are read once, longer ones twice; the arithmetic is fp32, rounded once on the way out. Runs on a GPU
and, with TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _whole_rows(g_ptr, y_ptr, out_ptr, rows, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    offsets = row[:, None] * columns + column[None, :]
    inside = (row[:, None] < rows) & (column[None, :] < columns)
    grad = tl.load(g_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    y = tl.load(y_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    total = tl.sum(grad * y, axis=1)
    tl.store(out_ptr + offsets, (y * (grad - total[:, None])).to(out_ptr.dtype.element_ty), mask=inside)


@triton.jit
def _long_rows(g_ptr, y_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, BLOCK)
    sums = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + lane
        grad = tl.load(g_ptr + row * columns + column, mask=column < columns, other=0.0).to(tl.float32)
        y = tl.load(y_ptr + row * columns + column, mask=column < columns, other=0.0).to(tl.float32)
        sums += grad * y
    total = tl.sum(sums)
    for start in range(0, columns, BLOCK):
        column = start + lane
        grad = tl.load(g_ptr + row * columns + column, mask=column < columns, other=0.0).to(tl.float32)
        y = tl.load(y_ptr + row * columns + column, mask=column < columns, other=0.0).to(tl.float32)
        out = y * (grad - total)
        tl.store(out_ptr + row * columns + column, out.to(out_ptr.dtype.element_ty), mask=column < columns)


def softmax_backward(grad_y: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """grad_x for grad_y and y [*batch, n] of one dtype, float32, float16 or bfloat16."""
    grad_y, y = grad_y.contiguous(), y.contiguous()
    grad_x = torch.empty_like(y)
    if y.numel() == 0:
        return grad_x
    columns = y.shape[-1]
    rows = y.numel() // columns
    widest, elements = (16384, 4096) if y.is_cuda else (32768, 262144)  # the interpreter's cost is per program
    if columns <= widest:
        block = triton.next_power_of_2(columns)
        some = max(1, min(triton.next_power_of_2(rows), elements // block))
        warps = max(4, min(16, block * some // 512))
        _whole_rows[(triton.cdiv(rows, some),)](grad_y, y, grad_x, rows, columns, ROWS=some, BLOCK=block, num_warps=warps)
    else:
        _long_rows[(rows,)](grad_y, y, grad_x, columns, BLOCK=8192 if y.is_cuda else widest, num_warps=16)
    return grad_x
