"""Element-wise vector instructions against NumPy: every operation, element type and call form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.twin.vec_support import DTYPES, Case, assert_same, run, same_bits, special_floats, ulps

pytestmark = pytest.mark.twin

Array = np.ndarray
ROOM = 4096  # elements of every array: enough for the widest stride below

# Call forms with awkward masks, strides and repeats. Lanes of one repeat: 128 for 16 bits, 64 for 32 bits.
MASKS = (0xFFFF0000F0F0A5A5, 0x8000000000000001)
FORMS: list[dict[str, Any]] = [
    {"form": "COUNT", "n": 1},
    {"form": "COUNT", "n": 64},
    {"form": "COUNT", "n": 1003},
    {"form": "MASK_N", "n": 64, "repeat": 3},
    {"form": "MASK_N", "n": 37, "repeat": 5, "rep": (9, 8, 16)},
    {"form": "MASK_N", "n": 50, "repeat": 4, "blk": (2, 1, 3), "rep": (20, 8, 30)},
    {"form": "MASK_N", "n": 64, "repeat": 4, "blk": (1, 1, 0), "rep": (8, 8, 1)},
    {"form": "MASK_N", "n": 64, "repeat": 0},
    {"form": "MASK_BITS", "bits": MASKS, "repeat": 3},
    {"form": "MASK_BITS", "bits": (0x7, 0), "repeat": 2, "blk": (1, 2, 1), "rep": (8, 16, 8)},
    {"form": "MASK_BITS", "bits": (2**64 - 1, 2**64 - 1), "repeat": 2},
    {"form": "REGISTER_N", "n": 21, "repeat": 2},
    {"form": "REGISTER_BITS", "bits": MASKS, "repeat": 2, "blk": (1, 2, 1), "rep": (8, 16, 8)},
    {"form": "COUNTER", "n": 333, "repeat": 1},
    {"form": "COUNTER", "n": 130, "repeat": 1, "blk": (2, 2, 2), "rep": (16, 16, 16)},
    {"form": "REGISTER_COUNTER", "n": 200, "repeat": 1, "blk": (2, 1, 1), "rep": (16, 8, 8)},
]


def f32(x: Array) -> Array:
    return x.astype(np.float32)


def largest(a: Array, b: Array) -> Array:
    """Max as the twin defines it: NaN wins, of equal values the second."""
    return np.where((a > b) | np.isnan(a), a, b) if a.dtype.kind == "f" else np.maximum(a, b)


def smallest(a: Array, b: Array) -> Array:
    return np.where((a < b) | np.isnan(a), a, b) if a.dtype.kind == "f" else np.minimum(a, b)


def relu(x: Array) -> Array:
    return np.where((x > 0) | np.isnan(x), x, x.dtype.type(0))


def fma(a: Array, b: Array, c: Array) -> Array:
    """a * b + c in float32 with one rounding: the product is exact in float64, the sum is rounded to odd there first."""
    product, other = a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)
    total = product + other
    part = total - product
    rest = (product - (total - part)) + (other - part)
    even = (total.view(np.uint64) & 1) == 0
    nudged = np.nextafter(total, np.where(rest > 0, np.inf, -np.inf))
    return np.where(np.isfinite(total) & (rest != 0) & even, nudged, total).astype(np.float32)


# number -> (name, function of d, a, b in the compute type)
BINARY: dict[int, tuple[str, Callable[[Array, Array, Array], Array]]] = {
    0: ("Add", lambda d, a, b: a + b),
    1: ("Sub", lambda d, a, b: a - b),
    2: ("Mul", lambda d, a, b: a * b),
    3: ("Max", lambda d, a, b: largest(a, b)),
    4: ("Min", lambda d, a, b: smallest(a, b)),
    5: ("Div", lambda d, a, b: a / b),
    6: ("FusedMulAdd", lambda d, a, b: fma(a, d, b)),
    7: ("FusedMulAddRelu", lambda d, a, b: relu(fma(a, d, b))),
    8: ("AddRelu", lambda d, a, b: relu(a + b)),
    9: ("SubRelu", lambda d, a, b: relu(a - b)),
    10: ("MulAddDst", lambda d, a, b: fma(a, b, d)),
    11: ("And", lambda d, a, b: a & b),
    12: ("Or", lambda d, a, b: a | b),
}
UNARY: dict[int, tuple[str, Callable[[Array], Array]]] = {
    20: ("Abs", np.abs),
    23: ("Sqrt", np.sqrt),
    24: ("Rsqrt", lambda a: np.float32(1) / np.sqrt(a)),
    25: ("Reciprocal", lambda a: np.float32(1) / a),
    26: ("Relu", relu),
    27: ("Not", np.invert),
}
SCALAR: dict[int, tuple[str, Callable[[Array, Array, Any], Array]]] = {
    40: ("Adds", lambda d, a, s: a + s),
    41: ("Muls", lambda d, a, s: a * s),
    42: ("Maxs", lambda d, a, s: largest(a, s)),
    43: ("Mins", lambda d, a, s: smallest(a, s)),
    44: ("LeakyRelu", lambda d, a, s: np.where(a > 0, a, a * s)),
    45: ("Axpy", lambda d, a, s: fma(a, np.broadcast_to(s, a.shape), d)),
}
NUMBERS, FLOATS, WORDS = ("float16", "float32", "int16", "int32"), ("float16", "float32"), ("int16", "uint16")
TYPES = {0: NUMBERS, 1: NUMBERS, 2: NUMBERS, 3: NUMBERS, 4: NUMBERS, 11: WORDS, 12: WORDS, 27: WORDS,
         40: NUMBERS, 41: NUMBERS, 42: NUMBERS, 43: NUMBERS}  # fmt: skip


def values(dtype: str, seed: int, n: int = ROOM) -> Array:
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return special_floats(kind.type, n, seed)
    info = np.iinfo(kind)
    data = np.random.default_rng(seed).integers(info.min, info.max, n, kind, endpoint=True)
    data[:4] = (info.min, info.max, 0, 1)
    return data


def rounded(values: Array, dtype: str) -> Array:
    with np.errstate(over="ignore"):
        return values.astype(dtype)


def expected(case: Case, compute: Callable[[Array, Array, Array], Array]) -> Array:
    """dst with the active lanes computed; float types in float32 and rounded once."""
    dst = case.dst.copy()
    size = dst.itemsize
    d, a, b = case.lanes(size, size, size)
    wide = f32 if dst.dtype.kind == "f" else (lambda x: x)
    source_b = case.b if case.b is not None else case.a
    assert case.a is not None and source_b is not None
    with np.errstate(all="ignore"):
        result = compute(wide(dst[d]), wide(case.a[a]), wide(source_b[b]))
    dst[d] = rounded(result, case.dtype)
    return dst


def cases_of(op: int, dtype: str, **extra: Any) -> list[Case]:
    return [
        Case(op, values(dtype, 1), values(dtype, 2), values(dtype, 3), dtype=dtype, **{**form, **extra})
        for form in FORMS
    ]  # fmt: skip


def check(cases: list[Case], compute: Callable[[Array, Array, Array], Array], name: str) -> None:
    for case, got in zip(cases, run("vec_elementwise.cpp", cases), strict=True):
        label = f"{name} {case.dtype} {case.form} n={case.n} blk={case.blk} rep={case.rep}"
        assert_same(got, expected(case, compute), label)


@pytest.mark.parametrize(("op", "dtype"), [(op, t) for op in BINARY for t in TYPES.get(op, FLOATS)])
def test_binary(op: int, dtype: str) -> None:
    name, compute = BINARY[op]
    check(cases_of(op, dtype), compute, name)


@pytest.mark.parametrize(("op", "dtype"), [(op, t) for op in UNARY for t in TYPES.get(op, FLOATS)])
def test_unary(op: int, dtype: str) -> None:
    name, compute = UNARY[op]
    check(cases_of(op, dtype), lambda d, a, b: compute(a), name)


@pytest.mark.parametrize("value", [1.5, -0.25, float("inf")])
@pytest.mark.parametrize(("op", "dtype"), [(op, t) for op in SCALAR for t in TYPES.get(op, FLOATS)])
def test_scalar(op: int, dtype: str, value: float) -> None:
    name, compute = SCALAR[op]
    integer = {1.5: 3, -0.25: -7}.get(value, 30000)
    scalar = np.array(integer, dtype) if np.dtype(dtype).kind == "i" else np.float32(value)
    check(cases_of(op, dtype, f=value, i=integer), lambda d, a, b: compute(d, a, scalar), name)


@pytest.mark.parametrize(
    ("op", "name", "exact", "limit"),
    [(21, "Exp", np.exp, 1.0), (22, "Ln", np.log, 1.0)],
)
@pytest.mark.parametrize("dtype", FLOATS)
def test_transcendental(op: int, name: str, exact: Callable[[Array], Array], limit: float, dtype: str) -> None:
    cases = cases_of(op, dtype)
    with np.errstate(over="ignore"):
        extra = np.concatenate([np.linspace(-110, 95, ROOM - 64), np.geomspace(1e-45, 3e38, 64)]).astype(dtype)
    cases.append(Case(op, np.zeros(ROOM, dtype), extra, dtype=dtype, n=ROOM))
    for case, got in zip(cases, run("vec_elementwise.cpp", cases), strict=True):
        d, a, _ = case.lanes(*[case.dst.itemsize] * 3)
        assert case.a is not None
        with np.errstate(all="ignore"):
            error = ulps(got[d], exact(case.a[a].astype(np.float64)))
        assert error.max(initial=0) <= limit, (
            name,
            dtype,
            case.form,
            case.a[a][error.argmax()],
            got[d][error.argmax()],
        )
        untouched = np.setdiff1d(np.arange(ROOM), d)
        assert_same(got[untouched], case.dst[untouched], f"{name}: inactive lanes")


@pytest.mark.parametrize(("op", "exact"), [(21, np.exp), (22, np.log), (23, np.sqrt)])
def test_accuracy_over_all_exponents(op: int, exact: Callable[[Array], Array]) -> None:
    """Random bit patterns: every exponent, both signs, subnormals, NaN."""
    n = 10240
    rng = np.random.default_rng(op)
    inputs = [rng.integers(0, 2**32, n, np.uint32).view(np.float32) for _ in range(8)]
    inputs += [rng.uniform(low, low + 8, n).astype(np.float32) for low in range(-104, 96, 8)]
    cases = [Case(op, np.zeros(n, np.float32), x, n=n) for x in inputs]
    for x, got in zip(inputs, run("vec_elementwise.cpp", cases), strict=True):
        with np.errstate(all="ignore"):
            error = ulps(got, exact(x.astype(np.float64)))
        worst = int(error.argmax())
        assert error[worst] <= 1.0, (x[worst], got[worst])


def test_relu_int32() -> None:
    case = Case(26, values("int32", 1), values("int32", 2), dtype="int32", n=1000)
    (got,) = run("vec_elementwise.cpp", [case])
    assert case.a is not None
    assert_same(got[:1000], np.maximum(case.a[:1000], 0))


@pytest.mark.parametrize("dtype", ["int16", "uint16", "int32", "uint32"])
@pytest.mark.parametrize("shift", [0, 1, 5, 16, 31])
def test_shifts(dtype: str, shift: int) -> None:
    width = np.dtype(dtype).itemsize * 8
    if shift > width:
        pytest.skip("more than the width of the type")
    left, right = cases_of(46, dtype, i=shift), cases_of(47, dtype, i=shift)
    rounding = [Case(48, values(dtype, 1), values(dtype, 2), dtype=dtype, form="MASK_N", n=60, repeat=4, i=shift)]
    info = np.iinfo(dtype)

    def shift_left(d: Array, a: Array, b: Array) -> Array:
        moved = (a.astype(np.int64) << shift) & ((1 << width) - 1)
        if info.min == 0:
            return moved.astype(dtype)
        sign = 1 << (width - 1)  # the sign bit stays
        unsigned = (moved & (sign - 1)) | (a.astype(np.int64) & sign)
        return unsigned.astype(dtype.replace("int", "uint")).astype(dtype)

    def shift_right_rounded(d: Array, a: Array, b: Array) -> Array:
        bias = 1 << (shift - 1) if shift else 0
        return ((a.astype(np.int64) + bias) >> shift).astype(dtype)

    check(left, shift_left, "ShiftLeft")
    check(right, lambda d, a, b: (a.astype(np.int64) >> shift).astype(dtype), "ShiftRight")
    check(rounding, shift_right_rounded, "ShiftRight rounded")


@pytest.mark.parametrize("dtype", ["float16", "float32", "int16", "uint16", "int32", "uint32"])
def test_duplicate_and_copy(dtype: str) -> None:
    kind = np.dtype(dtype).kind
    scalar = np.array(-2.5 if kind == "f" else 77, dtype)
    check(cases_of(60, dtype, f=-2.5, i=77), lambda d, a, b: np.broadcast_to(scalar, a.shape), "Duplicate")
    copies = [case for case in cases_of(61, dtype) if case.form != "COUNT"]
    check(copies, lambda d, a, b: a, "Copy")


@pytest.mark.parametrize("form", ["COUNTER", "REGISTER_COUNTER"])
@pytest.mark.parametrize(("n", "repeat", "blk", "rep"), [(144, 1, (1, 8), (8, 8)), (40, 5, (1, 2), (5, 12)), (200, 3, (1, 0), (25, 1)), (16, 0, (1, 1), (8, 8))])
def test_copy_in_counter_mode(form: str, n: int, repeat: int, blk: tuple[int, int], rep: tuple[int, int]) -> None:
    """The count is that of each repeat, and may be more than 256 bytes: strides inside the repeat go on."""
    x, dst = np.arange(2048, dtype=np.int32), np.full(2048, -1, np.int32)
    (got,) = run("vec_elementwise.cpp", [Case(61, dst, x, dtype="int32", form=form, n=n, repeat=repeat, blk=(*blk, 1), rep=(*rep, 8))])
    want = dst.copy()
    for r in range(repeat):
        lane = np.arange(n)
        to, off = ((lane // 8 * blk[k] + r * rep[k]) * 8 + lane % 8 for k in (0, 1))
        want[to] = x[off]
    assert (got == want).all()


def test_duplicate_bfloat16() -> None:
    case = Case(60, np.zeros(200, np.uint16), dtype="bfloat16", n=150, f=1.00390625)
    (got,) = run("vec_elementwise.cpp", [case])
    assert (got[:150] == 0x3F80).all(), "1 + 2^-8 is a tie and rounds to even"
    assert (got[150:] == 0).all()


@pytest.mark.parametrize("dtype", ["float16", "float32", "int16", "int32"])
def test_indices(dtype: str) -> None:
    zeros = np.zeros(ROOM, dtype)
    cases = [
        Case(63, zeros, dtype=dtype, n=700, f=5.0, i=5),
        Case(63, zeros, dtype=dtype, form="MASK_N", n=40, repeat=3, f=-1.0, i=-1, blk=(2, 1, 1), rep=(16, 8, 8)),
        Case(63, zeros, dtype=dtype, form="MASK_BITS", bits=(0xF0F, 0), repeat=2, f=1.0, i=1),
        Case(64, zeros, dtype=dtype, n=500, f=-4.0, i=-4),
    ]
    got = run("vec_elementwise.cpp", cases)
    per = 256 // np.dtype(dtype).itemsize
    assert_same(got[0][:700], (np.arange(700) + 5).astype(dtype))
    for case, result, first in ((cases[1], got[1], -1), (cases[2], got[2], 1)):
        lanes = [r * per + lane for r, active in case._repeats(per) for lane in active]
        d = case.lanes(np.dtype(dtype).itemsize)[0]
        want = zeros.copy()
        want[d] = np.array(lanes) + first
        assert_same(result, want, f"CreateVecIndex {case.form}")
    assert_same(got[3][:500], (np.arange(500) * 3 - 4).astype(dtype))


@pytest.mark.parametrize("dtype", ["float16", "float32", "uint16", "uint32"])
def test_brcb(dtype: str) -> None:
    source = values(dtype, 4, 64)
    cases = [
        Case(62, np.zeros(ROOM, dtype), source, dtype=dtype, repeat=8, blk=(1, 1, 1), rep=(8, 8, 8)),
        Case(62, np.zeros(ROOM, dtype), source, dtype=dtype, repeat=2, blk=(3, 1, 1), rep=(30, 8, 8)),
    ]
    block = 32 // np.dtype(dtype).itemsize
    for case, got in zip(cases, run("vec_elementwise.cpp", cases), strict=True):
        want = np.zeros(ROOM, dtype)
        for r in range(case.repeat):
            for j in range(8):
                at = (r * case.rep[0] + j * case.blk[0]) * block
                want[at : at + block] = source[r * 8 + j]
        assert_same(got, want, "Brcb")


def test_mixed_half_to_float() -> None:
    """Half sources and a float dst: the lanes of a repeat are those of the float."""
    a, b = values("float16", 1), values("float16", 2)
    d = special_floats(np.float32, ROOM, 3)
    strided: dict[str, Any] = {"form": "MASK_N", "n": 64, "repeat": 3, "rep": (8, 4, 4)}
    cases = [
        Case(50, d, a, f=1.5, n=777), Case(50, d, a, f=1.5, **strided),
        Case(51, d, a, b, n=777), Case(51, d, a, b, **strided),
    ]  # fmt: skip
    for case, got in zip(cases, run("vec_elementwise.cpp", cases), strict=True):
        at, la, lb = case.lanes(4, 2, 2)
        other = np.full(la.shape, 1.5, np.float32) if case.op == 50 else f32(b[lb])
        want = d.copy()
        with np.errstate(all="ignore"):
            want[at] = fma(f32(a[la]), other, d[at])
        assert_same(got, want, f"mixed {case.op} {case.form}")


def test_accumulate_over_repeats() -> None:
    """dst as second source with repeat stride 0 adds all repeats into one."""
    x = np.random.default_rng(0).standard_normal(64 * 10).astype(np.float32)
    case = Case(0, np.zeros(64, np.float32), x, form="MASK_N", n=64, repeat=10, rep=(0, 8, 0))
    case.op = 65
    (got,) = run("vec_elementwise.cpp", [case])
    want = np.zeros(64, np.float32)
    for row in x.reshape(10, 64):
        want += row
    assert_same(got, want)


def test_in_place() -> None:
    case = Case(66, values("float32", 7, 512), dtype="float32", n=512)
    (got,) = run("vec_elementwise.cpp", [case])
    with np.errstate(over="ignore", invalid="ignore"):
        assert same_bits(got, case.dst + case.dst).all()


@pytest.mark.parametrize(
    ("form", "finding"),
    [
        ({"form": "MASK_N", "n": 65, "repeat": 1}, "MASK-RANGE"),
        ({"form": "COUNT", "n": 2 * ROOM}, "UB-BOUNDS"),
        ({"form": "MASK_N", "n": 64, "repeat": 200}, "UB-BOUNDS"),
        ({"form": "COUNT", "n": -1}, "UB-BOUNDS"),
    ],
)
def test_findings(form: dict[str, Any], finding: str) -> None:
    whole = 40 * 1024 // 4
    array = np.zeros(whole, np.float32)
    if finding == "UB-BOUNDS" and form["n"] == 2 * ROOM:
        form = {**form, "n": whole + 1}
    (got,) = run("vec_elementwise.cpp", [Case(20, array, array - 1, **form)], expect=(finding,))
    if form["n"] == -1:
        assert (got == 0).all(), "there is no such instruction, so nothing runs"


def test_every_dtype_is_numbered() -> None:
    assert list(DTYPES.values()) == list(range(len(DTYPES)))


@pytest.mark.parametrize(
    ("op", "ahead", "n", "reported"),
    [
        (67, 8, 200, True),  # inside one repeat
        (67, -8, 200, True),
        (67, 64, 200, True),  # the next repeat reads what this one wrote
        (67, -64, 200, False),  # written after it was read
        (67, 128, 200, False),
        (67, 256, 200, False),  # apart
        (67, 0, 200, False),  # in place
        (68, 0, 200, True),  # in place to a wider type
        (69, 0, 200, False),
    ],
)
def test_overlap(op: int, ahead: int, n: int, reported: bool) -> None:
    case = Case(op, np.zeros(1024, np.float32), n=n, i=ahead)
    run("vec_elementwise.cpp", [case], expect=("UB-OVERLAP",) if reported else ())
