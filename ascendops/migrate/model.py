"""What a scan yields: findings, names that no rule knows, files that could not be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

STATUSES = ("no_equivalent", "custom_op", "restricted", "rename", "works_as_is")
"""From the hardest to the easiest."""

SCHEMA = "ascendops-migrate/1"


@dataclass(frozen=True)
class Edit:
    """A replacement of characters `start..end` (0-based) in one line by `new`."""

    start: int
    end: int
    new: str


@dataclass(frozen=True)
class Finding:
    """One thing in the scanned code that needs a decision.

    Attributes:
        file: Path as given on the command line, continued to the file; `/` as separator.
        line: 1-based; 0 means the whole file. In a notebook it counts inside `cell`.
        construct: What was found, in the words of the source.
        status: The answer for Atlas A2/A3; one of STATUSES.
        status_950: The answer for Ascend 950 where it differs, else the same.
        todo: What to do on the target.
        todo_950: What to do on Ascend 950 where that differs, `replacement_950` too.
        replacement: The text or name to use instead; empty if there is none.
        shim: Whether `transfer_to_npu` handles it; None where the shim does not apply (C++, build files).
        effort: `minutes`, `hours` or `days`; `effort_why` says why.
        evidence: The fact that decided, with its source.
        versions: Versions that the fact names (torch, torch_npu, CANN); empty if it names none.
        command: A command that does the next step.
        cell: Notebooks: 0-based cell index.
        line_end: Last line of the construct's head, at most two lines further.
        features: Kernels: the CUDA features that their body uses.
        snippet: The source line, stripped.
        edits: The mechanical renames of this line, where all of them are certain.
        weight: Share of the profiled time in percent, if a profile was joined.
    """

    file: str
    line: int
    construct: str
    status: str
    rule: str
    todo: str
    status_950: str = ""
    todo_950: str = ""
    replacement: str = ""
    replacement_950: str = ""
    shim: bool | None = None
    effort: str = ""
    effort_why: str = ""
    evidence: str = ""
    versions: str = ""
    command: str = ""
    cell: int | None = None
    line_end: int = 0
    features: tuple[str, ...] = ()
    snippet: str = ""
    edits: tuple[Edit, ...] = ()
    weight: float | None = None

    @property
    def where(self) -> str:
        """`file:line`, with the cell for notebooks."""
        cell = f"#cell{self.cell}" if self.cell is not None else ""
        return f"{self.file}{cell}:{self.line}" if self.line else f"{self.file}{cell}"

    def fingerprint(self) -> str:
        """A key that survives moved lines: file, rule, construct and the text of the line."""
        import hashlib

        text = "\0".join([self.file, self.rule, self.construct, self.snippet])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def to_dict(self) -> dict[str, Any]:
        """The finding as JSON-ready fields, without the empty ones."""
        fields = {k: v for k, v in asdict(self).items() if v not in (None, "", ()) and k != "line_end"}
        fields["line"] = self.line
        fields.update({"line_end": self.line_end} if self.line_end > self.line else {})
        fields["fingerprint"] = self.fingerprint()
        return fields


@dataclass(frozen=True)
class Unknown:
    """A name that looks like CUDA and that no rule and no fact table knows."""

    name: str
    file: str
    line: int
    cell: int | None = None


@dataclass(frozen=True)
class Skipped:
    """A file that was not scanned, or only in part, and why."""

    file: str
    reason: str


@dataclass
class Report:
    """The result of a scan; `defined` are the project's own functions and macros that are named like CUDA's."""

    findings: list[Finding] = field(default_factory=list)
    unknown: list[Unknown] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    defined: set[str] = field(default_factory=set)
    files: int = 0
    seconds: float = 0.0
    soc: str = ""
    torch: str = ""
    profile: dict[str, Any] = field(default_factory=dict)
    models: list[dict[str, Any]] = field(default_factory=list)
    triton: dict[str, Any] = field(default_factory=dict)

    def counts(self) -> dict[str, int]:
        """Findings per status, in the order of STATUSES."""
        found = Counter(finding.status for finding in self.findings)
        return {status: found[status] for status in STATUSES}

    def to_dict(self) -> dict[str, Any]:
        """The report as one JSON-ready object."""
        return {
            "schema": SCHEMA,
            "soc": self.soc,
            "torch": self.torch,
            "files": self.files,
            "seconds": round(self.seconds, 3),
            "counts": self.counts(),
            "effort": effort_total(self.findings),
            "findings": [finding.to_dict() for finding in self.findings],
            "unknown": [asdict(name) for name in self.unknown],
            "skipped": [asdict(skip) for skip in self.skipped],
            **({"profile": self.profile} if self.profile else {}),
            **({"models": self.models} if self.models else {}),
            **({"triton": self.triton} if self.triton else {}),
        }


def effort_total(findings: Iterable[Finding]) -> dict[str, int]:
    """How many findings need minutes, hours and days."""
    found = Counter(finding.effort for finding in findings)
    return {effort: found[effort] for effort in ("minutes", "hours", "days")}
