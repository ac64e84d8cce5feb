"""One operator under test: its build, its workers, and the judgement of each case."""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendops.errors import AscendOpsError, KernelCrash, KernelHang
from ascendops.parity.verdict import CaseResult
from ascendops.report.model import CaseReport, OpReport
from ascendops.testing import matrix, mutate, stream
from ascendops.testing.cases import TestCase
from ascendops.testing.reference import Answer, Reference, choose, golden_of
from ascendops.testing.verdicts import VerdictFile
from ascendops.worker import Worker

if TYPE_CHECKING:
    from ascendops.parity.execute import OutSpec, Run
    from ascendops.parity.judge import Judge, Judged
    from ascendops.spec.model import OpSpec

_MARGIN_S = 30.0  # what the worker may take beyond the kernel's own limit, e.g. to load the library


@dataclass(frozen=True)
class Options:
    """How cases run; the fields are the options of `ascendops test`.

    Attributes:
        kernel: The function that the worker calls.
        mutate: Plant faults into outputs and, on the twin, into the execution.
        verdict: Keep outputs for a verdict file.
    """

    backend: str = "twin"
    soc: str = "Ascend910B1"
    reference: str = "auto"
    level: str = "L0"
    seed: int = 0
    repeats: int = 2
    timeout_s: float = 60.0
    tier: str = "declared"
    mutate: bool = False
    verdict: bool = False
    kernel: str = "ascendops.testing.kernel:run_case"

    def as_arguments(self) -> str:
        """The seed, and what differs from the defaults, as options of `ascendops test`."""
        other = [
            f"--{name} {getattr(self, name)}"
            for name in ("soc", "level", "tier")
            if getattr(self, name) != getattr(Options, name)
        ]
        return " ".join([f"--seed {self.seed}", *other])


