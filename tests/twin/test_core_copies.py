"""Copies compared with NumPy: counts, strides, paddings, slices, atomics; and their faults."""

from __future__ import annotations

import functools
import struct

import numpy as np
import pytest
from core_kernels import FOLDER, Kernel, expectations, findings

import ascendops.twin

pytestmark = pytest.mark.twin

POISON = 0x7FD5


@functools.cache
def kernel(dtype: str = "float") -> Kernel:
    return ascendops.twin.compile(FOLDER / "copies.cpp", defines={"DTYPE_A": dtype})


def tiling(count: int = 1, length: int = 0, src: int = 0, dst: int = 0, *, pad: bool = False, left: int = 0, right: int = 0,
           value: float = 0, ub: int = 4096) -> bytes:  # fmt: skip
    return struct.pack("<7IfI", count, length, src, dst, pad, left, right, value, ub)


def launch(name: str, x: np.ndarray, y: np.ndarray, data: bytes, dtype: str = "float", **options: object) -> None:
    kernel(dtype).launch(name, **{"block_dim": 1, **options}, args=[x, y], tiling=data)


BLOCKS = [
    (1, 4, 0, 0),
    (3, 2, 0, 0),
    (3, 2, 1, 0),
    (3, 2, 0, 3),
    (4, 1, 2, 5),
    (5, 3, 4, 1),
    (0, 3, 1, 1),
    (2, 0, 1, 1),
]


def strided(source: np.ndarray, into: np.ndarray, count: int, run: int, src_step: int, dst_step: int) -> np.ndarray:
    """`count` runs of `run` bytes; steps in bytes."""
    source, into = source.view(np.uint8), into.view(np.uint8)
    for i in range(count):
        into[i * dst_step : i * dst_step + run] = source[i * src_step : i * src_step + run]
    return into


@pytest.mark.parametrize("name", ["good_blocks_in", "good_blocks_out", "good_blocks_local"])
@pytest.mark.parametrize(("count", "length", "src", "dst"), BLOCKS)
def test_blocks(name: str, count: int, length: int, src: int, dst: int) -> None:
    x, y = np.arange(1, 1025, dtype=np.float32), np.zeros(1024, dtype=np.float32)
    launch(name, x, y, tiling(count, length, src, dst))
    run = length * 32
    want = strided(x, np.zeros(1024, dtype=np.float32), count if run else 0, run, run + src * 32, run + dst * 32)
    np.testing.assert_array_equal(y.view(np.uint8), want)


PADS = [
    # count, bytes, source gap (bytes), destination gap (blocks), is_pad, left, right
    (1, 64, 0, 0, False, 0, 0),
    (1, 34, 0, 0, False, 0, 0),
    (3, 34, 0, 0, False, 0, 0),
    (3, 34, 6, 2, False, 0, 0),
    (1, 34, 0, 0, True, 0, 15),
    (2, 34, 2, 1, True, 3, 4),
    (2, 34, 2, 1, True, 3, 0),
    (2, 32, 0, 0, True, 0, 16),
    (2, 2, 0, 0, True, 0, 0),
    (2, 34, 0, 1, False, 2, 1),
]


