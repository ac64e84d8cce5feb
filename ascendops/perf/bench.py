"""`ascendops bench`: is it right, how long does it take, and how far is that from the chip's roof?"""

from __future__ import annotations

import hashlib
import math
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendops.errors import AscendOpsError, BenchError, NothingSelected
from ascendops.perf.roofline import Roof, roof
from ascendops.perf.rows import Bench, Row
from ascendops.worker import Worker

if TYPE_CHECKING:
    from ascendops.build import Project
    from ascendops.parity.execute import OutSpec, Run
    from ascendops.spec.model import Case, OpSpec
    from ascendops.testing.cases import TestCase

MODEL = "CPU twin cycle model (not measured on a device; without the cost of the launch)"
DEVICE = "NPU, events around the launch, L2 overwritten before each"
_MARGIN_S = 60.0


@dataclass(frozen=True)
class Options:
    """How calls are timed; the fields are the options of `ascendops bench`.

    Attributes:
        repeats: Launches that are timed on a device; the twin's model gives the same time every time.
        tried: Values of tunables in place of op.toml's.
    """

    backend: str = "twin"
    soc: str = "Ascend910B1"
    repeats: int = 20
    seed: int = 0
    timeout_s: float = 300.0
    tried: tuple[tuple[str, int], ...] = ()


def bench(roots: Sequence[Path], options: Options, progress: Callable[[Row], None] | None = None) -> Bench:
    """Checks and times the operators of some projects: [[bench]] of op.toml, else the largest case of each tiling key.

    Raises:
        NothingSelected: No project has an op.toml with cases.
        BenchError: A project has no cycle model.
        CompileError: A project does not build.
    """
    from ascendops.build import open_project

    rows = []
    for root in roots:
        project = open_project(root)
        for row in measured(project, options):
            rows.append(row)
            if progress:
                progress(row)
    if not rows:
        raise NothingSelected("there is nothing to time", why="no project here has an op.toml with [[bench]] or [[case]] tables")
    return Bench(tuple(rows), environment(options))


@dataclass
class Kept:
    """What several benches of one project share; close it after the last.

    Attributes:
        accepted: Digests of outputs that were right, so that equal ones need no golden.
        worker: The process that has the operators, on the twin. On a device each bench starts one, because a process keeps the package it has loaded.
    """

    accepted: dict[str, str] = field(default_factory=dict)
    worker: Worker | None = None

    def close(self) -> None:
        """Ends the process."""
        if self.worker is not None:
            self.worker.close()


def measured(project: Project, options: Options, kept: Kept | None = None) -> Iterator[Row]:
    """The rows of one project, as they are done; `kept` is what earlier benches of it left.

    Raises:
        BenchError: It has no cycle model.
        CompileError: It does not build.
    """
    if project.spec is None:
        return
    if project.spec.dialect == "tbe":
        raise BenchError(
            f"{project.name} is a TBE operator, and the TBE twin has no cycle model", where=str(project.root),
            help="its DSL makes the schedule only on an Ascend host: time it there with msprof",
        )  # fmt: skip
    with _Timer(project, options, kept or Kept(), closes=kept is None) as timer:
        timer.build(project.spec)
        for spec in project.specs:
            for case in _cases(spec):
                yield timer(case)


def environment(options: Options) -> dict[str, Any]:
    """Backend, device, SoC, seed and versions of a run."""
    import torch

    from ascendops import __version__
    from ascendops.spec import socs

    return {
        "backend": options.backend, "what": MODEL if options.backend == "twin" else DEVICE, "soc": socs.resolve(options.soc).name, "seed": options.seed,
        "tried": dict(options.tried), "machine": f"{platform.system()} {platform.machine()}", "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "versions": {"ascendops": __version__, "python": platform.python_version(), "torch": torch.__version__},
    }  # fmt: skip


def _cases(spec: OpSpec) -> Iterator[TestCase]:
    from ascendops.testing.cases import TestCase

    first = (*spec.inputs, *spec.outputs)[0].dtypes
    for case in spec.benches or _largest(spec):
        for column in range(spec.columns):
            if case.dtypes is None or first[column] in case.dtypes:
                yield TestCase(spec, case, column)


def _largest(spec: OpSpec) -> list[Case]:
    """The case of each tiling key that moves most bytes."""
    found: dict[str | None, Case] = {}
    for case in spec.cases:
        best = found.get(case.tiling_key)
        if case.layout == "contiguous" and (best is None or spec.cost(case.shapes, case.attrs, 0)[1] > spec.cost(best.shapes, best.attrs, 0)[1]):
            found[case.tiling_key] = case
    named = [case for key, case in found.items() if key is not None]
    return named or list(found.values())


