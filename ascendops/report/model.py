"""The result of a test run: plain data that the terminal, JSON, JUnit and HTML reports are made from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from ascendops.errors import ReportError

SCHEMA_VERSION = 1
PASSING = ("pass", "pass_by_reference")


@dataclass
class CaseReport:
    """One case of one operator.

    Attributes:
        id: Test id, e.g. `softmax[float16-tail-3x1023-full_load]`.
        op: Operator name; `case` and `dtype`: the case's name and the first input's dtype.
        kind: `case`, or `check` (a rule about the whole set of cases), or `build`.
        status: pass, pass_by_reference, fail, crash, or error (the harness or the build failed).
        what: One line: what is wrong, empty if it passes.
        story: The lines below it.
        gates: Each gate's result (gate, name, status, detail, numbers).
        reference: kind, status (agrees, differs, skipped, none) and detail.
        digest: Hash of the case's recipe: its name on every machine. `sources`: hash of the project's own files.
        resumed: Taken from an earlier run instead of run again.
        `made`: not declared in op.toml but made from it.
        standards: Verdict under each published precision standard; `why_standards`: why one differs from ours.
        mutants: With --mutate: name, status (killed, alive, equivalent).
        outputs: Of each output its name, how many elements were compared, how many fail, and where these lie.
        map: Where elements of the first failing output lie that fail: percent of each cell of a table of the output.
        wrong: Wrong candidates tried on the case: name, rejected, equivalent.
        findings: Findings of the twin: id, severity, message, file, line, source, block, pipe; in a header also `callers`, (line, source) of each; of a conflict also the other line.
    """

    id: str
    op: str
    case: str = ""
    dtype: str = ""
    kind: str = "case"
    status: str = "error"
    labels: list[str] = field(default_factory=list)
    what: str = ""
    story: list[str] = field(default_factory=list)
    inputs: str = ""
    layout: str = ""
    values: str = ""
    seed: int = 0
    tiling_key: int | None = None
    tiling_name: str = ""
    block_dim: int = 0
    elements: int = 0
    failing: int = 0
    where: str = ""
    outputs: list[dict[str, Any]] = field(default_factory=list)
    map: list[list[int]] = field(default_factory=list)
    worst: dict[str, Any] | None = None
    histogram: dict[str, int] = field(default_factory=dict)
    digest: str = ""
    sources: str = ""
    resumed: bool = False
    made: bool = False
    standards: dict[str, str] = field(default_factory=dict)
    why_standards: list[str] = field(default_factory=list)
    mutants: list[dict[str, Any]] = field(default_factory=list)
    gates: list[dict[str, Any]] = field(default_factory=list)
    reference: dict[str, str] = field(default_factory=dict)
    wrong: list[dict[str, Any]] = field(default_factory=list)
    findings: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    repro: str = ""
    help: str = ""
    exit_code: int = 0
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong with the case."""
        return self.status in PASSING


@dataclass
class OpReport:
    """One operator under test: its declaration in short, and its tiling keys with the cases that reached them."""

    name: str
    root: str
    doc: str = ""
    dtypes: list[str] = field(default_factory=list)
    tiling_keys: list[dict[str, Any]] = field(default_factory=list)
    build_seconds: float = 0.0

    @property
    def reached(self) -> int:
        """Number of declared tiling keys that a case reached."""
        return sum(bool(key.get("cases")) for key in self.tiling_keys)


@dataclass
class RunReport:
    """A whole run. `environment` has backend, device, SoC, seed, level, reference, versions and the command."""

    environment: dict[str, Any] = field(default_factory=dict)
    ops: list[OpReport] = field(default_factory=list)
    cases: list[CaseReport] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    exit_code: int = 0
    seconds: float = 0.0
    schema_version: int = SCHEMA_VERSION

    def of(self, op: str, kind: str = "case") -> list[CaseReport]:
        """Reports of one operator of one kind, in order."""
        return [case for case in self.cases if case.op == op and case.kind == kind]

    def of_kind(self, kind: str) -> list[CaseReport]:
        """Reports of one kind of all operators."""
        return [case for case in self.cases if case.kind == kind]

    @property
    def totals(self) -> dict[str, int]:
        """Counts for the summary line: cases, passed, failed, by_reference, wrong, rejected, equivalent, referenced, skipped."""
        cases = [case for case in self.cases if case.kind == "case"]
        wrong = [entry for case in cases for entry in case.wrong]
        statuses = [case.reference.get("status", "none") for case in cases]
        return {
            "cases": len(cases),
            "passed": sum(case.passed for case in cases),
            "failed": sum(not case.passed for case in self.cases),
            "by_reference": sum(case.status == "pass_by_reference" for case in cases),
            "tiling_keys": sum(len(op.tiling_keys) for op in self.ops),
            "tiling_keys_reached": sum(op.reached for op in self.ops),
            "wrong": sum(not entry["equivalent"] for entry in wrong),
            "wrong_rejected": sum(entry["rejected"] for entry in wrong),
            "wrong_equivalent": sum(entry["equivalent"] for entry in wrong),
            "referenced": sum(status in ("agrees", "differs") for status in statuses),
            "reference_differs": statuses.count("differs"),
            "reference_skipped": statuses.count("skipped"),
        }

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready fields, schema_version first."""
        data = {**vars(self), "ops": [dict(vars(op)) for op in self.ops], "cases": [dict(vars(case)) for case in self.cases]}
        return {"schema_version": data.pop("schema_version"), "totals": self.totals, **data}


def save(run: RunReport, path: Path) -> None:
    """Writes the run as JSON, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.write_text(_lines(run.to_dict()), encoding="utf-8")
    temporary.replace(path)


def _lines(data: Mapping[str, Any]) -> str:
    """JSON with a line for each field, and for each entry of a list. (`indent` would take the encoder that is written in Python.)"""
    fields = []
    for name, value in data.items():
        text = "[\n  " + ",\n  ".join(map(json.dumps, value)) + "\n ]" if isinstance(value, list) and value else json.dumps(value)
        fields.append(f" {json.dumps(name)}: {text}")
    return "{\n" + ",\n".join(fields) + "\n}\n"


def load(path: Path) -> RunReport:
    """Reads a run that `save` wrote.

    Raises:
        ReportError: Not such a file, or of another schema version.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ReportError(f"{path} is not a readable result of a test run: {error}", where=str(path)) from error
    version = data.get("schema_version") if isinstance(data, dict) else None
    if version != SCHEMA_VERSION or "cases" not in data:
        raise ReportError(
            f"{path} has schema version {version}, this is version {SCHEMA_VERSION}"
            if version
            else f"{path} is not a test run",
            where=str(path),
            help="run again: ascendops test --out FILE",
        )
    return RunReport(
        environment=data["environment"],
        ops=[_make(OpReport, entry) for entry in data["ops"]],
        cases=[_make(CaseReport, entry) for entry in data["cases"]],
        notes=data["notes"],
        exit_code=data["exit_code"],
        seconds=data["seconds"],
    )


def _make(cls: Any, entry: dict[str, Any]) -> Any:
    known = {item.name for item in fields(cls)}
    return cls(**{name: value for name, value in entry.items() if name in known})
