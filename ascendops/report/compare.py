"""Two test runs side by side: what broke, what was mended, what became less exact, what is new or gone."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from ascendops.report.model import CaseReport, RunReport

WORSE = 2.0  # factor of the worst error, in ulp, from which a change is shown


@dataclass(frozen=True)
class Change:
    """One case of both runs: its id, and what it was and is."""

    id: str
    before: str
    after: str


@dataclass
class Comparison:
    """The differences between an earlier and a later run."""

    broken: list[Change] = field(default_factory=list)
    mended: list[Change] = field(default_factory=list)
    other: list[Change] = field(default_factory=list)
    less_exact: list[Change] = field(default_factory=list)
    more_exact: list[Change] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready fields."""
        return asdict(self)

    def text(self) -> str:
        """The differences as lines; one line if there are none."""
        lines = [f"  differs   {line}" for line in self.conditions]
        for word, changes in (("broken", self.broken), ("mended", self.mended), ("changed", self.other), ("worse", self.less_exact), ("better", self.more_exact)):
            lines += [f"  {word:<9} {change.id}: {change.before} -> {change.after}" for change in changes]
        lines += [f"  added     {name}" for name in self.added] + [f"  removed   {name}" for name in self.removed]
        return "\n".join(lines or ["  the runs agree in every case"]) + "\n"


def compare(before: RunReport, after: RunReport) -> Comparison:
    """The later run against the earlier one; cases are the same if their ids are."""
    old = {case.id: case for case in before.cases}
    new = {case.id: case for case in after.cases}
    found = Comparison(added=[name for name in new if name not in old], removed=[name for name in old if name not in new])
    for name in ("backend", "soc", "level", "seed", "auto_sync", "rules", "reference", "versions"):
        if before.environment.get(name) != after.environment.get(name):
            found.conditions.append(f"{name}: {before.environment.get(name)} -> {after.environment.get(name)}")
    for name in (name for name in new if name in old):
        _one(found, old[name], new[name])
    return found


def _one(found: Comparison, old: CaseReport, new: CaseReport) -> None:
    if (old.status, old.labels if not old.passed else []) != (new.status, new.labels if not new.passed else []):
        change = Change(new.id, _state(old), _state(new))
        kind = found.broken if old.passed and not new.passed else found.mended if new.passed and not old.passed else found.other
        kind.append(change)
        return
    a, b = _ulp(old), _ulp(new)
    if a is not None and b is not None and max(a, b) >= 1:
        change = Change(new.id, f"{a:.3g} ulp", f"{b:.3g} ulp")
        if b > WORSE * a:
            found.less_exact.append(change)
        elif a > WORSE * b:
            found.more_exact.append(change)


def _state(case: CaseReport) -> str:
    return case.status if case.passed else f"{case.status} {' '.join(case.labels)}".strip()


def _ulp(case: CaseReport) -> float | None:
    value = case.worst.get("ulp") if case.worst else None
    return float(value) if isinstance(value, (int, float)) else None
