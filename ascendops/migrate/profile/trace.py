"""Reading a Chrome trace of torch.profiler: kernels with their time, and the ATen op that launched each."""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ascendops.errors.migrate import BadTrace

_GPU = ("kernel", "gpu_memcpy", "gpu_memset")


@dataclass
class Kernel:
    """All launches of one kernel.

    Attributes:
        name: The base name: no return type, namespace, template arguments or parameters.
        full: The name as the trace has it.
        us: Total time in microseconds.
        ops: ATen ops that launched it, with their counts.
    """

    name: str
    full: str
    us: float = 0.0
    count: int = 0
    ops: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    @property
    def mean_us(self) -> float:
        """Microseconds for each launch."""
        return self.us / self.count if self.count else 0.0


@dataclass
class Trace:
    """A profile.

    Attributes:
        kernels: By full name.
        op_us: GPU microseconds by ATen op.
        sequence: ATen ops that launched GPU work, in the order of their launches; one entry for each call.
        step_us: GPU microseconds of each entry.
        span_us: From the first to the last event on the GPU.
    """

    kernels: dict[str, Kernel] = field(default_factory=dict)
    op_us: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    sequence: list[str] = field(default_factory=list)
    step_us: list[float] = field(default_factory=list)
    span_us: float = 0.0

    @property
    def total_us(self) -> float:
        """GPU microseconds of all kernels and copies."""
        return sum(kernel.us for kernel in self.kernels.values())


def read(path: Path) -> Trace:
    """Reads `trace.json` or `trace.json.gz`.

    Raises:
        BadTrace: It is not a trace, or has no GPU activity.
    """
    try:
        data = path.read_bytes()
        parsed = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
        events = parsed["traceEvents"] if isinstance(parsed, dict) else parsed
        work = [event for event in events if event.get("ph") == "X"]
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise BadTrace("the profile cannot be read as a Chrome trace", where=str(path), why=repr(error)) from error
    trace = _collect(work)
    if not trace.kernels:
        raise BadTrace(
            "the profile has no GPU activity",
            where=str(path),
            help="record it on the GPU host with ProfilerActivity.CUDA",
        )
    return trace


def _collect(work: list[dict[str, Any]]) -> Trace:
    ops = {
        _id(event): str(event["name"])
        for event in work
        if event.get("cat") in ("cpu_op", "Operator") and _id(event) is not None
    }
    trace = Trace()
    last: Any = None
    gpu = sorted((event for event in work if event.get("cat") in _GPU), key=lambda event: float(event.get("ts", 0)))
    for event in gpu:
        full, us = str(event["name"]), float(event.get("dur", 0))
        kernel = trace.kernels.setdefault(full, Kernel(base_name(full), full))
        kernel.us += us
        kernel.count += 1
        if op := ops.get(_id(event)):
            kernel.ops[op] += 1
            trace.op_us[op] += us
            if _id(event) == last:
                trace.step_us[-1] += us
            else:
                trace.sequence.append(op)
                trace.step_us.append(us)
            last = _id(event)
    if gpu:
        trace.span_us = float(gpu[-1].get("ts", 0)) + float(gpu[-1].get("dur", 0)) - float(gpu[0].get("ts", 0))
    return trace


def _id(event: dict[str, Any]) -> Any:
    arguments = event.get("args") or {}
    return arguments.get("External id", arguments.get("external id"))


def base_name(full: str) -> str:
    """`void ns::foo_kernel<float, 4>(float*)` is `foo_kernel`; Triton's specialisation suffixes are cut."""
    text = full.removeprefix("void ").replace("(anonymous namespace)::", "")
    depth = 0
    kept: list[str] = []
    for char in text:
        depth += char == "<"
        if depth == 0:
            if char == "(" and kept:
                break
            kept.append(char)
        depth -= char == ">"
    name = "".join(kept).strip().rsplit("::", 1)[-1].rsplit(" ", 1)[-1]
    return re.sub(r"_(?:\d+[dc]e?)+$", "", name) or full