def padded(
    x: np.ndarray, count: int, run: int, src: int, dst: int, left: int, right: int, filler: int | None
) -> np.ndarray:
    """The unified buffer after DataCopyPad; `filler` is the bits of padding, None: the block's first element."""
    ub = np.zeros(2048, dtype=np.uint16)
    bits = x.view(np.uint16)
    footprint = -(-(left * 2 + run + right * 2) // 32) * 32
    for i in range(count):
        start, at = i * (run + src) // 2, i * (footprint + dst * 32) // 2
        ub[at : at + footprint // 2] = bits[start] if filler is None else filler
        ub[at + left : at + left + run // 2] = bits[start : start + run // 2]
    return ub


@pytest.mark.parametrize("name", ["good_pad_in", "good_pad_in_older"])
@pytest.mark.parametrize(("count", "run", "src", "dst", "pad", "left", "right"), PADS)
def test_padding_in(name: str, count: int, run: int, src: int, dst: int, pad: bool, left: int, right: int) -> None:
    x, y = np.arange(1, 2049, dtype=np.float16), np.zeros(2048, dtype=np.float16)
    launch(name, x, y, tiling(count, run, src, dst, pad=pad, left=left, right=right, value=-7.0))
    filler = None if left + right == 0 else (np.float16(-7).view(np.uint16) if pad else POISON)
    np.testing.assert_array_equal(y.view(np.uint16), padded(x, count, run, src, dst, left, right, filler))


def test_pad_value_register() -> None:
    x, y = np.arange(1, 2049, dtype=np.float16), np.zeros(2048, dtype=np.float16)
    launch("good_pad_register", x, y, tiling(2, 40, 0, 0, right=12, value=1.0))
    np.testing.assert_array_equal(y.view(np.uint16), padded(x, 2, 40, 0, 0, 0, 12, np.float16(1).view(np.uint16)))


@pytest.mark.parametrize(
    ("count", "run", "src", "dst"), [(1, 34, 0, 0), (3, 34, 0, 0), (3, 34, 2, 6), (4, 2, 0, 62), (2, 64, 1, 1)]
)
def test_padding_out(count: int, run: int, src: int, dst: int) -> None:
    x, y = np.arange(1, 2049, dtype=np.float16), np.zeros(2048, dtype=np.float16)
    launch("good_pad_out", x, y, tiling(count, run, src, dst))
    block = -(-run // 32) * 32
    want = strided(x, np.zeros(2048, dtype=np.float16), count, run, block + src * 32, run + dst)
    np.testing.assert_array_equal(y.view(np.uint8), want)


def test_slices() -> None:
    x, y = np.arange(3 * 87, dtype=np.float32), np.zeros(96, dtype=np.float32)
    launch("good_slices", x, y, tiling())
    rows = x.reshape(3, 87)[[0, 2]]
    np.testing.assert_array_equal(y.reshape(2, 48), np.concatenate([rows[:, 16:40], rows[:, 47:71]], axis=1))


@pytest.mark.parametrize(
    ("cpp", "dtype"), [("float", "f4"), ("half", "f2"), ("int32_t", "i4"), ("int16_t", "i2"), ("int8_t", "i1")]
)  # fmt: skip
@pytest.mark.parametrize(("key", "fold"), [(1, "sum"), (2, "max"), (3, "min")])
def test_atomics(cpp: str, dtype: str, key: int, fold: str) -> None:
    x = (np.arange(256) % 5 - 2).astype(dtype)
    y = np.concatenate([np.full(256, 1, dtype), np.zeros(256, dtype)])
    blocks = 1 if dtype == "i1" else 4
    launch("good_atomic_add", x, y, tiling(), cpp, tiling_key=key, block_dim=blocks)
    want = {"sum": 1 + x.astype("i8") * 50 * blocks, "max": np.maximum(x, 1), "min": np.minimum(x, 1)}[fold]
    np.testing.assert_array_equal(y[:256], want.astype(dtype))
    np.testing.assert_array_equal(y[256:], x)


@pytest.mark.parametrize(
    ("name", "expected"), [(n, e) for n, e in expectations("copies.cpp").items() if n.startswith("bad_")]
)
def test_faults(name: str, expected: set[tuple[str, int]]) -> None:
    x, y = np.arange(2048, dtype=np.float32), np.zeros(2048, dtype=np.float32)
    assert expected
    assert findings(kernel(), name, x, y, tiling=tiling(ub=180 * 1024)) == expected


def test_truncated_copy_leaves_the_tail() -> None:
    x, y = np.arange(1, 2049, dtype=np.float32), np.zeros(2048, dtype=np.float32)
    kernel().launch("bad_truncated", block_dim=1, args=[x, y], tiling=tiling(), checks="warn")
    np.testing.assert_array_equal(y[:16], np.concatenate([x[:8], np.zeros(8)]))
