"""Run every reference of cuda_reference/ natively on a GPU: errors against fp64, and time against torch's own operator.

    python tools/record_gpu.py --out build/gpu [--only softmax --only add] [--seconds 500]
    python tools/record_gpu.py --out build/gpu --merge first/gpu.json second/gpu.json     (no GPU; an operator's last run counts)

Needs torch, triton and numpy, and nvcc for the .cu files; nothing is installed. Writes DIR/gpu.json and DIR/MEASURED.md
(copy it to cuda_reference/MEASURED.md). Exits with 1 if a result is wrong or a reference fails.
"""

from __future__ import annotations

import argparse
import datetime as dt
import importlib.util
import json
import math
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import torch
import triton
from triton.errors import TritonError

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from ascendops.errors import WorkerError  # noqa: E402  the path comes first
from tools.gpu_functions import Function, Shapes  # noqa: E402
from tools.gpu_ops import OPS, attrs_of, small_shapes, timed_attrs_of  # noqa: E402
from tools.gpu_report import ALLOWED_ULP, Record, markdown  # noqa: E402

MANTISSA = {torch.float32: 23, torch.float16: 10, torch.bfloat16: 7}
EXPONENT = {torch.float32: -126, torch.float16: -14, torch.bfloat16: -126}
FLUSH_BYTES = 256 << 20  # larger than the L2 of any GPU
QUEUE_CYCLES = 40_000_000  # about 20 ms: longer than Python takes to queue all calls that are timed
FAILURES = (RuntimeError, ValueError, TypeError, AttributeError, TritonError)


def inputs(shapes: Shapes, dtype: torch.dtype, positive: bool, special: bool) -> list[torch.Tensor]:
    """Seeded inputs on the GPU; `special` plants nan, inf, -inf and the largest number."""
    generator = torch.Generator("cuda").manual_seed(sum(sum(shape) for shape in shapes) + 1)
    made = []
    for shape in shapes:
        x = torch.randn(tuple(shape), device="cuda", generator=generator) * 3
        x = x.abs() + 0.05 if positive else x
        if special and x.numel() > 64:
            edges = torch.tensor([math.nan, math.inf, -math.inf, torch.finfo(dtype).max, 0.0], device="cuda")
            x.view(-1)[:: x.numel() // 5][:5] = edges
        made.append(x.to(dtype))
    return made


def outputs(result: Any) -> list[torch.Tensor | None]:
    """The tensors that a function returned."""
    return list(result) if isinstance(result, (tuple, list)) else [result]


def worst_error(result: Any, wants: Any, dtype: torch.dtype, cancels: bool) -> tuple[float, int]:
    """(largest error of all outputs, elements of a wrong class): in ulp, those of another dtype's outputs scaled by what each allows."""
    worst, wrong = 0.0, 0
    for got, want in zip(outputs(result), outputs(wants), strict=False):  # torch may return fewer
        if got is not None and want is not None:
            error, special = ulp_error(got, want, cancels)
            worst = max(worst, error * ALLOWED_ULP[_word(dtype)] / ALLOWED_ULP.get(_word(got.dtype), 1.0))
            wrong += special
    return worst, wrong


def ulp_error(got: torch.Tensor, want: torch.Tensor, cancels: bool) -> tuple[float, int]:
    """(largest error in ulp of got's dtype, elements whose class nan/inf/finite is wrong) against a float64 tensor.

    Integers must be the float64 value rounded; where it lies within 1e-3 of a tie, either neighbour will do.
    """
    if got.numel() == 0:
        return 0.0, 0
    if not got.is_floating_point():
        return 0.0, int(((got.double() - want).abs() > 0.501).sum())
    rounded = want.to(got.dtype)
    same = (
        (got.isnan() == rounded.isnan())
        & (got.isposinf() == rounded.isposinf())
        & (got.isneginf() == rounded.isneginf())
    )
    finite = got.isfinite() & rounded.isfinite()
    smallest = 2.0 ** EXPONENT[got.dtype]
    if cancels:
        smallest = max(smallest, 1e-3, float(want[finite].abs().mean()) if finite.any() else 0.0)
    exponent = torch.floor(torch.log2(want.abs().clamp_min(smallest)))
    step = torch.exp2(exponent - MANTISSA[got.dtype])
    error = torch.where(finite, (got.double() - want).abs() / step, 0)
    return float(error.max()), int((~same).sum())


def check(
    name: str, what: str, function: Function, dtype: torch.dtype, shapes: Shapes, attrs: dict[str, Any]
) -> Record:
    """Errors of a reference, and of torch, against fp64 on one shape."""
    op = OPS[name]
    record = Record(name, what, _word(dtype), _text(shapes), attrs)
    try:
        xs = op.make(shapes, dtype) if op.make else inputs(shapes, dtype, op.positive, special=True)
        wide = [x.double() if x.is_floating_point() else x for x in xs]
        want = (op.golden or op.torch)(*wide, **attrs)
        record.ulp, record.wrong_special = worst_error(function(*xs, **attrs), want, dtype, op.cancels)
        record.torch_ulp, _ = worst_error(op.torch(*xs, **attrs), want, dtype, op.cancels)
    except FAILURES as error:  # the record says so, and the others go on
        record.error = f"{type(error).__name__}: {error}"[:300]
    return record


def clock(run: Callable[[], Any], flush: torch.Tensor, repeats: int = 40) -> tuple[float, tuple[float, float]]:
    """(median, quartiles) in microseconds of one call with a cold L2.

    The GPU sleeps until the calls are queued: otherwise the time of a short kernel is that of Python launching it.
    """
    for _ in range(3):
        run()
    events = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(repeats)]
    torch.cuda._sleep(QUEUE_CYCLES)
    for start, end in events:
        flush.zero_()
        start.record()
        run()
        end.record()
    torch.cuda.synchronize()
    times = sorted(start.elapsed_time(end) * 1e3 for start, end in events)
    low, _, high = statistics.quantiles(times, n=4)
    return statistics.median(times), (low, high)


