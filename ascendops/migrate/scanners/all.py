"""Every scanner over every file below the given paths."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ascendops.errors.migrate import ExtraMissing, MigrateError
from ascendops.migrate.model import Finding, Report, Skipped
from ascendops.migrate.scanners import build_files, cuda, environment, onnx_model, python
from ascendops.migrate.scanners.sink import Sink
from ascendops.migrate.sources.files import Walk
from ascendops.migrate.sources.notebook import cells, magic_free
from ascendops.migrate.sources.text import Source

_SCANNERS: dict[str, Callable[[Source], Sink]] = {
    "python": python.scan,
    "cuda": cuda.scan,
    "cpp": cuda.scan,
    "cmake": build_files.scan,
    "make": build_files.scan,
    "shell": environment.shell,
    "docker": environment.docker,
    "packages": environment.packages,
    "config": environment.config,
}


def scan(paths: list[Path], *, soc: str = "", torch: str = "", progress: Callable[[int], None] | None = None) -> Report:
    """Scans files and folders and returns the findings, sorted by place; nothing of what it reads is executed.

    Raises:
        MigrateError: A path does not exist.
    """
    started = time.perf_counter()
    for path in paths:
        if not path.exists():
            raise MigrateError(f"there is no file or folder '{path}'", where=str(path))
    report = Report(soc=soc, torch=torch)
    walk = Walk(report.skipped)
    own = {path.resolve().name.lower().replace("-", "_") for path in paths}
    for path, kind in walk.files(paths):
        report.files += 1
        own.add(path.as_posix().split("/")[0].lower().replace("-", "_"))
        if path.name == "__init__.py":
            own.add(_package(path))
        _file(path, kind, walk, report)
        if progress:
            progress(report.files)
    report.findings = [
        found for found in report.findings if not _own(found, own) and found.construct not in report.defined
    ]
    if not any(found.construct.startswith("numba.cuda") for found in report.findings):
        report.findings = [found for found in report.findings if found.construct != "numba"]  # it has a CPU target, too
    report.findings = [_own_method(found, report.defined) for found in report.findings]
    report.unknown = [name for name in report.unknown if name.name not in report.defined]
    report.findings.sort(
        key=lambda found: (found.file, -1 if found.cell is None else found.cell, found.line, found.construct)
    )
    report.seconds = time.perf_counter() - started
    return report


def _own(found: Finding, packages: set[str]) -> bool:
    """Whether an import or a requirement is of the scanned project itself: a package of this scan, or the project's folder."""
    if found.rule not in ("MIG-IMPORT", "MIG-PACKAGE"):
        return False
    return found.construct.split(".")[0].lower().replace("-", "_") in packages


def _own_method(found: Finding, defined: set[str]) -> Finding:
    """A method called cuda or is_cuda that a class of the project defines may be meant: such calls are not renamed."""
    return replace(found, edits=()) if f"method {found.construct.strip('.()')}" in defined else found


def _package(path: Path) -> str:
    """The name of the top-level package whose `__init__.py` this is; empty for a sub-package."""
    return "" if (path.parent.parent / "__init__.py").exists() else path.parent.name


def _file(path: Path, kind: str, walk: Walk, report: Report) -> None:
    file = path.as_posix()
    try:
        if kind == "onnx":
            _take(onnx_model.scan(path, file), report)
            return
        text = walk.read(path)
        if text is None:
            return
        if kind == "notebook":
            _notebook(file, text, report)
        else:
            _text(Source(file, text), _kind(file, text) if kind == "config" else kind, report)
    except ExtraMissing as error:
        report.skipped.append(Skipped(file, error.what))
    except (ValueError, RecursionError) as error:
        report.skipped.append(Skipped(file, str(error)))


def _kind(file: str, text: str) -> str:
    """Workflows are read as commands; an environment of conda is known by its keys, whatever it is called."""
    if "/workflows/" in file or "/actions/" in file:
        return "docker"
    conda = file.endswith((".yml", ".yaml")) and re.search(r"^dependencies:", text, re.MULTILINE)
    return "packages" if conda and re.search(r"^channels:", text, re.MULTILINE) else "config"


def _text(source: Source, kind: str, report: Report) -> None:
    try:
        _take(_SCANNERS[kind](source), report)
    except SyntaxError as error:
        if (script := magic_free(source)) != source:
            return _text(script, kind, report)  # an IPython script, such as jupytext writes
        where = f"line {error.lineno}: {error.msg}"
        report.skipped.append(Skipped(source.file, f"not Python 3 ({where}): only its text was searched"))
        _take(python.scan_text(source), report)


def _notebook(file: str, text: str, report: Report) -> None:
    aliases: dict[str, str] = {}
    for source, kind in cells(file, text):
        try:
            _take(python.scan(source, aliases) if kind == "python" else _SCANNERS[kind](source), report)
        except SyntaxError as error:
            report.skipped.append(
                Skipped(f"{file}#cell{source.cell}", f"not Python 3 ({error.msg}): only its text was searched")
            )
            _take(python.scan_text(replace(source)), report)


def _take(sink: Sink, report: Report) -> None:
    report.findings += sink.findings
    report.unknown += sink.unknown
    report.defined |= sink.defined
