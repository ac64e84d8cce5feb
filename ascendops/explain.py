"""One page for every id that a message can carry: errors, findings of the CPU twin, labels of a parity verdict."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from ascendops.errors import catalogue
from ascendops.parity.labels import LABELS
from ascendops.twin.findings import FINDINGS


@dataclass(frozen=True)
class Page:
    """What `ascendops explain ID` prints.

    Attributes:
        id: Such as `ASC101`, `UB-BOUNDS` or `TAIL`.
        kind: `errors`, `findings of the CPU twin` or `labels of a verdict`.
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
    """Every page by id: the errors first, then findings, then labels."""
    return {page.id: page for page in (*_errors(), *_findings(), *_labels())}


def _errors() -> Iterator[Page]:
    for cls in catalogue():
        title, _, text = inspect.cleandoc(cls.__doc__ or "").partition("\n")
        yield Page(cls.id, "errors", title.strip(), text.strip(), f"exit code {int(cls.exit_code)}")


def _findings() -> Iterator[Page]:
    for finding in FINDINGS.values():
        yield Page(finding.id, "findings of the CPU twin", finding.title, finding.page, finding.severity)


def _labels() -> Iterator[Page]:
    for label in LABELS.values():
        yield Page(label.name, "labels of a verdict", label.title, label.page)
