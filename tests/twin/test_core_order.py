"""Faults of order: between pipes and instructions of one core, between cores, and around the data cache."""

from __future__ import annotations

import types

import numpy as np
import pytest
import torch
from core_kernels import compiled, expectations, findings, io

from ascendops.build import outputs as places
from ascendops.twin.opdef import OpParam

pytestmark = pytest.mark.twin

ORDER, CORES = "order.cpp", "cores.cpp"
ORDER_CASES = [
    (name, auto_sync, expected)
    for auto_sync in (True, False)
    for name, expected in expectations(ORDER, auto_sync=auto_sync).items()
]
CORE_CASES = list(expectations(CORES).items())


@pytest.mark.parametrize(("name", "auto_sync", "expected"), ORDER_CASES, ids=[f"{n}-{s}" for n, s, _ in ORDER_CASES])
def test_order_inside_a_core(name: str, auto_sync: bool, expected: set[tuple[str, int]]) -> None:
    assert not expected or name.startswith("bad_")
    assert auto_sync or expected or name.startswith("good_"), "a bad kernel is found when the compiler does not help"
    x, y = io()
    assert findings(compiled(ORDER), name, x, y, auto_sync=auto_sync) == expected


@pytest.mark.parametrize(("name", "expected"), CORE_CASES, ids=[name for name, _ in CORE_CASES])
def test_two_cores(name: str, expected: set[tuple[str, int]]) -> None:
    assert bool(expected) == name.startswith("bad_")
    x, y = io()
    workspace = {"workspace_bytes": x.nbytes} if "workspace" in name else {}
    for _ in range(3):  # whichever block comes first
        assert findings(compiled(CORES), name, x, y, block_dim=2, **workspace) == expected


def test_both_lines_are_quoted() -> None:
    x, y = io()
    result = compiled(ORDER).launch("bad_copy_after_vector", block_dim=1, args=[x, y], checks="warn")
    (found,) = result.diagnostics
    text = found.text()
    assert "DataCopy(y, b, N);" in text and "Adds(b, a, 1.0f, N);" in text
    assert "on pipe MTE3 reads 1024 bytes" in text and "on pipe V writes at order.cpp:" in text
    assert "WaitFlag<V_MTE3>" in text
    assert found.other is not None and found.to_dict()["other"]["line"] == found.other.line


def test_the_pointer_finding_names_the_argument_and_keeps_what_was_written() -> None:
    x, y = io()
    result = compiled(CORES).launch("bad_pointer_end", block_dim=1, args=[x, y], checks="warn")
    assert "reads 0 bytes behind the end of argument 0 (1024 bytes)" in result.diagnostics[0].message
    result = compiled(CORES).launch("bad_pointer_start", block_dim=1, args=[x, y], checks="warn")
    assert "writes 16384 bytes before the start of argument 1 (1024 bytes)" in result.diagnostics[0].message
    compiled(CORES).launch("good_pointers", block_dim=2, args=[x, y])
    np.testing.assert_array_equal(y, x)


def test_guarded_arguments_may_share_memory() -> None:
    both = np.arange(256, dtype=np.float32)
    compiled(CORES).launch("good_pointers", block_dim=2, args=[both, both])
    assert both.tolist() == list(range(256))
    compiled(CORES).launch("good_halves", block_dim=2, args=[both, both])
    assert both[0] == 0 and both[128] == 1


def test_outputs_hold_nothing_unless_they_are_given_or_initialised() -> None:
    def param(name: str, *init: float) -> OpParam:
        return OpParam(name, "required", ("float32", "int32"), ("ND", "ND"), init_value=init)

    definition = types.SimpleNamespace(outputs=[param("x"), param("y"), param("z", 3), param("w", 1, 2)])
    inputs = {"x": torch.ones(2)}
    made = [inputs["x"], *(torch.full((2,), 7.0) for _ in range(3))]
    places.initialise(definition, made, 1, inputs)
    assert [tensor.tolist() for tensor in made] == [[1, 1], [7, 7], [3, 3], [2, 2]]
    assert places.without_contents(definition, inputs, []) == {"y"}
    assert places.without_contents(definition, inputs, made) == set()
    assert places.gm_buffer(made[1], "y", undefined=True).flags == 1
