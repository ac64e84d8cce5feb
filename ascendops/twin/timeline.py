"""A cycle model of a launch: in-order pipes, dependences through buffers and flags. A model, never a device measurement."""

from __future__ import annotations

import bisect
import json
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from ascendops.spec.socs import Soc
from ascendops.twin.diagnostics import Address, frames, user_frame

# GB/s of one core by size of the transfer, Ascend 910B1 (mskpp, data/perf/mskpp_mov_bandwidth.csv).
_KIB = (1, 2, 4, 8, 16, 32, 64)
_GM_TO_LOCAL = (7.3, 13.5, 23.6, 42.7, 68.0, 77.0, 78.0)
_LOCAL_TO_GM = (11.4, 20.0, 34.0, 57.8, 86.8, 108.0, 110.0)
_LOCAL_TO_LOCAL = 441.0
_REFERENCE_MHZ = 1850
_GM_TOTAL = 1600.0  # GB/s of all cores together
_VECTOR_HEAD = 24.0  # cycles before the first repeat
_REPEAT_BYTES = 256
_ISSUE = 10.0  # cycles of the scalar unit for each instruction it sends to a pipe
_SCALAR_ACCESS = 33.0  # cycles of one GetValue or SetValue (18 ns measured)
_PIPES = ("S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX")


@dataclass(frozen=True)
class TimelineEvent:
    """One instruction: where it stands in the source and when the model runs it (cycles from the start of the launch)."""

    block: int
    pipe: str
    api: str
    file: str | None
    line: int
    bytes: int
    runs: int
    start: float
    end: float


@dataclass(frozen=True)
class Timeline:
    """Modelled times of every instruction of a launch.

    Attributes:
        events: Instructions in program order, block by block.
        cycles: End of the slowest block.
        busy: Cycles each pipe of the slowest block is busy.
        soc: The SoC whose clock and rates were used.
        mhz: Its clock.
    """

    events: tuple[TimelineEvent, ...]
    cycles: float
    busy: dict[str, float]
    soc: str
    mhz: int
    model: ClassVar[str] = "CPU twin cycle model (not measured on a device)"

    @property
    def microseconds(self) -> float:
        """`cycles` at the SoC's clock; without the cost of the launch itself."""
        return self.cycles / self.mhz

    @property
    def bound(self) -> str:
        """The busiest pipe of the slowest block."""
        return max(self.busy, key=lambda pipe: self.busy[pipe]) if self.busy else ""

    def __str__(self) -> str:
        busy = ", ".join(f"{pipe} {share / max(self.cycles, 1):.0%}" for pipe, share in self.busy.items() if share > 0)
        return f"{self.cycles:.0f} cycles = {self.microseconds:.2f} us on {self.soc}, {self.model}; busy: {busy}"

    def chrome_trace(self) -> dict[str, Any]:
        """The events for chrome://tracing or Perfetto: one process per block, one thread per pipe, times in us."""
        rows: list[dict[str, Any]] = []
        for block in sorted({event.block for event in self.events}):
            rows.append({"ph": "M", "name": "process_name", "pid": block, "args": {"name": f"block {block}"}})
            rows += [
                {"ph": "M", "name": "thread_name", "pid": block, "tid": tid, "args": {"name": pipe}}
                for tid, pipe in enumerate(_PIPES)
            ]
        rows += [
            {
                "ph": "X", "name": e.api, "pid": e.block, "tid": _PIPES.index(e.pipe), "ts": e.start / self.mhz,
                "dur": (e.end - e.start) / self.mhz, "args": {"where": f"{e.file}:{e.line}", "bytes": e.bytes, "runs": e.runs},
            }
            for e in self.events
        ]  # fmt: skip
        return {
            "traceEvents": rows,
            "displayTimeUnit": "ns",
            "otherData": {"model": self.model, "soc": self.soc, "mhz": self.mhz},
        }

    def write(self, path: str | Path) -> None:
        """Writes `chrome_trace()` as JSON."""
        Path(path).write_text(json.dumps(self.chrome_trace()))

    @classmethod
    def from_report(cls, report: dict[str, Any], soc: Soc) -> Timeline:
        """Schedules the events of a launch report."""
        modules: list[str] = report["modules"]
        blocks = [_Block(row["block"], row["events"], _Cost(soc, report["block_dim"])) for row in report["blocks"]]
        _run_together(blocks)
        lines = _lines(modules, [event for block in blocks for event in block.events])
        events = tuple(
            TimelineEvent(block.index, t.pipe, t.row[1], *lines[tuple(t.row[8])], t.row[6], t.row[7], t.start, t.end)
            for block in blocks
            for t in block.done
        )
        slowest = max(blocks, key=lambda block: block.end, default=None)
        busy = dict(slowest.busy) if slowest else {}
        return cls(events, slowest.end if slowest else 0.0, busy, soc.name, soc.mhz)


