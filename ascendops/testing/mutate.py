"""`ascendops test --mutate`: plants faults into outputs and, on the twin, into executions, and counts which the cases notice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ascendops.report.model import CaseReport

if TYPE_CHECKING:
    from ascendops.parity.execute import Run
    from ascendops.parity.judge import Judged

SCORE = 0.95  # share of the faults that the cases of an operator must notice
EXECUTIONS = tuple(
    (kind, number) for kind, numbers in (("skip", (1, 2, 3, 5, 8, 13)), ("short", (2, 3, 4, 6, 9)), ("lost_wait", (3, 5, 8, 16)), ("dropped_core", (0, 1))) for number in numbers
)  # fmt: skip
TRIES = 3  # passing cases on which a fault in the execution is tried until one notices
_LARGEST = 1 << 15


@dataclass
class Score:
    """What became of each fault of one operator: `killed`, `alive` or `equivalent`, with the number of cases that killed it."""

    status: dict[str, str] = field(default_factory=dict)
    kills: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, status: str) -> None:
        """Counts one case's word on one fault: a kill outweighs life, life outweighs equivalence."""
        order = ("equivalent", "alive", "killed")
        self.status[name] = max(self.status.get(name, "equivalent"), status, key=order.index)
        self.kills[name] = self.kills.get(name, 0) + (status == "killed")

    def declare(self, equivalent: Mapping[str, str]) -> None:
        """Takes faults that op.toml declares to be no faults here out of the count; those that were killed stay."""
        for name, reason in equivalent.items():
            if self.status.get(name) == "alive":
                self.status[name], self.reasons[name] = "equivalent", reason

    @property
    def alive(self) -> list[str]:
        """Faults that took effect and that no case noticed."""
        return [name for name, status in self.status.items() if status == "alive"]

    @property
    def share(self) -> float:
        """Killed over all that took effect; 1 if none did."""
        counted = [status for status in self.status.values() if status != "equivalent"]
        return counted.count("killed") / len(counted) if counted else 1.0

    def line(self) -> str:
        """`18 of 19 faults noticed (95 %), 2 equivalent`."""
        counted = [status for status in self.status.values() if status != "equivalent"]
        equal = len(self.status) - len(counted)
        return f"{counted.count('killed')} of {len(counted)} faults noticed ({self.share:.0%})" + (f", {equal} equivalent" if equal else "")


def in_outputs(report: CaseReport, judged: Judged, score: Score) -> None:
    """Tries every generic fault on the outputs of a passing case."""
    from ascendops.parity.faults import FAULTS
    from ascendops.parity.wrong import wrong_candidates

    for tried in wrong_candidates(judged.run.outputs, judged.truths, {fault.name: fault.change for fault in FAULTS}):
        status = "equivalent" if tried.equivalent else ("killed" if tried.rejected else "alive")
        score.add(tried.name, status)
        report.mutants.append({"name": tried.name, "status": status})


def in_execution(report: CaseReport, judged: Judged, score: Score, run: Callable[[tuple[str, int]], Run], tried: dict[str, int]) -> None:
    """Runs a passing case again with each fault of the execution that is not yet noticed."""
    if report.elements > _LARGEST or not report.block_dim:
        return
    for kind, number in EXECUTIONS:
        name = f"{kind} {number}"
        if score.status.get(name) == "killed" or tried.get(name, 0) >= TRIES or (kind == "dropped_core" and number >= report.block_dim):
            continue
        status = _outcome(run((kind, number)), judged)
        tried[name] = tried.get(name, 0) + (status != "equivalent")
        score.add(name, status)
        report.mutants.append({"name": name, "status": status})


def _outcome(run: Run, judged: Judged) -> str:
    from ascendops.parity import gates
    from ascendops.parity.gates import same_bits
    from ascendops.parity.wrong import rejected

    if run.error or any(finding.get("severity") == "error" for finding in run.info.get("findings", [])):
        return "killed"
    if not run.info.get("fault_hits") or all(map(same_bits, run.outputs, judged.run.outputs)):
        return "equivalent"
    missing = gates.poisoned(run)
    return "killed" if missing or rejected(run.outputs, judged.truths) else "alive"


def verdict(score: Score, name: str) -> list[str]:
    """The problems of an operator's score, one line each; empty if it is high enough."""
    if score.share >= SCORE:
        return []
    return [f"{score.line()}; at least {SCORE:.0%} are needed", *(f"no case of {name} notices: {fault}" for fault in score.alive)]


def as_rows(score: Score) -> list[dict[str, Any]]:
    """The score as plain data for the report."""
    return [
        {"name": name, "status": status, "kills": score.kills[name], "reason": score.reasons.get(name, "")}
        for name, status in score.status.items()
    ]
