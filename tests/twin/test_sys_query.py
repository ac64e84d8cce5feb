"""Queries about the core, functions for one kind of core, and the atomic mode by its fields."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import ascendops

pytestmark = pytest.mark.twin


def test_queries_and_the_atomic_configuration() -> None:
    seen, total = torch.full((8,), -1, dtype=torch.int32), torch.full((16,), 2.0, dtype=torch.float16)
    ascendops.twin.compile(Path(__file__).parent / "kernels" / "queries.cpp").launch(block_dim=1, args=[seen, total])
    assert seen[:5].tolist() == [0x220, 0, 5, 2, 0]
    assert torch.equal(total, torch.full((16,), 3.0, dtype=torch.float16))