class _Timer:
    """Judges and times calls of one project in a worker process."""

    def __init__(self, project: Project, options: Options, kept: Kept, *, closes: bool) -> None:
        self._project, self._options, self._accepted = project, options, kept.accepted
        self._worker = kept.worker or Worker("ascendops.perf.remote:serve", label="the kernel")
        self._closes = closes or options.backend != "twin"
        if not self._closes:
            kept.worker = self._worker
        self._cube: dict[str, bool] = {}

    def __enter__(self) -> _Timer:
        return self

    def __exit__(self, *_: object) -> None:
        if self._closes:
            self._worker.close()

    def build(self, spec: OpSpec) -> None:
        """Builds the project where it will run.

        Raises:
            CompileError: A source does not compile.
        """
        self._call("build", spec)

    def __call__(self, case: TestCase) -> Row:
        spec, values = case.spec, case.values(self._options.seed)
        flops, nbytes = spec.cost(case.case.shapes, case.attrs, case.column)
        best: Roof = roof(self._options.soc, flops, nbytes, (*spec.inputs, *spec.outputs)[0].dtypes[case.column], self._uses_cube(spec))
        row = Row(spec.name, case.case.name, case.dtype, case.shapes, math.nan, roof_us=best.us, roof=best.bound, bytes=nbytes, flops=flops)
        wrong = self._wrong(case, values)
        if wrong:
            return replace(row, wrong=wrong)
        done = self._call("measure", spec, values, self._options.repeats, self._options.timeout_s)
        named = next((key.name for key in spec.tiling_keys if key.key == done["tiling_key"]), "")
        return replace(row, **done, tiling_name=named)

    def _wrong(self, case: TestCase, values: dict[str, Any]) -> str:
        """Why the call is not accepted by ascendops-parity/1; empty if it is."""
        from ascendops.parity.execute import POISONS
        from ascendops.parity.judge import Judge, no_reference
        from ascendops.parity.threads import few_threads
        from ascendops.testing.reference import golden_of
        from ascendops.twin.diagnostics import found_text

        place = f"{case.spec.name} {case.id}"
        if place in self._accepted and _digest(self._run(case.spec, values, POISONS[0], None)) == self._accepted[place]:
            return ""

        mutated = tuple(tensor.name for tensor in case.spec.inputs if tensor.mutated)
        judge = Judge(golden_of(case.spec), None, "L0", 1, mutated, seed=self._options.seed, names=tuple(case.output_names()))

        def runner(given: Any, poison: int | None, outs: Sequence[OutSpec] | None) -> Run:
            return self._run(case.spec, dict(given), poison, outs)

        with few_threads(values):
            judged = judge(case.id, values, runner, (), case.output_dtypes(), no_reference)
        found = judged.run.info.get("findings", [])
        if found:
            return found_text(found[0])
        if all(out is None or out.numel() == 0 for out in judged.run.outputs or ()) and judged.result.passed:
            return "all outputs are empty: there is nothing to time"
        if judged.result.passed:
            self._accepted[place] = _digest(judged.run)
            return ""
        labels = ", ".join(judged.result.labels)
        return f"{labels}: {judged.result.where or judged.result.error}".rstrip(": ")

    def _run(self, spec: OpSpec, values: dict[str, Any], poison: int | None, outs: Sequence[OutSpec] | None) -> Run:
        from ascendops.errors import KernelCrash, KernelHang
        from ascendops.parity.execute import Run, crash_label, failed

        try:
            done = self._call("run", spec, values, poison, outs, self._options.timeout_s)
        except (KernelCrash, KernelHang) as error:
            return failed(error, crash_label(error) if isinstance(error, KernelCrash) else "HANG")
        except AscendOpsError as error:
            return failed(error, "EXCEPTION")
        assert isinstance(done, Run)
        return done

    def _call(self, what: str, spec: OpSpec, *args: Any) -> Any:
        o = self._options
        job = (str(spec.root), spec.name, o.backend, o.soc, o.tried)
        return self._worker.call(what, job, *args, timeout_s=o.timeout_s * max(1, o.repeats if what == "measure" else 1) + _MARGIN_S)

    def _uses_cube(self, spec: OpSpec) -> bool:
        from ascendops.build.twin import kernel_is_cube

        if spec.name not in self._cube:
            self._cube[spec.name] = kernel_is_cube(self._project.root, spec.op_type, self._options.soc)
        return self._cube[spec.name]


def _digest(run: Run) -> str:
    """Hash of a run's outputs; empty if something else about it was wrong."""
    from ascendops.build.tensors import raw_bytes

    if run.error or run.info.get("findings") or run.mutated or run.trespassed or run.overrun:
        return ""
    return hashlib.sha256(b"".join(b"-" if out is None else raw_bytes(out) for out in run.outputs)).hexdigest()
