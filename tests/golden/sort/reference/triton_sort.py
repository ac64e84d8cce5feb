"""values[i, :] = the row x[i, :] in ascending or descending order, x[i, indices[i, j]] = values[i, j], in Triton.

Each element becomes a 64-bit key, its order above and its index below, so that keys are unique and equal elements keep their order.
The place of a key in its block is the number of keys before it; runs are merged in pairs, where that number is found by halving
the other run. Runs on a GPU and, with TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _sort_blocks(x_ptr, key_ptr, rows, length, blocks, DESCENDING: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = (tl.program_id(0) // blocks).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    start = tl.program_id(0) % blocks * BLOCK
    column = start + tl.arange(0, BLOCK)
    inside = (row[:, None] < rows) & (column[None, :] < length)
    x = tl.load(x_ptr + row[:, None] * length + column[None, :], mask=inside, other=0.0).to(tl.float32)
    bits = tl.where(x == 0, 0.0, x).to(tl.int32, bitcast=True)  # -0 equals +0
    order = bits ^ ((bits >> 31) & 0x7FFFFFFF)
    order = tl.where(x != x, 0x7FFFFFFF, order)  # NaN is greater than all others
    if DESCENDING:
        order = ~order
    key = (order.to(tl.int64) << 32) | column[None, :].to(tl.int64)
    key = tl.where(inside, key, 0x7FFFFFFFFFFFFFFF)
    before = tl.sum((key[:, None, :] < key[:, :, None]).to(tl.int32), axis=2)
    tl.store(key_ptr + row[:, None] * length + start + before, key, mask=inside)


@triton.jit
def _merge_pairs(from_ptr, to_ptr, count, length, run, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = i < count
    key = tl.load(from_ptr + i, mask=inside, other=0)
    place = i % length
    base = i - place  # of the row
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
    run = min(128, triton.next_power_of_2(length))
    most = 128 // run if x.is_cuda else (1 << 20) // run**2  # the interpreter's cost is per program; Triton's largest tensor has 2^20 elements
    some = max(1, min(triton.next_power_of_2(rows), most))
    keys = torch.empty(x.shape, dtype=torch.int64, device=x.device)
    blocks = triton.cdiv(length, run)
    _sort_blocks[(triton.cdiv(rows, some) * blocks,)](x, keys, rows, length, blocks, DESCENDING=descending, ROWS=some, BLOCK=run)
    wide = min(1024 if x.is_cuda else 1 << 17, triton.next_power_of_2(x.numel()))
    while run < length:
        merged = torch.empty_like(keys)
        _merge_pairs[(triton.cdiv(x.numel(), wide),)](keys, merged, x.numel(), length, run, STEPS=run.bit_length(), BLOCK=wide)
        keys, run = merged, 2 * run
    _take[(triton.cdiv(values.numel(), wide),)](x, keys, values, indices, values.numel(), length, kept, BLOCK=wide)
    return values, indices


def sort(x: torch.Tensor, descending: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    """(values, indices) of x [*batch, n] along its last dim, stable, NaN greatest; float32, float16 or bfloat16, and int64."""
    return _sorted(x, x.shape[-1], descending)
