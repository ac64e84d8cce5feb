"""grad_x = grad_y * cos - rotated(grad_y * sin); rotated(a, b) = (-b, a) for the halves of a head, or for neighbours, in Triton.

A program takes some heads; an element and its partner are both read, the second one from the cache. The arithmetic is fp32,
rounded once on the way out. Runs on a GPU and, with TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _kernel(x_ptr, cos_ptr, sin_ptr, y_ptr, rows, positions, heads, size, INTERLEAVED: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    position = row // heads % positions
    if INTERLEAVED:
        first = column % 2 == 0
        other = column ^ 1
    else:
        first = column < size // 2
        other = tl.where(first, column + size // 2, column - size // 2)
    inside = (row[:, None] < rows) & (column[None, :] < size)
    x = tl.load(x_ptr + row[:, None] * size + column[None, :], mask=inside, other=0.0).to(tl.float32)
    cos = tl.load(cos_ptr + position[:, None] * size + column[None, :], mask=inside, other=0.0).to(tl.float32)
    partner = tl.load(x_ptr + row[:, None] * size + other[None, :], mask=inside, other=0.0).to(tl.float32)
    partner *= tl.load(sin_ptr + position[:, None] * size + other[None, :], mask=inside, other=0.0).to(tl.float32)
    y = x * cos + tl.where(first[None, :], partner, -partner)
    tl.store(y_ptr + row[:, None] * size + column[None, :], y.to(y_ptr.dtype.element_ty), mask=inside)


def rope_backward(grad_y: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, interleaved: bool = False) -> torch.Tensor:
    """grad_x like grad_y [*batch, positions, heads, size]; cos and sin [positions, size] of the same dtype, float32, float16 or bfloat16."""
    x, cos, sin = grad_y.contiguous(), cos.contiguous(), sin.contiguous()
    grad_x = torch.empty_like(x)
    if x.numel() == 0:
        return grad_x
    positions, heads, size = x.shape[-3:]
    rows = x.numel() // size
    block = triton.next_power_of_2(size)
    some = max(1, min(triton.next_power_of_2(rows), (2048 if x.is_cuda else 262144) // block))  # the interpreter's cost is per program
    _kernel[(triton.cdiv(rows, some),)](
        x, cos, sin, grad_x, rows, positions, heads, size, INTERLEAVED=interleaved, ROWS=some, BLOCK=block
    )
    return grad_x
