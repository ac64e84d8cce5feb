"""Kernels with communication tasks, as the only rank."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest

import ascendops.twin
from ascendops.twin.kernel import Kernel

pytestmark = pytest.mark.twin
BLOCKS, N = 4, 64


@functools.cache
def kernel() -> Kernel:
    return ascendops.twin.compile(Path(__file__).parent / "kernels" / "hccl.cpp")


def round_trip(name: str) -> tuple[set[str], np.ndarray, np.ndarray, np.ndarray, list[str]]:
    x = np.arange(BLOCKS * N, dtype=np.float32)
    sent, received, y = (np.zeros_like(x) for _ in range(3))
    counts = np.full(3, -1, np.int32)
    result = kernel().launch(name, block_dim=BLOCKS, args=[x, sent, received, y, counts], checks="warn")
    return {d.id for d in result.diagnostics}, x, y, counts, [d.message for d in result.diagnostics]


def test_a_task_in_two_repeats() -> None:
    found, x, y, counts, _ = round_trip("good")
    assert found == set()
    np.testing.assert_array_equal(y, x + 1)
    assert counts.tolist() == [2, 1, 0]


@pytest.mark.parametrize(("name", "expected"), [("no_barrier", "GM-RACE"), ("no_commit", "DEADLOCK"), ("commit_again", "HCCL-USE"), ("no_init", "HCCL-USE")])
def test_faults_are_found(name: str, expected: str) -> None:
    found, *_, messages = round_trip(name)
    assert expected in found
    if name == "no_commit":
        assert any("Hccl::Wait(0) for execution 2 of the task hangs: it was committed 1 times" in m for m in messages)


def test_every_collective_sends_to_itself() -> None:
    x, y = np.random.default_rng(0).standard_normal(4 * N).astype(np.float16), np.zeros(4 * N, np.float16)
    result = kernel().launch("collectives", block_dim=1, args=[x, y], checks="warn")
    assert result.diagnostics == ()
    np.testing.assert_array_equal(y, x)
