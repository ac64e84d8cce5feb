"""Cast: every pair of element types and rounding mode of Ascend 910B, against exact arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.twin.vec_support import Case, assert_same, run, special_floats

pytestmark = pytest.mark.twin

Array = np.ndarray
MODES = ("NONE", "RINT", "FLOOR", "CEIL", "ROUND", "TRUNC", "ODD")
ALL, DIRECTED = ("RINT", "FLOOR", "CEIL", "ROUND", "TRUNC", "NONE"), ("RINT", "FLOOR", "CEIL", "ROUND", "TRUNC")
PAIRS: dict[tuple[str, str], tuple[str, ...]] = {
    ("int8", "float16"): ("NONE",),
    ("uint8", "float16"): ("NONE",),
    ("int16", "float16"): ALL,
    ("int16", "float32"): ("NONE",),
    ("float16", "int8"): ALL,
    ("float16", "uint8"): ALL,
    ("float16", "int16"): DIRECTED,
    ("float16", "int32"): DIRECTED,
    ("float16", "float32"): ("NONE",),
    ("bfloat16", "int32"): DIRECTED,
    ("bfloat16", "float32"): ("NONE",),
    ("int32", "int16"): ("NONE",),
    ("int32", "float32"): ALL,
    ("int32", "int64"): ("NONE",),
    ("float32", "int16"): DIRECTED,
    ("float32", "float16"): (*ALL, "ODD"),
    ("float32", "bfloat16"): DIRECTED,
    ("float32", "int32"): DIRECTED,
    ("float32", "float32"): DIRECTED,
    ("float32", "int64"): DIRECTED,
    ("int64", "int32"): ("NONE",),
    ("int64", "float32"): DIRECTED,
}
N = 2048
# bits of mantissa behind the point, smallest exponent, largest finite number
FORMATS = {
    "float16": (10, -14, 65504.0),
    "float32": (23, -126, float(np.finfo(np.float32).max)),
    "bfloat16": (7, -126, 3.3895313892515355e38),
}
STORAGE = {"bfloat16": np.uint16}


def storage(dtype: str) -> Any:
    return np.dtype(STORAGE.get(dtype, dtype))


def source(dtype: str, seed: int = 0) -> Array:
    """Values around every edge of the narrower types, ties included."""
    rng = np.random.default_rng(seed)
    if dtype in ("float16", "float32"):
        data = special_floats(np.dtype(dtype).type, N, seed)
        ties = np.concatenate(
            [np.arange(-20, 20) + 0.5, [127.5, 128, -128.5, -129, 255.5, 256, 32767.5, 32768, -32768.5]]
        )
        edges = [2049.0, 2051.0, 65519.0, 65520.0, 65505.0, 6e-8, 2.9e-8, 3e-8, 8.9e-8, 2**31, -(2**31), 2**31 - 128]
        wide = np.concatenate([ties, edges, [2.0**63, -(2.0**63), 1 + 2.0**-8, 1 + 3 * 2.0**-8, 0.5 + 2.0**-12]])
        with np.errstate(over="ignore"):
            data[-wide.size :] = wide.astype(dtype)
        return data
    if dtype == "bfloat16":
        return (source("float32", seed).view(np.uint32) >> 16).astype(np.uint16)
    info = np.iinfo(dtype)
    data = rng.integers(info.min, info.max, N, dtype, endpoint=True)
    small = rng.integers(-min(40000, -info.min), min(40000, info.max), N // 2, dtype)
    data[: N // 2] = small
    data[:4] = (info.min, info.max, info.max - 1, 0)
    if info.bits >= 32:
        base = (1 << 24) + np.arange(16)
        data[4:20] = base
        data[20:36] = -base
        data[36:52] = (1 << 25) + np.arange(16)
    return data


def as_real(data: Array, dtype: str) -> Array:
    """The values as longdouble: exact for every type."""
    if dtype == "bfloat16":
        data = (data.astype(np.uint32) << 16).view(np.float32)
    return data.astype(np.longdouble)


def to_integral(x: Array, mode: str) -> Array:
    if mode in ("RINT", "NONE"):
        return np.rint(x)
    if mode == "FLOOR":
        return np.floor(x)
    if mode == "CEIL":
        return np.ceil(x)
    whole = np.trunc(x)
    away = whole + np.where(np.signbit(x), -1.0, 1.0)
    if mode == "ROUND":
        with np.errstate(invalid="ignore"):
            return np.where(np.abs(x - whole) >= 0.5, away, whole)
    if mode == "ODD":
        return np.where((x != whole) & (np.mod(whole, 2) == 0), away, whole)
    return whole


def to_float(x: Array, dtype: str, mode: str) -> Array:
    """x rounded to a float format, as float64 (infinite where the mode rounds past the largest number)."""
    bits, smallest, largest = FORMATS[dtype]
    exponent = np.maximum(np.frexp(np.where(np.isfinite(x), x, 0))[1] - 1, smallest)
    unit = np.ldexp(np.longdouble(1), exponent - bits)
    with np.errstate(invalid="ignore", over="ignore"):
        rounded = to_integral(x / unit, mode) * unit
    over = np.abs(rounded) > largest
    keep = (mode in ("TRUNC", "ODD")) | ((mode == "FLOOR") & (x > 0)) | ((mode == "CEIL") & (x < 0))
    limit = np.where(keep & np.isfinite(x), largest, np.inf) * np.where(np.signbit(x), -1, 1)
    return np.where(over & np.isfinite(x), limit, np.where(np.isfinite(x), rounded, x))


def expected(data: Array, src: str, dst: str, mode: str) -> Array:
    x = as_real(data, src)
    if (src, dst) == ("float32", "float32"):
        with np.errstate(invalid="ignore"):
            return np.copysign(to_integral(x, mode), x).astype(np.float32)
    if dst in FORMATS:
        value = np.copysign(to_float(x, dst, mode), x).astype(np.float32)
        if dst == "bfloat16":
            quiet = np.isnan(value).astype(np.uint32) << 16 << 6
            return ((value.view(np.uint32) | quiet) >> 16).astype(np.uint16)
        return value.astype(dst)
    info = np.iinfo(dst)
    with np.errstate(invalid="ignore"):
        whole = to_integral(x, mode)
        clipped = np.clip(np.where(np.isnan(x), 0, whole), info.min, info.max)
    return np.where(clipped >= info.max, info.max, clipped.astype(dst)) if info.bits == 64 else clipped.astype(dst)


def assert_cast(got: Array, want: Array, dst: str, label: str) -> None:
    if dst == "bfloat16":
        nan = (want & 0x7FFF) > 0x7F80
        assert ((got & 0x7FFF)[nan] > 0x7F80).all()
        got, want = np.where(nan, 0, got), np.where(nan, 0, want)
    assert_same(got, want, label)


@pytest.mark.parametrize(("src", "dst"), list(PAIRS))
def test_every_mode(src: str, dst: str) -> None:
    data = source(src)
    zeros = np.zeros(N, storage(dst))
    cases = [Case(0, zeros, data, dtype=dst, dtype2=src, n=N, extra=MODES.index(mode)) for mode in PAIRS[src, dst]]
    for mode, got in zip(PAIRS[src, dst], run("vec_cast.cpp", cases), strict=True):
        assert_cast(got, expected(data, src, dst, mode), dst, f"{src} to {dst} {mode}")


@pytest.mark.parametrize(("src", "dst"), list(PAIRS))
def test_call_forms(src: str, dst: str) -> None:
    """Lanes are counted by the wider type; the strides of the narrower one may be its own."""
    mode = PAIRS[src, dst][0]
    data, keep = source(src, 3), np.full(N, 7, storage(dst))
    wider = max(storage(src).itemsize, storage(dst).itemsize)
    reps = [8 * storage(t).itemsize // wider for t in (dst, src)]
    forms: list[dict[str, Any]] = [
        {"form": "COUNT", "n": 333},
        {"form": "MASK_N", "n": 256 // wider, "repeat": 4, "rep": (*reps, 8)},
        {"form": "MASK_N", "n": 19, "repeat": 3, "rep": (reps[0] + 1, reps[1] + 2, 8)},
        {"form": "MASK_N", "n": 27, "repeat": 2, "blk": (2, 1, 1), "rep": (20, reps[1], 8)},
        {"form": "MASK_BITS", "bits": (0xF00F1, 0x3), "repeat": 2, "rep": (*reps, 8)},
        {"form": "REGISTER_N", "n": 12, "repeat": 2, "rep": (*reps, 8)},
        {"form": "COUNTER", "n": 150, "repeat": 1, "rep": (*reps, 8)},
    ]
    cases = [Case(0, keep, data, dtype=dst, dtype2=src, extra=MODES.index(mode), **form) for form in forms]
    for case, got in zip(cases, run("vec_cast.cpp", cases), strict=True):
        d, s = case.lanes(storage(dst).itemsize, storage(src).itemsize)
        want = keep.copy()
        want[d] = expected(data[s], src, dst, mode)
        assert_cast(got, want, dst, f"{src} to {dst} {case.form} n={case.n} rep={case.rep}")


@pytest.mark.parametrize("scale", [1.0, 0.5, 0.001, 3.0])
def test_int32_to_half_is_scaled(scale: float) -> None:
    """SetDeqScale multiplies; the product is exact and rounded once."""
    data = source("int32")
    (got,) = run(
        "vec_cast.cpp", [Case(0, np.zeros(N, np.float16), data, dtype="float16", dtype2="int32", n=N, f=scale)]
    )
    exact = data.astype(np.longdouble) * np.longdouble(np.float16(scale))
    assert_same(got, to_float(exact, "float16", "RINT").astype(np.float16))


def test_int4() -> None:
    """Two elements share a byte, the first in the low bits; values saturate to -8..7."""
    packed = np.arange(256, dtype=np.uint8)
    values = special_floats(np.float16, 512, 1)
    values[:40] = np.arange(-10, 10, 0.5)
    cases = [
        Case(0, np.zeros(512, np.float16), packed, dtype="float16", dtype2="int4", n=512),
        *[
            Case(0, np.zeros(256, np.uint8), values, dtype="int4", dtype2="float16", n=512, extra=mode)
            for mode in range(6)
        ],
    ]
    outs = run("vec_cast.cpp", cases)
    nibbles = np.stack([packed & 15, packed >> 4], 1).ravel().astype(np.int8)
    assert_same(outs[0], np.where(nibbles > 7, nibbles - 16, nibbles).astype(np.float16), "int4 to half")
    for mode, got in enumerate(outs[1:]):
        whole = to_integral(np.where(np.isnan(values), 0, values).astype(np.float64), MODES[mode])
        want = np.clip(whole, -8, 7).astype(np.int8)
        assert_same(np.stack([got & 15, got >> 4], 1).ravel(), want.view(np.uint8) & 15, f"half to int4 {MODES[mode]}")


@pytest.mark.parametrize(
    ("src", "dst"), [("float16", "int8"), ("float16", "uint8"), ("int16", "int8"), ("float32", "float16")]
)
def test_fused_with_cast(src: str, dst: str) -> None:
    a, b = source(src, 1), source(src, 2)
    ops = [1, 2] + ([3] if src == "float16" else [])
    cases = [Case(op, np.zeros(N, dst), a, b, dtype=dst, dtype2=src, n=N) for op in ops]
    with np.errstate(all="ignore"):
        x, y = a.astype(np.float32), b.astype(np.float32)
        results = {1: np.where(x + y > 0, x + y, 0), 2: np.where(x - y > 0, x - y, 0), 3: x * y}
        nan = {1: np.isnan(x + y), 2: np.isnan(x - y), 3: np.isnan(x * y)}
    for op, got in zip(ops, run("vec_cast.cpp", cases), strict=True):
        value = np.where(nan[op], np.nan, results[op]).astype(np.float32)
        assert_same(got, expected(value, "float32", dst, "RINT"), f"fused {op} {src} to {dst}")


def test_add_deq_relu() -> None:
    a, b = source("int32", 1) // 4, source("int32", 2) // 4
    (got,) = run("vec_cast.cpp", [Case(4, np.zeros(N, np.float16), a, b, n=N, f=0.25)])
    exact = np.maximum((a.astype(np.longdouble) + b) * 0.25, 0)
    assert_same(got, to_float(exact, "float16", "RINT").astype(np.float16))
