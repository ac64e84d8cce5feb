"""One operator under test: its build, its workers, and the judgement of each case."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendops.errors import AscendOpsError, KernelCrash, KernelHang
from ascendops.report.model import CaseReport, OpReport
from ascendops.testing import beyond, given, matrix, mutate, stream
from ascendops.testing.cases import TestCase
from ascendops.testing.options import Options
from ascendops.testing.outcome import (
    copy_result,
    finding,
    headline,
    judge_findings,
    judge_key,
    on_reference,
    shorten,
    try_wrong,
)
from ascendops.testing.reference import Answer, Reference, choose, golden_name, golden_of
from ascendops.testing.verdicts import VerdictFile
from ascendops.worker import Worker

if TYPE_CHECKING:
    from ascendops.parity.execute import OutSpec, Run
    from ascendops.parity.judge import Judge, Judged
    from ascendops.parity.sampling import Sampling
    from ascendops.spec.model import OpSpec

_MARGIN_S = 30.0  # what the worker may take beyond the kernel's own limit, e.g. to load the library


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
    _before: TestCase | None = field(default=None, init=False)
    _shrunk: bool = field(default=False, init=False)
    _planted: dict[str, int] = field(default_factory=dict, init=False)
    verdict: VerdictFile = field(default_factory=VerdictFile)
    _earlier: list[Any] = field(default_factory=list, init=False)
    built: bool = field(default=False, init=False)
    unbuilt: AscendOpsError | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.kernel.prepare()
        self.cases = self._cases()
        keys = [{"key": key.key, "name": key.name, "why": key.why, "cases": []} for key in self.spec.tiling_keys]
        first = (*self.spec.inputs, *self.spec.outputs)[0].dtypes
        self.report = OpReport(self.spec.name, str(self.spec.root), self.spec.doc, list(dict.fromkeys(first)), keys)

    def _cases(self) -> list[TestCase]:
        if self.options.cases:
            return list(given.read(self.spec, Path(self.options.cases)).cases)
        return matrix.cases(self.spec, self.options.tier, self.options.seed)

    def build(self, start: bool = True) -> None:
        """Builds the operator (a cache hit if `ascendops build` did).

        Args:
            start: Start its workers as well, which import what they need while the compiler runs.

        Raises:
            AscendOpsError: It does not build; `unbuilt` keeps the error.
        """
        from ascendops.build import open_project

        if start:
            self.kernel.start()
            self.reference.start()
        self.built = True
        if self.options.kernel != Options.kernel:  # another function runs in place of a built kernel
            return
        begin = time.perf_counter()
        try:
            open_project(self.spec.root).build_result(self.options.backend, self.options.soc)
        except AscendOpsError as error:
            self.unbuilt = error
            raise
        self.report.build_seconds = time.perf_counter() - begin

    def run(self, case: TestCase) -> CaseReport:
        """Runs and judges one case.

        Raises:
            AscendOpsError: The golden or the reference option is unusable.
        """
        from ascendops.parity.threads import few_threads

        start = time.perf_counter()
        values = case.values(self.options.seed)
        with few_threads(values):
            report = self._judged(case, values)
        if not report.passed and self.options.shrink:
            self._shrink(case, report)
        self._before = case
        report.seconds = time.perf_counter() - start
        self.results[case.id] = report
        return report

    def _judged(self, case: TestCase, values: dict[str, Any]) -> CaseReport:
        answer = self._ask(case, values)
        judged = self.judge(case.id, values, self._runner, self._earlier, case.output_dtypes(), lambda: (answer().outputs, ""))
        self._earlier = [*self._earlier[-2:], judged.run.outputs]
        report = self._report(case, values, judged, answer())
        if self.options.verdict and not judged.refused:
            self.verdict.add(case, report, judged.run.outputs, values)
        return report

    def _ask(self, case: TestCase, values: dict[str, Any]) -> Callable[[], Answer]:
        """What gives the reference's outputs: those that came with the case, else what the reference computes in the meantime."""
        if isinstance(case, given.GivenCase) and case.outputs is not None:
            recorded = Answer(list(case.outputs), how=f"recorded: {case.how}")
            return lambda: recorded
        return self.reference.ask(values, case.id)

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
                golden_of(self.spec), None, self.options.level, self.options.repeats, mutated, seed=self.options.seed, compute=self.spec.compute,
                sampling=self._sampling(), names=tuple(tensor.name for tensor in self.spec.outputs),
            )  # fmt: skip
        return self._judge

    def _sampling(self) -> Sampling:
        from ascendops.parity.sampling import Sampling

        chosen = self.spec.random
        numbers = {i: chosen.outputs[tensor.name] for i, tensor in enumerate(self.spec.outputs) if tensor.name in chosen.outputs}
        return Sampling(numbers, chosen.seed, chosen.p_value, len(self.cases))

    @functools.cached_property
    def beyond(self) -> beyond.Beyond:
        """Relations and gradients, which need several runs."""
        return beyond.Beyond(self.spec, self._call, self.options.seed)

    @functools.cached_property
    def sources(self) -> str:
        """Hash of the project's own files."""
        return stream.sources(self.spec.root)

    def has(self, case: TestCase, earlier: Mapping[str, CaseReport]) -> bool:
        """Whether an earlier run of the same sources accepted the case."""
        return bool(earlier) and self._key(case) in earlier

    def _key(self, case: TestCase) -> str:
        return stream.key(self.spec.name, case.digest(self.options.seed), self.sources)

    def take(self, case: TestCase, earlier: Mapping[str, CaseReport]) -> CaseReport | None:
        """The case's report of an earlier run of the same sources, if it was accepted."""
        found = earlier.get(self._key(case)) if earlier else None
        if found is None:
            return None
        found.resumed = True
        return self.accept(case, found)

    def accept(self, case: TestCase, report: CaseReport) -> CaseReport:
        """Counts a report that another run or another process made, as if the case had run here."""
        self.results[case.id] = report
        named = next((entry for entry in self.report.tiling_keys if entry["key"] == report.tiling_key), None)
        if named is not None:
            named["cases"].append(case.id)
        for row in report.mutants:
            self.score.add(row["name"], row["status"])
        return report

    def repro(self, test: str) -> str:
        """The command that runs one test again."""
        return f"ascendops test {shorten(self.spec.root)} -k '{test}' {self.options.as_arguments()}"

    def close(self) -> None:
        """Ends the workers."""
        for process in (self._worker, self._reference):
            if process is not None:
                process.close()

    def _runner(
        self, values: Any, poison: int | None, outs: Sequence[OutSpec] | None, fault: tuple[str, int] | None = None
    ) -> Run:
        return self._call(self.spec, values, poison, outs, fault)

    def _call(
        self, spec: OpSpec, values: Any, poison: int | None, outs: Sequence[OutSpec] | None, fault: tuple[str, int] | None = None
    ) -> Run:
        """One call of an operator of the project."""
        from ascendops.parity.execute import Run, crash_label, failed

        o = self.options
        more = [fault, False] if o.auto_sync == "off" else [fault] if fault else []
        try:
            result = self.kernel.call(
                str(spec.root), spec.name, o.backend, o.soc, dict(values), poison, outs, o.timeout_s, *more,
                timeout_s=o.timeout_s + _MARGIN_S,
            )  # fmt: skip
        except (KernelCrash, KernelHang) as error:
            return failed(error, crash_label(error) if isinstance(error, KernelCrash) else "HANG")
        except AscendOpsError as error:
            return failed(error, "EXCEPTION")
        assert isinstance(result, Run)
        return result

    def _shrink(self, case: TestCase, report: CaseReport) -> None:
        """Writes the smallest form of the operator's first failing case."""
        from ascendops.testing import shrink

        if self._shrunk or not set(report.labels) - {"MUTANT", "TILING_KEY"}:
            return
        self._shrunk = True
        report.story.append(shrink.written(case, self._before, self._fresh_labels, self.options, golden_name(self.spec)))

    def _fresh_labels(self, cases: Sequence[TestCase], fresh: bool) -> frozenset[str]:
        """Labels of the last case when the cases run in order, in a fresh process if asked; empty if it passes."""
        from ascendops.parity.judge import no_reference

        if fresh:
            self.kernel.close()
        labels: frozenset[str] = frozenset()
        for case in cases:
            values = case.values(self.options.seed)
            judged = self.judge(case.id, values, self._runner, (), case.output_dtypes(), no_reference)
            findings = [entry for entry in judged.run.info.get("findings", []) if entry.get("severity") == "error"]
            failed = set(judged.result.labels) if not judged.result.passed else set()
            labels = frozenset(failed | ({"FINDING"} if findings else set()))
        return labels

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
        copy_result(report, result)
        reference = Reference("recorded") if isinstance(case, given.GivenCase) and case.outputs is not None else self.reference
        report.reference = on_reference(reference, answer, judged)
        report.findings = [finding(entry) for entry in info.get("findings", [])]
        judge_findings(report)
        judge_key(report, case)
        if report.passed:
            try_wrong(report, judged)
        if report.passed and self.options.tier in beyond.TIERS:
            self.beyond(report, case, values, judged)
        if report.passed and self.options.mutate:
            self._mutate(report, judged, values)
        report.repro = self.repro(report.id)
        headline(report, result)
        return report
