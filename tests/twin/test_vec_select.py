"""Compare, CompareScalar, Select and the tensor operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.twin.vec_support import Case, assert_same, run, special_floats

pytestmark = pytest.mark.twin

Array = np.ndarray
MODES: dict[str, Callable[[Array, Array], Array]] = {
    "LT": np.less, "GT": np.greater, "EQ": np.equal, "LE": np.less_equal, "GE": np.greater_equal, "NE": np.not_equal,
}  # fmt: skip
CMPMASK_SPR, TENSOR_SCALAR, TENSOR_TENSOR = range(3)
N = 1024


def operands(dtype: str) -> tuple[Array, Array]:
    if dtype == "int32":
        rng = np.random.default_rng(1)
        return rng.integers(-3, 4, N, np.int32), rng.integers(-3, 4, N, np.int32)
    a, b = special_floats(np.dtype(dtype).type, N, 1), special_floats(np.dtype(dtype).type, N, 2)
    b[::3] = a[::3]
    return a, b


def packed(flags: Array, size: int = N // 8) -> Array:
    out = np.zeros(size, np.uint8)
    bits = np.packbits(flags, bitorder="little")
    out[: bits.size] = bits
    return out


@pytest.mark.parametrize(("dtype", "mode"), [(t, m) for t in ("float16", "float32") for m in MODES] + [("int32", "EQ")])
def test_compare_count(dtype: str, mode: str) -> None:
    a, b = operands(dtype)
    zeros = np.zeros(N // 8, np.uint8)
    number = list(MODES).index(mode)
    cases = [
        Case(0, zeros, a, b, dtype=dtype, n=N, extra=number),
        Case(1, zeros, a, dtype=dtype, n=N, extra=number, f=1.0, i=1),
        Case(2, zeros, a, dtype=dtype, n=256, extra=number, f=-0.0, i=0),
    ]
    got = run("vec_select.cpp", cases)
    assert_same(got[0], packed(MODES[mode](a, b)), "Compare")
    assert_same(got[1], packed(MODES[mode](a, a.dtype.type(1))), "CompareScalar")
    assert_same(got[2], packed(MODES[mode](a, a.dtype.type(0))[:256]), "Compares")


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_compare_repeats(dtype: str) -> None:
    """The mask has no effect on this architecture; results of the repeats follow each other."""
    a, b = operands(dtype)
    per = 256 // a.itemsize
    forms: list[dict[str, Any]] = [
        {"form": "MASK_N", "n": per, "repeat": 3},
        {"form": "MASK_N", "n": 5, "repeat": 2, "rep": (8, 8, 0)},
        {"form": "MASK_BITS", "bits": (1, 0), "repeat": 2, "blk": (1, 1, 0), "rep": (8, 8, 1)},
    ]
    cases = [Case(0, np.full(N // 8, 255, np.uint8), a, b, dtype=dtype, extra=0, **form) for form in forms]
    for case, got in zip(cases, run("vec_select.cpp", cases), strict=True):
        whole = Case(0, case.dst, form="MASK_N", n=per, repeat=case.repeat, blk=case.blk, rep=case.rep)
        _, la, lb = whole.lanes(a.itemsize, a.itemsize, a.itemsize)
        want = case.dst.copy()
        bits = np.packbits(a[la] < b[lb], bitorder="little")
        want[: bits.size] = bits
        assert_same(got, want, f"{case.form} rep={case.rep}")


def test_compare_of_part_of_a_repeat_is_reported() -> None:
    a, b = operands("float32")
    zeros = np.zeros(N // 8, np.uint8)
    (got,) = run("vec_select.cpp", [Case(0, zeros, a, b, n=100, extra=2)], expect=("COMPARE-COUNT",))
    assert_same(got[:13], packed(a[:100] == b[:100], 13))


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_select(dtype: str) -> None:
    a, b = operands(dtype)
    size, per = a.itemsize, 256 // a.itemsize
    mask = np.random.default_rng(3).integers(0, 256, N // 8, np.uint8)
    bits = np.unpackbits(mask, bitorder="little").astype(bool)
    keep = np.full(N, 9, dtype)
    forms: list[dict[str, Any]] = [
        {"form": "COUNT", "n": 777},
        {"form": "MASK_N", "n": per, "repeat": 4},
        {"form": "MASK_N", "n": 40, "repeat": 3, "blk": (2, 1, 1), "rep": (16, 8, 0)},
        {"form": "MASK_BITS", "bits": (0xF0F0_1234, 0xFF), "repeat": 3},
    ]
    cases = [
        Case(op, keep, a, b, mask, dtype=dtype, extra=mode, f=-2.0, **form)
        for op, mode in ((3, CMPMASK_SPR), (3, TENSOR_TENSOR), (4, TENSOR_SCALAR))
        for form in forms
    ]
    for case, got in zip(cases, run("vec_select.cpp", cases), strict=True):
        d, la, lb = case.lanes(size, size, size)
        # Lane numbers over all repeats: the mask bits that modes 1 and 2 consume.
        logical = Case(0, keep, form=case.form, n=case.n, repeat=case.repeat, bits=case.bits)
        lane = logical.lanes(size)[0]
        chosen = bits[lane % per if case.extra == CMPMASK_SPR else lane]
        want = keep.copy()
        want[d] = np.where(chosen, a[la], a.dtype.type(-2) if case.op == 4 else b[lb])
        assert_same(got, want, f"{dtype} op {case.op} mode {case.extra} {case.form}")


def test_register_forms() -> None:
    """Compare into CMPMASK, then Select without mask arguments: the same bits in every repeat."""
    a, b = operands("float32")
    keep = np.full(N, 9, np.float32)
    (got,) = run("vec_select.cpp", [Case(5, keep, a, b, n=64, repeat=3, extra=1)])
    chosen = np.tile((a > b)[:64], 3)
    want = keep.copy()
    want[:192] = np.where(chosen, a[:192], b[:192])
    assert_same(got, want)


def test_operators() -> None:
    a, b = operands("float32")
    x = np.random.default_rng(5).integers(-(2**15), 2**15, N, np.int16)
    with np.errstate(all="ignore"):
        numbers = [a + b, a - b, a * b, a / b]
    cases = [Case(6, np.zeros(N, np.float32), a, b, extra=i) for i in range(4)]
    cases += [Case(6, np.zeros(N, np.int16), x, x[::-1].copy(), extra=i) for i in (4, 5)]
    cases += [Case(6, np.zeros(N // 8, np.uint8), a, b, extra=i) for i in range(6, 12)]
    cases.append(Case(6, np.zeros(N, np.float32), a, b, extra=12))
    outs = run("vec_select.cpp", cases)
    for got, want in zip(outs[:4], numbers, strict=True):
        assert_same(got, want)
    assert_same(outs[4], x & x[::-1])
    assert_same(outs[5], x | x[::-1])
    for got, mode in zip(outs[6:12], ("LT", "GT", "LE", "GE", "EQ", "NE"), strict=True):
        assert_same(got, packed(MODES[mode](a, b)), mode)
    assert_same(outs[12], np.concatenate([np.zeros(64, np.float32), numbers[0][: N - 64]]), "dst[64] = a + b")
