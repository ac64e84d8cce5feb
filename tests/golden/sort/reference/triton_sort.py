"""values[i, :] = the row x[i, :] in ascending or descending order, x[i, indices[i, j]] = values[i, j], in Triton.

Each element becomes a key, its order above and its index below, so that keys are unique and equal elements keep their order: 32 bits where
16 are enough for both, else 64. A block of keys is sorted in registers by a bitonic network; runs of blocks are merged in pairs, where the
place of a key is found by halving the other run. Runs on a GPU and, with TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl

BLOCKS = (128, 512, 1024)  # elements of a block: a network takes seconds to compile, so there are few
LANES = 128  # neighbours that a warp reads at a time


@triton.jit
def _keys(x, index, flip, NARROW: tl.constexpr):
    """Keys in the order of x, of -x if flip is -1 instead of 0; NaN is greater than all others, and -0 equals +0."""
    wide = x.to(tl.float32)
    if NARROW:
        bits = tl.where(wide == 0, 0, x.to(tl.int16, bitcast=True).to(tl.int32))
        order = bits ^ ((bits >> 31) & 0x7FFF)
        keys = ((tl.where(wide != wide, 0x7FFF, order) ^ flip) << 16) | index
    else:
        bits = tl.where(wide == 0, 0.0, wide).to(tl.int32, bitcast=True)
        order = bits ^ ((bits >> 31) & 0x7FFFFFFF)
        order = tl.where(wide != wide, 0x7FFFFFFF, order) ^ flip
        keys = (order.to(tl.int64) << 32) | index.to(tl.int64)
    return keys


@triton.jit
def _swap(keys, STEP: tl.constexpr, SPLIT: tl.constexpr):
    """Puts each pair of elements STEP apart in ascending order."""
    PAIRS: tl.constexpr = keys.numel // (2 * STEP)
    pairs = tl.reshape(keys, (PAIRS, 2, STEP))
    if SPLIT:  # cheaper in the interpreter
        one, other = tl.split(tl.trans(pairs, 0, 2, 1))
        pairs = tl.trans(tl.join(tl.minimum(one, other), tl.maximum(one, other)), 0, 2, 1)
    else:
        others = tl.sum(pairs, axis=1, keep_dims=True) - pairs  # of each pair; integers wrap
        first = (tl.arange(0, 2) == 0)[None, :, None]
        pairs = tl.where((pairs < others) == first, pairs, others)
    return tl.reshape(pairs, keys.shape)


@triton.jit
def _sorted(keys, LEVELS: tl.constexpr, SPLIT: tl.constexpr):
    """Each row of keys, 2^LEVELS long, in ascending order: runs of 2, 4, 8, ..., of which every other one is kept in descending order."""
    column = tl.arange(0, 1 << LEVELS)[None, :]
    for level in tl.static_range(1, LEVELS + 1):
        keys = keys ^ -(column >> level & 1)  # ~ turns the order round
        for step in tl.static_range(1, level + 1):
            keys = _swap(keys, 1 << (level - step), SPLIT)
        keys = keys ^ -(column >> level & 1)
    return keys


@triton.jit
def _places(COUNT: tl.constexpr, WARPS: tl.constexpr, LANES: tl.constexpr):
    """0 to COUNT, as [WARPS, steps, LANES]: a load of it gives a warp neighbours, so that it exchanges few elements with other warps."""
    STEPS: tl.constexpr = COUNT // (WARPS * LANES)
    warp, step = tl.arange(0, WARPS)[:, None, None], tl.arange(0, STEPS)[None, :, None]
    return (warp * STEPS + step) * LANES + tl.arange(0, LANES)[None, None, :]


@triton.jit(do_not_specialize=["rows", "flip"])
def _sort_blocks(
    x_ptr, keys_ptr, values_ptr, indices_ptr, rows, length, blocks, flip,
    WHOLE: tl.constexpr, NARROW: tl.constexpr, ROWS: tl.constexpr, LEVELS: tl.constexpr, WARPS: tl.constexpr, LANES: tl.constexpr,
    SPLIT: tl.constexpr,
):  # fmt: skip
    first = (tl.program_id(0) // blocks).to(tl.int64) * ROWS
    start = tl.program_id(0) % blocks << LEVELS
    place = _places(ROWS << LEVELS, WARPS, LANES)
    row, column = first + place // (1 << LEVELS), start + place % (1 << LEVELS)
    inside = (row < rows) & (column < length)
    keys = _keys(tl.load(x_ptr + row * length + column, mask=inside, other=0.0), column, flip, NARROW)
    keys = tl.where(inside, keys, 0x7FFFFFFF if NARROW else 0x7FFFFFFFFFFFFFFF)
    keys = _sorted(tl.reshape(keys, (ROWS, 1 << LEVELS)), LEVELS, SPLIT)
    row, column = first + tl.arange(0, ROWS), start + tl.arange(0, 1 << LEVELS)
    inside = (row[:, None] < rows) & (column[None, :] < length)
    at = row[:, None] * length + column[None, :]
    if WHOLE:
        index = (keys & (0xFFFF if NARROW else 0x7FFFFFFF)).to(tl.int64)
        tl.store(values_ptr + at, tl.load(x_ptr + row[:, None] * length + index, mask=inside), mask=inside)
        tl.store(indices_ptr + at, index, mask=inside)
    else:
        tl.store(keys_ptr + at, keys, mask=inside)


@triton.jit
def _merge_pairs(
    x_ptr, from_ptr, to_ptr, values_ptr, indices_ptr, length, blocks, level, LAST: tl.constexpr, NARROW: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """Merges runs of 2^level keys of each row in pairs, to the results if LAST; a program finds the places of some keys."""
    base = (tl.program_id(0) // blocks).to(tl.int64) * length  # of the row
    place = tl.program_id(0) % blocks * BLOCK + tl.arange(0, BLOCK)
    inside = place < length
    key = tl.load(from_ptr + base + place, mask=inside, other=0)
    mine = place >> level
    start = tl.minimum((mine ^ 1) << level, length)  # of the other run
    low = start
    high = tl.minimum(start + (1 << level), length)
    for _ in range(level + 1):
        open = inside & (low < high)
        middle = (low + high) >> 1
        before = tl.load(from_ptr + base + middle, mask=open, other=0) < key
        low = tl.where(open & before, middle + 1, low)
        high = tl.where(open & (before == 0), middle, high)
    to = base + ((mine & ~1) << level) + place - (mine << level) + low - start
    if LAST:
        index = (key & (0xFFFF if NARROW else 0x7FFFFFFF)).to(tl.int64)
        tl.store(values_ptr + to, tl.load(x_ptr + base + index, mask=inside), mask=inside)
        tl.store(indices_ptr + to, index, mask=inside)
    else:
        tl.store(to_ptr + to, key, mask=inside)


def sort(x: torch.Tensor, descending: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    """(values, indices) of x [*batch, n] along its last dim, stable, NaN greatest; float32, float16 or bfloat16, and int64."""
    x = x.contiguous()
    values, indices = torch.empty_like(x), torch.empty(x.shape, dtype=torch.int64, device=x.device)
    if x.numel() == 0:
        return values, indices
    length = x.shape[-1]
    rows = x.numel() // length
    narrow = x.dtype != torch.float32 and length <= 1 << 16
    fits = BLOCKS if x.is_cuda else tuple(1 << level for level in range(2, 15))  # the interpreter compiles nothing, and its cost is per program
    run = next((block for block in fits if length <= block), fits[-1])
    whole, blocks = length <= run, triton.cdiv(length, run)
    some = max(1, min(triton.next_power_of_2(rows), (1024 if x.is_cuda else 1 << 17) // run))
    warps = 4 if whole else 1  # a warp alone exchanges keys without shared memory
    keys = x if whole else torch.empty(x.shape, dtype=torch.int32 if narrow else torch.int64, device=x.device)
    _sort_blocks[(triton.cdiv(rows, some) * blocks,)](
        x, keys, values, indices, rows, length, blocks, -1 if descending else 0,
        WHOLE=whole, NARROW=narrow, ROWS=some, LEVELS=run.bit_length() - 1, WARPS=warps, LANES=min(LANES, some * run // warps),
        SPLIT=not x.is_cuda, num_warps=warps,
    )  # fmt: skip
    if whole:
        return values, indices
    wide = min(1024 if x.is_cuda else 1 << 17, triton.next_power_of_2(length))
    across = triton.cdiv(length, wide)
    levels = range(run.bit_length() - 1, (length - 1).bit_length())
    for level in levels:
        last = level == levels[-1]
        merged = keys if last else torch.empty_like(keys)
        _merge_pairs[(rows * across,)](x, keys, merged, values, indices, length, across, level, LAST=last, NARROW=narrow, BLOCK=wide)
        keys = merged
    return values, indices
