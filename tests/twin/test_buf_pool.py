"""Pools of buffers that share memory, and barriers between groups of blocks."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import ascendops
from ascendops.errors import TwinCheckError
from ascendops.twin.kernel import Kernel

pytestmark = pytest.mark.twin


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    return ascendops.twin.compile(Path(__file__).parent / "kernels" / "pools.cpp")


@pytest.mark.parametrize("auto_sync", [True, False])
def test_pools_over_the_same_bytes_take_turns(kernel: Kernel, auto_sync: bool) -> None:
    x = torch.arange(64, dtype=torch.float32)
    result = kernel.launch("pools", block_dim=1, args=[x, 1024], auto_sync=auto_sync)
    assert torch.equal(x, torch.arange(64) + 3.0)
    assert not result.diagnostics
    assert result.high_water["UB"] == 1024 + 8 * 256


def test_a_pool_that_is_too_small_is_reported(kernel: Kernel) -> None:
    with pytest.raises(TwinCheckError, match="POOL-CAPACITY"):
        kernel.launch("pools", block_dim=1, args=[torch.zeros(64), 992])


def test_groups_wait_for_every_arrival(kernel: Kernel) -> None:
    seen = torch.zeros(24, dtype=torch.int32)
    kernel.launch("groups", block_dim=5, args=[torch.zeros(3 * 128, dtype=torch.int32), torch.zeros(8, dtype=torch.int32), seen])
    assert torch.equal(seen, torch.full((24,), 3, dtype=torch.int32))
