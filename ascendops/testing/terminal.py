"""The terminal side of `ascendops test`: replaces pytest's reporter by a few lines, and collects the reports."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, TextIO

import pytest
from _pytest.terminal import TerminalReporter

from ascendops.report import text
from ascendops.report.model import CaseReport, OpReport, RunReport
from ascendops.testing.stream import Stream

if TYPE_CHECKING:
    from ascendops.testing.farm import Farm
    from ascendops.testing.session import OpSession

_MARKS = {"pass": ".", "pass_by_reference": "r", "crash": "C", "error": "E"}


class Talk:
    """A plugin object: records every case into `run` and prints to `stream`."""

    def __init__(self, run: RunReport, stream: TextIO, lines: Stream | None = None, farm: Farm | None = None) -> None:
        self.run = run
        self.farm = farm
        self.lines = lines
        self.stream = stream
        self.interrupted = False
        self.ops: dict[str, OpReport] = {}
        self.reporter: _Reporter | None = None
        self.sessions: list[OpSession] = []

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Puts our reporter in the place of pytest's; hands the farm to the plugin."""
        from ascendops.testing.plugin import FARM

        if self.farm is not None:
            config.stash[FARM] = self.farm
        manager = config.pluginmanager
        standard = manager.getplugin("terminalreporter")
        if standard is not None:
            manager.unregister(standard)
        self.reporter = _Reporter(config, self)
        manager.register(self.reporter, "terminalreporter")

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Ends the last operator's line, before pytest's reporter adds its own; keeps what a verdict file needs."""
        from ascendops.testing.plugin import sessions

        self.sessions = sessions(session.config)
        if self.reporter is not None:
            self.reporter.next_op("")

    def pytest_keyboard_interrupt(self) -> None:
        """Remembers Ctrl-C: pytest's exit code for it also means other things."""
        self.interrupted = True

    def record(self, report: pytest.TestReport) -> CaseReport | None:
        """The case that a pytest report carries, filed into the run; None for reports without one."""
        data: dict[str, Any] | None = getattr(report, "ascendops", None)
        if data is None:
            return None
        case, op = CaseReport(**data["case"]), OpReport(**data["op"])
        self.run.cases.append(case)
        if self.lines is not None:
            self.lines.write(case, op)
        if op.name in self.ops:
            self.run.ops.remove(self.ops[op.name])
        self.ops[op.name] = op
        self.run.ops.append(op)
        return case


class _Reporter(TerminalReporter):  # type: ignore[misc]  # pytest marks the class final for type checkers
    def __init__(self, config: pytest.Config, talk: Talk) -> None:
        super().__init__(config, talk.stream)
        self.talk = talk
        self.detail = config.option.verbose
        if not config.option.collectonly:
            config.option.verbose = -2  # keeps pytest's own headers and progress quiet
        self.marks = 0
        self.told: Counter[tuple[str, ...]] = Counter()
        self.mixed = talk.farm is not None or bool(config.getoption("numprocesses", None))  # results of several operators come as they are ready
        self.current = ""
        self.ended: set[str] = set()

    def pytest_runtest_logstart(self, nodeid: str, location: Any) -> None:
        """Says nothing; a case says something when it ends."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Files the case; prints its mark, or its story if it fails."""
        case = self.talk.record(report)
        if case is None:
            if report.failed:
                self._line(f"{report.when} of {report.nodeid} failed: {report.longreprtext}")
            self.stats.setdefault("failed" if report.failed else "", []).append(report)
            return
        self.stats.setdefault("passed" if case.passed else "failed", []).append(report)
        self.next_op(case.op)
        if self.detail > 0:
            self._line(f"  {case.status:<18}{case.id}   {'taken from the earlier run' if case.resumed else f'{case.seconds:.2f} s'}")
        elif self.detail >= 0 and self._tw.hasmarkup and case.passed:
            self._tw.write(_MARKS.get(case.status, "F") if self.marks else f"  {_MARKS.get(case.status, 'F')}")
            self._tw.flush()
            self.marks += 1
        self.told[text.error_key(case)] += case.status == "error"
        if not case.passed and self.told[text.error_key(case)] <= 1:
            first, *rest = text.failure(case)
            self._line("")
            head, _, tail = first.partition(":")
            self._tw.write(head, red=True, bold=True)
            self._tw.line(f":{tail}", bold=True)
            for line in rest:
                self._tw.line(line)
            self._tw.line("")
        if self.mixed and case.kind in ("check", "build"):
            self._end([case.op])

    def pytest_runtest_logfinish(self, nodeid: str, location: Any = None) -> None:
        """Says nothing."""

    def pytest_collection(self) -> None:
        """Says nothing."""

    def report_collect(self, final: bool = False) -> None:
        """Says nothing."""

    def summary_failures(self) -> None:
        """Failures were told when they happened."""

    def short_test_summary(self) -> None:
        """The summary is printed by `run` when the whole run is known."""

    def summary_stats(self) -> None:
        """Says nothing; the summary comes from `run`."""

    def _summary_solo_stats(self) -> None:
        """Says nothing."""

    def next_op(self, name: str) -> None:
        """Ends the current operator with its line, if the next one is another; without a name, all that have not ended."""
        if not name:
            self._end([op for op in self.talk.ops if op not in self.ended])
        elif not self.mixed and name != self.current:
            self._end([self.current] if self.current else [])
            self.current = name

    def _end(self, ops: list[str]) -> None:
        run = self.talk.run
        for key in [key for key, count in self.told.items() if count > 1 and key[0] in ops]:
            self._line(f"   {text.repeated(key[1], self.told.pop(key) - 1)}")
        for op in ops if self.detail >= 0 else []:
            self._line(text.op_line(self.talk.ops[op], run.of(op), str(run.environment.get("backend", ""))))
        self.ended.update(ops)

    def _line(self, line: str) -> None:
        if self.marks:
            self._tw.line("")
            self.marks = 0
        if line:
            self._tw.line(line)