@dataclass
class OpSession:
    """The state of one operator during a run: build once, one kernel worker, one reference worker."""

    spec: OpSpec
    options: Options
    report: OpReport = field(init=False)
    cases: list[TestCase] = field(init=False)
    results: dict[str, CaseReport] = field(default_factory=dict)
    _worker: Worker | None = field(default=None, init=False)
    _reference: Reference | None = field(default=None, init=False)
    _judge: Judge | None = field(default=None, init=False)
    score: mutate.Score = field(default_factory=mutate.Score)
    _planted: dict[str, int] = field(default_factory=dict, init=False)
    verdict: VerdictFile = field(default_factory=VerdictFile)
    _earlier: list[Any] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self.cases = matrix.cases(self.spec, self.options.tier, self.options.seed)
        keys = [{"key": key.key, "name": key.name, "why": key.why, "cases": []} for key in self.spec.tiling_keys]
        first = (*self.spec.inputs, *self.spec.outputs)[0].dtypes
        self.report = OpReport(self.spec.name, str(self.spec.root), self.spec.doc, list(dict.fromkeys(first)), keys)

    def build(self) -> None:
        """Builds the operator (a cache hit if `ascendops build` did).

        Raises:
            AscendOpsError: It does not build.
        """
        from ascendops.build import open_project

        self.kernel.start()  # imports torch while the compiler runs
        self.reference.start()
        if self.options.kernel != Options.kernel:  # another function runs in place of a built kernel
            return
        start = time.perf_counter()
        open_project(self.spec.root).build_result(self.options.backend, self.options.soc)
        self.report.build_seconds = time.perf_counter() - start

    def run(self, case: TestCase) -> CaseReport:
        """Runs and judges one case.

        Raises:
            AscendOpsError: The golden or the reference option is unusable.
        """
        from ascendops.parity.judge import few_threads

        start = time.perf_counter()
        values = case.values(self.options.seed)
        with few_threads(values):
            report = self._judged(case, values)
        report.seconds = time.perf_counter() - start
        self.results[case.id] = report
        return report

    def _judged(self, case: TestCase, values: dict[str, Any]) -> CaseReport:
        answer = self.reference(values, case.id)
        judged = self.judge(case.id, values, self._runner, self._earlier, case.output_dtypes(), (answer.outputs, ""))
        self._earlier = [*self._earlier[-2:], judged.run.outputs]
        report = self._report(case, values, judged, answer)
        if self.options.verdict:
            self.verdict.add(case, report, judged.run.outputs, values)
        return report

    @property
    def kernel(self) -> Worker:
        """The worker that runs the operator's kernel."""
        if self._worker is None:
            self._worker = Worker(self.options.kernel, env={"OMP_NUM_THREADS": "1"}, label="the kernel")
        return self._worker

    @property
    def reference(self) -> Reference:
        """The operator's reference, started at first use."""
        if self._reference is None:
            self._reference = choose(self.spec, self.options.reference)
        return self._reference

    @property
    def judge(self) -> Judge:
        """The operator's judge: golden.py, level and seed."""
        if self._judge is None:
            from ascendops.parity.judge import Judge

            mutated = tuple(tensor.name for tensor in self.spec.inputs if tensor.mutated)
            self._judge = Judge(
                golden_of(self.spec), None, self.options.level, self.options.repeats, mutated, seed=self.options.seed
            )
        return self._judge

    @functools.cached_property
    def sources(self) -> str:
        """Hash of the project's own files."""
        return stream.sources(self.spec.root)

    def take(self, case: TestCase, earlier: Mapping[str, CaseReport]) -> CaseReport | None:
        """The case's report of an earlier run of the same sources, if it was accepted."""
        found = earlier.get(stream.key(self.spec.name, case.digest(self.options.seed), self.sources))
        if found is None:
            return None
        found.resumed = True
        self.results[case.id] = found
        named = next((entry for entry in self.report.tiling_keys if entry["key"] == found.tiling_key), None)
        if named is not None:
            named["cases"].append(case.id)
        return found

    def close(self) -> None:
        """Ends the workers."""
        for process in (self._worker, self._reference):
            if process is not None:
                process.close()

    def _runner(
        self, values: Any, poison: int | None, outs: Sequence[OutSpec] | None, fault: tuple[str, int] | None = None
    ) -> Run:
        from ascendops.parity.execute import Run, failed

        o = self.options
        try:
            result = self.kernel.call(
                str(self.spec.root), self.spec.name, o.backend, o.soc, dict(values), poison, outs, o.timeout_s, *([fault] if fault else []),
                timeout_s=o.timeout_s + _MARGIN_S,
            )  # fmt: skip
        except (KernelCrash, KernelHang) as error:
            return failed(error, "CRASH" if isinstance(error, KernelCrash) else "HANG")
        except AscendOpsError as error:
            return failed(error, "EXCEPTION")
        assert isinstance(result, Run)
        return result

    def _mutate(self, report: CaseReport, judged: Judged, values: Any) -> None:
        from ascendops.parity.execute import POISONS
        from ascendops.parity.judge import out_specs

        mutate.in_outputs(report, judged, self.score)
        if self.options.backend != "twin" or self.options.kernel != Options.kernel:
            return
        outs = out_specs(judged.truths, values)
        mutate.in_execution(report, judged, self.score, lambda fault: self._runner(values, POISONS[0], outs, fault), self._planted)

    def _report(self, case: TestCase, values: Any, judged: Judged, answer: Answer) -> CaseReport:
        from ascendops.parity.calling import describe

        result, info = judged.result, judged.run.info
        key = info.get("tiling_key")
        named = next((entry for entry in self.report.tiling_keys if entry["key"] == key), None)
        if named is not None:
            named["cases"].append(case.id)
        report = CaseReport(
            id=f"{self.spec.name}[{case.id}]", op=self.spec.name, case=case.case.name, dtype=case.dtype,
            inputs=describe(values), layout=case.case.layout, values=case.case.values, seed=self.options.seed,
            tiling_key=key, tiling_name=named["name"] if named else "", block_dim=info.get("block_dim", 0),
            digest=case.digest(self.options.seed), sources=self.sources, made=case.case not in self.spec.cases,
        )  # fmt: skip
        _copy_result(report, result)
        report.reference = _on_reference(self.reference, answer, judged)
        report.findings = [_finding(entry) for entry in info.get("findings", [])]
        _judge_findings(report)
        _judge_key(report, case)
        if report.passed:
            _try_wrong(report, judged)
        if report.passed and self.options.mutate:
            self._mutate(report, judged, values)
        report.repro = f"ascendops test {_shorten(self.spec.root)} -k '{report.id}' {self.options.as_arguments()}"
        _headline(report, result)
        return report


def _copy_result(report: CaseReport, result: CaseResult) -> None:
    data = result.to_dict()
    for name in ("status", "elements", "failing", "where", "worst", "histogram", "gates", "notes", "standards", "why_standards"):
        setattr(report, name, data[name])
    report.labels = list(result.labels)
    report.story = result.story()


def _on_reference(reference: Reference, answer: Answer, judged: Judged) -> dict[str, str]:
    if reference.kind == "none":
        return {"kind": "none", "status": "none", "detail": ""}
    if answer.samples is not None:
        return _on_samples(reference, answer, judged)
    if answer.outputs is None:
        return {"kind": reference.kind, "status": "skipped", "detail": answer.reason}
    differs = judged.result.reference.startswith("the reference differs")
    detail = judged.result.reference if differs else ""
    return {"kind": reference.kind, "status": "differs" if differs else "agrees", "detail": detail, "how": answer.how}


