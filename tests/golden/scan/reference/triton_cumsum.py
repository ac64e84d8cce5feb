"""y[..., j, ...] = sum of x[..., i, ...] over i <= j, along one dim, in Triton.

The last dim is scanned in blocks with `tl.cumsum`, and each block starts from the sum of those before it; other dims are added row
by row, with neighbouring columns side by side. The sums are fp32. Runs on a GPU and, with TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _along_rows(x_ptr, y_ptr, rows, length, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    before = tl.zeros((ROWS,), tl.float32)
    for start in range(0, length, BLOCK):
        column = start + tl.arange(0, BLOCK)
        inside = (row[:, None] < rows) & (column[None, :] < length)
        offsets = row[:, None] * length + column[None, :]
        x = tl.load(x_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
        y = tl.cumsum(x, axis=1) + before[:, None]
        tl.store(y_ptr + offsets, y.to(y_ptr.dtype.element_ty), mask=inside)
        before = tl.sum(tl.where(tl.arange(0, BLOCK)[None, :] == BLOCK - 1, y, 0.0), axis=1)  # the last column of y


@triton.jit
def _down_columns(x_ptr, y_ptr, length, inner, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    offsets = tl.program_id(0).to(tl.int64) * length * inner + column
    sums = tl.zeros((BLOCK,), tl.float32)
    if ROWS == 1:
        for _ in range(length):
            sums += tl.load(x_ptr + offsets, mask=column < inner, other=0.0).to(tl.float32)
            tl.store(y_ptr + offsets, sums.to(y_ptr.dtype.element_ty), mask=column < inner)
            offsets += inner
    else:  # for the interpreter, whose cost is per operation; it adds in the same order
        row = tl.arange(0, ROWS)[:, None]
        for start in range(0, length, ROWS):
            inside = (start + row < length) & (column < inner)[None, :]
            at = offsets[None, :] + (start + row) * inner
            x = tl.load(x_ptr + at, mask=inside, other=0.0).to(tl.float32)
            y = tl.cumsum(tl.where(row == 0, sums[None, :] + x, x), axis=0)
            tl.store(y_ptr + at, y.to(y_ptr.dtype.element_ty), mask=inside)
            sums = tl.sum(tl.where(row == ROWS - 1, y, 0.0), axis=0)


def cumsum(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """The running sum of x along `dim`; a tensor of any shape, float32, float16 or bfloat16."""
    x = x.contiguous()
    y = torch.empty_like(x)
    if x.numel() == 0:
        return y
    shape = x.shape or (1,)
    at = dim % len(shape)
    length = shape[at]
    outer, inner = shape[:at].numel() if x.shape else 1, shape[at + 1 :].numel() if x.shape else 1
    if inner == 1:
        block = min(2048 if x.is_cuda else 65536, triton.next_power_of_2(length))
        some = max(1, min(triton.next_power_of_2(outer), (4096 if x.is_cuda else 262144) // block))
        _along_rows[(triton.cdiv(outer, some),)](x, y, outer, length, ROWS=some, BLOCK=block)
    else:
        block = min(256 if x.is_cuda else 65536, triton.next_power_of_2(inner))
        some = 1 if x.is_cuda else max(2, min(triton.next_power_of_2(length), 262144 // block))
        _down_columns[(outer, triton.cdiv(inner, block))](x, y, length, inner, ROWS=some, BLOCK=block)
    return y
