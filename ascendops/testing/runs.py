"""`ascendops test`: pytest with the plugin, in this process, and the result as data."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, TextIO

import pytest

from ascendops.errors import NothingSelected
from ascendops.report import html, model, text
from ascendops.report.model import RunReport
from ascendops.testing import given
from ascendops.testing.farm import LABELS, Farm
from ascendops.testing.plugin import exit_code
from ascendops.testing.stream import Stream
from ascendops.testing.terminal import Talk

LAST_RUN = Path(".ascendops") / "last-run.json"
REPEATS = {"L0": 20, "L1": 50, "L2": 50}  # runs per case on a device; the twin is the same every time but for races, which it reports
LINES = Path(".ascendops") / "run.jsonl"


@dataclass(frozen=True)
class TestRun:
    """A finished run: `report` is the result model, `exit_code` that of the command."""

    __test__ = False

    report: RunReport
    exit_code: int

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready fields of the report."""
        return self.report.to_dict()


def run(
    paths: Sequence[Path | str],
    *,
    backend: str = "auto",
    soc: str = "Ascend910B1",
    reference: str = "auto",
    level: str = "L0",
    seed: int = 0,
    tier: str = "declared",
    mutate: bool = False,
    resume: bool = False,
    shrink: bool = False,
    verdict: Path | None = None,
    distribute: str | None = None,
    cases: Path | None = None,
    auto_sync: bool = True,
    pytest_args: Sequence[str] = (),
    json_path: Path | None = None,
    html_path: Path | None = None,
    stream: TextIO | None = None,
) -> TestRun:
    """Tests the operator projects in these folders.

    Args:
        paths: Project folders (each with an op.toml).
        reference: auto, triton, cuda, torch, none, or the folder of a golden bundle.
        tier: smoke, declared (the cases of op.toml), default (about 120), full or certify.
        mutate: Plant faults into outputs and executions; an operator whose cases kill fewer than 95 % fails.
        resume: Take accepted cases of an earlier run of the same sources and options, instead of running them again.
        shrink: Make the first failing case of each operator smaller and write it as a script.
        verdict: Folder for a verdict file.
        distribute: `ray` runs the cases on the hosts of a Ray cluster; see `ascendops.testing.farm`.
        cases: TTK's CSV, an msprobe dump or a TritonBench export whose cases run in place of the tier's.
        auto_sync: Whether the twin models the compiler's --cce-auto-sync, which orders scalar accesses with the pipes.
        pytest_args: Handed to pytest as they are, e.g. `["-k", "float16", "-x"]`.
        json_path: Where the result goes as JSON, besides .ascendops/last-run.json of the first project.
        html_path: Where the HTML report goes.
        stream: Where talk goes; stdout by default.

    Raises:
        NothingSelected: None of the folders has an op.toml with cases.
        SpecError: An op.toml is not valid.
        UnknownReference: No such reference.
        CasesUnreadable: `cases` cannot be read.
        FarmMissing: There is no cluster, or no host of it can run the backend.
    """
    from ascendops.build import resolve_backend

    roots = [Path(path).absolute() for path in paths]
    stream = stream or sys.stdout
    chosen = resolve_backend(backend)
    report = RunReport(environment=_environment(chosen, soc, reference, level, seed) | {"tier": tier, "mutate": mutate, "auto_sync": auto_sync})
    files = _testable(roots, reference, report, cases)
    lines = roots[0] / LINES
    earlier = _set_aside(lines) if resume else None
    talk = Talk(report, stream, _lines(lines, report))
    args = [
        *map(str, files), "-p", "ascendops.testing.plugin", "-p", "no:logging", "-W", "ignore::pytest.PytestAssertRewriteWarning", f"--rootdir={_common(roots)}", "-c", os.devnull,
        "-o", f"cache_dir={roots[0] / '.ascendops' / 'pytest'}", f"--ascendops-backend={chosen}", f"--ascendops-soc={soc}",
        f"--ascendops-reference={reference}", f"--ascendops-level={level}", f"--ascendops-seed={seed}", f"--ascendops-auto-sync={'on' if auto_sync else 'off'}",
        f"--ascendops-tier={tier}", *([f"--ascendops-repeats={REPEATS[level]}"] if chosen != "twin" else []), *(["--ascendops-mutate"] if mutate else []), *(["--ascendops-verdict"] if verdict else []),
        *(["--ascendops-shrink"] if shrink else []), *([f"--ascendops-cases={cases.absolute()}"] if cases else []),
        *([f"--ascendops-resume={earlier}", f"--ascendops-environment={json.dumps(report.environment)}"] if earlier else []), *pytest_args,
    ]  # fmt: skip
    if any(arg.startswith(("-n", "--numprocesses")) for arg in pytest_args):
        args.append("--dist=loadscope")  # by operator: ascendops.testing.spread
    start = time.perf_counter()
    with contextlib.ExitStack() as stack:
        if distribute:
            stack.enter_context(contextlib.redirect_stdout(sys.stderr))  # Ray prints news of the cluster
            talk.farm = stack.enter_context(contextlib.closing(Farm(LABELS[chosen])))
        code = int(pytest.main(args, plugins=[talk]))
    report.seconds = time.perf_counter() - start
    if talk.lines is not None:
        talk.lines.close()
    taken = sum(case.resumed for case in report.cases)
    if resume:
        report.notes.append(f"{taken} of {len(report.of_kind('case'))} cases were taken from the earlier run")
    report.exit_code = 130 if talk.interrupted else exit_code(report.cases, code)
    if verdict is not None:
        _write_verdict(verdict, talk, report)
    _finish(report, roots[0], json_path, html_path, stream)
    return TestRun(report, report.exit_code)


