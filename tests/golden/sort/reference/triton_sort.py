"""values[i, :] = the row x[i, :] in ascending or descending order, x[i, indices[i, j]] = values[i, j], in Triton.

Each element becomes a 64-bit key, its order above and its index below, so that keys are unique and equal elements keep their order.
A program sorts keys of a block; runs of longer rows are merged in pairs: an element's place is its own plus the number of keys of
the other run that come before it, found by halving. Runs on a GPU and, with TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _sort_blocks(x_ptr, key_ptr, rows, length, DESCENDING: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = (row[:, None] < rows) & (column[None, :] < length)
    x = tl.load(x_ptr + row[:, None] * length + column[None, :], mask=inside, other=0.0).to(tl.float32)
    bits = tl.where(x == 0, 0.0, x).to(tl.int32, bitcast=True)  # -0 equals +0
    order = bits ^ ((bits >> 31) & 0x7FFFFFFF)
    order = tl.where(x != x, 0x7FFFFFFF, order)  # NaN is greater than all others
    if DESCENDING:
        order = ~order
    key = (order.to(tl.int64) << 32) | column[None, :].to(tl.int64)
    key = tl.where(inside, key, 0x7FFFFFFFFFFFFFFF)
    tl.store(key_ptr + row[:, None] * length + column[None, :], tl.sort(key, dim=1), mask=inside)


@triton.jit
def _merge_pairs(from_ptr, to_ptr, length, run, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    base = tl.program_id(0).to(tl.int64) * length
    place = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = place < length
    key = tl.load(from_ptr + base + place, mask=inside)
    mine = place // run
    start = tl.minimum((mine ^ 1) * run, length)  # of the other run
    low = tl.zeros_like(place)
    high = tl.minimum(start + run, length) - start
    for _ in range(STEPS):
        open = inside & (low < high)
        middle = (low + high) // 2
        before = tl.load(from_ptr + base + start + middle, mask=open, other=0) < key
        low = tl.where(open & before, middle + 1, low)
        high = tl.where(open & ~before, middle, high)
    tl.store(to_ptr + base + (mine & ~1) * run + place - mine * run + low, key, mask=inside)


@triton.jit
def _take(x_ptr, key_ptr, values_ptr, indices_ptr, count, length, kept, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = i < count
    row, column = i // kept, i % kept
    index = tl.load(key_ptr + row * length + column, mask=inside, other=0) & 0x7FFFFFFF
    tl.store(values_ptr + i, tl.load(x_ptr + row * length + index, mask=inside), mask=inside)
    tl.store(indices_ptr + i, index, mask=inside)


def _sorted(x: torch.Tensor, kept: int, descending: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """The first `kept` elements of each sorted row, and their indices."""
    x = x.contiguous()
    values = torch.empty([*x.shape[:-1], kept], dtype=x.dtype, device=x.device)
    indices = torch.empty(values.shape, dtype=torch.int64, device=x.device)
    if values.numel() == 0:
        return values, indices
    length = x.shape[-1]
    rows = x.numel() // length
    block = min(triton.next_power_of_2(length), 2048 if x.is_cuda else 1 << 17)
    some = max(1, min(triton.next_power_of_2(rows), (2048 if x.is_cuda else 1 << 17) // block))  # the interpreter's cost is per program
    keys = torch.empty(x.shape, dtype=torch.int64, device=x.device)
    _sort_blocks[(triton.cdiv(rows, some), triton.cdiv(length, block))](x, keys, rows, length, DESCENDING=descending, ROWS=some, BLOCK=block)
    run = block
    while run < length:
        merged = torch.empty_like(keys)
        _merge_pairs[(rows, triton.cdiv(length, 1024))](keys, merged, length, run, STEPS=run.bit_length(), BLOCK=1024)
        keys, run = merged, 2 * run
    wide = 1024 if x.is_cuda else 1 << 17
    _take[(triton.cdiv(values.numel(), wide),)](x, keys, values, indices, values.numel(), length, kept, BLOCK=wide)
    return values, indices


def sort(x: torch.Tensor, descending: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    """(values, indices) of x [*batch, n] along its last dim, stable, NaN greatest; float32, float16 or bfloat16, and int64."""
    return _sorted(x, x.shape[-1], descending)
