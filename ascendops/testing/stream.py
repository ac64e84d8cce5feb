"""Results as JSON lines, written while a run goes on: what has been judged survives the end of the process, and can be taken up again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from ascendops.report.model import PASSING, CaseReport, OpReport

FORMAT = "ascendops-run/1"
_SAME = ("backend", "soc", "reference", "level", "seed", "rules", "mutate", "auto_sync", "versions")  # what must not differ between the runs
_SKIPPED = frozenset((".ascendops", "gen", "build", "__pycache__", ".git"))


class Stream:
    """An open file of results; every case is one line, on disk when `write` returns."""

    def __init__(self, path: Path, environment: Mapping[str, Any]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file: IO[str] = path.open("w", encoding="utf-8")
        self._line({"format": FORMAT, "environment": dict(environment)})

    def write(self, case: CaseReport, op: OpReport) -> None:
        """Adds one case."""
        self._line({"case": vars(case), "op": op.name})

    def close(self) -> None:
        """Ends the file."""
        self._file.close()

    def _line(self, data: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(data) + "\n")
        self._file.flush()


def load(path: Path, environment: Mapping[str, Any]) -> dict[str, CaseReport]:
    """The accepted cases of an earlier run under the same conditions, by `key`; empty if there is none.

    A last line that was cut off by the end of the process is left out.
    """
    found: dict[str, CaseReport] = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        head = json.loads(lines[0])
    except (OSError, ValueError, IndexError):
        return {}
    before = head.get("environment", {}) if head.get("format") == FORMAT else {}
    if any(before.get(name) != environment.get(name) for name in _SAME):
        return {}
    for line in lines[1:]:
        try:
            case = CaseReport(**json.loads(line)["case"])
        except (ValueError, KeyError, TypeError):
            continue
        if case.kind == "case" and case.status in PASSING:
            found[key(case.op, case.digest, case.sources)] = case
    return found


def key(op: str, digest: str, sources: str) -> str:
    """What a case must have in common with an earlier one, so that it need not run again."""
    return f"{op} {digest} {sources}"


def sources(root: Path) -> str:
    """Hash of a project's own files: another kernel, golden or declaration is another operator."""
    total = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        inside = path.relative_to(root)
        if path.is_file() and not _SKIPPED & set(inside.parts):
            total.update(str(inside).encode() + b"\0" + path.read_bytes())
    return total.hexdigest()[:16]
