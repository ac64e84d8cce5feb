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


def test_reductions_comparisons_and_gathers_by_the_names_of_the_compiler() -> None:
    x = np.random.default_rng(2).permutation(128).astype(np.float32) - 60
    order, y, kept = (np.arange(128, dtype=np.uint32) * 4)[::-1].copy(), np.zeros(256, np.float32), np.zeros(8, np.int64)
    result = compiled("cce.cpp").launch("cce_reductions", args=[x, order, y, kept], block_dim=1, checks="warn")
    assert [str(found) for found in result.diagnostics] == []
    x[125:] = 7  # the padding
    rows = x.reshape(2, 64)
    assert y[[0, 2]].tolist() == rows.max(1).tolist()
    assert y.view(np.uint32)[[1, 3]].tolist() == rows.argmax(1).tolist()
    assert_same(y[8:24], x.reshape(16, 8).max(1))
    assert_same(y[24:40], x.reshape(16, 8).sum(1))
    bits = np.unpackbits(y[40:56].view(np.uint8), bitorder="little")
    assert_same(bits[:128], (x < 0).astype(np.uint8))
    assert_same(bits[256:384], (x < x[::-1]).astype(np.uint8))
    assert_same(y[64:128], x[::2])
    assert kept[0] == 64
    assert_same(y[128:], x[::-1].copy())


def test_selections_by_the_names_of_the_compiler() -> None:
    rng = np.random.default_rng(3)
    x, z, y = rng.standard_normal(64).astype(np.float32), rng.standard_normal(64).astype(np.float32), np.zeros(192, np.float32)
    result = compiled("cce.cpp").launch("cce_select", args=[x, z, y], block_dim=1, checks="warn")
    assert [str(found) for found in result.diagnostics] == []
    assert_same(y[:64], np.minimum(x, z))
    assert_same(y[64:128], np.minimum(x, z))
    assert_same(y[128:], np.where(x < z, x, np.float32(5)))
