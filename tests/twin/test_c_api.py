"""The C interface of Ascend C: arrays of UB, copies, flags and vector functions in their forms."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest

import ascendops

KERNELS = Path(__file__).parent / "kernels" / "c_api.asc"
N = 512

pytestmark = pytest.mark.twin


@functools.lru_cache
def compiled() -> ascendops.twin.Kernel:
    return ascendops.twin.compile(KERNELS)


def numbers(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-4, 4, N).astype(np.float32)


def test_functions_that_take_a_count() -> None:
    x, z, y, rounded = numbers(1), numbers(2), np.zeros(N, np.float32), np.zeros(N, np.int32)
    result = compiled().launch("counted", block_dim=1, args=[x, z, y, rounded])
    assert not result.diagnostics
    want = np.sqrt(np.abs(np.maximum((x + z) * np.float32(0.5), z)))
    assert (y == want).all()
    assert (rounded == np.ceil(want)).all()


def test_strides_and_flags() -> None:
    x, z, y = numbers(3), numbers(4), np.zeros(N // 2, np.float32)
    result = compiled().launch("strided", block_dim=1, args=[x, z, y])
    assert not result.diagnostics
    assert (y.reshape(-1, 8) == x.reshape(-1, 2, 8)[:, 0] + z.reshape(-1, 2, 8)[:, 1]).all()


def test_the_mask_register() -> None:
    x, y, bits = numbers(5), np.zeros(N, np.float32), np.zeros(64, np.uint8)
    result = compiled().launch("masked", block_dim=1, args=[x, y, bits])
    assert not result.diagnostics
    assert (np.unpackbits(bits, bitorder="little") == (x < 2)).all()
    assert (y[:64].reshape(8, 8) == np.array([8, 8] + [24] * 6)).all(), "two blocks of eight ones, and six of threes"


@pytest.mark.parametrize(("kernel", "found"), [("too_large", "UB-CAPACITY"), ("without_a_flag", "SYNC-HAZARD")])
def test_what_is_found(kernel: str, found: str) -> None:
    result = compiled().launch(kernel, block_dim=1, args=[numbers(6)], checks="warn")
    assert found in {one.id for one in result.diagnostics}


def test_arithmetic_and_conversions_are_those_of_the_classes() -> None:
    different = np.full(256, -1, np.int32)
    compiled().launch("the_same_as_cpp", block_dim=1, args=[different], checks="off")
    assert (different[:104] == 0).all(), np.flatnonzero(different[:104])
    assert (different[104:] == -1).all(), "one number for each function"
