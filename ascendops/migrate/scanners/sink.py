"""Where the scanners of one source put what they find: one finding per line and construct."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from ascendops.migrate.facts.tables import Fact
from ascendops.migrate.model import Edit, Finding, Unknown
from ascendops.migrate.rules.finding import make
from ascendops.migrate.sources.text import Source

_OTHER_DEVICES = re.compile(r"torch[._]npu|[\"'](?:npu|xpu|hpu|musa|mlu)(?::\d*)?[\"']|\bacl(?:rt)?[A-Z]\w+")
"""A file that knows other devices chooses among them: a rename could break the choice."""


class Sink:
    """Collects the findings of one source."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.findings: list[Finding] = []
        self.unknown: list[Unknown] = []
        self.defined: set[str] = set()
        self._several = bool(_OTHER_DEVICES.search(source.text))
        self._seen: dict[tuple[int, str], int] = {}

    def add(self, line: int, construct: str, rule: str, fact: Fact, **more: Any) -> None:
        """Adds a finding, or its edit to that of the same line and construct; one that cannot be renamed stops the other."""
        found = make(self.source, line, construct, rule, fact, **more)
        place = self._seen.setdefault((line, construct), len(self.findings))
        if place == len(self.findings):
            self.findings.append(found)
        else:
            first = self.findings[place]
            both = tuple(dict.fromkeys((*first.edits, *found.edits))) if first.edits and found.edits else ()
            self.findings[place] = replace(first, edits=both)

    @property
    def editable(self) -> bool:
        """Whether names of this source may be renamed at all: notebooks and files that know other devices are left alone."""
        return self.source.cell is None and not self._several

    def unsure(self, line: int, name: str) -> None:
        """Notes a name that looks like CUDA and that nothing knows."""
        if self._seen.setdefault((line, f"?{name}"), -1) == -1:
            self._seen[(line, f"?{name}")] = -2
            self.unknown.append(Unknown(name, self.source.file, self.source.first + line - 1, self.source.cell))

    def edit(self, line: int, start: int, old: str, new: str) -> Edit | None:
        """The edit that replaces `old` by `new` at column `start`, if the line really has `old` there; notebooks get none."""
        text = self.source.lines[line - 1] if 0 < line <= len(self.source.lines) else ""
        if not self.editable or text[start : start + len(old)] != old:
            return None
        return Edit(start, start + len(old), new)
