"""g = grad_y * weight, h = x * rstd, grad_x1 = (g - h * mean(g * h)) * rstd + grad_x, grad_weight = sum_i grad_y * h, in Triton.

A program takes several rows and keeps their sums over rows; a second kernel adds these up in a fixed order. Rows that do not fit a
block are read twice, and once more by columns for the sums. The arithmetic is fp32, rounded once on the way out. Runs on a
GPU and, with TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _whole_rows(
    g_ptr, r_ptr, x_ptr, w_ptr, rstd_ptr, out_ptr, dw_ptr, rows, columns, each, ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    program = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    lane = tl.arange(0, ROWS)
    last = tl.minimum((program + 1) * each, rows)
    weight = tl.load(w_ptr + column, mask=column < columns, other=0.0).to(tl.float32)[None, :]
    dw = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(program * each, last, ROWS):
        row = start + lane
        inside = (row[:, None] < last) & (column[None, :] < columns)
        offsets = row[:, None] * columns + column[None, :]
        grad = tl.load(g_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
        rstd = tl.load(rstd_ptr + row, mask=row < last, other=0.0)
        h = tl.where(inside, x * rstd[:, None], 0.0)
        weighted = grad * weight
        slope = tl.sum(weighted * h, axis=1) / columns
        dx = (weighted - h * slope[:, None]) * rstd[:, None]
        dx += tl.load(r_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
        tl.store(out_ptr + offsets, dx.to(out_ptr.dtype.element_ty), mask=inside)
        dw += grad * h
    tl.store(dw_ptr + program * columns + column, tl.sum(dw, axis=0), mask=column < columns)


@triton.jit
def _long_rows(g_ptr, r_ptr, x_ptr, w_ptr, rstd_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, BLOCK)
    rstd = tl.load(rstd_ptr + row)
    slopes = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        inside = start + lane < columns
        offsets = row * columns + start + lane
        weighted = tl.load(g_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
        weighted *= tl.load(w_ptr + start + lane, mask=inside, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
        slopes += weighted * tl.where(inside, x * rstd, 0.0)
    slope = tl.sum(slopes) / columns
    for start in range(0, columns, BLOCK):
        inside = start + lane < columns
        offsets = row * columns + start + lane
        weighted = tl.load(g_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
        weighted *= tl.load(w_ptr + start + lane, mask=inside, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
        h = x * rstd
        dx = (weighted - h * slope) * rstd
        dx += tl.load(r_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
        tl.store(out_ptr + offsets, dx.to(out_ptr.dtype.element_ty), mask=inside)


@triton.jit
def _columns(g_ptr, x_ptr, rstd_ptr, dw_ptr, rows, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    lane = tl.arange(0, ROWS).to(tl.int64)
    dw = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(0, rows, ROWS):
        row = start + lane
        inside = (row[:, None] < rows) & (column[None, :] < columns)
        offsets = row[:, None] * columns + column[None, :]
        grad = tl.load(g_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
        rstd = tl.load(rstd_ptr + row, mask=row < rows, other=0.0)
        dw += grad * x * rstd[:, None]
    tl.store(dw_ptr + column, tl.sum(dw, axis=0).to(dw_ptr.dtype.element_ty), mask=column < columns)


@triton.jit
def _add_up(part_ptr, out_ptr, parts, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    lane = tl.arange(0, ROWS)
    total = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(0, parts, ROWS):
        row = start + lane
        inside = (row[:, None] < parts) & (column[None, :] < columns)
        total += tl.load(part_ptr + row[:, None] * columns + column[None, :], mask=inside, other=0.0)
    tl.store(out_ptr + column, tl.sum(total, axis=0).to(out_ptr.dtype.element_ty), mask=column < columns)


def add_rms_norm_backward(
    grad_y: torch.Tensor, grad_x: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, rstd: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """(grad_x1, grad_weight): grad_y, grad_x, x [*batch, n] and weight [n] of one dtype; rstd is float32 [*batch, 1]."""
    grad_y, grad_x, x, weight, rstd = (t.contiguous() for t in (grad_y, grad_x, x, weight, rstd))
    grad_x1 = torch.empty_like(x)
    grad_weight = torch.zeros_like(weight)
    if x.numel() == 0:
        return grad_x1, grad_weight
    columns = x.shape[-1]
    rows = x.numel() // columns
    tensors = (grad_y, grad_x, x, weight, rstd, grad_x1)
    wide = 64 if x.is_cuda else 32768  # the interpreter's cost is per program
    if columns <= (16384 if x.is_cuda else 32768):
        programs = min(rows, 528 if x.is_cuda else 2)
        parts = torch.empty([programs, columns], dtype=torch.float32, device=x.device)
        block = triton.next_power_of_2(columns)
        warps = max(4, min(16, block // 512))
        each = triton.cdiv(rows, programs)
        some = 1 if x.is_cuda else max(1, min(triton.next_power_of_2(each), 262144 // block))
        grid = (programs,)
        _whole_rows[grid](*tensors, parts, rows, columns, each, ROWS=some, BLOCK=block, num_warps=warps)
        grid = (triton.cdiv(columns, wide),)
        _add_up[grid](parts, grad_weight, programs, columns, ROWS=32 if x.is_cuda else 2, BLOCK=wide)
    else:
        _long_rows[(rows,)](*tensors, columns, BLOCK=8192 if x.is_cuda else 32768, num_warps=16)
        grid = (triton.cdiv(columns, wide),)
        _columns[grid](grad_y, x, rstd, grad_weight, rows, columns, ROWS=16 if x.is_cuda else 4, BLOCK=wide)
    return grad_x1, grad_weight
