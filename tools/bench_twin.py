"""Measures how fast the CPU twin runs freshly scaffolded operators, as a ratio to torch on the same cores.

usage: python tools/bench_twin.py [--json FILE] [--repeats N] [--only NAME]...

Each row alternates the two, with `out=` for both so that no allocation is timed, and takes the fastest of N. Ratios are
twin seconds / torch seconds: below 1 the twin is faster. On a machine that is not idle only the ratio of CPU times (all
threads) means something.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import ascendops
from ascendops import render

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Bench:
    """One row: an operator, the shape and dtype of its inputs, and the ratio it must stay below (None: no target)."""

    name: str
    op: str
    like: str
    shape: tuple[int, ...]
    dtype: str
    inputs: int
    checks: str
    target: float | None


@dataclass(frozen=True)
class Row:
    """What was measured, in seconds."""

    name: str
    checks: str
    twin_s: float
    torch_s: float
    ratio: float
    cpu_ratio: float
    target: float | None


_M16 = (16 * 1024 * 1024,)
BENCHES = (
    Bench("add float32 16M", "add_custom", "add", _M16, "float32", 2, "error", 6.0),
    Bench("add float32 16M", "add_custom", "add", _M16, "float32", 2, "off", 2.5),
    Bench("add float16 16M", "add_custom", "add", _M16, "float16", 2, "error", None),
    Bench("add bfloat16 16M", "add_custom", "add", _M16, "bfloat16", 2, "error", None),
    Bench("exp float32 16M", "exp_custom", "exp", _M16, "float32", 1, "error", None),
    Bench("exp float16 16M", "exp_custom", "exp", _M16, "float16", 1, "error", None),
    Bench("softmax float32 4096x1024", "softmax", "softmax", (4096, 1024), "float32", 1, "error", 8.0),
    Bench("softmax float32 4096x1024", "softmax", "softmax", (4096, 1024), "float32", 1, "off", 3.0),
    Bench("softmax float16 4096x1024", "softmax", "softmax", (4096, 1024), "float16", 1, "error", 8.0),
)


def _reference(like: str) -> Callable[..., torch.Tensor]:
    import torch

    if like == "softmax":
        return lambda x, out: torch.softmax(x, -1, out=out)
    function: Callable[..., torch.Tensor] = getattr(torch, like)
    return function


def _best(run: Callable[[], object], other: Callable[[], object], repeats: int) -> list[tuple[float, float]]:
    """Wall and CPU seconds of the fastest of `repeats` of each, alternating."""
    wall, cpu = [float("inf")] * 2, [float("inf")] * 2
    for index in range(2 * repeats + 2):
        which = index % 2
        start, start_cpu = time.perf_counter(), time.process_time()
        (other if which else run)()
        seconds, used = time.perf_counter() - start, time.process_time() - start_cpu
        if index >= 2:  # the first of each warms the caches and the allocator
            wall[which], cpu[which] = min(wall[which], seconds), min(cpu[which], used)
    return list(zip(wall, cpu, strict=True))


def measure(bench: Bench, folder: Path, repeats: int) -> Row:
    """Scaffolds and builds the operator if needed, and times it.

    Args:
        bench: What to measure.
        folder: Where operators are scaffolded.
        repeats: Runs of each; the fastest counts.
    """
    import torch

    root = folder / bench.op
    if not root.exists():
        render.new_project(bench.op, root)
    operator = ascendops.open_project(root).build(backend="twin").ops[bench.op]
    torch.manual_seed(0)
    inputs = [torch.randn(bench.shape).to(getattr(torch, bench.dtype)) for _ in range(bench.inputs)]
    ours, theirs = torch.empty_like(inputs[0]), torch.empty_like(inputs[0])
    reference = _reference(bench.like)
    (twin_s, twin_cpu), (torch_s, torch_cpu) = _best(
        lambda: operator.run(*inputs, checks=bench.checks, out=ours), lambda: reference(*inputs, out=theirs), repeats
    )
    if not torch.allclose(ours.float(), theirs.float(), rtol=1e-2, atol=1e-2):
        raise SystemExit(f"{bench.name}: the twin's result differs from torch's")
    return Row(bench.name, bench.checks, twin_s, torch_s, twin_s / torch_s, twin_cpu / torch_cpu, bench.target)


def _print(rows: Sequence[Row]) -> None:
    print(f"{'what':28} {'checks':7} {'twin ms':>9} {'torch ms':>9} {'ratio':>7} {'cpu':>7} {'target':>7}")
    for row in rows:
        target = f"{row.target:.1f}" if row.target else "-"
        verdict = "" if row.target is None or row.ratio <= row.target else "  missed"
        times = f"{row.twin_s * 1e3:9.2f} {row.torch_s * 1e3:9.2f}"
        print(f"{row.name:28} {row.checks:7} {times} {row.ratio:7.2f} {row.cpu_ratio:7.2f} {target:>7}{verdict}")


def main() -> None:
    """Runs the benchmarks, prints a table, writes JSON if asked."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", type=Path, help="also write the rows to this file")
    parser.add_argument("--repeats", type=int, default=15, help="runs of each; the fastest counts (default: 15)")
    parser.add_argument("--only", action="append", help="measure only rows whose name contains this")
    options = parser.parse_args()
    chosen = [b for b in BENCHES if not options.only or any(word in b.name for word in options.only)]
    with tempfile.TemporaryDirectory() as folder:
        rows = [measure(bench, Path(folder), options.repeats) for bench in chosen]
    _print(rows)
    if options.json:
        machine = {
            "cpu": platform.processor() or platform.machine(),
            "cores": os.cpu_count(),
            "torch": torch.__version__,
        }
        options.json.write_text(
            json.dumps({"machine": machine, "rows": [asdict(row) for row in rows]}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
