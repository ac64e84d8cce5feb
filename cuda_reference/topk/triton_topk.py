"""values[i, :] = the k largest or smallest elements of x[i, :] in order, x[i, indices[i, j]] = values[i, j], in Triton.

Each element becomes a key, its order above and its index below, so that keys are unique and equal elements keep their order: 32 bits where
16 are enough for both, else 64. A program finds the first keys of a block in registers: it sorts runs, and takes the smaller ones of two at
a time. What blocks of a row have found is treated in the same way until it fits one block. The first k keys of a long row lie in those k groups
of neighbours whose own first keys come first: these groups are found first, and the others are read only once. Only where k is large, whole
blocks are sorted, and merged in pairs. Runs on a GPU and, with TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl

MOST = 256  # results of a row that are found without merging
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
def _merged(keys, COLUMNS: tl.constexpr, LEVEL: tl.constexpr, SPLIT: tl.constexpr):
    """Bitonic runs of 2^LEVEL in order: ascending, but every other one descending if there are several in a row."""
    down = -(tl.arange(0, COLUMNS)[None, :] >> LEVEL & 1)
    keys = keys ^ down  # ~ turns the order round
    for step in tl.static_range(1, LEVEL + 1):
        keys = _swap(keys, 1 << (LEVEL - step), SPLIT)
    return keys ^ down


@triton.jit
def _halved(keys, ROWS: tl.constexpr, COLUMNS: tl.constexpr, KEPT: tl.constexpr, SPLIT: tl.constexpr):
    """The smaller half of each pair of runs of 2^KEPT, an ascending and a descending one, in order."""
    pairs = tl.reshape(keys, (ROWS * COLUMNS >> KEPT, 2, 1 << KEPT))
    return _merged(tl.reshape(tl.min(pairs, axis=1), (ROWS, COLUMNS)), COLUMNS, KEPT, SPLIT)


@triton.jit
def _first(keys, ROWS: tl.constexpr, LEVELS: tl.constexpr, KEPT: tl.constexpr, SPLIT: tl.constexpr):
    """The 2^KEPT smallest keys of each row of 2^LEVELS, in ascending order."""
    if KEPT == 0:
        keys = tl.min(keys, axis=1)[:, None]
    else:
        for level in tl.static_range(1, KEPT + 1):
            keys = _merged(keys, 1 << LEVELS, level, SPLIT)
        for level in tl.static_range(1, LEVELS - KEPT + 1):
            keys = _halved(keys, ROWS, 1 << (LEVELS - level), KEPT, SPLIT)
    return keys


@triton.jit
def _places(COUNT: tl.constexpr, WARPS: tl.constexpr, LANES: tl.constexpr):
    """0 to COUNT, as [WARPS, steps, LANES]: a load of it gives a warp neighbours, so that it exchanges few elements with other warps."""
    STEPS: tl.constexpr = COUNT // (WARPS * LANES)
    warp, step = tl.arange(0, WARPS)[:, None, None], tl.arange(0, STEPS)[None, :, None]
    return (warp * STEPS + step) * LANES + tl.arange(0, LANES)[None, None, :]


@triton.jit(do_not_specialize=["flip"])
def _first_of_groups(x_ptr, to_ptr, length, groups, blocks, flip, NARROW: tl.constexpr, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    """The first key of each group of neighbours."""
    row = (tl.program_id(0) // blocks).to(tl.int64)
    group = tl.program_id(0) % blocks * BLOCK + tl.arange(0, BLOCK)
    column = group[:, None] * GROUP + tl.arange(0, GROUP)[None, :]
    inside = column < length
    keys = _keys(tl.load(x_ptr + row * length + column, mask=inside, other=0.0), column, flip, NARROW)
    keys = tl.min(tl.where(inside, keys, 0x7FFFFFFF if NARROW else 0x7FFFFFFFFFFFFFFF), axis=1)
    tl.store(to_ptr + row * groups + group, keys, mask=group < groups)


@triton.jit(do_not_specialize=["rows", "k", "flip"])
def _first_of_blocks(
    x_ptr, from_ptr, to_ptr, values_ptr, indices_ptr, rows, length, stride, found, blocks, k, flip,
    START: tl.constexpr, GROUP: tl.constexpr, WHOLE: tl.constexpr, NARROW: tl.constexpr, ROWS: tl.constexpr, LEVELS: tl.constexpr,
    KEPT: tl.constexpr, WARPS: tl.constexpr, LANES: tl.constexpr, SPLIT: tl.constexpr,
):  # fmt: skip
    """From x if START, else from what was found; to the results if WHOLE, else to [rows, blocks, 2^KEPT].

    GROUP: only from groups of x, namely those in which the keys that were found lie; rows of keys are `stride` apart.
    """
    first = (tl.program_id(0) // blocks).to(tl.int64) * ROWS
    block = tl.program_id(0) % blocks
    places = _places(ROWS << LEVELS, WARPS, LANES)
    row, column = first + places // (1 << LEVELS), (block << LEVELS) + places % (1 << LEVELS)
    last = 0x7FFFFFFF if NARROW else 0x7FFFFFFFFFFFFFFF
    if START:
        inside = (row < rows) & (column < found)
        if GROUP > 0:
            key = tl.load(from_ptr + row * stride + column // GROUP, mask=inside, other=0)
            column = (key & (0xFFFF if NARROW else 0x7FFFFFFF)).to(tl.int32) // GROUP * GROUP + column % GROUP
            inside = inside & (column < length)
        keys = _keys(tl.load(x_ptr + row * length + column, mask=inside, other=0.0), column, flip, NARROW)
        keys = tl.where(inside, keys, last)
    else:
        keys = tl.load(from_ptr + row * stride + column, mask=(row < rows) & (column < found), other=last)
    keys = tl.reshape(keys, (ROWS, 1 << LEVELS))
    keys = _first(keys, ROWS, LEVELS, KEPT, SPLIT)
    row, place = (first + tl.arange(0, ROWS))[:, None], tl.arange(0, 1 << KEPT)[None, :]
    if WHOLE:
        inside = (row < rows) & (place < k)
        index = (keys & (0xFFFF if NARROW else 0x7FFFFFFF)).to(tl.int64)
        tl.store(values_ptr + row * k + place, tl.load(x_ptr + row * length + index, mask=inside), mask=inside)
        tl.store(indices_ptr + row * k + place, index, mask=inside)
    else:
        tl.store(to_ptr + ((row * blocks + block) << KEPT) + place, keys, mask=row < rows)


@triton.jit
def _merge_pairs(from_ptr, to_ptr, length, blocks, level, BLOCK: tl.constexpr):
    """Merges runs of 2^level keys of each row in pairs; a program finds the places of some keys."""
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
    tl.store(to_ptr + base + ((mine & ~1) << level) + place - (mine << level) + low - start, key, mask=inside)


@triton.jit
def _take(x_ptr, keys_ptr, values_ptr, indices_ptr, length, found, k, blocks, NARROW: tl.constexpr, BLOCK: tl.constexpr):
    row = (tl.program_id(0) // blocks).to(tl.int64)
    place = tl.program_id(0) % blocks * BLOCK + tl.arange(0, BLOCK)
    inside = place < k
    index = (tl.load(keys_ptr + row * found + place, mask=inside, other=0) & (0xFFFF if NARROW else 0x7FFFFFFF)).to(tl.int64)
    tl.store(values_ptr + row * k + place, tl.load(x_ptr + row * length + index, mask=inside), mask=inside)
    tl.store(indices_ptr + row * k + place, index, mask=inside)


def _levels(length: int, k: int, cuda: bool) -> tuple[int, int]:
    """log2 of the elements of a block, and of those of its first elements that are kept. A network takes seconds to compile, so there are few."""
    if k == 1:
        return min(12, (length - 1).bit_length()), 0
    levels = min(14, max(3, (length - 1).bit_length())) if not cuda else 7 if length <= 128 else 10
    return levels, min(levels, 6 if k <= 64 else 8 if k <= MOST else levels)


def _first_keys(
    x: torch.Tensor, keys: torch.Tensor, found: int, k: int, flip: int, narrow: bool, start: bool = False, group: int = 0,
    results: tuple[torch.Tensor, ...] = (),
) -> tuple[torch.Tensor, int, int]:  # fmt: skip
    """(keys, keys of a row, log2 of a sorted run): the first keys of each row of x if `start`, else of `keys`; 0 if the results are written."""
    length, rows = x.shape[-1], x.numel() // x.shape[-1]
    most = (4096 if k == 1 else 1024) if x.is_cuda else 1 << 17  # the interpreter's cost is per program
    blocks = levels = 0
    while blocks != 1 and (start or k <= MOST):
        levels, kept = _levels(found, k, x.is_cuda)
        blocks = triton.cdiv(found, 1 << levels)
        some = max(1, min(triton.next_power_of_2(rows), most >> levels))
        warps = max(1, min(8, (some << levels) >> 8))
        whole = blocks == 1 and bool(results)
        to = torch.empty((rows, blocks << kept), dtype=torch.int32 if narrow else torch.int64, device=x.device)
        _first_of_blocks[(triton.cdiv(rows, some) * blocks,)](
            x, keys, to, *(results or (x, x)), rows, length, keys.shape[-1], found, blocks, k, flip,
            START=start, GROUP=group, WHOLE=whole, NARROW=narrow, ROWS=some, LEVELS=levels, KEPT=kept, WARPS=warps,
            LANES=min(LANES, (some << levels) // warps), SPLIT=not x.is_cuda, num_warps=warps,
        )  # fmt: skip
        keys, start, group, found = to, False, 0, blocks << kept
        if whole:
            return keys, found, 0
    return keys, found, levels


def topk(x: torch.Tensor, k: int, largest: bool = True, sorted: bool = True) -> tuple[torch.Tensor, torch.Tensor]:
    """(values, indices) [*batch, k] of x [*batch, n], in order whether or not `sorted`, stable, NaN greatest; int64 indices."""
    del sorted
    x = x.contiguous()
    values = torch.empty([*x.shape[:-1], k], dtype=x.dtype, device=x.device)
    indices = torch.empty(values.shape, dtype=torch.int64, device=x.device)
    if values.numel() == 0:
        return values, indices
    length = x.shape[-1]
    rows = x.numel() // length
    narrow, flip = x.dtype != torch.float32 and length <= 1 << 16, -1 if largest else 0
    group = 1 << (length // k).bit_length() // 2  # so that there are about as many groups as elements in k of them
    if length > 1024 and 1 < k <= MOST and group > 2:
        groups = triton.cdiv(length, group)
        firsts = torch.empty((rows, groups), dtype=torch.int32 if narrow else torch.int64, device=x.device)
        some = min(triton.next_power_of_2(groups), (4096 if x.is_cuda else 1 << 17) // group)
        across = triton.cdiv(groups, some)
        _first_of_groups[(rows * across,)](x, firsts, length, groups, across, flip, NARROW=narrow, GROUP=group, BLOCK=some)
        chosen, _, _ = _first_keys(x, firsts, groups, k, flip, narrow)
        keys, found, levels = _first_keys(x, chosen, k * group, k, flip, narrow, True, group, (values, indices))
    else:
        keys, found, levels = _first_keys(x, x, length, k, flip, narrow, True, 0, (values, indices))
    if levels == 0:
        return values, indices
    wide = min(1024 if x.is_cuda else 1 << 17, triton.next_power_of_2(found))
    across = triton.cdiv(found, wide)
    for level in range(levels, (found - 1).bit_length()):
        merged = torch.empty_like(keys)
        _merge_pairs[(rows * across,)](keys, merged, found, across, level, BLOCK=wide)
        keys = merged
    across = triton.cdiv(k, wide)
    _take[(rows * across,)](x, keys, values, indices, length, found, k, across, NARROW=narrow, BLOCK=wide)
    return values, indices
