"""High-level functions read a source whole before its bytes are overwritten, as the library does through its own buffer."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import ascendops
from ascendops.twin.kernel import Kernel

pytestmark = pytest.mark.twin


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    return ascendops.twin.compile(Path(__file__).parent / "kernels" / "overlap.cpp")


@pytest.mark.parametrize(("start", "to"), [(0, 0), (0, 8), (0, 96), (96, 0), (8, 0), (0, 256)])
def test_dst_may_overlap_a_source_by_parts(kernel: Kernel, start: int, to: int) -> None:
    x = torch.linspace(-9, 9, 200)
    y = torch.zeros(3, 200)
    kernel.launch(block_dim=1, args=[x, y, 200, start, to], checks="warn")
    torch.testing.assert_close(y, torch.stack([torch.sigmoid(x), x**2, torch.fmod(x, torch.tensor(3.0))]), rtol=1e-6, atol=1e-6)
