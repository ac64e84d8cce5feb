"""lse[i] = ln(sum_j e^x[i, j]), loss[i] = lse[i] - x[i, target[i]], 0 where target[i] is ignore_index, in Triton.

One program per row, which it reads once with a running maximum and sum for each lane. The arithmetic is fp32. Runs on a GPU
and, with TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl

LOWEST = tl.constexpr(-3.4028234663852886e38)  # of the finite float32 numbers


@triton.jit
def _kernel(x_ptr, target_ptr, loss_ptr, lse_ptr, rows, classes, ignore_index, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    valid = row < rows
    lane = tl.arange(0, BLOCK)
    maxima = tl.full((ROWS, BLOCK), LOWEST, tl.float32)
    sums = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(0, classes, BLOCK):
        column = start + lane
        inside = valid[:, None] & (column[None, :] < classes)
        x = tl.load(x_ptr + row[:, None] * classes + column[None, :], mask=inside, other=float("-inf")).to(tl.float32)
        grown = tl.maximum(maxima, x)  # finite, so that a lane with nothing but -inf so far adds e^-inf = 0
        sums = sums * tl.exp(maxima - grown) + tl.exp(x - grown)
        maxima = grown
    peak = tl.max(maxima, axis=1)
    log_sum = tl.log(tl.sum(sums * tl.exp(maxima - peak[:, None]), axis=1))
    target = tl.load(target_ptr + row, mask=valid, other=0)
    counts = valid & (target != ignore_index)
    picked = tl.load(x_ptr + row * classes + target, mask=counts, other=0.0).to(tl.float32)
    loss = tl.where(counts, log_sum + (peak - picked), 0.0)
    tl.store(loss_ptr + row, loss, mask=valid)
    tl.store(lse_ptr + row, log_sum + peak, mask=valid)


def cross_entropy(x: torch.Tensor, target: torch.Tensor, ignore_index: int = -100) -> tuple[torch.Tensor, torch.Tensor]:
    """(loss, lse), float32 [rows], for x [rows, classes], float32, float16 or bfloat16, and target int64 [rows]."""
    x, target = x.contiguous(), target.contiguous()
    rows, classes = x.shape
    loss = torch.empty(rows, dtype=torch.float32, device=x.device)
    lse = torch.empty_like(loss)
    if rows == 0:
        return loss, lse
    block = min(triton.next_power_of_2(classes), 8192 if x.is_cuda else 65536)
    some = max(1, min(triton.next_power_of_2(rows), (4096 if x.is_cuda else 262144) // block))  # the interpreter's cost is per program
    warps = max(4, min(16, block * some // 512))
    grid = (triton.cdiv(rows, some),)
    _kernel[grid](x, target, loss, lse, rows, classes, ignore_index, ROWS=some, BLOCK=block, num_warps=warps)
    return loss, lse
