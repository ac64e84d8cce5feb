"""y[i, j] = (x[i, j] - mean[i]) * rstd[i] * weight[j] + bias[j], in Triton.

The variance is the mean square of x - mean, never a difference of squares. Rows that fit a block are read once, longer ones
three times; the arithmetic is fp32, rounded once on the way out. Runs on a GPU and, with TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _whole_rows(x_ptr, w_ptr, b_ptr, y_ptr, mean_ptr, rstd_ptr, rows, columns, eps, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    offsets = row[:, None] * columns + column[None, :]
    inside = (row[:, None] < rows) & (column[None, :] < columns)
    x = tl.load(x_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    weight = tl.load(w_ptr + column, mask=column < columns, other=0.0).to(tl.float32)
    bias = tl.load(b_ptr + column, mask=column < columns, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=1) / columns
    centered = tl.where(column[None, :] < columns, x - mean[:, None], 0.0)
    rstd = 1.0 / tl.sqrt(tl.sum(centered * centered, axis=1) / columns + eps)
    y = centered * rstd[:, None] * weight[None, :] + bias[None, :]
    tl.store(y_ptr + offsets, y.to(y_ptr.dtype.element_ty), mask=inside)
    tl.store(mean_ptr + row, mean, mask=row < rows)
    tl.store(rstd_ptr + row, rstd, mask=row < rows)


@triton.jit
def _long_rows(x_ptr, w_ptr, b_ptr, y_ptr, mean_ptr, rstd_ptr, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, BLOCK)
    sums = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + lane
        sums += tl.load(x_ptr + row * columns + column, mask=column < columns, other=0.0).to(tl.float32)
    mean = tl.sum(sums) / columns
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + lane
        x = tl.load(x_ptr + row * columns + column, mask=column < columns, other=0.0).to(tl.float32)
        centered = tl.where(column < columns, x - mean, 0.0)
        squares += centered * centered
    rstd = 1.0 / tl.sqrt(tl.sum(squares) / columns + eps)
    for start in range(0, columns, BLOCK):
        column = start + lane
        inside = column < columns
        x = tl.load(x_ptr + row * columns + column, mask=inside, other=0.0).to(tl.float32)
        weight = tl.load(w_ptr + column, mask=inside, other=0.0).to(tl.float32)
        bias = tl.load(b_ptr + column, mask=inside, other=0.0).to(tl.float32)
        y = (x - mean) * rstd * weight + bias
        tl.store(y_ptr + row * columns + column, y.to(y_ptr.dtype.element_ty), mask=inside)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)


def layer_norm(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float = 1e-5
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """(y, mean, rstd): x [*batch, n], weight and bias [n] of one dtype, float32, float16 or bfloat16; mean and rstd are float32 [*batch, 1]."""
    x, weight, bias = x.contiguous(), weight.contiguous(), bias.contiguous()
    y = torch.empty_like(x)
    mean = torch.empty([*x.shape[:-1], 1], dtype=torch.float32, device=x.device)
    rstd = torch.empty_like(mean)
    if x.numel() == 0:
        return y, mean.zero_(), rstd.fill_(float("nan"))
    columns = x.shape[-1]
    rows = x.numel() // columns
    widest, elements = (16384, 4096) if x.is_cuda else (32768, 262144)  # the interpreter's cost is per program
    tensors = (x, weight, bias, y, mean, rstd)
    if columns <= widest:
        block = triton.next_power_of_2(columns)
        some = max(1, min(triton.next_power_of_2(rows), elements // block))
        warps = max(4, min(16, block * some // 512))
        _whole_rows[(triton.cdiv(rows, some),)](*tensors, rows, columns, eps, ROWS=some, BLOCK=block, num_warps=warps)
    else:
        _long_rows[(rows,)](*tensors, columns, eps, BLOCK=8192 if x.is_cuda else widest, num_warps=16)
    return y, mean, rstd
