"""Every check of the twin: a broken kernel is caught at its line, and good ones stay silent."""

from __future__ import annotations

import re

import numpy as np
import pytest
from core_kernels import FOLDER, compiled, expectations, findings, io

from ascendops import resources
from ascendops.errors import TwinCheckError
from ascendops.twin.findings import CUBE_FINDINGS, FINDINGS, VECTOR_FINDINGS

pytestmark = pytest.mark.twin

FILES = ("queues.cpp", "memory.cpp", "sync.cpp")
CASES = [(file, name, expected) for file in FILES for name, expected in expectations(file).items()]


@pytest.mark.parametrize(("file", "name", "expected"), CASES, ids=[name for _, name, _ in CASES])
def test_findings_of_each_kernel(file: str, name: str, expected: set[tuple[str, int]]) -> None:
    assert bool(expected) == name.startswith("bad_"), "bad kernels say what they must give; good ones give nothing"
    x, y = io()
    assert findings(compiled(file), name, x, y, block_dim=2 if "barrier" in name else 1) == expected


def test_each_kind_has_a_kernel_that_shows_it() -> None:
    """Findings of the vector unit and of the cube unit are shown by the tests of those."""
    shown = {
        kind
        for file in (*FILES, "copies.cpp", "launches.cpp", "public_kinds.cpp", "order.cpp", "cores.cpp")
        for found in expectations(file, auto_sync=False).values()
        for kind, _ in found
    }
    shown |= set(
        re.findall(
            r'"([A-Z0-9]+-[A-Z-]+|HANG)"',
            "".join((FOLDER.parent / f"test_{part}.py").read_text() for part in ("core_launch", "core_socs", "public_projects", "cube")),
        )
    )
    assert FINDINGS.keys() - shown - {kind.id for kind in (*VECTOR_FINDINGS, *CUBE_FINDINGS)} - {"HANG", "DUMP-RANGE"} == set()


def test_every_id_in_the_sources_is_in_the_catalogue() -> None:
    used: set[str] = set()
    for source in (*resources.twin("runtime").glob("*.cpp"), *resources.twin("include").glob("ascendc_twin/*.h")):
        used |= set(re.findall(r'"((?:[A-Z0-9]+-)+[A-Z0-9]+)"', source.read_text()))
    assert used - FINDINGS.keys() == set()


def test_messages_have_the_numbers() -> None:
    x, y = io()
    result = compiled("memory.cpp").launch("bad_capacity", block_dim=1, args=[x, y], checks="warn")
    assert "196640" in result.diagnostics[0].message and "196608" in result.diagnostics[0].message
    assert re.search(r"first touched by Duplicate at .*memory\.cpp:\d+", result.diagnostics[0].message)
    result = compiled("memory.cpp").launch("bad_vector_end", block_dim=1, args=[x, y], checks="warn")
    assert "bytes 0 to 1056 of a buffer of 1024 bytes" in result.diagnostics[0].message
    assert re.search(r"memory\.cpp:\d+", result.diagnostics[0].message), "names the InitBuffer line"
    result = compiled("memory.cpp").launch("bad_gm_write", block_dim=1, args=[x, y], checks="warn")
    assert "writes 1056 bytes from byte 0 of argument 1 (1024 bytes)" in result.diagnostics[0].message


def test_unused_buffers_beyond_a_memory_do_not_fail_a_kernel() -> None:
    x, y = io()
    result = compiled("memory.cpp").launch("bad_capacity_unused", block_dim=1, args=[x, y])
    assert {(d.id, d.severity) for d in result.diagnostics} == {("CAPACITY-UNUSED", "warning")}
    np.testing.assert_array_equal(y[:64], x[:64])
    for name in ("bad_capacity", "bad_capacity_twice"):  # the twin has room for them when nothing is checked
        assert not compiled("memory.cpp").launch(name, block_dim=1, args=[x, y], checks="off").diagnostics


