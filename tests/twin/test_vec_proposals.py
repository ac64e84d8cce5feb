"""Region proposals: the sorting instructions of Ascend 310P."""

from __future__ import annotations

import numpy as np
import pytest
from core_kernels import FOLDER, compiled, findings

import ascendops.twin
from ascendops.errors import CompileError

pytestmark = pytest.mark.twin

FILE, SOC, N, SCORE = "proposals.cpp", "Ascend310P3", 64, 4
DTYPES = {"half": np.float16, "float": np.float32}


def scores(dtype: str) -> np.ndarray:
    x = np.random.default_rng(1).integers(-40, 40, N).astype(DTYPES[dtype])  # with equal scores
    x[[3, 20]] = np.inf, -np.inf
    return x


def descending(x: np.ndarray) -> np.ndarray:
    return np.argsort(-x, kind="stable")


@pytest.mark.parametrize("dtype", DTYPES)
def test_groups_of_16_are_sorted_and_merged(dtype: str) -> None:
    x, counts, y = scores(dtype), np.zeros(N, np.uint32), np.zeros((N, 8), DTYPES[dtype])
    assert findings(compiled(FILE, SOC), f"merge_{dtype}", x, counts, y, SCORE, 0) == set()
    want = np.zeros((N, 8), DTYPES[dtype])
    want[:, SCORE] = x[descending(x)]
    np.testing.assert_array_equal(y, want)
    assert counts[:4].tolist() == [16] * 4


def test_a_merge_stops_where_a_queue_ends() -> None:
    x, counts, y = scores("float"), np.zeros(N, np.uint32), np.zeros((N, 8), np.float32)
    assert findings(compiled(FILE, SOC), "merge_float", x, counts, y, SCORE, 1) == set()
    n = int(counts[:4].sum())
    assert max(counts[:4]) == 16 and n < N
    np.testing.assert_array_equal(y[:n, SCORE], x[descending(x)][:n])
    assert not y[n:].any()


def test_only_the_score_orders() -> None:
    x, counts, y = scores("float"), np.zeros(N, np.uint32), np.zeros((N, 8), np.float32)
    assert findings(compiled(FILE, SOC), "merge_float", x, counts, y, 2, 0) == set()
    np.testing.assert_array_equal(y[:, 2], x)


def test_a_proposal_has_six_fields() -> None:
    x, counts, y = scores("float"), np.zeros(N, np.uint32), np.zeros((N, 8), np.float32)
    result = compiled(FILE, SOC).launch("merge_float", args=[x, counts, y, 6, 0], block_dim=1, checks="warn")
    assert [d.id for d in result.diagnostics if d.severity == "error"] == ["SORT-RANGE"]


@pytest.mark.parametrize("full", [0, 1])
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_high_level_functions_carry_the_index(dtype: str, full: int) -> None:
    x, y = scores(dtype), np.zeros(8 * N, DTYPES[dtype])
    index = (np.arange(N, dtype=np.uint32) * 70000)[::-1].copy()  # in both halves of the index
    given = index.copy()
    assert findings(compiled(FILE, SOC), f"sort_{dtype}", x, index, y, full) == set()
    np.testing.assert_array_equal(y[:N], x[descending(x)])
    np.testing.assert_array_equal(y[N : 2 * N], x[descending(x)])
    np.testing.assert_array_equal(index, given[descending(x)])


def test_other_socs_do_not_have_them() -> None:
    with pytest.raises(CompileError, match="is not supported on Ascend 910B and 910_93"):
        ascendops.twin.compile(FOLDER / FILE)