def _on_samples(reference: Reference, answer: Answer, judged: Judged) -> dict[str, str]:
    """A sample of the reference's outputs against the golden's bound."""
    from ascendops.parity.gates import measure_sample

    bad = total = 0
    for truth, sample in zip(judged.truths, answer.samples or [], strict=False):
        if truth is not None and sample is not None:
            bad, total = bad + measure_sample(truth, *sample), total + len(sample[0])
    detail = f"the reference differs from the golden in {bad} of {total} recorded elements" if bad else ""
    return {
        "kind": reference.kind,
        "status": "differs" if bad else "agrees",
        "detail": detail,
        "how": f"{answer.how}, {total} elements of large outputs",
    }


def _finding(entry: dict[str, Any]) -> dict[str, Any]:
    found = {key: value for key, value in entry.items() if isinstance(value, (str, int, float, bool, type(None)))}
    file, line = found.get("file"), found.get("line")
    if file and line:
        try:
            found["source"] = (
                Path(str(file)).read_text(encoding="utf-8", errors="replace").splitlines()[int(line) - 1].strip()
            )
        except (OSError, IndexError):
            found["source"] = ""
    return found


def _judge_findings(report: CaseReport) -> None:
    errors = [finding for finding in report.findings if finding.get("severity") == "error"]
    if not errors:
        return
    if report.passed:
        report.status = "fail"
    report.labels = list(dict.fromkeys(["FINDING", *report.labels]))
    lines = []
    unique = {(f.get("id"), f.get("file"), f.get("line")): f for f in reversed(errors)}
    for finding in list(reversed(unique.values()))[:5]:
        place = f"{finding['file']}:{finding['line']}" if finding.get("file") else "no source line"
        lines.append(f"{finding.get('id')} at {place} (block {finding.get('block')}): {finding.get('message')}")
        if finding.get("source"):
            lines.append(f"    {finding['source']}")
    report.story = lines + report.story  # the fault first: wrong values follow from it


def _judge_key(report: CaseReport, case: TestCase) -> None:
    wanted = case.case.tiling_key
    if wanted is None or wanted == report.tiling_name or report.status == "crash" or "EXCEPTION" in report.labels:
        return
    reached = f"{report.tiling_key}" + (f" ({report.tiling_name})" if report.tiling_name else "")
    if report.tiling_key is None:
        reached = "none: nothing was launched"
    if report.passed:
        report.status = "fail"
    report.labels.append("TILING_KEY")
    report.story.append(f"the case must reach tiling key {wanted}, but reached {reached}")


def _try_wrong(report: CaseReport, judged: Judged) -> None:
    from ascendops.parity.wrong import wrong_candidates

    tried = wrong_candidates(judged.run.outputs, judged.truths)
    report.wrong = [{"name": w.name, "rejected": w.rejected, "equivalent": w.equivalent} for w in tried]
    accepted = [w.name for w in tried if not w.rejected and not w.equivalent]
    if accepted:
        report.status = "fail"
        report.labels.append("MUTANT")
        report.story.append(
            f"the case would also accept a wrong result: {', '.join(accepted)}; use other values or a larger shape"
        )


def _headline(report: CaseReport, result: CaseResult) -> None:
    if report.passed:
        return
    report.exit_code = 1
    if result.status == "crash":
        report.what = f"the kernel of {report.op} {'hangs' if 'HANG' in result.labels else 'crashes'}"
    elif result.error:
        report.what = f"{report.op} cannot be called"
    elif "FINDING" in report.labels:
        first = next(str(f["id"]) for f in report.findings if f.get("severity") == "error")
        also = (
            f"{report.failing} of {report.elements} elements differ" if report.failing else "the values do not show it"
        )
        report.what = f"the kernel of {report.op} has a fault, {first}; {also}"
    elif report.failing and not result.passed:
        report.what = f"{report.op} differs from its golden in {report.failing} of {report.elements} elements"
    elif "MUTANT" in report.labels:
        report.what = f"a case of {report.op} cannot tell right from wrong"
    elif "TILING_KEY" in report.labels and result.passed:
        report.what = f"{report.op} ran another tiling key than the case names"
    else:
        broken = [f"{g.name} ({g.gate})" for g in result.gates if g.failed and g.gate != "G3"]
        report.what = f"{report.op} fails gate {', '.join(broken)}" if broken else f"{report.op} fails"
    page = report.labels[0] if report.labels else ""
    if page == "FINDING":
        page = next(str(f["id"]) for f in report.findings if f.get("severity") == "error")
    report.help = f"ascendops explain {page}" if page else ""


def _shorten(root: Path) -> str:
    try:
        relative = root.relative_to(Path.cwd())
    except ValueError:
        return str(root)
    return str(relative)
