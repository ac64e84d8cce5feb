"""x = x1 + x2, rstd[i] = 1 / sqrt(mean_j x[i, j]^2 + eps), y[i, j] = x[i, j] * rstd[i] * weight[j], in Triton.

y is computed from the sum before it is rounded. Rows that fit a block are read once, longer ones twice; the arithmetic is
fp32, rounded once on the way out. Runs on a GPU and, with TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _whole_rows(a_ptr, b_ptr, w_ptr, y_ptr, rstd_ptr, x_ptr, rows, columns, eps, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    offsets = row[:, None] * columns + column[None, :]
    inside = (row[:, None] < rows) & (column[None, :] < columns)
    x = tl.load(a_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    x += tl.load(b_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    weight = tl.load(w_ptr + column, mask=column < columns, other=0.0).to(tl.float32)
    rstd = 1.0 / tl.sqrt(tl.sum(x * x, axis=1) / columns + eps)
    y = x * rstd[:, None] * weight[None, :]
    tl.store(x_ptr + offsets, x.to(x_ptr.dtype.element_ty), mask=inside)
    tl.store(y_ptr + offsets, y.to(y_ptr.dtype.element_ty), mask=inside)
    tl.store(rstd_ptr + row, rstd, mask=row < rows)


@triton.jit
def _long_rows(a_ptr, b_ptr, w_ptr, y_ptr, rstd_ptr, x_ptr, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, BLOCK)
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + lane
        inside = column < columns
        x = tl.load(a_ptr + row * columns + column, mask=inside, other=0.0).to(tl.float32)
        x += tl.load(b_ptr + row * columns + column, mask=inside, other=0.0).to(tl.float32)
        tl.store(x_ptr + row * columns + column, x.to(x_ptr.dtype.element_ty), mask=inside)
        squares += x * x
    rstd = 1.0 / tl.sqrt(tl.sum(squares) / columns + eps)
    for start in range(0, columns, BLOCK):
        column = start + lane
        inside = column < columns
        x = tl.load(a_ptr + row * columns + column, mask=inside, other=0.0).to(tl.float32)
        x += tl.load(b_ptr + row * columns + column, mask=inside, other=0.0).to(tl.float32)
        weight = tl.load(w_ptr + column, mask=inside, other=0.0).to(tl.float32)
        tl.store(y_ptr + row * columns + column, (x * rstd * weight).to(y_ptr.dtype.element_ty), mask=inside)
    tl.store(rstd_ptr + row, rstd)


def add_rms_norm(
    x1: torch.Tensor, x2: torch.Tensor, weight: torch.Tensor, eps: float = 1e-6
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """(y, rstd, x): x1 and x2 [*batch, n], weight [n] of one dtype, float32, float16 or bfloat16; rstd is float32 [*batch, 1]."""
    x1, x2, weight = x1.contiguous(), x2.contiguous(), weight.contiguous()
    y, x = torch.empty_like(x1), torch.empty_like(x1)
    rstd = torch.empty([*x1.shape[:-1], 1], dtype=torch.float32, device=x1.device)
    if x1.numel() == 0:
        return y, rstd.fill_(float("nan")), x
    columns = x1.shape[-1]
    rows = x1.numel() // columns
    widest, elements = (16384, 4096) if x1.is_cuda else (32768, 262144)  # the interpreter's cost is per program
    tensors = (x1, x2, weight, y, rstd, x)
    if columns <= widest:
        block = triton.next_power_of_2(columns)
        some = max(1, min(triton.next_power_of_2(rows), elements // block))
        warps = max(4, min(16, block * some // 512))
        _whole_rows[(triton.cdiv(rows, some),)](*tensors, rows, columns, eps, ROWS=some, BLOCK=block, num_warps=warps)
    else:
        _long_rows[(rows,)](*tensors, columns, eps, BLOCK=8192 if x1.is_cuda else widest, num_warps=16)
    return y, rstd, x
