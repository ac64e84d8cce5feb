"""One page for every id that a message can carry: errors, findings of the CPU twin, labels of a parity verdict."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any


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
    found = [*_errors(), *_entries("ascendops.twin.findings", "findings of the CPU twin"), *_entries("ascendops.parity.labels", "labels of a verdict")]
    return {page.id: page for page in found}


def _errors() -> Iterable[Page]:
    from ascendops.errors import catalogue

    for cls in catalogue():
        title, _, text = inspect.cleandoc(cls.__doc__ or "").partition("\n")
        yield Page(cls.id, "errors", title.strip(), text.strip(), f"exit code {int(cls.exit_code)}")


def _entries(module: str, kind: str) -> Iterable[Page]:
    for entry in importlib.import_module(module).catalogue():
        yield Page(entry.id, kind, entry.title, entry.page, getattr(entry, "severity", ""))
