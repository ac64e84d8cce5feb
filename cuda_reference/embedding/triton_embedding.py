"""y[i, :] = weight[indices[i], :], in Triton.

A program copies a block of columns of several rows. Runs on a GPU and, with TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _gather(weight_ptr, indices_ptr, y_ptr, count, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = (row[:, None] < count) & (column[None, :] < columns)
    index = tl.load(indices_ptr + row, mask=row < count, other=0).to(tl.int64)
    values = tl.load(weight_ptr + index[:, None] * columns + column[None, :], mask=inside, other=0)
    tl.store(y_ptr + row[:, None] * columns + column[None, :], values, mask=inside)


def embedding(weight: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
    """y [*batch, n] for weight [rows, n], float32, float16 or bfloat16, and indices [*batch], int32 or int64, all in [0, rows)."""
    weight, indices = weight.contiguous(), indices.contiguous()
    columns = weight.shape[1]
    y = torch.empty([*indices.shape, columns], dtype=weight.dtype, device=weight.device)
    if y.numel() == 0:
        return y
    widest, elements = (1024, 2048) if weight.is_cuda else (65536, 262144)  # the interpreter's cost is per program
    block = min(widest, triton.next_power_of_2(columns))
    some = max(1, min(triton.next_power_of_2(indices.numel()), elements // block))
    grid = (triton.cdiv(indices.numel(), some), triton.cdiv(columns, block))
    _gather[grid](weight, indices, y, indices.numel(), columns, ROWS=some, BLOCK=block)
    return y
