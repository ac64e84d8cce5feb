"""The cycle model: what overlaps, what waits, and where each instruction stands in the source."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from core_kernels import FOLDER, compiled

from ascendops.twin.timeline import Timeline

pytestmark = pytest.mark.twin

FILE = "timeline.cpp"
TILE = 4096


def trace(name: str, tiles: int = 8, **options: object) -> Timeline:
    x = np.ones(tiles * TILE, "f4")
    result = compiled(FILE).launch(name, args=[x, np.zeros_like(x), tiles], trace=True, **{"block_dim": 1, **options})
    assert result.timeline is not None
    return result.timeline


def line_of(comment: str) -> int:
    lines = (FOLDER / FILE).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if f"// line: {comment}" in line)


def test_events_name_pipe_line_and_bytes() -> None:
    timeline = trace("one_buffer", tiles=2)
    assert [(e.pipe, e.api, e.line, e.bytes) for e in timeline.events][:3] == [
        ("MTE2", "DataCopy", line_of("copy in"), TILE * 4),
        ("V", "Adds", line_of("add"), timeline.events[1].bytes),
        ("MTE3", "DataCopy", line_of("copy out"), TILE * 4),
    ]
    assert {e.file for e in timeline.events} == {str(FOLDER / FILE)}
    assert len(timeline.events) == 6


def test_a_pipe_runs_in_order_and_data_is_waited_for() -> None:
    timeline = trace("two_buffers")
    for pipe in ("MTE2", "V", "MTE3"):
        events = [e for e in timeline.events if e.pipe == pipe]
        assert all(before.end <= after.start for before, after in itertools.pairwise(events))
    copy_in, add, copy_out = timeline.events[:3]
    assert copy_in.end <= add.start < add.end <= copy_out.start


def test_double_buffering_overlaps() -> None:
    one, two = trace("one_buffer"), trace("two_buffers")
    assert two.cycles < 0.9 * one.cycles
    assert two.bound == "MTE2"
    overlap = next(e for e in two.events if e.pipe == "MTE3")
    assert any(e.pipe == "MTE2" and e.start < overlap.end and e.end > overlap.start for e in two.events)


def test_vector_cycles_are_head_and_repeats() -> None:
    add = next(e for e in trace("one_buffer", tiles=1).events if e.pipe == "V")
    assert 64 <= add.end - add.start <= 24 + 2 * 64


def test_more_cores_share_the_memory() -> None:
    alone = trace("two_buffers", tiles=4)
    together = trace("two_buffers", tiles=4, block_dim=48)
    assert together.cycles > 1.5 * alone.cycles
    assert len({e.block for e in together.events}) == 48


def test_blocks_meet_in_the_barrier() -> None:
    timeline = trace("uneven_blocks", block_dim=2)
    first = max(e.end for e in timeline.events if e.block == 0)
    assert min(e.start for e in timeline.events if e.block == 1) >= first


def test_scalar_accesses_cost_time() -> None:
    x = np.ones(256, "f4")
    result = compiled(FILE).launch("scalar_loop", block_dim=1, args=[x, x.copy(), 100], trace=True)
    assert result.timeline is not None
    assert result.timeline.busy["S"] == pytest.approx(3300)


def test_chrome_trace(tmp_path: Path) -> None:
    timeline = trace("two_buffers", tiles=2)
    timeline.write(tmp_path / "trace.json")
    data = json.loads((tmp_path / "trace.json").read_text())
    slices = [row for row in data["traceEvents"] if row["ph"] == "X"]
    assert len(slices) == len(timeline.events)
    assert slices[0]["args"]["where"].endswith(f"timeline.cpp:{line_of('copy in')}")
    assert data["otherData"]["model"] == "CPU twin cycle model (not measured on a device)"


def test_it_says_that_it_is_a_model() -> None:
    assert "CPU twin cycle model (not measured on a device)" in str(trace("one_buffer", tiles=1))


def test_no_trace_unless_asked() -> None:
    x = np.ones(TILE, "f4")
    assert compiled(FILE).launch("one_buffer", block_dim=1, args=[x, x.copy(), 1]).timeline is None
