"""grad_x[i, j] = (e^(x[i, j] - lse[i]) - (j == target[i])) * grad_loss[i], 0 where target[i] is ignore_index, in Triton.

One program per block of a row; the arithmetic is fp32, rounded once on the way out. Runs on a GPU and, with
TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _kernel(g_ptr, x_ptr, target_ptr, lse_ptr, out_ptr, rows, classes, ignore_index, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    valid = row < rows
    inside = valid[:, None] & (column[None, :] < classes)
    offsets = row[:, None] * classes + column[None, :]
    x = tl.load(x_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    target = tl.load(target_ptr + row, mask=valid, other=0)
    lse = tl.load(lse_ptr + row, mask=valid, other=0.0)
    grad = tl.load(g_ptr + row, mask=valid, other=0.0)
    y = tl.exp(x - lse[:, None]) - tl.where(column[None, :] == target[:, None], 1.0, 0.0)
    y = tl.where((target == ignore_index)[:, None], 0.0, y * grad[:, None])
    tl.store(out_ptr + offsets, y.to(out_ptr.dtype.element_ty), mask=inside)


def cross_entropy_backward(
    grad_loss: torch.Tensor, x: torch.Tensor, target: torch.Tensor, lse: torch.Tensor, ignore_index: int = -100
) -> torch.Tensor:
    """grad_x like x [rows, classes], float32, float16 or bfloat16; target is int64, grad_loss and lse are float32, all [rows]."""
    grad_loss, x, target, lse = (tensor.contiguous() for tensor in (grad_loss, x, target, lse))
    grad_x = torch.empty_like(x)
    if x.numel() == 0:
        return grad_x
    rows, classes = x.shape
    block = min(triton.next_power_of_2(classes), 2048 if x.is_cuda else 65536)
    some = max(1, min(triton.next_power_of_2(rows), (2048 if x.is_cuda else 262144) // block))  # the interpreter's cost is per program
    grid = (triton.cdiv(rows, some), triton.cdiv(classes, block))
    _kernel[grid](grad_loss, x, target, lse, grad_x, rows, classes, ignore_index, ROWS=some, BLOCK=block)
    return grad_x
