"""grad_weight[k, :] = sum of grad_y[i, :] over all i with indices[i] = k, in the order of i, in Triton.

The positions are sorted by index first (stably), so that one program adds up one row of the table, always in the same order:
no atomics, and the same bits in every run. The sums are fp32, rounded once. Runs on a GPU and, with TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _add_rows(grad_ptr, places_ptr, ends_ptr, out_ptr, rows, columns, ROWS: tl.constexpr, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * ROWS
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    if ROWS == 1:
        for row in range(first, tl.minimum(first + ROWS, rows)):
            begin = tl.load(ends_ptr + row)
            end = tl.load(ends_ptr + row + 1)
            sums = tl.zeros((BLOCK,), tl.float32)
            for i in range(begin, end):
                place = tl.load(places_ptr + i)
                sums += tl.load(grad_ptr + place * columns + column, mask=column < columns, other=0.0).to(tl.float32)
            tl.store(out_ptr + row * columns + column, sums.to(out_ptr.dtype.element_ty), mask=column < columns)
    else:  # for the interpreter, whose cost is per operation: several positions of each row at a time, added in the same order
        row = first + tl.arange(0, ROWS)
        begin = tl.load(ends_ptr + row, mask=row < rows, other=0)
        end = tl.load(ends_ptr + row + 1, mask=row < rows, other=0)
        step = tl.arange(0, STEPS)
        sums = tl.zeros((ROWS, BLOCK), tl.float32)
        for start in range(0, tl.max(end - begin), STEPS):
            at = begin[:, None] + start + step[None, :]
            more = at < end[:, None]
            place = tl.load(places_ptr + at, mask=more, other=0)
            inside = more[:, :, None] & (column < columns)[None, None, :]
            grad = tl.load(grad_ptr + place[:, :, None] * columns + column[None, None, :], mask=inside, other=0.0).to(tl.float32)
            grad = tl.cumsum(tl.where((step == 0)[None, :, None], sums[:, None, :] + grad, grad), axis=1)
            sums = tl.sum(tl.where((step == STEPS - 1)[None, :, None], grad, 0.0), axis=1)
        inside = (row < rows)[:, None] & (column < columns)[None, :]
        tl.store(out_ptr + row[:, None] * columns + column[None, :], sums.to(out_ptr.dtype.element_ty), mask=inside)


def embedding_backward(grad_y: torch.Tensor, indices: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """grad_weight [rows, n] for grad_y [*batch, n] and indices [*batch]; of weight [rows, n] only the shape and the dtype are used."""
    grad_y = grad_y.contiguous()
    grad_weight = torch.empty_like(weight, memory_format=torch.contiguous_format)
    if weight.numel() == 0:
        return grad_weight
    rows, columns = weight.shape
    ordered, places = indices.reshape(-1).sort(stable=True)
    ends = torch.searchsorted(ordered.contiguous(), torch.arange(rows + 1, device=indices.device, dtype=ordered.dtype))
    block = min(1024 if weight.is_cuda else 131072, triton.next_power_of_2(columns))
    some = 1 if weight.is_cuda else max(2, min(triton.next_power_of_2(rows), 262144 // block))
    steps = 1 if weight.is_cuda else max(1, min(triton.next_power_of_2(ordered.numel()), 64, 262144 // (some * block)))
    grid = (triton.cdiv(rows, some), triton.cdiv(columns, block))
    _add_rows[grid](grad_y, places, ends, grad_weight, rows, columns, ROWS=some, STEPS=steps, BLOCK=block)
    return grad_weight
