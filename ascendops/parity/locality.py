"""Where the failing elements lie, in words and as a label: TAIL, CORE, BLOCK, or spread out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from ascendops.words import plural

_DENSE = 0.9  # share of an area that must fail for the area to count as wrong as a whole

_JOINED = 0.8  # share of a run with joined gaps that must fail

_MOST = 0.75  # share of the output beyond which a place says nothing


@dataclass(frozen=True)
class Place:
    """`label` (or None) and a sentence about the place of all failing elements."""

    label: str | None
    text: str


def locate(failing: torch.Tensor) -> Place:
    """The place of the True elements of a mask of any shape."""
    total, count = failing.numel(), int(failing.sum())
    if count == 0:
        return Place(None, "")
    if count > _MOST * total:
        return Place(None, "every element" if count == total else "too many to lie in one place")
    cols = failing.shape[-1] if failing.dim() else 1
    table = failing.reshape(-1, max(cols, 1))
    if table.shape[0] > 1 and table.shape[1] > 1:
        found = _columns(table) or _tiles_of_rows(table) or _rows(table)
        if found is not None:
            return found
    return _runs(failing.flatten()) or _dealt_indices(failing) or _spread(failing)


def _columns(table: torch.Tensor) -> Place | None:
    rows, cols = table.shape
    if int(table.sum()) < 2:
        return None
    hit = torch.nonzero(table.any(0)).flatten()
    first, last = int(hit[0]), int(hit[-1])
    wide = last - first + 1
    rows_hit = int(table.any(1).sum())
    if wide > cols // 2 or (rows_hit < 2 and rows > 2):
        return None
    share = float(table.sum()) / (wide * rows_hit)
    if share >= _DENSE and rows_hit * 2 <= rows:
        dealt = _pattern(table.any(1), "row", rows)
        if dealt is not None and dealt.label == "CORE":
            return Place("CORE", f"{dealt.text}, in columns {_span(first, last)}")
    if last == cols - 1 and (share >= 0.5 or wide <= max(2, cols // 8)):
        return Place("TAIL", f"all are in columns {_span(first, last)}, the end of {rows_hit} of {rows} rows")
    if share < 0.5:
        return None
    return Place("BLOCK", f"all are in columns {_span(first, last)} of {rows_hit} of {rows} rows")


def _tiles_of_rows(table: torch.Tensor) -> Place | None:
    hit = table.any(0)
    if float(table.sum()) < 0.5 * int(hit.sum()) * int(table.any(1).sum()):
        return None
    found = _pattern(hit, "column", table.shape[1])
    return found if found is not None and found.label == "TAIL" and "every tile" in found.text else None


def _rows(table: torch.Tensor) -> Place | None:
    rows = table.shape[0]
    hit = table.any(1)
    share = float(table[hit].sum()) / (int(hit.sum()) * table.shape[1])
    if share < 0.5 or bool(hit.all()):
        return None
    return _pattern(hit, "row", rows)


def _runs(flat: torch.Tensor) -> Place | None:
    hit = torch.nonzero(flat).flatten()
    gaps = hit[1:] - hit[:-1]
    joined = flat.clone()
    lucky = torch.nonzero((gaps > 1) & (gaps <= 3)).flatten().tolist()[:10000]  # right by chance inside a wrong run
    for i in lucky:
        joined[int(hit[i]) : int(hit[i + 1])] = True
    if hit.numel() < _JOINED * int(joined.sum()):  # right at every other place is no accident
        return None
    return _pattern(joined, "element", flat.numel())


def _pattern(hit: torch.Tensor, unit: str, total: int) -> Place | None:
    padded = torch.cat([hit.new_zeros(1), hit, hit.new_zeros(1)]).to(torch.int8)
    edges = padded[1:] - padded[:-1]
    starts, ends = torch.nonzero(edges == 1).flatten(), torch.nonzero(edges == -1).flatten()
    lengths = ends - starts
    if len(starts) == 1:
        first, last = int(starts[0]), int(ends[0]) - 1
        if last == total - 1 and last - first + 1 <= max(total // 2, 1):
            return Place("TAIL", f"all are in the last {int(lengths[0])} {unit}s ({_span(first, last)} of {total})")
        if unit == "element" and first == last:
            return Place(None, f"only element {first} of {total}")
        return Place("BLOCK", f"all are in {unit}s {_span(first, last)} of {total}")
    return (
        _tile_ends(starts, lengths, unit, total)
        or _dealt(starts, lengths, unit)
        or _some_of_a_period(starts, lengths, unit)
    )


def _tile_ends(starts: torch.Tensor, lengths: torch.Tensor, unit: str, total: int) -> Place | None:
    """The same few units at the end of every tile; the last tile may be shorter."""
    whole = len(starts) - (int(starts[-1] + lengths[-1]) == total)
    ends = (starts + lengths)[:whole]
    if whole < 3 or not bool((lengths[:whole] == lengths[0]).all()):
        return None
    tile, each = int(ends[1] - ends[0]), int(lengths[0])
    if tile < 4 * each or not bool((ends == tile * torch.arange(1, whole + 1)).all()):
        return None
    what = f"the last {unit}" if each == 1 else f"the last {each} {unit}s"
    return Place("TAIL", f"all are {what} of every tile of {tile}")


def _dealt(starts: torch.Tensor, lengths: torch.Tensor, unit: str) -> Place | None:
    """Equal blocks at equal distances, as work is dealt to cores."""
    period = starts[1:] - starts[:-1]
    steady = bool((period == period[0]).all())
    alike = bool((lengths[:-1] == lengths[0]).all()) and int(lengths[-1]) <= int(lengths[0])
    if (len(starts) < 3 and unit == "element") or not steady or not alike or int(lengths[0]) < (8 if unit == "element" else 1):
        return None
    start, each, every = int(starts[0]), int(lengths[0]), int(period[0])
    return Place("CORE", f"all are in {len(starts)} blocks of {plural(each, unit)}, one every {every} from {unit} {start}")


def _some_of_a_period(starts: torch.Tensor, lengths: torch.Tensor, unit: str) -> Place | None:
    """Equal blocks, not all at one distance, but at multiples of one: some of the turns of one core."""
    each = int(lengths[0])
    if len(starts) < 3 or not bool((lengths == each).all()) or each < (8 if unit == "element" else 1):
        return None
    every = math.gcd(*(int(start - starts[0]) for start in starts[1:]))
    if every < 4 * each and not (every >= 2 and each % every == 0) and every < 8:
        return None
    first = ", ".join(str(int(start)) for start in starts[:3])
    return Place(
        "CORE",
        f"all are in {len(starts)} blocks of {plural(each, unit)}, at {first}, ..., multiples of {every} from the first",
    )


def _dealt_indices(failing: torch.Tensor) -> Place | None:
    """Scattered elements that all lie at few, equally spaced indices of one dim, as heads or rows are dealt to cores."""
    for dim in range(failing.dim() - 1):
        size = failing.shape[dim]
        others = [other for other in range(failing.dim()) if other != dim]
        hit = torch.nonzero(failing.any(others[0]) if len(others) == 1 else failing.amax(others)).flatten()
        count = len(hit)
        if not 2 <= count <= size // 4 or int(failing.sum()) < 4 * count:
            continue
        every = math.gcd(*(int(i - hit[0]) for i in hit[1:]))
        if every >= 2:
            shown = ", ".join(str(int(i)) for i in hit[:4])
            return Place("CORE", f"all are at indices {shown}{', ...' if count > 4 else ''} of dim {dim}, multiples of {every} from the first")
    return None


def _spread(failing: torch.Tensor) -> Place:
    flat = torch.nonzero(failing.flatten()).flatten()
    first = [list(index_of(int(i), failing.shape)) for i in flat[:3]]
    return Place(None, f"spread out; the first at {', '.join(map(str, first))}")


def density(failing: torch.Tensor, rows: int = 24, columns: int = 48) -> list[list[int]]:
    """A map of where elements fail: percent of each cell of a table of at most `rows` x `columns`; rows are those of the last dim."""
    if failing.numel() == 0:
        return []
    table = failing.reshape(-1, failing.shape[-1]) if failing.dim() > 1 else _folded(failing.flatten())
    high, wide = min(rows, table.shape[0]), min(columns, table.shape[1])
    row = torch.arange(table.shape[0]) * high // table.shape[0]
    column = torch.arange(table.shape[1]) * wide // table.shape[1]
    cell = (row[:, None] * wide + column[None, :]).flatten()
    hits = torch.zeros(high * wide, dtype=torch.float64).index_add_(0, cell, table.flatten().double())
    size = torch.zeros(high * wide, dtype=torch.float64).index_add_(0, cell, torch.ones(table.numel(), dtype=torch.float64))
    percent = torch.ceil(100 * hits / size).to(torch.int64)
    return [[int(value) for value in line] for line in percent.reshape(high, wide)]


def _folded(flat: torch.Tensor) -> torch.Tensor:
    """A long vector as rows, the last one filled up with right elements."""
    width = min(flat.numel(), max(48, -(-flat.numel() // 24)))
    return torch.cat([flat, flat.new_zeros(-flat.numel() % width)]).reshape(-1, width)


def index_of(place: int, shape: Sequence[int]) -> tuple[int, ...]:
    """The index of the element number `place` of a tensor of this shape."""
    index = []
    for dim in reversed(shape):
        place, rest = divmod(place, dim)
        index.append(rest)
    return tuple(reversed(index))


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}..{last}"
