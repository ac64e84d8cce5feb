"""y[i, j] = e^(x[i, j] - max_j x) / sum_j e^(x[i, j] - max_j x), in Triton.

Rows that fit a block are read once. Longer ones are read twice: the first pass keeps a running maximum and a running sum
per lane and rescales the sum when the maximum grows. Few long rows are cut into parts: one kernel writes the maximum and the sum
of each part, the next joins those of its row. Runs on a GPU and, with TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl

LOWEST = tl.constexpr(-3.4028234663852886e38)  # of the finite float32 numbers


@triton.jit
def _whole_rows(x_ptr, y_ptr, rows, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    offsets = row[:, None] * columns + column[None, :]
    inside = (row[:, None] < rows) & (column[None, :] < columns)
    x = tl.load(x_ptr + offsets, mask=inside, other=float("-inf")).to(tl.float32)
    z = x - tl.max(x, axis=1)[:, None]
    e = tl.where(column[None, :] < columns, tl.exp(z), 0.0)
    y = e / tl.sum(e, axis=1)[:, None]
    tl.store(y_ptr + offsets, y.to(y_ptr.dtype.element_ty), mask=inside)


@triton.jit
def _add(maxima, sums, x):
    grown = tl.maximum(maxima, x)  # finite, so that a lane with nothing but -inf so far adds e^-inf = 0
    return grown, sums * tl.exp(maxima - grown) + tl.exp(x - grown)


@triton.jit
def _long_rows(x_ptr, y_ptr, rows, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    lane = tl.arange(0, BLOCK)
    maxima = tl.full((ROWS, BLOCK), LOWEST, tl.float32)
    sums = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + lane
        inside = (row[:, None] < rows) & (column[None, :] < columns)
        x = tl.load(x_ptr + row[:, None] * columns + column[None, :], mask=inside, other=float("-inf")).to(tl.float32)
        maxima, sums = _add(maxima, sums, x)
    peak = tl.max(maxima, axis=1)
    total = tl.sum(sums * tl.exp(maxima - peak[:, None]), axis=1)
    for start in range(0, columns, BLOCK):
        column = start + lane
        inside = (row[:, None] < rows) & (column[None, :] < columns)
        offsets = row[:, None] * columns + column[None, :]
        x = tl.load(x_ptr + offsets, mask=inside, other=float("-inf")).to(tl.float32)
        y = tl.exp(x - peak[:, None]) / total[:, None]
        tl.store(y_ptr + offsets, y.to(y_ptr.dtype.element_ty), mask=inside)


@triton.jit
def _part_sums(x_ptr, peaks_ptr, sums_ptr, columns, parts, share, BLOCK: tl.constexpr):
    row = (tl.program_id(0) // parts).to(tl.int64)
    first = tl.program_id(0) % parts * share  # a multiple of BLOCK
    maxima = tl.full((BLOCK,), LOWEST, tl.float32)
    sums = tl.zeros((BLOCK,), tl.float32)
    for start in range(first, tl.minimum(first + share, columns), BLOCK):
        column = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + column, mask=column < columns, other=float("-inf")).to(tl.float32)
        maxima, sums = _add(maxima, sums, x)
    peak = tl.max(maxima)
    tl.store(peaks_ptr + tl.program_id(0), peak)
    tl.store(sums_ptr + tl.program_id(0), tl.sum(sums * tl.exp(maxima - peak)))


@triton.jit
def _part_outputs(x_ptr, y_ptr, peaks_ptr, sums_ptr, columns, parts, share, PARTS: tl.constexpr, BLOCK: tl.constexpr):
    row = (tl.program_id(0) // parts).to(tl.int64)
    first = tl.program_id(0) % parts * share
    part = tl.arange(0, PARTS)
    peaks = tl.load(peaks_ptr + row * parts + part, mask=part < parts, other=LOWEST)
    sums = tl.load(sums_ptr + row * parts + part, mask=part < parts, other=0.0)
    peak = tl.max(peaks)
    total = tl.sum(sums * tl.exp(peaks - peak))
    for start in range(first, tl.minimum(first + share, columns), BLOCK):
        column = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + column, mask=column < columns, other=float("-inf")).to(tl.float32)
        y = tl.exp(x - peak) / total
        tl.store(y_ptr + row * columns + column, y.to(y_ptr.dtype.element_ty), mask=column < columns)


def _in_parts(x: torch.Tensor, y: torch.Tensor, rows: int, columns: int, block: int, programs: int) -> None:
    share = triton.cdiv(columns, max(1, min(programs // rows, triton.cdiv(columns, block))))
    share = triton.cdiv(share, block) * block
    parts = triton.cdiv(columns, share)
    peaks, sums = torch.empty((2, rows, parts), dtype=torch.float32, device=x.device)
    _part_sums[(rows * parts,)](x, peaks, sums, columns, parts, share, BLOCK=block, num_warps=8)
    _part_outputs[(rows * parts,)](
        x, y, peaks, sums, columns, parts, share, PARTS=triton.next_power_of_2(parts), BLOCK=block, num_warps=8
    )


def softmax(x: torch.Tensor) -> torch.Tensor:
    """y[i, j] = e^(x[i, j] - max_j x) / sum_j e^(x[i, j] - max_j x); a tensor of at least one dim, float32, float16 or bfloat16."""
    x = x.contiguous()
    y = torch.empty_like(x)
    if x.numel() == 0:
        return y
    columns = x.shape[-1]
    rows = x.numel() // columns
    widest, elements = (16384, 4096) if x.is_cuda else (32768, 262144)  # the interpreter's cost is per program
    whole = columns <= widest
    block = triton.next_power_of_2(columns) if whole else (4096 if x.is_cuda else widest)
    programs = 1056 if x.is_cuda else 4
    if not whole and 2 * rows <= programs:
        _in_parts(x, y, rows, columns, block, programs)
        return y
    some = max(1, min(triton.next_power_of_2(rows), elements // block))
    warps = max(4, min(16, block * some // 512))
    kernel = _whole_rows if whole else _long_rows
    kernel[(triton.cdiv(rows, some),)](x, y, rows, columns, ROWS=some, BLOCK=block, num_warps=warps)
    return y
