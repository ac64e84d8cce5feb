"""Measures the CPU twin: how fast kernels run, as a ratio to torch on the same cores, and how long they take to compile.

usage: python tools/bench_twin.py [--json FILE] [--repeats N] [--only NAME]... [--no-compile]

Each row of the first table alternates the two, with `out=` for both, and takes the fastest of N. Ratios are
twin seconds / torch seconds: below 1 the twin is faster. On a machine that is not idle only the ratio of CPU times (all
threads) means something. The second table compiles with an empty cache, one compiler at a time, and counts its CPU seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
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

ROOT = Path(__file__).resolve().parents[1]
KERNELS = ROOT / "tools" / "bench_kernels" / "rows.cpp"
TEMPLATE_KEYS = ROOT / "tests" / "projects" / "scale_tpl"


@dataclass(frozen=True)
class Bench:
    """One row: an operator or a kernel of rows.cpp, the shape and dtype of its inputs, and the ratio it must stay below."""

    name: str
    op: str
    like: str
    shape: tuple[int, ...]
    dtype: str
    inputs: int
    checks: str
    target: float | None
    kernel: bool = False


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


@dataclass(frozen=True)
class CompileRow:
    """CPU seconds of the compiler for one source, or for all sources of a library."""

    name: str
    cpu_s: float
    files: int
    target: float | None


_M16 = (16 * 1024 * 1024,)
_ROWS = (4096, 1024)


def _pair(
    name: str, op: str, shape: tuple[int, ...], dtype: str, inputs: int, on: float, off: float, kernel: bool = False
) -> tuple[Bench, Bench]:
    """The row with all checks and the row without."""
    like = {"add_custom": "add", "exp_custom": "exp", "soft_max": "softmax", "layer_norm_basic": "layer_norm"}.get(
        op, op
    )
    rows = [
        Bench(f"{name} {dtype}", op, like, shape, dtype, inputs, checks, target, kernel)
        for checks, target in (("error", on), ("off", off))
    ]
    return rows[0], rows[1]


BENCHES = (
    *_pair("add 16M", "add_custom", _M16, "float32", 2, 6.0, 2.5),
    *_pair("add 16M", "add_custom", _M16, "float16", 2, 6.0, 4.0),
    *_pair("add 16M", "add_custom", _M16, "bfloat16", 2, 6.0, 4.0),
    *_pair("exp 16M", "exp_custom", _M16, "float32", 1, 6.0, 2.5),
    *_pair("exp 16M", "exp_custom", _M16, "float16", 1, 6.0, 4.0),
    *_pair("exp 16M", "exp_custom", _M16, "bfloat16", 1, 6.0, 4.0),
    *_pair("softmax 4096x1024", "softmax", _ROWS, "float32", 1, 8.0, 3.0),
    *_pair("softmax 4096x1024", "softmax", _ROWS, "float16", 1, 8.0, 3.0),
    *_pair("SoftMax 4096x1024", "soft_max", _ROWS, "float32", 1, 8.0, 3.0, True),
    *_pair("SoftMax 4096x1024", "soft_max", _ROWS, "float16", 1, 8.0, 3.0, True),
    *_pair("LayerNorm 4096x1024", "layer_norm", _ROWS, "float32", 3, 8.0, 3.0, True),
    *_pair("LayerNorm 4096x1024", "layer_norm", _ROWS, "float16", 3, 8.0, 3.0, True),
    *_pair("layernorm 4096x1024", "layer_norm_basic", _ROWS, "float32", 3, 8.0, 3.0, True),
    *_pair("layernorm 4096x1024", "layer_norm_basic", _ROWS, "float16", 3, 8.0, 3.0, True),
)


def _layer_norm(x: torch.Tensor, gamma: torch.Tensor, beta: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    import torch

    moments = [torch.empty(x.shape[0], 1, dtype=x.dtype) for _ in range(2)]
    torch.ops.aten.native_layer_norm.out(x, x.shape[-1:], gamma, beta, 1e-5, out0=out, out1=moments[0], out2=moments[1])
    return out


def _reference(like: str) -> Callable[..., torch.Tensor]:
    import torch

    if like == "softmax":
        return lambda x, out: torch.softmax(x, -1, out=out)
    if like == "layer_norm":
        return _layer_norm
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


def _scaffold(op: str, folder: Path) -> Path:
    root = folder / op
    if not root.exists():
        render.new_project(op, root)
    return root


def _runner(bench: Bench, folder: Path, inputs: Sequence[torch.Tensor], out: torch.Tensor) -> Callable[[], object]:
    """A call that runs the operator, or the kernel on all vector cores with tiles of 8 rows."""
    if not bench.kernel:
        operator = ascendops.open_project(_scaffold(bench.op, folder)).build(backend="twin").ops[bench.op]
        return lambda: operator(*inputs, checks=bench.checks, out=out)
    element = {"float32": "float", "float16": "half"}[bench.dtype]
    kernel = ascendops.twin.compile(KERNELS, defines={"DTYPE_X": element})
    args = [*inputs, out, *bench.shape, 8]
    return lambda: kernel.launch(bench.op, block_dim=48, args=args, checks=bench.checks)


def measure(bench: Bench, folder: Path, repeats: int) -> Row:
    """Builds what the row names and times it.

    Args:
        bench: What to measure.
        folder: Where operators are scaffolded.
        repeats: Runs of each; the fastest counts.
    """
    import torch

    torch.manual_seed(0)
    dtype = getattr(torch, bench.dtype)
    inputs = [
        torch.randn(bench.shape if not i or not bench.kernel else bench.shape[-1:]).to(dtype)
        for i in range(bench.inputs)
    ]
    ours, theirs = torch.empty_like(inputs[0]), torch.empty_like(inputs[0])
    reference = _reference(bench.like)
    (twin_s, twin_cpu), (torch_s, torch_cpu) = _best(
        _runner(bench, folder, inputs, ours), lambda: reference(*inputs, out=theirs), repeats
    )
    if not torch.allclose(ours.float(), reference(*inputs, out=theirs).float(), rtol=2e-2, atol=2e-2):
        raise SystemExit(f"{bench.name}: the twin's result differs from torch's")
    return Row(bench.name, bench.checks, twin_s, torch_s, twin_s / torch_s, twin_cpu / torch_cpu, bench.target)


_WRAPPER = """#!{python}
import json, os, resource, subprocess, sys
code = subprocess.call([{compiler!r}, *sys.argv[1:]])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
if "-c" in sys.argv:
    with open({log!r}, "a") as log:
        log.write(json.dumps([sys.argv[1:], used.ru_utime + used.ru_stime]) + "\\n")
