"""Results of the parity harness as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

RULES = "ascendops-parity/1"
STATUSES = ("pass", "pass_by_reference", "fail", "crash")


@dataclass(frozen=True)
class Worst:
    """The worst element: its output, index, both values, error in ulps of the output dtype, and the ulps allowed.

    If elements fail it is one of these: the one whose error is the largest multiple of its bound. `name` is the output's, or its number.
    """

    output: int
    index: tuple[int, ...]
    got: float
    want: float
    ulp: float
    allowed: float
    why: str = ""
    name: str = ""


@dataclass(frozen=True)
class OutputResult:
    """One output of a case: its name (or its number), how many elements were compared, how many of them fail, and where these lie."""

    name: str
    elements: int = 0
    failing: int = 0
    where: str = ""


@dataclass(frozen=True)
class GateResult:
    """One gate's outcome: `gate` (G0 to G6), `name`, `status` (pass, fail, by_reference, skipped), a sentence, its numbers."""

    gate: str
    name: str
    status: str
    detail: str = ""
    labels: tuple[str, ...] = ()
    numbers: dict[str, Any] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        """Whether this gate rejects the candidate."""
        return self.status == "fail"


@dataclass
class CaseResult:
    """The verdict on one case; `gates` in order, `notes` for what a reader should know although it did not decide."""

    name: str
    status: str
    labels: tuple[str, ...] = ()
    gates: list[GateResult] = field(default_factory=list)
    worst: Worst | None = None
    failing: int = 0
    elements: int = 0
    where: str = ""
    outputs: list[OutputResult] = field(default_factory=list)
    map: list[list[int]] = field(default_factory=list)
    histogram: dict[str, int] = field(default_factory=dict)
    reference: str = ""
    notes: list[str] = field(default_factory=list)
    standards: dict[str, str] = field(default_factory=dict)
    why_standards: list[str] = field(default_factory=list)
    error: str = ""
    repro: str = ""
    seed: int | None = None
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether the candidate is accepted, by the golden or by the reference."""
        return self.status in ("pass", "pass_by_reference")

    def gate(self, gate: str) -> GateResult | None:
        """The result of gate `G0` ... `G6`, or None when it did not run."""
        return next((result for result in self.gates if result.gate == gate), None)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready fields (non-finite numbers as text)."""
        return _plain(asdict(self))  # type: ignore[no-any-return]

    def story(self) -> list[str]:
        """The failure (or pass) in a few lines: worst element, counts, place, notes."""
        lines = []
        if self.error:
            lines += self.error.splitlines()
        if self.worst is not None:
            w = self.worst
            place = f"[{', '.join(map(str, w.index))}]" + (f" of output {w.name}" if len(self.outputs) > 1 else "")
            size = (
                f" ({number(w.ulp)} ulp; allowed {number(w.allowed)}{w.why and ': ' + w.why})" if w.ulp == w.ulp else ""
            )
            lines.append(f"worst at {place}: got {value(w.got)} want {value(w.want)}{size}")
        lines += counts(self.outputs)
        lines += [
            f"{g.gate} {g.name}: {g.detail}" for g in self.gates if g.failed and g.gate not in ("G2", "G3") and g.detail
        ]
        if self.reference:
            lines.append(self.reference)
        lines += self.notes
        return lines


@dataclass
class Verdict:
    """The verdict over all cases: the worst status, the labels of all, and one result per case."""

    status: str
    labels: tuple[str, ...]
    cases: list[CaseResult]
    level: str = "L0"
    rules: str = RULES
    notes: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether every case is accepted."""
        return self.status in ("pass", "pass_by_reference")

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready fields."""
        return {
            "rules": self.rules,
            "status": self.status,
            "labels": list(self.labels),
            "level": self.level,
            "notes": self.notes,
            "cases": [case.to_dict() for case in self.cases],
        }

    def __str__(self) -> str:
        head = f"{self.status}: {sum(c.passed for c in self.cases)} of {len(self.cases)} cases pass ({self.rules}, {self.level})"
        lines = [head + (f"  labels: {', '.join(self.labels)}" if self.labels else "")]
        for case in self.cases:
            if case.status != "pass":
                lines.append(f"  {case.status} {case.name}  {' '.join(case.labels)}")
                lines += [f"    {line}" for line in case.story()]
                if case.repro:
                    lines.append(f"    repro: {case.repro}")
        return "\n".join(lines)


def combine(cases: list[CaseResult], level: str, notes: list[str] | None = None) -> Verdict:
    """The verdict over cases: crash before fail before pass_by_reference before pass."""
    status = max((case.status for case in cases), key=STATUSES.index, default="pass")
    labels = tuple(dict.fromkeys(label for case in cases if not case.passed for label in case.labels))
    return Verdict(status, labels, cases, level, notes=notes or [])


def counts(outputs: Sequence[OutputResult]) -> list[str]:
    """A line per output with failing elements: how many, their share, and where they lie; then the outputs without."""
    lines = []
    for out in outputs:
        if out.failing:
            of = f" of output {out.name}" if len(outputs) > 1 else ""
            count = f"{out.failing} of {out.elements} elements{of} fail ({share(out.failing, out.elements)})"
            lines.append(count + (f": {out.where}" if out.where else ""))
    right = [f"output {out.name}" for out in outputs if out.elements and not out.failing]
    if lines and right:
        lines.append(f"no element of {' or '.join(right)} fails")
    return lines


def number(x: float) -> str:
    """A count of ulps for people: three digits, no trailing zeros, `inf` and `nan` as words."""
    return f"{x:.3g}" if abs(x) < 1000 or x != x else (f"{x:.0f}" if abs(x) < 1e7 else f"{x:.2e}")


def share(part: int, whole: int) -> str:
    """A part of a whole in percent, for people; only all of it is 100 %."""
    percent = 100 * part / whole
    if part == whole or 10 <= percent <= 99:
        return f"{percent:.0f} %"
    return "over 99.9 %" if percent > 99.9 else "under 0.1 %" if percent < 0.1 else f"{percent:.1f} %"


def names_of(declared: Sequence[str], count: int) -> tuple[str, ...]:
    """The names of `count` outputs: the declared ones, `ys[0]`, `ys[1]`, ... where the only one is a list of tensors, none where they do not fit."""
    if len(declared) == count:
        return tuple(declared)
    return tuple(f"{declared[0]}[{i}]" for i in range(count)) if len(declared) == 1 else ()


def called(names: Sequence[str], number: int) -> str:
    """An output's name; its number where nothing names it."""
    return names[number] if number < len(names) else str(number)


def value(x: float) -> str:
    """An element for people: integers exactly, floats with nine digits."""
    return str(x) if isinstance(x, (int, bool)) else f"{x:.9g}"


def _plain(item: Any) -> Any:
    if isinstance(item, float) and (item != item or item in (float("inf"), float("-inf"))):
        return str(item)
    if isinstance(item, dict):
        return {key: _plain(entry) for key, entry in item.items()}
    if isinstance(item, (list, tuple)):
        return [_plain(entry) for entry in item]
    return item
