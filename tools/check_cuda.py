"""Run every gallery operator through `torch.ops` on CUDA tensors, and judge it against the formula of its golden.py.

    python -m tools.check_cuda [--only softmax ...] [--cases 3] [--jobs 12] [--seconds 540] [--out FILE.json]

Needs a CUDA device, torch, triton, numpy, jinja2 and g++ (op_host is compiled, kernels are not); nothing is installed. For each operator:
its declared cases (at most --cases for each dtype) on CUDA tensors by the rules of `ascendops.parity.verify`, then, where it has a gradient,
`backward()` on CUDA against autograd of the formula in float64. At the end one model of kit operators under torch.compile(fullgraph=True).
Prints one row for each operator and exits with 1 if one failed. Operators without a Triton reference are counted, with that reason.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import torch

from ascendops.build import open_project
from ascendops.build.columns import KernelColumns
from ascendops.build.library import Library
from ascendops.build.operator import Operator
from ascendops.build.twin import host_library, signature
from ascendops.errors import AscendOpsError
from ascendops.parity.calling import invoke, map_tensors, named_tensors, outputs_of
from ascendops.parity.execute import local_runner
from ascendops.parity.judge import Judge, no_reference
from ascendops.render import new_project
from ascendops.render.families import all_families
from ascendops.spec import names, socs
from ascendops.testing.cases import TestCase, test_cases
from ascendops.testing.reference import golden_of

NAMESPACE = "ascendops_cuda_check"
LARGEST = 1 << 17  # elements of a case; the GPU needs no more to show a wrong index
FEWEST = 128  # elements of a case whose gradient says something: one element has none, or one that cancels to noise
TOLERANCE = 2e-3  # of a float32 gradient, relative to the largest one
MODEL = frozenset({"rms_norm", "gelu", "softmax"})  # what `compiled` is made of


@dataclass
class Row:
    """What one operator did: `status` is ok, FAIL or none (nothing to run), `gradient` likewise."""

    op: str
    family: str
    status: str = "none"
    cases: int = 0
    gradient: str = "none"
    worst_gradient: float | None = None
    seconds: float = 0.0
    detail: str = ""


def presets(only: Sequence[str]) -> list[tuple[str, str]]:
    """(family, preset) of every gallery operator, by the families' own tables."""
    return [(family.name, preset) for family in all_families() for preset in family.presets if not only or preset in only]


def declared(family: str, preset: str, folder: Path) -> Library:
    """The operator's library with its op_host compiled and no kernel: what registration reads, without what only a CPU call needs."""
    try:
        new_project(preset, folder, family=family, like=preset)
    except AscendOpsError:  # a name that clashes with a C function
        new_project(f"{preset}_custom", folder, family=family, like=preset)
    project = open_project(folder)
    soc = socs.resolve(socs.DEFAULT_SOC)
    host, _ = host_library(project, soc)
    ops = {}
    for op_type, definition in host.ops.items():
        spec = next(one for one in project.specs if one.op_type == op_type)
        name = names.snake(op_type)
        ops[name] = Operator(name, definition.for_unit(soc.unit), signature(name, definition, spec), soc, host, KernelColumns([], None), name, spec)
    return Library(ops, folder, soc.name, "twin")


def on_cuda(operator: Operator) -> Any:
    """The registered operator, called with CPU values on the GPU; its results on the CPU."""
    spec = operator.spec
    assert spec is not None
    call = getattr(getattr(torch.ops, NAMESPACE), operator.name)

    def run(*tensors: Any, **attrs: Any) -> Any:
        given = {**dict(zip((tensor.name for tensor in spec.inputs), tensors, strict=True)), **attrs}
        given = map_tensors(given, lambda tensor: tensor.cuda())
        positional = [given.get(arg.name) for arg in spec.schema.arguments if not arg.kwarg_only]
        made = outputs_of(call(*positional, **{arg.name: given.get(arg.name) for arg in spec.schema.arguments if arg.kwarg_only}))
        for one in made:
            if one is not None and one.device.type != "cuda":
                raise AssertionError(f"an output lies on {one.device}")
        return tuple(None if one is None else one.cpu() for one in made)

    return run