sys.exit(code)
"""

_COMPILE = """
import sys, ascendops
from pathlib import Path
add, rows, tpl = sys.argv[1:]
ascendops.open_project(Path(add)).build(backend="twin")
ascendops.open_project(Path(tpl)).build(backend="twin")
ascendops.twin.compile(rows, defines={"DTYPE_X": "float"})
"""


def measure_compiling(folder: Path) -> list[CompileRow]:
    """Compiles the runtime and three kernels in a process of its own, with an empty cache and a compiler that logs its CPU time."""
    from ascendops.toolchain.compiler import find_compiler

    log, wrapper, add = folder / "compiler.log", folder / "compiler", _scaffold("add_custom", folder)
    wrapper.write_text(_WRAPPER.format(python=sys.executable, compiler=find_compiler().path, log=str(log)))
    wrapper.chmod(0o755)
    env = {**os.environ, "CXX": str(wrapper), "ASCENDOPS_CACHE": str(folder / "cache"), "ASCENDOPS_JOBS": "1"}
    env["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    subprocess.run([sys.executable, "-c", _COMPILE, str(add), str(KERNELS), str(TEMPLATE_KEYS)], env=env, check=True)
    used = [(command, float(seconds)) for command, seconds in map(json.loads, log.read_text().splitlines())]
    kernels = [seconds for command, seconds in used if "/units/" in command[command.index("-c") + 1]]
    rows = []
    for name in ("runtime", "hostrt"):
        times = [seconds for command, seconds in used if any(part.endswith(f"/twin/{name}") for part in command)]
        rows.append(CompileRow(f"twin {name}, once per machine", sum(times), len(times), None))
    named = (
        ("add", max(kernels[:-2])),
        ("template keys (4 instances)", kernels[-2]),
        ("SoftMax and LayerNorm", kernels[-1]),
    )
    return rows + [CompileRow(f"kernel: {name}", seconds, 1, 3.0) for name, seconds in named]


def _print(rows: Sequence[Row], compiled: Sequence[CompileRow]) -> None:
    if rows:
        print(f"{'what':32} {'checks':7} {'twin ms':>9} {'torch ms':>9} {'ratio':>7} {'cpu':>7} {'target':>7}")
    for row in rows:
        target = f"{row.target:.1f}" if row.target else "-"
        verdict = "" if row.target is None or row.ratio <= row.target else "  missed"
        times = f"{row.twin_s * 1e3:9.2f} {row.torch_s * 1e3:9.2f}"
        print(f"{row.name:32} {row.checks:7} {times} {row.ratio:7.2f} {row.cpu_ratio:7.2f} {target:>7}{verdict}")
    if compiled:
        print(f"\n{'compiling, empty cache':40} {'CPU s':>7} {'files':>6} {'target':>7}")
    for one in compiled:
        target = f"{one.target:.1f}" if one.target else "-"
        verdict = "" if one.target is None or one.cpu_s <= one.target else "  missed"
        print(f"{one.name:40} {one.cpu_s:7.2f} {one.files:6} {target:>7}{verdict}")


def main() -> None:
    """Runs the benchmarks, prints the tables, writes JSON if asked."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", type=Path, help="also write the rows to this file")
    parser.add_argument("--repeats", type=int, default=15, help="runs of each; the fastest counts (default: 15)")
    parser.add_argument(
        "--only", action="append", help="measure only rows whose name contains this; 'compile' is the second table"
    )
    parser.add_argument("--no-compile", action="store_true", help="leave the second table out")
    options = parser.parse_args()
    chosen = [b for b in BENCHES if not options.only or any(word in b.name for word in options.only)]
    compiles = not options.no_compile and (not options.only or "compile" in options.only)
    with tempfile.TemporaryDirectory() as folder:
        compiled = measure_compiling(Path(folder)) if compiles else []
        rows = [measure(bench, Path(folder), options.repeats) for bench in chosen]
    _print(rows, compiled)
    if options.json:
        machine = {
            "cpu": platform.processor() or platform.machine(),
            "cores": os.cpu_count(),
            "torch": torch.__version__,
        }
        text = {"machine": machine, "rows": [asdict(row) for row in rows], "compile": [asdict(row) for row in compiled]}
        options.json.write_text(json.dumps(text, indent=1) + "\n")


if __name__ == "__main__":
    main()
