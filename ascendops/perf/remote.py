"""What a bench asks of the worker process that has the operator: one observed call, or its time."""

from __future__ import annotations

import functools
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ascendops.build import Operator
    from ascendops.parity.execute import OutSpec, Run

Job = tuple[str, str, str, str, tuple[tuple[str, int], ...]]
"""Folder, operator, backend, SoC, and values of tunables."""


def run(job: Job, values: dict[str, Any], poison: int | None, outs: Sequence[OutSpec] | None, timeout_s: float) -> Run:
    """One observed call; `info` has what the twin found."""
    from dataclasses import asdict

    from ascendops.parity.execute import run_once

    operator, seen = _operator(job), []

    def candidate(*tensors: Any, out: Any = None, **attrs: Any) -> Any:
        result = operator.run(*tensors, out=out, checks="warn", timeout_s=timeout_s, **attrs)
        seen.append(result)
        return result.outputs

    done = run_once(candidate, values, poison, outs)
    if seen:
        done.info = {"findings": [asdict(one) for one in seen[-1].diagnostics if one.severity == "error"]}
    return done


def measure(job: Job, values: dict[str, Any], repeats: int, timeout_s: float) -> dict[str, Any]:
    """The time of a call in µs: on the twin the cycle model's, on a device the median of `repeats` launches."""
    operator = _operator(job)
    tensors, attrs = _split(operator, values)
    if job[2] == "twin":
        result = operator.run(*tensors, checks="off", trace=True, timeout_s=timeout_s, **attrs)
        timeline = result.timeline
        assert timeline is not None, "bench leaves empty calls out"
        busy = {pipe: cycles / timeline.mhz for pipe, cycles in timeline.busy.items() if cycles}
        return {"us": timeline.microseconds, "spread": 0.0, "repeats": 1, "block_dim": result.block_dim, "tiling_key": result.tiling_key, "busy_us": busy}
    from ascendops.build.installed import InstalledOperator

    assert isinstance(operator, InstalledOperator)
    result = operator.run(*tensors, checks="off", timeout_s=timeout_s, **attrs)
    times = operator.times(*tensors, repeats=repeats, timeout_s=timeout_s, **attrs)
    low, _, high = statistics.quantiles(times, n=4) if len(times) > 1 else (times[0],) * 3
    middle = statistics.median(times)
    return {
        "us": middle, "spread": (high - low) / middle if middle else 0.0, "repeats": len(times), "block_dim": result.block_dim,
        "tiling_key": result.tiling_key, "busy_us": {},
    }  # fmt: skip


def serve(what: str, job: Job, *args: Any) -> Any:
    """The function that the worker calls: `build` (raises what is wrong), `run` or `measure`."""
    if what == "build":
        _operator(job)
        return None
    return run(job, *args) if what == "run" else measure(job, *args)


@functools.lru_cache(maxsize=4)
def _operator(job: Job) -> Operator:
    from ascendops.build import open_project

    root, name, backend, soc, tuned = job
    return open_project(Path(root)).trying(dict(tuned)).build(backend, soc).ops[name]


def _split(operator: Operator, values: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    tensors = [values[name] for name in operator.inputs]
    return tensors, {name: value for name, value in values.items() if name not in operator.inputs}
