"""The pytest plugin: collects op.toml files, one item per case and dtype column, and the checks over all cases of an operator."""

from __future__ import annotations

import gc
import json
import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from ascendops.errors import AscendOpsError, ExitCode
from ascendops.report.model import CaseReport
from ascendops.testing import stream
from ascendops.testing.farm import Farm
from ascendops.testing.items import EARLIER, BuildItem, CaseItem, CheckItem, OpItem
from ascendops.testing.options import Options
from ascendops.testing.session import OpSession

FARM = pytest.StashKey[Farm]()  # hosts that run the cases; this process runs them if there is none
_SESSIONS = pytest.StashKey[list[OpSession]]()
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
    """Prepares the list of operators under test; in one of several processes, leaves the others their cores."""
    config.stash[_SESSIONS] = []
    if hasattr(config, "workerinput"):
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        os.environ.setdefault("OMP_NUM_THREADS", str(max(1, cores // config.workerinput["workercount"])))
    path = config.getoption("ascendops_resume")
    config.stash[EARLIER] = stream.load(Path(path), json.loads(config.getoption("ascendops_environment"))) if path else {}


def sessions(config: pytest.Config) -> list[OpSession]:
    """Operators collected so far."""
    return config.stash[_SESSIONS]


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """op.toml files are test files."""
    return OpFile.from_parent(parent, path=file_path) if file_path.name == "op.toml" else None


class OpFile(pytest.File):
    """One operator project."""

    def collect(self) -> Iterator[pytest.Item]:
        """Builds the operators; for each, one item per case and dtype column, then the check over all of its cases.

        Each process of xdist collects all operators and runs some: there an operator is built before its first case.
        """
        from ascendops import spec

        for declared in spec.load(self.path).operators:
            session = OpSession(declared, options_of(self.config))
            sessions(self.config).append(session)
            if not self.config.option.collectonly and not hasattr(self.config, "workerinput"):
                farm = self.config.stash.get(FARM, None)
                try:
                    farm.build(session) if farm else session.build(start=len(sessions(self.config)) == 1)
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


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Generator[None, None, None]:
    """Drops the check over all cases where -k, --lf and the like left some out; keeps operators that do not build."""
    unbuilt = [item for item in items if isinstance(item, BuildItem)]
    yield
    items[:] = [*(item for item in unbuilt if item not in items), *items]
    kept = {id(item.op): 0 for item in items if isinstance(item, OpItem)}
    for item in items:
        if isinstance(item, CaseItem):
            kept[id(item.op)] += 1
    partial = [i for i in items if isinstance(i, CheckItem) and kept[id(i.op)] < len(i.op.cases)]
    if partial:
        config.hook.pytest_deselected(items=partial)
        items[:] = [item for item in items if item not in partial]


def pytest_collection_finish() -> None:
    """Keeps the garbage collector from walking through torch's modules again and again."""
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keeps the cases of an operator in one process."""
    from ascendops.testing.spread import ByOperator

    return ByOperator(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Hands the case's report on, as plain data that also crosses the processes of xdist."""
    report = yield
    if isinstance(item, OpItem) and report.when == "call" and item.outcome is not None:
        if report.failed and not item.outcome.what:  # anything but an error of the catalogue is a fault of the harness
            item.outcome.status, item.outcome.exit_code = "error", int(ExitCode.INTERNAL)
            item.outcome.what = "the harness failed"
            item.outcome.story = report.longreprtext.splitlines()[-12:]
        report.__dict__["ascendops"] = json.loads(json.dumps({"case": vars(item.outcome), "op": vars(item.op.report)}))
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
        if isinstance(item, CaseItem) and not item.op.has(item.case, session.config.stash[EARLIER]):
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
