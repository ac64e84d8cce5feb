"""One page for every id that a message can carry: errors, findings of the CPU twin, rules of migrate, labels of a parity verdict."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from ascendops.errors import catalogue
from ascendops.migrate.rules.catalogue import RULES
from ascendops.parity.labels import LABELS
from ascendops.twin.findings import FINDINGS


@dataclass(frozen=True)
class Page:
    """What `ascendops explain ID` prints.

    Attributes:
        id: Such as `ASC101`, `UB-BOUNDS` or `TAIL`.
        kind: `errors`, `findings of the CPU twin`, `rules of migrate` or `labels of a verdict`.
        title: One line.
        text: The rest of the page, plain text.
        severity: `error` or `warning` of a finding, or the exit code of an error.
    """

    id: str
    kind: str
    title: str
    text: str
    severity: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The page as JSON-ready fields."""
        return asdict(self)


def pages() -> dict[str, Page]:
    """Every page by id: the errors first, then findings, rules and labels. A label of a finding's name adds its text to that page."""
    found = {page.id: page for page in (*_errors(), *_findings(), *_rules())}
    for label in _labels():
        same = found.get(label.id)
        found[label.id] = replace(same, text=f"{same.text}\n\nAs the label of a verdict: {label.title}.\n{label.text}") if same else label
    return found


def _errors() -> Iterator[Page]:
    for cls in catalogue():
        title, _, text = inspect.cleandoc(cls.__doc__ or "").partition("\n")
        yield Page(cls.id, "errors", title.strip().rstrip("."), text.strip(), f"exit code {int(cls.exit_code)}")


def _findings() -> Iterator[Page]:
    for finding in FINDINGS.values():
        yield Page(finding.id, "findings of the CPU twin", finding.title, finding.page, finding.severity)


def _rules() -> Iterator[Page]:
    for rule in RULES.values():
        effort = f"\n\nEffort: {rule.effort} ({rule.effort_why})." if rule.effort else ""
        yield Page(rule.id, "rules of migrate", rule.title, rule.page + effort)


def _labels() -> Iterator[Page]:
    for label in LABELS.values():
        yield Page(label.name, "labels of a verdict", label.title, label.page)