def test_errors_raise_after_the_outputs_are_there() -> None:
    x, y = io()
    with pytest.raises(TwinCheckError) as error:
        compiled("memory.cpp").launch("bad_alignment", block_dim=1, args=[x, y])
    assert {d.id for d in error.value.diagnostics} == {"UB-ALIGN"}
    assert "memory.cpp" in str(error.value)


def test_checks_off_report_nothing_and_still_guard_memory() -> None:
    x, y = io()
    result = compiled("memory.cpp").launch("bad_gm_write", block_dim=1, args=[x, y], checks="off")
    assert result.diagnostics == ()
    assert y.tolist() == [1.0] * 256, "an instruction out of bounds moves only the bytes inside"


def test_findings_count_over_blocks() -> None:
    x, y = io()
    result = compiled("memory.cpp").launch("bad_gm_scalar", block_dim=3, args=[x, y], checks="warn")
    assert {d.blocks for d in result.diagnostics} == {(0, 1, 2)}
    assert {d.count for d in result.diagnostics} == {3}


def test_terminal_text_quotes_the_line() -> None:
    x, y = io()
    result = compiled("memory.cpp").launch("bad_unset_tensor", block_dim=1, args=[x, y], checks="warn")
    assert "DataCopy(y, a, N);" in result.diagnostics[0].text()
    assert "error[UB-TENSOR]" in str(result.diagnostics[0])


def test_unwritten_ub_is_poisoned() -> None:
    x, y = io()
    compiled("memory.cpp").launch("bad_poison", block_dim=1, args=[x, y], checks="warn")
    assert np.isnan(y).all()


def test_values_of_good_kernels() -> None:
    x, y = io()
    compiled("queues.cpp").launch("good_double_buffer", block_dim=1, args=[x, y])
    np.testing.assert_array_equal(y, x + 1)
    y[:] = 0
    compiled("queues.cpp").launch("good_bind_in_place", block_dim=1, args=[x, y])
    np.testing.assert_array_equal(y, x + 1)
    compiled("queues.cpp").launch("good_queries", block_dim=1, args=[x, y])
    assert y[0] == 255
    compiled("memory.cpp").launch("good_raw_address", block_dim=1, args=[x, y])
    np.testing.assert_array_equal(y, x)
    compiled("memory.cpp").launch("good_views", block_dim=1, args=[x, y])
    assert y[:8].tolist() == [0x3F800000, 1024, 0x3F, 16, 248, 7, 4, 32]


def test_scalar_accesses_need_flags_without_auto_sync() -> None:
    x, y = io()
    result = compiled("sync.cpp").launch(
        "good_scalar_with_auto_sync", block_dim=1, args=[x, y], auto_sync=False, checks="warn"
    )
    assert sorted(d.id for d in result.diagnostics) == ["SYNC-BARRIER"] + ["SYNC-HAZARD"] * 3


def test_barrier_sums() -> None:
    x, y = io()
    compiled("sync.cpp").launch("good_barrier_of_all", block_dim=8, args=[x, y])
    assert y[:128:16].tolist() == [36.0 * 64] * 8


def test_copies_out_of_bounds_copy_what_lies_inside() -> None:
    x, y = io()
    compiled("memory.cpp").launch("bad_overread", block_dim=1, args=[x, y], checks="warn")
    assert y[:5].tolist() == x[-5:].tolist()
    assert np.isnan(y[5:8]).all(), "read behind the buffer: undefined"
    assert y[8:251].tolist() == x[13:].tolist()
    assert np.isnan(y[251:255]).all()
    assert y[255] == x[-5], "the second element of the last copy lies outside"


def test_blocks_in_a_row() -> None:
    x, y = np.zeros(256, np.float32), io()[1]
    compiled("sync.cpp").launch("good_block_after_block", block_dim=15, args=[x, y])
    assert y[:240:16].tolist() == list(range(1, 16))


def test_cross_core_flags_are_a_barrier() -> None:
    x, y = io()
    compiled("sync.cpp").launch("good_cross_core_barrier", block_dim=4, args=[x, y])
    assert (y[128::16] == 4).all()