def _lines(modules: Sequence[str], rows: Sequence[Any]) -> dict[tuple[int, int], tuple[str | None, int]]:
    keys = {(int(row[8][0]), int(row[8][1])) for row in rows}
    addresses: dict[tuple[int, int], Address] = {key: (modules[key[0]], key[1]) for key in keys if key[0] >= 0}
    found = frames(addresses.values())
    lines: dict[tuple[int, int], tuple[str | None, int]] = {}
    for key in keys:
        frame = user_frame(found[addresses[key]]) if key in addresses else None
        lines[key] = (frame.file, frame.line) if frame else (None, 0)
    return lines


class _Cost:
    """Cycles of instructions whose engine did not say."""

    def __init__(self, soc: Soc, blocks: int) -> None:
        self._mhz = soc.mhz
        self._cores = max(1, min(blocks, soc.vector_cores))

    def cycles(self, pipe: str, given: float, moved: int, memories: Sequence[str]) -> float:
        """Busy cycles of `pipe` for an instruction that moves `moved` bytes between `memories`."""
        if given > 0:
            return given
        if pipe == "S":
            return _SCALAR_ACCESS
        if pipe == "V" or "GM" not in memories:
            return self._local(pipe, moved)
        curve = _GM_TO_LOCAL if pipe == "MTE2" else _LOCAL_TO_GM
        alone = _at_size(curve, moved)
        shared = _GM_TOTAL / self._cores
        rate = 1 / math.hypot(1 / alone, 1 / shared)
        return max(1.0, moved / rate * self._mhz / 1000)

    def _local(self, pipe: str, moved: int) -> float:
        if pipe == "V":
            return _VECTOR_HEAD + max(1.0, moved / _REPEAT_BYTES)
        return max(1.0, moved / _LOCAL_TO_LOCAL * self._mhz / 1000)


def _at_size(curve: Sequence[float], size: int) -> float:
    """Rate at a transfer size: linear between the measured points; below the first, the same latency."""
    kib = size / 1024
    if kib <= _KIB[0]:
        return max(curve[0] * kib, 1e-3)
    if kib >= _KIB[-1]:
        return curve[-1]
    i = bisect.bisect_right(_KIB, kib) - 1
    share = (kib - _KIB[i]) / (_KIB[i + 1] - _KIB[i])
    return curve[i] + share * (curve[i + 1] - curve[i])


@dataclass
class _Timed:
    row: Any
    pipe: str
    start: float
    end: float


class _Block:
    """The pipes of one block."""

    def __init__(self, index: int, events: Sequence[Any], cost: _Cost) -> None:
        self.index = index
        self.events = events
        self.done: list[_Timed] = []
        self.busy: dict[str, float] = dict.fromkeys(_PIPES, 0.0)
        self._cost = cost
        self._clock: dict[str, float] = dict.fromkeys(_PIPES, 0.0)
        self._flags: dict[tuple[str, int], list[float]] = defaultdict(list)
        self._written: dict[Any, float] = defaultdict(float)
        self._read: dict[Any, float] = defaultdict(float)

    @property
    def end(self) -> float:
        return max(self._clock.values())

    def align(self, time: float) -> None:
        """Lets no pipe go on before `time`."""
        for pipe in self._clock:
            self._clock[pipe] = max(self._clock[pipe], time)

    def steps(self) -> Iterator[float]:
        """Runs the block; yields the time at which it meets each barrier of all blocks."""
        for row in self.events:
            kind, pipe = row[0], row[2]
            if kind == "inst":
                self._instruction(row)
            elif kind == "set":
                self._flags[row[3], row[4]].append(max(self._clock[pipe], self._clock["S"]))
                self._clock["S"] += 1
            elif kind == "wait":
                times = self._flags[row[3], row[4]]
                self._clock[pipe] = max(self._clock[pipe], times.pop(0) if times else 0.0)
                self._clock["S"] += 1
            elif pipe == "ALL":
                self.align(self.end)
                if kind == "sync":
                    yield self.end

    def _instruction(self, row: Any) -> None:
        pipe = row[2] if row[2] in self._clock else "S"
        start = max(self._clock[pipe], self._clock["S"])
        for memory, write, buffer, low, _ in row[9]:
            if memory == "GM":
                continue
            key = (memory, buffer) if buffer >= 0 else (memory, buffer, low)
            start = max(start, self._written[key], self._read[key] if write else 0.0)
        cycles = self._cost.cycles(pipe, row[5], row[6], [access[0] for access in row[9]])
        end = start + cycles
        for memory, write, buffer, low, _ in row[9]:
            key = (memory, buffer) if buffer >= 0 else (memory, buffer, low)
            times = self._written if write else self._read
            times[key] = max(times[key], end)
        self.busy[pipe] += cycles
        self._clock[pipe] = end
        if pipe != "S":
            self._clock["S"] += _ISSUE
        self.done.append(_Timed(row, pipe, start, end))


def _run_together(blocks: Sequence[_Block]) -> None:
    """Runs all blocks from barrier to barrier."""
    running = [(block, block.steps()) for block in blocks]
    while running:
        met: list[tuple[_Block, Iterator[float]]] = []
        latest = 0.0
        for block, steps in running:
            time = next(steps, None)
            if time is not None:
                met.append((block, steps))
                latest = max(latest, time)
        for block, _ in met:
            block.align(latest)
        running = met
