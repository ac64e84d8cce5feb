"""The pytest plugin: collects op.toml files, one item per case and dtype column, and the checks over all cases of an operator."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ascendops.errors import AscendOpsError, ExitCode, Mismatch
from ascendops.report.model import CaseReport
from ascendops.testing import mutate, stream
from ascendops.testing.cases import TestCase
from ascendops.testing.farm import Farm
from ascendops.testing.session import OpSession, Options

FARM = pytest.StashKey[Farm]()  # hosts that run the cases; this process runs them if there is none
_SESSIONS = pytest.StashKey[list[OpSession]]()
_EARLIER = pytest.StashKey[Mapping[str, CaseReport]]()
_PREFIX = "ascendops_"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of the plugin; `ascendops test` sets them."""
    group = parser.getgroup("ascendops", "ascendops operator projects (op.toml)")
    defaults = Options()
    for name, text in (
        ("backend", "twin or cann"),
        ("soc", "SoC to build for"),
        ("reference", "auto, triton, cuda, torch, none or the folder of a golden bundle"),
        ("tier", "smoke, declared, default, full or certify"),
        ("level", "L0, L1 or L2"),
        ("auto_sync", "on or off: model the compiler's --cce-auto-sync"),
        ("kernel", "module:function that runs a kernel in the worker"),
        ("cases", "CSV, dump or export of another tool whose cases run in place of the tier's"),
    ):
        group.addoption(f"--ascendops-{name.replace('_', '-')}", dest=_PREFIX + name, default=getattr(defaults, name), help=text)
    group.addoption("--ascendops-seed", dest=_PREFIX + "seed", type=int, default=0, help="seed of all input values")
    for name, text in (("mutate", "plant faults and count the kills"), ("verdict", "keep outputs for a verdict file"), ("shrink", "make failing cases smaller")):
        group.addoption(f"--ascendops-{name}", dest=_PREFIX + name, action="store_true", default=False, help=text)
    group.addoption("--ascendops-resume", dest="ascendops_resume", default=None, help="JSON lines of an earlier run")
    group.addoption("--ascendops-environment", dest="ascendops_environment", default="{}", help="what both runs must share, as JSON")
    group.addoption(
        "--ascendops-repeats", dest=_PREFIX + "repeats", type=int, default=defaults.repeats, help="runs per case"
    )
    group.addoption(
        "--ascendops-timeout",
        dest=_PREFIX + "timeout_s",
        type=float,
        default=defaults.timeout_s,
        help="seconds per kernel",
    )


def options_of(config: pytest.Config) -> Options:
    """The plugin's options of this session."""
    return Options(**{name: config.getoption(_PREFIX + name) for name in Options.__dataclass_fields__})


def pytest_configure(config: pytest.Config) -> None:
    """Prepares the list of operators under test."""
    config.stash[_SESSIONS] = []
    path = config.getoption("ascendops_resume")
    config.stash[_EARLIER] = stream.load(Path(path), json.loads(config.getoption("ascendops_environment"))) if path else {}


def sessions(config: pytest.Config) -> list[OpSession]:
    """Operators collected so far."""
    return config.stash[_SESSIONS]


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """op.toml files are test files."""
    return OpFile.from_parent(parent, path=file_path) if file_path.name == "op.toml" else None


class OpFile(pytest.File):
    """One operator project."""

    def collect(self) -> Iterator[pytest.Item]:
        """Builds the operators; for each, one item per case and dtype column, then the check over all of its cases."""
        from ascendops import spec

        for declared in spec.load(self.path).operators:
            session = OpSession(declared, options_of(self.config))
            sessions(self.config).append(session)
            if not self.config.option.collectonly:
                farm = self.config.stash.get(FARM, None)
                try:
                    farm.build(session) if farm else session.build()
                except AscendOpsError as error:
                    yield BuildItem.from_parent(self, **self._at(session, "build"), error=error)
                    return
            for case in session.cases:
                yield CaseItem.from_parent(self, **self._at(session, case.id), case=case)
            if session.cases:
                yield CheckItem.from_parent(self, **self._at(session, "all cases"))

    def _at(self, session: OpSession, test: str) -> dict[str, Any]:
        # a whole node id is split at its bracket, as the ids that --lf and --last-failed read back are
        name = session.spec.name
        return {"name": f"{name}[{test}]", "nodeid": f"{self.nodeid}::{name}[{test}]", "op": session}


class _OpItem(pytest.Item):
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