def check(operator: Operator, row: Row, most: int) -> None:
    """Fills the row: declared cases, then the gradient."""
    spec = operator.spec
    assert spec is not None
    if not spec.reference.get("triton"):
        row.detail = "op.toml declares no Triton reference"
        return
    golden, runner = golden_of(spec), local_runner(on_cuda(operator))
    judge = Judge(golden, None, "L0", 2, (), True, 0)
    for column in range(spec.columns):
        cases = [case for case in test_cases(spec) if case.column == column and case.elements <= LARGEST][:most]
        for case in cases:
            judged = judge(case.id, case.values(0), runner, (), case.output_dtypes(), no_reference).result
            row.cases += 1
            if judged.status != "pass":
                row.status, row.detail = "FAIL", f"{case.id}: {judged.error or ', '.join(judged.labels)}"
                return
    row.status = "ok" if row.cases else "none"
    if spec.autograd is not None:
        gradient(operator, golden, row)


def _all_there(case: TestCase) -> bool:
    """Whether no input is empty: a product over an empty axis has a gradient without elements."""
    return all(tensor.numel() for _, tensor in named_tensors(case.values(0)))


def gradient(operator: Operator, golden: Any, row: Row) -> None:
    """`backward()` on CUDA in float32 against autograd of the formula in float64, for one small case with finite values."""
    spec = operator.spec
    assert spec is not None
    usable = [case for case in test_cases(spec) if spec.inputs[0].dtypes[case.column] == "float32" and 1 < case.elements <= LARGEST and case.case.values == "random" and _all_there(case)]
    if not usable:
        row.gradient = "no case"
        return
    values = min(usable, key=lambda case: (case.elements < FEWEST, case.elements)).values(0)
    assert spec.autograd is not None
    differentiable = {*spec.autograd.grads, *spec.autograd.formula}
    ours = map_tensors(values, lambda t: t.cuda())
    theirs = map_tensors(values, lambda t: t.double() if t.is_floating_point() else t)
    for side in (ours, theirs):
        for name in differentiable:
            side[name].requires_grad_()
    call = getattr(getattr(torch.ops, NAMESPACE), operator.name)
    positional = [ours.get(arg.name) for arg in spec.schema.arguments if not arg.kwarg_only]
    made = outputs_of(call(*positional, **{arg.name: ours.get(arg.name) for arg in spec.schema.arguments if arg.kwarg_only}))
    want = outputs_of(invoke(golden, theirs))
    used = [(a, b) for a, b in zip(made, want, strict=True) if a is not None and b is not None and a.requires_grad and b.requires_grad]
    if not used:
        row.gradient = "formula has none"
        return
    weights = [torch.linspace(-1, 1, a.numel()).reshape(a.shape) for a, _ in used]
    sum((a * w.cuda()).sum() for (a, _), w in zip(used, weights, strict=True)).backward()  # type: ignore[union-attr]
    sum((b * w.double()).sum() for (_, b), w in zip(used, weights, strict=True)).backward()  # type: ignore[union-attr]
    worst = 0.0
    for name in differentiable:
        left, right = ours[name].grad, theirs[name].grad
        scale = right.abs().max().clamp(min=1e-6)
        worst = max(worst, float(((left.cpu().double() - right).abs().max() / scale).item()))
    row.worst_gradient, row.gradient = worst, "ok" if worst <= TOLERANCE else "FAIL"
    if row.gradient == "FAIL":
        row.status, row.detail = "FAIL", f"gradient differs by {worst:.2e} of its largest element"


