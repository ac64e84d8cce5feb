"""Gather, Scatter, GatherMask, sorting and layout changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.twin.vec_support import Case, assert_same, run, special_floats

pytestmark = pytest.mark.twin

Array = np.ndarray
WORDS = ("uint16", "uint32")
ROOM = 4096


def numbers(dtype: str, n: int = ROOM, seed: int = 0) -> Array:
    return np.random.default_rng(seed).integers(1, 60000, n).astype(dtype)


@pytest.mark.parametrize("dtype", WORDS)
def test_gather_and_scatter(dtype: str) -> None:
    x = numbers(dtype)
    size, per = x.itemsize, 256 // x.itemsize
    index = np.random.default_rng(1).permutation(2048)
    offsets = (index * size).astype(np.uint32)
    keep = np.full(ROOM, 7, dtype)
    cases = [
        Case(0, keep, x, offsets, dtype=dtype, n=1001),
        Case(0, keep, x, offsets, dtype=dtype, n=100, extra=64),
        Case(0, keep, x, offsets, dtype=dtype, form="MASK_N", n=45, repeat=3, rep=(10, 8, 8)),
        Case(0, keep, x, offsets, dtype=dtype, form="MASK_BITS", bits=(0xFF00FF1, 3), repeat=2, rep=(8, 8, 8)),
        Case(1, keep, x, offsets, dtype=dtype, n=1001),
        Case(1, keep, x, offsets, dtype=dtype, form="MASK_N", n=45, repeat=3, rep=(8, 9, 8)),
    ]
    for case, got in zip(cases, run("vec_move.cpp", cases), strict=True):
        d, a = case.lanes(size, size)
        lane = Case(0, keep, form=case.form, n=case.n, repeat=case.repeat, bits=case.bits).lanes(size)[0]
        far = index[lane] + case.extra // size
        want = keep.copy()
        if case.op == 0:
            want[d] = x[far]
        else:
            want[far] = x[a]
        assert_same(got, want, f"op {case.op} {case.form} {per}")


@pytest.mark.parametrize("dtype", WORDS)
def test_gatherb(dtype: str) -> None:
    x = numbers(dtype)
    block = 32 // x.itemsize
    order = np.random.default_rng(2).permutation(64)[:24]
    case = Case(
        2,
        np.zeros(ROOM, dtype),
        x,
        (order * 32).astype(np.uint32),
        dtype=dtype,
        repeat=3,
        blk=(2, 1, 1),
        rep=(20, 8, 8),
    )
    (got,) = run("vec_move.cpp", [case])
    want = np.zeros(ROOM, dtype)
    for j, source in enumerate(order):
        at = (j // 8 * 20 + j % 8 * 2) * block
        want[at : at + block] = x[source * block : (source + 1) * block]
    assert_same(got, want)


def test_gather_findings() -> None:
    x = numbers("uint32", 64)
    keep = np.zeros(64, np.uint32)
    crooked = np.arange(64, dtype=np.uint32) * 4 + 2
    run("vec_move.cpp", [Case(0, keep, x, crooked[:32], dtype="uint32", n=32)], expect=("GATHER-ALIGN",))
    far = np.full(64, 40 * 1024, np.uint32)
    run("vec_move.cpp", [Case(0, keep, x, far, dtype="uint32", n=64)], expect=("UB-BOUNDS",))


@pytest.mark.parametrize("dtype", WORDS)
@pytest.mark.parametrize("pattern", range(1, 8))
def test_gather_mask_fixed(dtype: str, pattern: int) -> None:
    x = numbers(dtype)
    size, per = x.itemsize, 256 // x.itemsize
    block = 32 // size
    keeps = {1: lambda j: j % 2 == 0, 2: lambda j: j % 2 == 1, 7: lambda j: j >= 0}.get(
        pattern, lambda j: j % 4 == pattern - 3
    )
    forms: list[dict[str, Any]] = [
        {"repeat": 5, "rep": (8, 8, 0)},
        {"repeat": 3, "rep": (8, 20, 0), "blk": (1, 2, 1)},
        {"repeat": 2, "rep": (8, 30, 0), "n": 70, "i": 1},
        {"repeat": 1, "rep": (8, 8, 0), "n": 1111, "i": 1},
    ]
    cases = [Case(3, np.zeros(ROOM, dtype), x, dtype=dtype, extra=pattern, **form) for form in forms]
    for case, got in zip(cases, run("vec_move.cpp", cases), strict=True):
        lane = np.arange(case.n if case.i else per)
        lane = lane[keeps(lane)]
        at = np.concatenate(
            [lane // block * case.blk[1] * block + r * case.rep[1] * block + lane % block for r in range(case.repeat)]
        )
        assert got.view(np.uint32)[-1] == got.view(np.uint32)[-2] == at.size
        assert_same(got[: at.size], x[at], f"pattern {pattern} n={case.n}")
        assert (got[at.size : -8] == 0).all()


@pytest.mark.parametrize("dtype", WORDS)
@pytest.mark.parametrize("pattern_stride", [0, 1])
def test_gather_mask_tensor(dtype: str, pattern_stride: int) -> None:
    x = numbers(dtype)
    bits = np.random.default_rng(4).integers(0, 2, 2048).astype(bool)
    pattern = np.packbits(bits, bitorder="little")
    per = 256 // x.itemsize
    cases = [
        Case(4, np.zeros(ROOM, dtype), x, pattern, dtype=dtype, repeat=3, rep=(8, 8, pattern_stride)),
        Case(4, np.zeros(ROOM, dtype), x, pattern, dtype=dtype, n=100, i=1, repeat=2, rep=(8, 16, pattern_stride)),
    ]
    for case, got in zip(cases, run("vec_move.cpp", cases), strict=True):
        each = case.n if case.i else per
        kept = []
        for r in range(case.repeat):
            first = r * pattern_stride * 256
            kept.append(np.flatnonzero(bits[first : first + each]) + r * case.rep[1] * 32 // x.itemsize)
        at = np.concatenate(kept)
        assert got.view(np.uint32)[-1] == at.size
        assert_same(got[: at.size], x[at])


def records(scores: Array, index: Array) -> Array:
    """(score, index) pairs of 8 bytes as uint32 pairs."""
    low = scores.view(np.uint16).astype(np.uint32) if scores.itemsize == 2 else scores.view(np.uint32)
    return np.stack([low, index.astype(np.uint32)], 1)


def descending(scores: Array) -> Array:
    key = np.where(np.isnan(scores), np.inf, scores.astype(np.float64))
    return np.lexsort((np.arange(scores.size), -key, ~np.isnan(scores)))


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_sort32_and_merge(dtype: str) -> None:
    scores = special_floats(np.dtype(dtype).type, 128, 5)
    scores[40:44] = scores[33]
    index = np.arange(1000, 1128, dtype=np.uint32)
    (got,) = run("vec_move.cpp", [Case(5, np.zeros((128, 2), np.uint32), scores, index, dtype=dtype, repeat=4)])
    order = np.concatenate([descending(scores[r : r + 32]) + r for r in range(0, 128, 32)])
    assert_same(got, records(scores, index)[order], "Sort32")

    def merge(lengths: tuple[int, int, int, int], valid: int, suspend: int, repeat: int = 1) -> Array:
        case = Case(
            6,
            np.zeros((132, 2), np.uint32),
            got,
            dtype=dtype,
            blk=lengths[:3],
            n=lengths[3],
            extra=valid,
            i=suspend,
            repeat=repeat,
        )
        return run("vec_move.cpp", [case])[0]

    whole = merge((32, 32, 32, 32), 15, 0)
    assert_same(whole[:128], records(scores, index)[descending(scores)], "MrgSort")
    assert whole[130:].ravel().tolist() == [32, 32, 32, 32]
    two = merge((32, 32, 0, 0), 3, 0)
    assert_same(two[:64], records(scores, index)[descending(scores[:64])], "MrgSort of two")
    stopped = merge((32, 32, 0, 0), 3, 1)
    taken = stopped[130:].ravel()[:2]
    assert 32 in taken and taken.sum() < 64
    assert_same(stopped[: taken.sum()], two[: taken.sum()], "exhausted suspension")
    assert (stopped[taken.sum() : 128] == 0).all()


def test_merge_repeats() -> None:
    scores = np.random.default_rng(6).standard_normal(256).astype(np.float32)
    index = np.arange(256, dtype=np.uint32)
    eight = np.concatenate([descending(scores[r : r + 8]) + r for r in range(0, 256, 8)])
    case = Case(6, np.zeros((260, 2), np.uint32), records(scores, index)[eight], blk=(8, 8, 8), n=8, extra=15, repeat=8)
    (got,) = run("vec_move.cpp", [case])
    order = np.concatenate([descending(scores[r : r + 32]) + r for r in range(0, 256, 32)])
    assert_same(got[:256], records(scores, index)[order])


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_full_sort(dtype: str) -> None:
    scores = np.random.default_rng(7).standard_normal(256).astype(dtype)
    index = np.arange(256, dtype=np.uint32)
    (got,) = run(
        "vec_move.cpp",
        [Case(7, np.zeros(256, dtype), scores, index, np.zeros((256, 2), np.uint32), dtype=dtype, repeat=8)],
    )
    assert_same(got, np.sort(scores)[::-1])


def test_sort_findings() -> None:
    case = Case(6, np.zeros((68, 2), np.uint32), np.zeros((64, 2), np.uint32), blk=(32, 32, 0), n=0, extra=5, repeat=1)
    run("vec_move.cpp", [case], expect=("SORT-RANGE",))


def test_transpose_16x16() -> None:
    x = numbers("uint16", 256)
    (got,) = run("vec_move.cpp", [Case(8, np.zeros(256, np.uint16), x, dtype="uint16")])
    assert_same(got, x.reshape(16, 16).T.ravel())


@pytest.mark.parametrize("op", [9, 10])
def test_trans_data_to_5hd(op: int) -> None:
    x16, x32, x8 = numbers("uint16", 1024), numbers("uint32", 512), np.arange(1024, dtype=np.uint16).astype(np.uint8)
    cases = [
        Case(op, np.zeros(1024, np.uint16), x16, dtype="uint16", repeat=1, rep=(0, 0, 0)),
        Case(op, np.zeros(1024, np.uint16), x16, dtype="uint16", repeat=4, blk=(1, 4, 1), rep=(16, 1, 0)),
        Case(op, np.zeros(512, np.uint32), x32, dtype="uint32", repeat=1, rep=(0, 0, 0)),
        Case(op, np.zeros(512, np.uint8), x8, dtype="uint8", repeat=1, rep=(0, 0, 0), extra=2),
        Case(op, np.zeros(1024, np.uint16), x16, dtype="uint16", repeat=1, blk=(1, 1, 1), rep=(16, 16, 0)),
    ]
    got = run("vec_move.cpp", cases)
    assert_same(got[0][:256], x16[:256].reshape(16, 16).T.ravel(), "16 bits")
    # 16 rows of 64 (one C each) to 64 rows of 16: NCHW to NC1HWC0.
    assert_same(got[1], x16.reshape(16, 64).T.ravel(), "16 bits, 4 repeats")
    # Element j of the 16 blocks goes to destinations 2j (blocks 0..7) and 2j + 1 (8..15).
    assert_same(got[2][:128], x32[:128].reshape(16, 8).T.ravel(), "32 bits")
    high = x8[:512].reshape(16, 32)[:, 16:]
    want = np.zeros((16, 32), np.uint8)
    want[:, :16] = high.T
    assert_same(got[3], want.ravel(), "8 bits from the high half to the low half")
    # With one repeat the strides are an offset from the start.
    assert_same(got[4][256:512], x16[256:512].reshape(16, 16).T.ravel(), "strides of a single repeat")


def test_transpose_of_axes() -> None:
    n, c, h, w = 2, 3, 4, 8
    x = numbers("uint16", n * c * h * w)
    case = Case(11, np.zeros(x.size, np.uint16), x, dtype="uint16", blk=(n, c, 1), rep=(h, w, 0))
    (forward,) = run("vec_move.cpp", [case])
    assert_same(forward, x.reshape(n, c, h, w).transpose(0, 2, 3, 1).ravel())
    (back,) = run(
        "vec_move.cpp", [Case(12, np.zeros(x.size, np.uint16), forward, dtype="uint16", blk=(n, c, 1), rep=(h, w, 0))]
    )
    assert_same(back, x)
