"""Input values: a counter-based generator whose bits are the same on every machine and with every numpy and torch.

Element `i` of a stream is a function of (seed, words, i) in 64-bit integer arithmetic (splitmix64), turned into floats by exact
conversions and single correctly rounded operations; no libm, no global state. Values of a float dtype are produced in float32
(float64 for float64) and rounded once, to nearest even.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ascendops.build.tensors import raw_bytes
from ascendops.errors import ParityError, did_you_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

    U64 = NDArray[np.uint64]
    F64 = NDArray[np.float64]

GENERATOR = "splitmix64/2"  # part of every seed's meaning: change it when any value changes

_TAIL_FRACTION = 8
_REMEMBERED = 1 << 14
_MILD_EDGES = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 0.49999997, 1.5, 2.5, 10.0, -10.0, -17.0)


def key(seed: int, *words: object) -> int:
    """The 64-bit key of the stream that belongs to `seed` and these words (op, case, tensor, ...)."""
    text = "\0".join([GENERATOR, str(seed), *map(str, words)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def signs(stream: int, count: int) -> F64:
    """Random +1.0 and -1.0, shape [count]; the beginning of one sequence for each stream, so a short one is remembered."""
    if count <= _REMEMBERED:
        return np.array(_first_signs(stream)[:count])
    return _signs(stream, count)


@functools.lru_cache(maxsize=64)
def _first_signs(stream: int) -> F64:
    return _signs(stream, _REMEMBERED)


def _signs(stream: int, count: int) -> F64:
    return np.asarray((bits(stream, count) >> np.uint64(63)).astype(np.float64) * 2 - 1, dtype=np.float64)


def bits(stream: int, count: int, start: int = 0) -> U64:
    """Random 64-bit words number `start` to `start + count` of the stream, shape [count]."""
    index = np.arange(start, start + count, dtype=np.uint64)
    with np.errstate(over="ignore"):
        word = index * np.uint64(0x9E3779B97F4A7C15) + np.uint64(stream)
        word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(word ^ (word >> np.uint64(31)), dtype=np.uint64)


def uniform(stream: int, count: int, low: float, high: float) -> F64:
    """Multiples of 2^-53 (high - low) in [low, high), shape [count]."""
    unit = (bits(stream, count) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return np.asarray(low + unit * (high - low), dtype=np.float64)


def coarse(stream: int, count: int) -> F64:
    """Multiples of 2^-16 in [0, 1), shape [count]; four of one random word, which is cheap."""
    words = bits(stream, -(-count // 4)).astype("<u8", copy=False)
    return np.asarray(words.view("<u2")[:count] * 2.0**-16, dtype=np.float64)


def _bell(stream: int, count: int) -> F64:
    word = bits(stream, count)
    total = np.zeros(count, dtype=np.int64)
    for shift in (0, 16, 32, 48):
        total += ((word >> np.uint64(shift)) & np.uint64(0xFFFF)).astype(np.int64)
    return np.asarray(
        (total - 131070).astype(np.float64) * 2.0**-15 * 0.875, dtype=np.float64
    )  # standard deviation 1.01


def _random(stream: int, shape: Sequence[int], _dtype: torch.dtype) -> F64:
    count = _numel(shape)
    flat = uniform(stream ^ 1, count, -5, 5)
    bell = _bell(stream ^ 2, count)
    return np.where(bits(stream ^ 3, count) & np.uint64(1), flat, bell)


def _exact(stream: int, shape: Sequence[int], _dtype: torch.dtype) -> F64:
    return np.asarray((bits(stream, _numel(shape)) % np.uint64(9)).astype(np.float64) - 4, dtype=np.float64)


def _tail(stream: int, shape: Sequence[int], _dtype: torch.dtype) -> F64:
    count = _numel(shape)
    width = shape[-1] if shape else 1
    big = max(1, width // _TAIL_FRACTION)
    in_tail = np.arange(count) % max(width, 1) >= width - big
    scale = 1 + np.arange(count) // max(width, 1) % 7 * 0.25  # of the row: neighbouring maxima and minima differ
    flat = np.where(in_tail, uniform(stream ^ 1, count, 4, 8), uniform(stream ^ 2, count, -1, 1))
    return np.asarray(flat * scale, dtype=np.float64)


def _coded(stream: int, shape: Sequence[int], _dtype: torch.dtype) -> F64:
    """Each index scales its elements by a factor of its own, so that neighbouring maxima and sums differ."""
    values = uniform(stream, _numel(shape), -5, 5).reshape(shape)
    for axis, size in enumerate(shape):
        factors = 1 + np.arange(size) % 7 * 0.25
        values = values * factors.reshape([size if i == axis else 1 for i in range(len(shape))])
    return np.asarray(values.reshape(-1), dtype=np.float64)


def _negative(stream: int, shape: Sequence[int], dtype: torch.dtype) -> F64:
    return -_positive(stream, shape, dtype)


def _positive(stream: int, shape: Sequence[int], _dtype: torch.dtype) -> F64:
    return uniform(stream, _numel(shape), 0.0625, 5)


def _wide(stream: int, shape: Sequence[int], dtype: torch.dtype) -> F64:
    count = _numel(shape)
    span = 12 if dtype == torch.float16 else 24
    exponent = (bits(stream ^ 1, count) % np.uint64(2 * span)).astype(np.int64) - span
    sign = 1.0 - 2.0 * (bits(stream ^ 3, count) & np.uint64(1)).astype(np.float64)
    return np.asarray(np.ldexp(sign * uniform(stream ^ 2, count, 1, 2), exponent), dtype=np.float64)


def _special(stream: int, shape: Sequence[int], dtype: torch.dtype) -> F64:
    values = _random(stream ^ 8, shape, dtype)
    info = torch.finfo(dtype)
    wild = [float("nan"), float("inf"), float("-inf"), info.max, -info.max, 88.5, -88.5]
    mild = [*_MILD_EDGES, info.tiny, -info.tiny, info.smallest_normal / 4, info.eps]
    width = max(shape[-1], 1) if shape else 1
    rows = len(values) // width
    for edges, first in ((mild, min(1, rows - 1)), (wild, 0)):
        for place, edge in zip(_places(rows, width, first, len(edges)), edges, strict=False):
            values[place] = edge
    return values


def _places(rows: int, width: int, first: int, wanted: int) -> list[int]:
    """Flat positions for planted values: row `first` and every other row after it, then again at other columns.

    Wild values (nan, inf, the range's ends) keep to even rows, so that a reduction has rows without any.
    """
    if rows <= 0:
        return []
    columns = list(dict.fromkeys(c for c in (width - 1, 0, width // 2, 31, 64, width // 3, width // 5, 7) if c < width))
    chosen = list(range(first, rows, 2))
    count = min(wanted, len(chosen) * width)
    places = []
    for i in range(count):
        turn, row = divmod(i, len(chosen))
        column = columns[(row + turn) % len(columns)] if turn < len(columns) else (turn * 13 + row) % width
        places.append(chosen[row] * width + column)
    return places


def _small(stream: int, shape: Sequence[int], _dtype: torch.dtype) -> F64:
    return uniform(stream, _numel(shape), -1e-3, 1e-3)


def _outlier(stream: int, shape: Sequence[int], dtype: torch.dtype) -> F64:
    values = _random(stream ^ 8, shape, dtype)
    if len(values):
        chosen = bits(stream ^ 9, max(1, len(values) // 1000)) % np.uint64(len(values))
        values[chosen.astype(np.int64)] *= 1000
    return values


def _first(stream: int, shape: Sequence[int], dtype: torch.dtype) -> F64:
    return np.ascontiguousarray(_tail(stream, shape, dtype).reshape(shape)[..., ::-1]).reshape(-1) if shape else _tail(stream, shape, dtype)


def _ramp(_stream: int, shape: Sequence[int], _dtype: torch.dtype) -> F64:
    return np.asarray((np.arange(_numel(shape)) % 251 - 125) / 32, dtype=np.float64)  # seven bits: exact in every float dtype


def _cancel(stream: int, shape: Sequence[int], _dtype: torch.dtype) -> F64:
    """Pairs of opposite values, and a small remainder that is left of their sum."""
    count = _numel(shape)
    half = uniform(stream ^ 1, count // 2 + 1, 64, 128)
    values = np.repeat(half, 2)[:count] * np.where(np.arange(count) % 2, -1.0, 1.0)
    return np.asarray(values + uniform(stream ^ 2, count, -1, 1), dtype=np.float64)


def _equal(_stream: int, shape: Sequence[int], _dtype: torch.dtype) -> F64:
    return np.full(_numel(shape), 1.375)


def _onehot(stream: int, shape: Sequence[int], _dtype: torch.dtype) -> F64:
    """One value in each run of 64 elements, zeros between."""
    count = _numel(shape)
    place = (bits(stream, count // 64 + 1) % np.uint64(64)).astype(np.int64)
    index = np.arange(count)
    return np.where(index % 64 == place[index // 64], 4.0, 0.0)


_RECIPES: dict[str, Callable[[int, Sequence[int], torch.dtype], F64]] = {
    "random": _random,
    "exact": _exact,
    "special": _special,
    "tail": _tail,
    "negative": _negative,
    "positive": _positive,
    "wide": _wide,
    "coded": _coded,
    "small": _small,
    "outlier": _outlier,
    "first": _first,
    "ramp": _ramp,
    "cancel": _cancel,
    "equal": _equal,
    "onehot": _onehot,
}
RECIPES = tuple(_RECIPES)


def values(shape: Sequence[int], dtype: torch.dtype, recipe: str = "random", stream: int = 0) -> torch.Tensor:
    """A contiguous CPU tensor of this shape and dtype, filled by a recipe.

    Recipes: `random` (half U[-5, 5], half a bell of deviation 1), `exact` (integers in [-4, 4], so that sums are exact),
    `special` (random with nan, inf, signed zeros, subnormals and range edges planted), `tail` (the last eighth of each row
    dominates), `negative`, `positive`, `wide` (magnitudes over many binades; full range for integers), `coded` (each index
    scales its elements by a factor of its own, so that neighbouring results differ), `small` (below 1e-3), `outlier` (one in a thousand
    times 1000), `first` (the first eighth of each row dominates), `ramp` (each position has its own value), `cancel` (pairs of opposite
    values), `equal`, `onehot` (one value in 64 is not 0).

    Raises:
        ParityError: Unknown recipe.
    """
    if recipe not in _RECIPES:
        raise ParityError(f"no recipe of values is called '{recipe}'", help=did_you_mean(recipe, RECIPES))
    shape = tuple(shape)
    if dtype.is_complex:
        parts = [values(shape, dtype.to_real(), recipe, stream ^ salt) for salt in (0, 1 << 32)]
        return torch.complex(*parts)
    if dtype == torch.bool:
        return torch.from_numpy((bits(stream, _numel(shape)) & np.uint64(1)).astype(np.bool_)).reshape(shape)
    if not dtype.is_floating_point:
        return torch.from_numpy(_integers(stream, _numel(shape), dtype, recipe)).reshape(shape).to(dtype)
    data = _RECIPES[recipe](stream, shape, dtype)
    if dtype == torch.float64:
        return torch.from_numpy(np.ascontiguousarray(data)).reshape(shape)
    with np.errstate(over="ignore"):
        single = np.ascontiguousarray(data, dtype=np.float32)
    return torch.from_numpy(single).reshape(shape).to(dtype)


def integers(shape: Sequence[int], dtype: torch.dtype, low: int, high: int, stream: int = 0, ascending: bool = False) -> torch.Tensor:
    """A contiguous CPU tensor of random integers in [low, high), in ascending order if asked for; from two elements on, both ends are among them."""
    count = _numel(shape)
    data = (bits(stream, count) % np.uint64(max(high - low, 1))).astype(np.int64) + low
    if count > 1:
        data[0], data[-1] = max(high - 1, low), low
    if ascending:
        data.sort()
    return torch.from_numpy(data).reshape(tuple(shape)).to(dtype)


def _integers(stream: int, count: int, dtype: torch.dtype, recipe: str) -> NDArray[Any]:
    info = torch.iinfo(dtype)
    signed = np.dtype(str(np.dtype(str(dtype).removeprefix("torch."))))
    if recipe in ("wide", "special"):
        data = (bits(stream, count) >> np.uint64(64 - info.bits)).astype(f"uint{info.bits}").view(signed)
    else:
        low, high = {"exact": (-4, 4), "positive": (1, 100), "negative": (-100, -1)}.get(recipe, (-100, 100))
        low, high = max(low, info.min), min(high, info.max)
        if high < low:
            low, high = 0, 100
        data = ((bits(stream, count) % np.uint64(high - low + 1)).astype(np.int64) + low).astype(signed)
    if recipe == "special":
        edges = [info.min, info.max, 0, 1, max(-1, info.min), info.max - 1, 2]
        for place, edge in zip(_places(1, count, 0, len(edges)), edges, strict=False):
            data[place] = edge
    return np.asarray(data)


def _numel(shape: Sequence[int]) -> int:
    count = 1
    for dim in shape:
        count *= int(dim)
    return count


def digest(tensor: torch.Tensor) -> str:
    """sha256 over dtype, shape and the bytes of the values (not of the layout)."""
    data = tensor.detach().cpu()
    text = f"{data.dtype} {tuple(data.shape)} ".encode()
    return hashlib.sha256(text + raw_bytes(data)).hexdigest()
