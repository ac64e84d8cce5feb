"""The mechanical renames: planned from findings, shown as a diff, written with a patch that undoes them."""

from __future__ import annotations

import difflib
import os
import re
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ascendops.errors.migrate import ApplyConflict
from ascendops.migrate.model import Edit, Finding

_LINES = 8  # lines of a name that are listed
UNDO = "ascendops-migrate-undo.patch"


@dataclass(frozen=True)
class Plan:
    """The edits of one file: its bytes before and after, and the edits as (line, edit)."""

    before: bytes
    after: bytes
    edits: tuple[tuple[int, Edit], ...]


def plan(findings: Iterable[Finding]) -> dict[str, Plan]:
    """The edits by file: only renames that a scanner marked as certain; overlapping edits are dropped.

    Raises:
        ApplyConflict: A file is not what the scan saw.
    """
    by_file: dict[str, dict[tuple[int, int], Edit]] = {}
    for finding in _certain(list(findings)):
        for edit in finding.edits:
            by_file.setdefault(finding.file, {})[(finding.line, edit.start)] = edit
    plans = {}
    taken: set[Path] = set()
    for file, edits in sorted(by_file.items(), key=lambda item: (Path(item[0]).is_symlink(), item[0])):
        real = Path(file).resolve()
        if real in taken:
            continue  # a link to a file that is edited under its own name
        taken.add(real)
        before = Path(file).read_bytes()
        try:
            lines = before.decode("utf-8").splitlines(keepends=True)
        except UnicodeDecodeError:
            continue  # read as Latin-1 by the scan: columns are not certain
        done = _edit(file, lines, edits)
        after = "".join(lines).encode("utf-8")
        if after != before:
            plans[file] = Plan(before, after, done)
    return plans


def _certain(findings: list[Finding]) -> list[Finding]:
    """The findings to rename: every finding of their line can be renamed, and so can every device string of their file.

    Device strings of a file are compared with each other, so that some of them cannot stay behind.
    """
    open_lines = {(f.file, f.line) for f in findings if not f.edits and f.status != "works_as_is"}
    usable = [f for f in findings if f.edits and f.status == "rename" and f.cell is None]
    _hold_back(findings, usable, open_lines)
    open_files = {f.file for f in findings if f.rule == "MIG-DEVICE-STRING" and (f.file, f.line) in open_lines}
    open_lines |= {(f.file, f.line) for f in findings if f.rule == "MIG-DEVICE-STRING" and f.file in open_files}
    done = [f for f in usable if (f.file, f.line) not in open_lines]
    called = {f.file for f in done if f.rule == _RUNTIME}
    return [f for f in done if f.rule != "MIG-HEADER" or f.file in called]


_RUNTIME = "MIG-RUNTIME-API"
GROUPS = (
    ("errors", re.compile(r"cuda(?:Error|Success|GetLastError|PeekAtLastError|GetError)\w*")),
    ("streams", re.compile(r"cudaStream\w*")),
    ("events", re.compile(r"cudaEvent\w*")),
    ("devices", re.compile(r"cuda(?:Set|Get)?Device\w*")),
    ("memory", re.compile(r"cuda(?:Malloc|Free|Mem|Host)\w*")),
)
"""Runtime names that handle one kind of object: in a file all of a group are renamed or none, so that what one makes another can free."""


def group(finding: Finding) -> str:
    """The group of a runtime name; empty for names that belong to none."""
    return next((name for name, pattern in GROUPS if pattern.fullmatch(finding.construct)), "") if finding.rule == _RUNTIME else ""


def _hold_back(findings: list[Finding], usable: list[Finding], open_lines: set[tuple[str, int]]) -> None:
    """Adds the lines of every group that cannot be renamed as a whole; a line that stays makes its other groups stay."""
    certain = set(map(id, usable))
    grouped = [(finding, (finding.file, group(finding))) for finding in findings if group(finding) and finding.status != "works_as_is"]
    while True:
        kept = {key for finding, key in grouped if id(finding) not in certain or (finding.file, finding.line) in open_lines}
        lines = {(finding.file, finding.line) for finding, key in grouped if key in kept}
        if lines <= open_lines:
            return
        open_lines |= lines


@dataclass(frozen=True)
class Left:
    """A runtime name of a file that is not renamed: its lines, what to do, and with which names it waits because one of these needs a decision."""

    file: str
    name: str
    lines: tuple[int, ...]
    todo: str
    waits_for: tuple[str, ...] = ()