def _lines(path: Path, report: RunReport) -> Stream | None:
    try:
        return Stream(path, report.environment)
    except OSError as error:  # a project that cannot be written can still be tested
        report.notes.append(f"results are not written while the run goes on: {error.strerror}: {path}")
        return None


def _set_aside(lines: Path) -> Path | None:
    """Moves the lines of the earlier run out of the way of this run's."""
    if not lines.is_file():
        return None
    earlier = lines.with_suffix(".earlier.jsonl")
    lines.replace(earlier)
    return earlier


def _write_verdict(folder: Path, talk: Talk, report: RunReport) -> None:
    from ascendops.testing.verdicts import VerdictFile

    whole = VerdictFile()
    for session in talk.sessions:
        whole.extend(session.verdict)
    if not whole.cases:
        report.notes.append("no verdict file was written: it needs a run in one process (without -n)")
        return
    identity = whole.write(folder, report.environment)
    report.notes.append(f"verdict {identity[:16]}: {folder}; check it anywhere: ascendops verify {folder}")


def _testable(roots: list[Path], reference: str, report: RunReport, cases: Path | None) -> list[Path]:
    from ascendops import spec
    from ascendops.testing.reference import choose

    files: list[Path] = []
    seen: set[str] = set()
    for root in roots:
        file = root / "op.toml"
        if not file.is_file():
            report.notes.append(f"{root} has no op.toml, so it has no cases")
            continue
        declared, usable = spec.load(file), 0
        for op in declared.operators:
            choose(op, reference)
            if cases is not None:
                found = given.read(op, cases)
                report.notes += [f"{name} is left out: {why}" for name, why in found.left_out.items()]
                usable += len(found.cases)
                seen |= found.seen
            elif not op.cases:
                report.notes.append(f"{op.name} declares no [[case]]")
        if usable or (cases is None and any(op.cases for op in declared.operators)):
            files.append(file)
    if not files and cases is not None:
        why = [*report.notes, *([f"it has entries of: {', '.join(sorted(seen)[:20])}"] if seen else [])]
        raise NothingSelected(f"{cases} has no case that runs here", why="\n".join(why) or None, help="ascendops explain ASC319")
    if not files:
        raise NothingSelected(
            "nothing to test", why="\n".join(report.notes) or None, help="declare [[case]] tables in op.toml"
        )
    return files


def _common(roots: list[Path]) -> Path:
    return Path(os.path.commonpath([str(root) for root in roots]))


def _environment(backend: str, soc: str, reference: str, level: str, seed: int) -> dict[str, Any]:
    from ascendops.parity.verdict import RULES
    from ascendops.spec import socs

    return {
        "backend": backend,
        "device": "CPU twin" if backend == "twin" else "NPU",
        "soc": socs.resolve(soc).name,
        "reference": reference,
        "level": level,
        "rules": RULES,
        "seed": seed,
        "inf_nan_mode": os.environ.get("INF_NAN_MODE_ENABLE", ""),
        "machine": f"{platform.system()} {platform.machine()}",
        "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "versions": {
            "python": platform.python_version(),
            **_versions("ascendops", "torch", "triton", "numpy", "pytest"),
        },
    }


def _versions(*names: str) -> dict[str, str]:
    found = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


def _finish(report: RunReport, root: Path, json_path: Path | None, html_path: Path | None, stream: TextIO) -> None:
    quiet = not report.cases
    if report.cases:
        for target in filter(None, (root / LAST_RUN, json_path)):
            try:
                model.save(report, target)
            except OSError as error:
                report.notes.append(f"the result could not be written to {target}: {error.strerror}")
        if html_path is not None:
            html_path.write_text(html.render(report), encoding="utf-8")
            report.notes.append(f"HTML report: {html_path}")
    if not quiet:
        print("\n".join(text.summary(report)), file=stream, flush=True)
