"""lse[i] = ln(sum_j e^x[i, j]), loss[i] = lse[i] - x[i, target[i]], 0 where target[i] is ignore_index, in Triton.

Rows that fit a block are held in registers; longer ones are read once with a running maximum and sum for each lane. The arithmetic
is fp32. Runs on a GPU and, with TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl

LOWEST = tl.constexpr(-3.4028234663852886e38)  # of the finite float32 numbers


@triton.jit
def _whole_rows(x_ptr, target_ptr, loss_ptr, lse_ptr, rows, classes, ignore_index, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    valid = row < rows
    target = tl.load(target_ptr + row, mask=valid, other=0)  # before the row: what depends on it waits for both at once
    column = tl.arange(0, BLOCK)
    inside = valid[:, None] & (column[None, :] < classes)
    x = tl.load(x_ptr + row[:, None] * classes + column[None, :], mask=inside, other=float("-inf")).to(tl.float32)
    counts = valid & (target != ignore_index)
    picked = tl.load(x_ptr + row * classes + target, mask=counts, other=0.0).to(tl.float32)
    peak = tl.maximum(tl.max(x, axis=1), LOWEST)  # finite for a row of nothing but -inf
    log_sum = tl.log(tl.sum(tl.exp(x - peak[:, None]), axis=1))
    _store(loss_ptr, lse_ptr, row, valid, counts, log_sum, peak, picked)


@triton.jit
def _long_rows(x_ptr, target_ptr, loss_ptr, lse_ptr, classes, ignore_index, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    target = tl.load(target_ptr + row)
    lane = tl.arange(0, BLOCK)
    maxima = tl.full((BLOCK,), LOWEST, tl.float32)
    sums = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, classes, BLOCK):
        column = start + lane
        x = tl.load(x_ptr + row * classes + column, mask=column < classes, other=float("-inf")).to(tl.float32)
        grown = tl.maximum(maxima, x)  # finite, so that a lane with nothing but -inf so far adds e^-inf = 0
        sums = sums * tl.exp(maxima - grown) + tl.exp(x - grown)
        maxima = grown
    peak = tl.max(maxima, axis=0)
    log_sum = tl.log(tl.sum(sums * tl.exp(maxima - peak), axis=0))
    counts = target != ignore_index
    picked = tl.load(x_ptr + row * classes + target, mask=counts, other=0.0).to(tl.float32)
    _store(loss_ptr, lse_ptr, row, row >= 0, counts, log_sum, peak, picked)


@triton.jit
def _store(loss_ptr, lse_ptr, row, valid, counts, log_sum, peak, picked):
    tl.store(loss_ptr + row, tl.where(counts, log_sum + (peak - picked), 0.0), mask=valid)
    tl.store(lse_ptr + row, log_sum + peak, mask=valid)


def cross_entropy(x: torch.Tensor, target: torch.Tensor, ignore_index: int = -100) -> tuple[torch.Tensor, torch.Tensor]:
    """(loss, lse), float32 [rows], for x [rows, classes], float32, float16 or bfloat16, and target int64 [rows]."""
    x, target = x.contiguous(), target.contiguous()
    rows, classes = x.shape
    loss = torch.empty(rows, dtype=torch.float32, device=x.device)
    lse = torch.empty_like(loss)
    if rows == 0:
        return loss, lse
    # On a GPU several short rows share a program only where enough programs are left to fill it; the interpreter's cost is per program.
    widest, elements, programs = (8192, 4096, 1024) if x.is_cuda else (65536, 262144, 1)
    if classes <= widest:
        block = triton.next_power_of_2(classes)
        some = max(1, min(triton.next_power_of_2(rows) // programs, elements // block))
        warps = max(4, min(16, block * some // 512))
        grid = (triton.cdiv(rows, some),)
        _whole_rows[grid](x, target, loss, lse, rows, classes, ignore_index, ROWS=some, BLOCK=block, num_warps=warps)
    else:
        _long_rows[(rows,)](x, target, loss, lse, classes, ignore_index, BLOCK=widest, num_warps=16)
    return loss, lse