def compiled() -> str:
    """One model of kit operators under torch.compile on CUDA: the loss and the gradient of the eager model, or what differs."""
    ops = getattr(torch.ops, NAMESPACE)

    def model(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = ops.softmax(ops.gelu(ops.rms_norm(x, weight, 1e-6)[0])).square().sum()
        return result

    x, weight = torch.randn(64, 129, device="cuda", requires_grad=True), torch.ones(129, device="cuda", requires_grad=True)
    eager = model(x, weight)
    wanted = torch.autograd.grad(eager, (x, weight))
    loss = torch.compile(model, fullgraph=True)(x, weight)
    found = torch.autograd.grad(loss, (x, weight))
    torch.testing.assert_close(loss, eager)
    torch.testing.assert_close(found, wanted)
    return "ok"


def check_all(chosen: Sequence[tuple[str, str]], root: Path, options: argparse.Namespace) -> list[Row]:
    """Declares all operators, registers them one after the other, then runs them `--jobs` at a time."""
    deadline = time.monotonic() + options.seconds
    rows = {preset: Row(preset, family) for family, preset in chosen}

    def build(one: tuple[str, str]) -> Library | None:
        try:
            return declared(*one, root / one[1])
        except AscendOpsError as error:
            rows[one[1]].status, rows[one[1]].detail = "FAIL", str(error)
            return None

    turns = {family: Lock() for family, _ in chosen}  # operators of a family share references, and Triton's autotuner is for one thread

    def run(one: tuple[tuple[str, str], Library | None]) -> None:
        with turns[one[0][0]]:
            in_turn(one)

    def in_turn(one: tuple[tuple[str, str], Library | None]) -> None:
        (_, preset), library = one
        row, start = rows[preset], time.monotonic()
        if library is None:
            return
        if start > deadline:
            row.detail = "not started: the time was up"
            return
        operator = next(iter(op for op in library.ops.values() if op.name.removesuffix("_custom") == preset))
        try:
            check(operator, row, options.cases)
        except Exception as error:  # noqa: BLE001  the others go on; the row says what happened
            row.status, row.detail = "FAIL", f"{type(error).__name__}: {error}"
        row.seconds = round(time.monotonic() - start, 1)

    with ThreadPoolExecutor(options.jobs) as pool:
        libraries = list(pool.map(build, chosen))
        for library in libraries:
            if library is not None:
                library.register(NAMESPACE)
        list(pool.map(run, zip(chosen, libraries, strict=True)))
    return list(rows.values())


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; see the top of the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[], metavar="OP")
    parser.add_argument("--cases", type=int, default=3, help="declared cases for each dtype [3]")
    parser.add_argument("--jobs", type=int, default=12, help="operators at a time [12]")
    parser.add_argument("--seconds", type=float, default=540, help="start no further operator after this time [540]")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the rows as JSON, too")
    options = parser.parse_args(argv)
    if not torch.cuda.is_available():
        print("torch sees no CUDA device", file=sys.stderr)
        return 3
    with tempfile.TemporaryDirectory() as folder:
        rows = check_all(presets(options.only), Path(folder), options)
        try:
            missing = MODEL - {row.op for row in rows}
            model = f"not run without {', '.join(sorted(missing))}" if missing else compiled()
        except Exception as error:  # noqa: BLE001  it is one row of the result
            model = f"FAIL: {type(error).__name__}: {error}"
    print(f"{'operator':<24}{'family':<18}{'values':<8}{'cases':>6}  {'gradient':<18}{'seconds':>8}  detail")
    for row in rows:
        worst = "" if row.worst_gradient is None else f" {row.worst_gradient:.1e}"
        print(f"{row.op:<24}{row.family:<18}{row.status:<8}{row.cases:>6}  {row.gradient + worst:<18}{row.seconds:>8}  {row.detail[:160]}")
    failed, none = [row.op for row in rows if row.status == "FAIL"], [row.op for row in rows if row.status == "none"]
    where = f"{torch.cuda.get_device_name()}, torch {torch.__version__}"
    print(f"{len(rows) - len(failed) - len(none)} of {len(rows)} operators ok on {where}; failed: {failed}; not run: {none}; torch.compile: {model}")
    if options.out:
        options.out.write_text(json.dumps({"where": where, "compile": model, "rows": [asdict(row) for row in rows]}, indent=1) + "\n")
    return 1 if failed or model.startswith("FAIL") else 0


if __name__ == "__main__":
    sys.exit(main())