class CaseItem(_OpItem):
    """One case for one dtype column."""

    def __init__(self, *, case: TestCase, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.case = case
        self.arrived: tuple[CaseReport, AscendOpsError | None] | None = None  # what a host of a farm sent

    def runtest(self) -> None:
        """Runs the kernel and judges it.

        Raises:
            Mismatch: The case fails.
        """
        self.outcome = CaseReport(
            f"{self.op.spec.name}[{self.case.id}]", self.op.spec.name, self.case.case.name, self.case.dtype
        )
        earlier = self.config.stash[_EARLIER]
        try:
            self.outcome = self.op.take(self.case, earlier) or self._run()
        except AscendOpsError as error:
            _note_error(self.outcome, error)
            raise
        if not self.outcome.passed:
            raise mismatch(self.outcome)

    def _run(self) -> CaseReport:
        if self.arrived is None:
            return self.op.run(self.case)
        report, error = self.arrived
        if error is not None:
            raise error
        report.repro = self.op.repro(report.id)
        return self.op.accept(self.case, report)


class CheckItem(_OpItem):
    """What all cases of an operator together must do: reach every tiling key, and use several cores at least once."""

    def runtest(self) -> None:
        """Checks the finished cases.

        Raises:
            Mismatch: A rule is broken.
        """
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


class BuildItem(_OpItem):
    """Stands for the cases of an operator that does not build."""

    def __init__(self, *, error: AscendOpsError, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.error = error

    def runtest(self) -> None:
        """Reports why.

        Raises:
            AscendOpsError: The error of the build.
        """
        self.outcome = CaseReport(f"{self.op.spec.name}[build]", self.op.spec.name, kind="build")
        _note_error(self.outcome, self.error)
        raise self.error


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
    ran += [f"{report.block_dim} blocks"] if report.block_dim else []
    ran += [f"seed {report.seed}"] if report.kind == "case" else []
    where = f"{report.id}  {', '.join(ran)}".rstrip()
    advice = "; ".join(filter(None, [report.help, f"rerun: {report.repro}" if report.repro else ""]))
    label = f"  [{' '.join(report.labels)}]" if report.labels else ""
    return Mismatch(report.what + label, where=where, why="\n".join(report.story) or None, help=advice or None)


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Generator[None, None, None]:
    """Drops the check over all cases where -k, --lf and the like left some out; keeps operators that do not build."""
    unbuilt = [item for item in items if isinstance(item, BuildItem)]
    yield
    items[:] = [*(item for item in unbuilt if item not in items), *items]
    kept = {id(item.op): 0 for item in items if isinstance(item, _OpItem)}
    for item in items:
        if isinstance(item, CaseItem):
            kept[id(item.op)] += 1
    partial = [i for i in items if isinstance(i, CheckItem) and kept[id(i.op)] < len(i.op.cases)]
    if partial:
        config.hook.pytest_deselected(items=partial)
        items[:] = [item for item in items if item not in partial]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keeps the cases of an operator in one process."""
    from ascendops.testing.spread import ByOperator

    return ByOperator(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Hands the case's report on, as plain data that also crosses the processes of xdist."""
    report = yield
    if isinstance(item, _OpItem) and report.when == "call" and item.outcome is not None:
        from dataclasses import asdict

        if report.failed and not item.outcome.what:  # anything but an error of the catalogue is a fault of the harness
            item.outcome.status, item.outcome.exit_code = "error", int(ExitCode.INTERNAL)
            item.outcome.what = "the harness failed"
            item.outcome.story = report.longreprtext.splitlines()[-12:]
        report.__dict__["ascendops"] = {"case": asdict(item.outcome), "op": asdict(item.op.report)}
    return report


def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """With a farm, runs the items in the order in which their results arrive; the check over an operator's cases after the last of them."""
    farm = session.config.stash.get(FARM, None)
    if farm is None or session.config.option.collectonly or (session.testsfailed and not session.config.option.continue_on_collection_errors):
        return None
    for item in _by_arrival(session, farm):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
    return True


def _by_arrival(session: pytest.Session, farm: Farm) -> Iterator[pytest.Item]:
    sent: list[pytest.Item] = []
    for item in session.items:
        if isinstance(item, CaseItem) and not item.op.has(item.case, session.config.stash[_EARLIER]):
            farm.submit(item.op, item.case, item)
            sent.append(item)
    checks = [item for item in session.items if isinstance(item, CheckItem)]
    yield from (item for item in session.items if item not in checks and item not in sent)
    for item, report, error in farm.arrivals():
        item.arrived = report, error
        yield item
    yield from checks


def pytest_unconfigure(config: pytest.Config) -> None:
    """Ends all workers."""
    for session in config.stash.get(_SESSIONS, []):
        session.close()


def exit_code(reports: list[CaseReport], pytest_code: int) -> int:
    """The exit code of a run: that of the worst report, else what pytest says in the command's own codes."""
    codes = [report.exit_code for report in reports if report.exit_code]
    if pytest_code in (pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR):
        return int(ExitCode.INTERNAL if pytest_code == pytest.ExitCode.INTERNAL_ERROR else ExitCode.USAGE)
    if codes:
        return max(codes)
    if pytest_code == pytest.ExitCode.NO_TESTS_COLLECTED:
        return int(ExitCode.NOTHING)
    return int(ExitCode.MISMATCH) if pytest_code else int(ExitCode.OK)
