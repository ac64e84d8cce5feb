"""Reductions: the order of additions, ties, indices, masks and untouched results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.twin.vec_support import Case, assert_same, run, special_floats

pytestmark = pytest.mark.twin

Array = np.ndarray
FLOATS = ("float16", "float32")
ROOM = 4096
UINT = {"float16": np.uint16, "float32": np.uint32}
VALUE_INDEX, INDEX_VALUE, ONLY_VALUE, ONLY_INDEX = range(4)


def data(dtype: str, seed: int = 0) -> Array:
    return (np.random.default_rng(seed).standard_normal(ROOM) * 8).astype(dtype)


def halve(x: Array, left: int) -> Array:
    """Sums of neighbours, rounded to the type at each level, until `left` values remain in the last axis."""
    with np.errstate(over="ignore", invalid="ignore"):
        while x.shape[-1] > left:
            x = x[..., 0::2] + x[..., 1::2]
    return x


def rows(case: Case, size: int) -> tuple[Array, Array]:
    """Values of all lanes, repeat by repeat, and which of them are active."""
    assert case.a is not None
    per = 256 // size
    values = np.zeros((case.repeat, per), case.a.dtype)
    active = np.zeros((case.repeat, per), bool)
    for r, lanes in case._repeats(per):
        byte = lanes * size
        at = (byte // 32 * case.blk[1] + r * case.rep[1]) * 32 + byte % 32
        values[r, lanes] = case.a[at // size]
        active[r, lanes] = True
    return values, active


def first_extreme(values: Array, active: Array, smallest: bool) -> int:
    """Lane of the first NaN, else of the first extreme among the active lanes."""
    best = -1
    for lane in np.flatnonzero(active):
        if (
            best < 0
            or np.isnan(values[lane])
            or (values[lane] < values[best] if smallest else values[lane] > values[best])
        ):
            best = int(lane)
            if np.isnan(values[lane]):
                break
    return best


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n", [1, 5, 64, 127, 128, 129, 1000, 4096])
def test_reduce_sum_count(dtype: str, n: int) -> None:
    """A tree inside each repeat, the repeats in order."""
    x = data(dtype)
    per = 256 // x.itemsize
    whole = np.zeros(-(-n // per) * per, dtype)
    whole[:n] = x[:n]
    sums = halve(whole.reshape(-1, per), 1)[:, 0]
    total = sums[0]
    for value in sums[1:]:
        total = total + value
    zeros, work = np.zeros(16, dtype), np.full(ROOM, 3, dtype)
    got = run("vec_reduce.cpp", [Case(0, zeros, x, work, dtype=dtype, n=n), Case(13, zeros, x, work, dtype=dtype, n=n)])
    assert_same(got[0][:1], total.reshape(1), "ReduceSum")
    assert (got[0][1:] == 0).all()
    assert_same(got[1][:1], total.reshape(1), "GetAccVal")


@pytest.mark.parametrize("dtype", FLOATS)
def test_reduce_sum_mask(dtype: str) -> None:
    """Trees over the repeats as well; the work buffer holds the first round."""
    x = data(dtype)
    per = 256 // x.itemsize
    forms: list[dict[str, Any]] = [
        {"form": "MASK_N", "n": per, "repeat": 15},
        {"form": "MASK_N", "n": 33, "repeat": 7, "rep": (1, 5, 8)},
        {"form": "MASK_BITS", "bits": (0xFFF0_0000_0000_1111, 0xF), "repeat": 9},
        {"form": "MASK_N", "n": 4, "repeat": 130, "rep": (1, 1, 8)},
    ]
    cases = [Case(0, np.zeros(16, dtype), x, np.zeros(ROOM, dtype), dtype=dtype, **form) for form in forms]
    for case, got in zip(cases, run("vec_reduce.cpp", cases), strict=True):
        values = halve(rows(case, x.itemsize)[0], 1)[:, 0]
        while values.size > 1:
            padded = np.zeros(-(-values.size // per) * per, dtype)
            padded[: values.size] = values
            values = halve(padded.reshape(-1, per), 1)[:, 0]
        assert_same(got[:1], values, case.form)


def test_half_sums_round_at_each_node() -> None:
    x = np.zeros(128, np.float16)
    x[:4] = [60000, 60000, -30000, 100]
    x[64:66] = [2048, 1]
    (got,) = run(
        "vec_reduce.cpp", [Case(6, np.zeros(16, np.float16), x, dtype="float16", form="MASK_N", n=128, rep=(1, 8, 8))]
    )
    assert np.isinf(got[0]), "60000 + 60000 is infinite before -30000 is added"
    assert got[4] == 2048, "2049 is no half"


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", [1, 2])
def test_reduce_extreme(dtype: str, op: int) -> None:
    x = data(dtype)
    ties = np.full(ROOM, 2, dtype)
    ties[[70, 300, 301]] = -5 if op == 2 else 5
    special = special_floats(np.dtype(dtype).type, ROOM, 3)
    special[np.isnan(special)] = 0
    with_nan = x.copy()
    with_nan[[500, 900]] = np.nan
    per = 256 // x.itemsize
    sources = {
        "random": x,
        "ties": ties,
        "special": special,
        "nan": with_nan,
        "infinite": np.full(ROOM, np.inf * (3 - 2 * op), dtype),
    }
    cases = [
        Case(op, np.zeros(16, dtype), source, np.zeros(ROOM, dtype), dtype=dtype, i=index, label={"name": name}, **form)
        for name, source in sources.items()
        for index in (0, 1)
        for form in (
            {"n": 1001},
            {"n": 3},
            {"form": "MASK_N", "n": per - 3, "repeat": 6},
            {"form": "MASK_BITS", "bits": (2**63 + 2, 7), "repeat": 4},
        )
    ]
    for case, got in zip(cases, run("vec_reduce.cpp", cases), strict=True):
        assert case.a is not None
        if case.form == "COUNT":
            at = first_extreme(case.a, np.arange(ROOM) < case.n, op == 2)
            position = at
        else:
            values, active = rows(case, x.itemsize)
            flat = first_extreme(values.ravel(), active.ravel(), op == 2)
            position, at = flat, flat
        label = f"{case.label['name']} {case.form} index={case.i}"
        assert_same(got[:1], case.a[at : at + 1], label)
        stored = got.view(UINT[dtype])[1]
        assert stored == (position if case.i else 0), label


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", [3, 4, 5, 10])
def test_whole_reduce(dtype: str, op: int) -> None:
    x = data(dtype, op)
    x[5], x[9] = (x.max(), x.max()) if op == 4 else (x.min(), x.min())
    size, per = x.itemsize, 256 // x.itemsize
    forms: list[dict[str, Any]] = [
        {"form": "MASK_N", "n": per, "repeat": 12, "rep": (1, 8, 8)},
        {"form": "MASK_N", "n": 29, "repeat": 5, "blk": (1, 2, 1), "rep": (3, 16, 8)},
    ]
    if op != 10:
        forms += [
            {"form": "MASK_BITS", "bits": (0xF0_0000_0000_0001, 0x10), "repeat": 4, "rep": (2, 8, 8)},
            {"form": "REGISTER_N", "n": 17, "repeat": 3, "rep": (1, 8, 8)},
        ]
    orders = range(4) if op in (4, 5) else [0]
    keep = np.full(256, 7, dtype)
    cases = [Case(op, keep, x, dtype=dtype, extra=order, **form) for order in orders for form in forms]
    for case, got in zip(cases, run("vec_reduce.cpp", cases), strict=True):
        values, active = rows(case, size)
        raw = keep.tobytes()
        out = bytearray(raw)
        for r in range(case.repeat):
            if op in (3, 10):
                result = halve(values[r], 1).tobytes()
                unit = size
            else:
                lane = first_extreme(values[r], active[r], op == 5)
                value, index = values[r, lane : lane + 1].tobytes(), np.array([lane], UINT[dtype]).tobytes()
                result = {VALUE_INDEX: value + index, INDEX_VALUE: index + value, ONLY_VALUE: value,
                          ONLY_INDEX: np.array([lane], np.uint32).tobytes()}[case.extra]  # fmt: skip
                unit = len(result)
            at = r * case.rep[0] * unit
            out[at : at + unit] = result
        want = np.frombuffer(bytes(out), UINT[dtype])
        assert_same(got.view(UINT[dtype]), want, f"op {op} order {case.extra} {case.form} n={case.n}")


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", [6, 7, 8, 9])
def test_block_and_pair_reduce(dtype: str, op: int) -> None:
    """Results without an active lane keep what dst had."""
    x = data(dtype, op)
    size, per = x.itemsize, 256 // x.itemsize
    block = 32 // size
    keep = np.full(1024, 7, dtype)
    forms: list[dict[str, Any]] = [
        {"form": "MASK_N", "n": per, "repeat": 6, "rep": (1, 8, 8)},
        {"form": "MASK_N", "n": per // 2 - 3, "repeat": 3, "blk": (1, 2, 1), "rep": (2, 16, 8)},
        {
            "form": "MASK_BITS",
            "bits": (0x0000_00FF_0000_0003, 0x8000_0000_0000_0000 if size == 2 else 0),
            "repeat": 2,
            "rep": (1, 8, 8),
        },
        {"form": "REGISTER_N", "n": 20, "repeat": 2, "rep": (1, 8, 8)},
    ]
    cases = [Case(op, keep, x, dtype=dtype, **form) for form in forms]
    for case, got in zip(cases, run("vec_reduce.cpp", cases), strict=True):
        values, active = rows(case, size)
        width = 2 if op == 9 else block
        groups = per // width
        want = keep.copy()
        for r in range(case.repeat):
            start = r * case.rep[0] * groups
            for g in range(groups):
                part, on = values[r, g * width : (g + 1) * width], active[r, g * width : (g + 1) * width]
                if on.any():
                    lane = first_extreme(part, on, op == 8)
                    want[start + g] = part[lane] if op in (7, 8) else halve(part, 1)[0]
        assert_same(got, want, f"op {op} {case.form} n={case.n}")


@pytest.mark.parametrize("dtype", FLOATS)
def test_rows(dtype: str) -> None:
    x = data(dtype)
    cases = [Case(op, np.zeros(32, dtype), x, dtype=dtype, repeat=10, extra=320, n=300) for op in (11, 12)]
    sums, means = run("vec_reduce.cpp", cases)
    exact = x[:3200].reshape(10, 320)[:, :300].astype(np.float64).sum(1)
    tolerance = 0.02 if dtype == "float16" else 1e-5
    assert np.allclose(sums[:10].astype(np.float64), exact, rtol=tolerance, atol=tolerance * 64)
    assert np.allclose(means[:10].astype(np.float64), exact / 300, rtol=tolerance, atol=tolerance)


def test_extreme_of_all_repeats() -> None:
    x = data("float32")
    x[64 * 2 + 11] = 99
    (got,) = run(
        "vec_reduce.cpp",
        [
            Case(
                14, np.zeros(16, np.float32), x, np.zeros(256, np.float32), form="MASK_N", n=64, repeat=4, rep=(1, 8, 8)
            )
        ],
    )
    assert got[0] == 99
    assert got.view(np.uint32)[1] == 64 * 2 + 11


def test_work_buffer_is_checked() -> None:
    small = np.zeros(8, np.float32)
    room = np.zeros(10240, np.float32)
    case = Case(1, np.zeros(16, np.float32), room, small, form="MASK_N", n=64, repeat=150)
    run("vec_reduce.cpp", [case], expect=("TENSOR-SIZE",))
