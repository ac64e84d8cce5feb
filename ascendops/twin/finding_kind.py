"""One kind of finding of the CPU twin, as the catalogue describes it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FindingKind:
    """One kind of finding: `page` says what causes it and how to mend it."""

    id: str
    severity: str
    title: str
    page: str


def error(id: str, title: str, page: str) -> FindingKind:
    """A kind that is surely wrong on the device."""
    return FindingKind(id, "error", title, page)


def warning(id: str, title: str, page: str) -> FindingKind:
    """A kind that is suspicious, or right only by luck."""
    return FindingKind(id, "warning", title, page)


def note(id: str, title: str, page: str) -> FindingKind:
    """A kind that is right on the device, and still worth knowing."""
    return FindingKind(id, "note", title, page)