def measure(
    name: str,
    what: str,
    function: Function,
    dtype: torch.dtype,
    shapes: Shapes,
    attrs: dict[str, Any],
    flush: torch.Tensor,
) -> Record:
    """Time of a reference, and of torch, on one large shape."""
    op = OPS[name]
    record = Record(name, what, _word(dtype), _text(shapes), attrs)
    try:
        xs = op.make(shapes, dtype) if op.make else inputs(shapes, dtype, op.positive, special=False)
        outs = [out for out in outputs(function(*xs, **attrs)) if out is not None]
        record.bytes = sum(x.numel() * x.element_size() for x in [*xs, *outs])
        record.microseconds, record.quartiles = clock(lambda: function(*xs, **attrs), flush)
        record.torch_microseconds, _ = clock(lambda: (op.timed or op.torch)(*xs, **attrs), flush)
    except FAILURES as error:  # the record says so, and the others go on
        record.error = f"{type(error).__name__}: {error}"[:300]
    return record


def triton_function(name: str) -> Function:
    """The function of cuda_reference/NAME/triton_NAME.py."""
    path = ROOT / "cuda_reference" / name / f"triton_{name}.py"
    spec = importlib.util.spec_from_file_location(f"reference_{name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function = getattr(module, name)
    assert callable(function)
    return cast(Function, function)


def cuda_function(name: str) -> Function:
    """Compiles cuda_reference/NAME/NAME.cu with nvcc and loads it."""
    from ascendops.testing.nvcc import load

    return cast(Function, load(f"{ROOT / 'cuda_reference' / name / f'{name}.cu'}:{name}"))


def record(names: Sequence[str], deadline: float) -> tuple[list[Record], list[str]]:
    """Every measurement, and the names that the time did not suffice for."""
    flush = torch.empty(FLUSH_BYTES // 4, dtype=torch.int32, device="cuda")
    records: list[Record] = []
    skipped = []
    for name in names:
        if time.monotonic() > deadline:
            skipped.append(name)
            continue
        functions = {"triton": triton_function(name)}
        if (ROOT / "cuda_reference" / name / f"{name}.cu").is_file():
            try:
                functions["cuda"] = cuda_function(name)
            except (OSError, WorkerError, RuntimeError) as error:
                records.append(Record(name, "cuda", "", "", {}, error=f"{type(error).__name__}: {error}"[:300]))
        for what, function in functions.items():
            for attrs in attrs_of(name):
                for dtype in MANTISSA:
                    records += [check(name, what, function, dtype, shapes, attrs) for shapes in small_shapes(name)]
            for attrs in timed_attrs_of(name):
                for dtype in (torch.float32, torch.bfloat16):
                    for shapes in OPS[name].large:
                        records.append(measure(name, what, function, dtype, shapes, attrs, flush))
        print(f"{name}: {sum(r.op == name and r.bad for r in records)} bad", file=sys.stderr, flush=True)
    return records, skipped


def _word(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _text(shapes: Shapes) -> str:
    return " ".join("x".join(map(str, shape)) or "scalar" for shape in shapes)


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; see the top of the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--only", action="append", choices=sorted(OPS), metavar="OP")
    parser.add_argument("--merge", nargs="+", type=Path, metavar="GPU.json", help="join earlier runs on the same GPU and versions")
    parser.add_argument("--seconds", type=float, default=500, help="start no further operator after this time [500]")
    options = parser.parse_args(argv)
    if options.merge:
        records, environment = merged(options.merge)
        return _write(options.out, records, [name for name in OPS if name not in {r.op for r in records}], environment, 0.0)
    if not torch.cuda.is_available():
        print("no CUDA device is visible to torch", file=sys.stderr)
        return 3
    options.out.mkdir(parents=True, exist_ok=True)
    torch.backends.cudnn.allow_tf32 = False  # float32 as the references have it; matrix products have it so by default
    start = time.monotonic()
    records, skipped = record(options.only or list(OPS), start + options.seconds)
    environment = {
        "gpu": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "triton": triton.__version__,
        "cuda": str(torch.version.cuda),
        "date": dt.date.today().isoformat(),
    }
    return _write(options.out, records, skipped, environment, time.monotonic() - start)


def merged(files: Sequence[Path]) -> tuple[list[Record], dict[str, str]]:
    """The records of several runs, in the order of OPS: those of the last run that has an operator.

    Raises:
        SystemExit: The runs were made on another GPU or with other versions.
    """
    runs = [json.loads(path.read_text()) for path in files]
    places = {tuple(run["environment"][key] for key in ("gpu", "torch", "triton", "cuda")) for run in runs}
    if len(places) != 1:
        raise SystemExit(f"the runs are of different machines or versions: {sorted(places)}")
    found: dict[str, list[Record]] = {}
    for run in runs:
        found |= {op: [Record(**r) for r in run["records"] if r["op"] == op] for op in {r["op"] for r in run["records"]}}
    return [r for op in OPS for r in found.get(op, [])], runs[-1]["environment"]


def _write(folder: Path, records: Sequence[Record], skipped: Sequence[str], environment: dict[str, str], seconds: float) -> int:
    result = {
        "schema_version": 1, "environment": environment, "skipped": list(skipped), "seconds": round(seconds, 1),
        "records": [asdict(r) for r in records],
    }  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "gpu.json").write_text(json.dumps(result, indent=1) + "\n")
    (folder / "MEASURED.md").write_text(markdown(records, environment))
    for r in records:
        if r.bad:
            print(f"bad: {r}", file=sys.stderr)
    return 1 if skipped or any(r.bad for r in records) else 0


if __name__ == "__main__":
    sys.exit(main())
