"""The compiler's own names of instructions, and constants below the API."""

from __future__ import annotations

import numpy as np
import pytest

from tests.twin.vec_support import assert_same, compiled

pytestmark = pytest.mark.twin


def test_instructions_by_the_names_of_the_compiler() -> None:
    x = np.random.default_rng(0).standard_normal(128).astype(np.float32)
    h = np.random.default_rng(1).standard_normal(128).astype(np.float16)
    y, narrow, counts = np.zeros(128, np.float32), np.zeros(128, np.float16), np.zeros(8, np.uint64)
    result = compiled("cce.cpp").launch("cce", args=[x, h, y, narrow, counts], block_dim=1, checks="warn")
    assert [str(found) for found in result.diagnostics] == []
    want = np.float32(2) * (x + h)
    assert_same(y[:127], want[:127])
    assert y[127] == 0, "127 floats are copied"
    assert_same(narrow, want.astype(np.float16))
    assert counts[:4].tolist() == [0x3F800000, 1, 32 + 2, 192 * 1024 + 64]