def told(rows: Iterable[Left]) -> list[str]:
    """A line for each name of one file, those that wait for the same names in one."""
    waiting: dict[tuple[str, ...], list[Left]] = {}
    lines = []
    for row in rows:
        if row.waits_for:
            waiting.setdefault(row.waits_for, []).append(row)
        else:
            lines.append(f"{row.name} ({_place(row.lines)}): {row.todo}")
    for names, found in waiting.items():
        places = tuple(sorted({line for row in found for line in row.lines}))
        those = "it goes" if len(found) == 1 else "they go"
        lines.append(f"{', '.join(row.name for row in found)} ({_place(places)}): left, since {those} together with {', '.join(names)}")
    return lines


def _place(lines: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, lines[:_LINES])) + (", ..." if len(lines) > _LINES else "")
    return f"line{'s' if len(lines) > 1 else ''} {shown}"


def left(findings: Iterable[Finding]) -> list[Left]:
    """The runtime names and headers that `plan` does not rename, in the files where it renames or holds back some."""
    everything = [f for f in findings if f.cell is None and f.rule in (_RUNTIME, "MIG-HEADER") and f.status != "works_as_is"]
    done = set(map(id, _certain(list(findings))))
    concerned = {f.file for f in everything if f.edits}
    rows: dict[tuple[str, str], list[Finding]] = {}
    for finding in everything:
        if finding.file in concerned and id(finding) not in done:
            rows.setdefault((finding.file, finding.construct), []).append(finding)
    needs: dict[tuple[str, str], list[str]] = {(f.file, group(f)): [] for f in everything}
    for (file, name), found in rows.items():
        if not all(f.edits for f in found):
            needs[file, group(found[0])].append(name)
    return [
        Left(
            file, name, tuple(dict.fromkeys(f.line for f in found)), found[0].todo,
            tuple(needs[file, group(found[0])]) if all(f.edits for f in found) and group(found[0]) else (),
        )
        for (file, name), found in rows.items()
    ]  # fmt: skip


def _edit(file: str, lines: list[str], edits: dict[tuple[int, int], Edit]) -> tuple[tuple[int, Edit], ...]:
    done, right = [], (0, 0)
    for (line, start), edit in sorted(edits.items(), reverse=True):
        if line > len(lines) or edit.end > len(lines[line - 1]):
            raise ApplyConflict(f"line {line} is shorter than it was during the scan", where=file)
        if right[0] == line and edit.end > right[1]:
            continue
        text = lines[line - 1]
        lines[line - 1] = text[:start] + edit.new + text[edit.end :]
        done.append((line, edit))
        right = (line, start)
    return tuple(reversed(done))


def diff(plans: dict[str, Plan], *, reverse: bool = False) -> str:
    """The plans as one unified diff, `-p1` style; reversed it undoes them."""
    parts: list[str] = []
    relative = below(plans)
    for file, item in plans.items():
        old, new = item.before.decode(), item.after.decode()
        first, second = (new, old) if reverse else (old, new)
        name = (file if relative else str(Path(file).absolute())).lstrip("/")
        name += "\t" if " " in name else ""  # as diff and git write it: a name with spaces ends at a tab
        parts += difflib.unified_diff(
            first.splitlines(keepends=True), second.splitlines(keepends=True), f"a/{name}", f"b/{name}"
        )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in parts).rstrip(
        "\n"
    )


def below(plans: dict[str, Plan]) -> bool:
    """Whether all files are named from the current folder downwards; else patches name them from the root."""
    return not any(Path(file).is_absolute() or ".." in Path(file).parts for file in plans)


def write(plans: dict[str, Plan], folder: Path | None = None) -> Path:
    """Writes the files, each in one step, and before that the patch that undoes them; returns the patch's path.

    Raises:
        ApplyConflict: A file changed since it was planned; nothing was written.
    """
    for file, item in plans.items():
        if Path(file).read_bytes() != item.before:
            raise ApplyConflict("the file changed after the scan", where=file, help="run the command again")
    undo = _free((folder or Path()) / UNDO)
    undo.write_text(diff(plans, reverse=True) + "\n", encoding="utf-8")
    for file, item in plans.items():
        _replace(Path(file).resolve(), item.after)
    return undo


def _free(path: Path) -> Path:
    number, candidate = 1, path
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return candidate


def _replace(path: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(name, path.stat().st_mode)
        os.replace(name, path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
