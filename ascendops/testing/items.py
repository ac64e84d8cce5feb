"""The items of a test run: a case of one dtype column, the check over all cases of an operator, and an operator that does not build."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ascendops.errors import AscendOpsError, Mismatch
from ascendops.report.model import CaseReport
from ascendops.testing import mutate
from ascendops.testing.cases import TestCase
from ascendops.testing.session import OpSession
from ascendops.words import plural

EARLIER = pytest.StashKey[Mapping[str, CaseReport]]()  # accepted cases of the run that goes on
_RUNNING = pytest.StashKey[OpSession]()  # the operator whose workers run


class OpItem(pytest.Item):
    """An item of one operator."""

    def __init__(self, *, op: OpSession, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.op = op
        self.outcome: CaseReport | None = None

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where pytest says the item is."""
        return self.path, None, self.name

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The error as the catalogue prints it, without a traceback."""
        if isinstance(excinfo.value, AscendOpsError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)


class CaseItem(OpItem):
    """One case for one dtype column."""

    def __init__(self, *, case: TestCase, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.case = case
        self.arrived: tuple[CaseReport, AscendOpsError | None] | None = None  # what a host of a farm sent

    def runtest(self) -> None:
        """Runs the kernel and judges it; does nothing if an earlier case has told that the operator does not build.

        Raises:
            Mismatch: The case fails.
            AscendOpsError: The operator does not build, or its golden or reference is unusable.
        """
        if self.op.unbuilt is not None:
            return
        self.outcome = CaseReport(
            f"{self.op.spec.name}[{self.case.id}]", self.op.spec.name, self.case.case.name, self.case.dtype
        )
        earlier = self.config.stash[EARLIER]
        try:
            self.outcome = self.op.take(self.case, earlier) or self._run()
        except AscendOpsError as error:
            _note_error(self.outcome, error)
            raise
        if not self.outcome.passed:
            raise mismatch(self.outcome)

    def _run(self) -> CaseReport:
        if self.arrived is None:
            self._switch()
            if not self.op.built:
                self._build()
            return self.op.run(self.case)
        report, error = self.arrived
        if error is not None:
            raise error
        report.repro = self.op.repro(report.id)
        return self.op.accept(self.case, report)

    def _build(self) -> None:
        try:
            self.op.build()
        except AscendOpsError:
            self.outcome = _unbuilt(self.op)
            raise

    def _switch(self) -> None:
        """Ends the workers of the operator whose cases ran before."""
        before = self.config.stash.get(_RUNNING, None)
        if before is not None and before is not self.op:
            before.close()
        self.config.stash[_RUNNING] = self.op


class CheckItem(OpItem):
    """What all cases of an operator together must do: reach every tiling key, and use several cores at least once."""

    def runtest(self) -> None:
        """Checks the finished cases, if there are any.

        Raises:
            Mismatch: A rule is broken.
        """
        if self.op.unbuilt is not None:
            return
        name, problems = self.op.spec.name, []
        self.outcome = CaseReport(f"{name}[all cases]", name, kind="check", status="pass")
        missed = [key for key in self.op.report.tiling_keys if not key["cases"] and not self.op.options.cases]
        problems += [f"no case reaches tiling key {key['key']} ({key['name']}: {key['why']})" for key in missed]
        whole = self.op.options.tier != "smoke" and not self.op.options.cases  # a smoke run takes the smallest cases, another tool its own
        judged = self.op.spec.dialect == "ascendc" and whole
        if judged and all(report.block_dim <= 1 for report in self.op.results.values()):
            problems.append("no case runs on more than one core")
        self.op.score.declare(self.op.spec.equivalent)
        self.outcome.mutants = mutate.as_rows(self.op.score)
        unnoticed = mutate.verdict(self.op.score, name) if self.op.options.mutate else []
        if unnoticed:
            self.outcome.status, self.outcome.labels, self.outcome.exit_code = "fail", ["MUTANT"], 1
            self.outcome.what, self.outcome.story = f"the cases of {name} do not notice enough faults", [*unnoticed, *problems]
            self.outcome.help = f"add cases to {self.op.spec.path}, or declare why a fault changes nothing in [mutate]; ascendops explain MUTANT"
            raise mismatch(self.outcome)
        if problems:
            self.outcome.status, self.outcome.labels, self.outcome.exit_code = "fail", ["UNREACHED"], 1
            self.outcome.what, self.outcome.story = f"the cases of {name} leave branches untested", problems
            self.outcome.help = f"add cases to {self.op.spec.path}; ascendops explain UNREACHED"
            raise mismatch(self.outcome)


class BuildItem(OpItem):
    """Stands for the cases of an operator that does not build."""

    def __init__(self, *, error: AscendOpsError, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.error = error

    def runtest(self) -> None:
        """Reports why.

        Raises:
            AscendOpsError: The error of the build.
        """
        self.outcome = _unbuilt(self.op)
        _note_error(self.outcome, self.error)
        raise self.error


def _unbuilt(op: OpSession) -> CaseReport:
    return CaseReport(f"{op.spec.name}[build]", op.spec.name, kind="build")


def _note_error(report: CaseReport, error: AscendOpsError) -> None:
    report.status, report.what, report.exit_code = "error", error.what, int(error.exit_code)
    report.story, report.help = (error.why or "").splitlines(), error.help or ""
    report.where = error.where or ""
    report.notes.append(f"error[{error.id}]")


def mismatch(report: CaseReport) -> Mismatch:
    """The failing case as an error of the catalogue."""
    ran = (
        [f"tiling key {report.tiling_key}" + (f" ({report.tiling_name})" if report.tiling_name else "")]
        if report.block_dim
        else []
    )
    ran += [plural(report.block_dim, "block")] if report.block_dim else []
    ran += [f"seed {report.seed}"] if report.kind == "case" else []
    where = f"{report.id}  {', '.join(ran)}".rstrip()
    advice = "; ".join(filter(None, [report.help, f"rerun: {report.repro}" if report.repro else ""]))
    label = f"  [{' '.join(report.labels)}]" if report.labels else ""
    return Mismatch(report.what + label, where=where, why="\n".join(report.story) or None, help=advice or None)
