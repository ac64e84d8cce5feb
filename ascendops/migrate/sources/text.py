"""A piece of text with its place: a file, a notebook cell, or a string inside one of them."""

from __future__ import annotations

import bisect
import functools
from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """Text to scan.

    Attributes:
        file: The path as reported.
        text: The text, with line feeds as line ends.
        cell: 0-based cell of a notebook.
        first: The line of the file (or cell) on which `text` starts.
        name: Base name of the file, lower case: it selects scanners.
    """

    file: str
    text: str
    cell: int | None = None
    first: int = 1

    @property
    def name(self) -> str:
        """The base name in lower case."""
        return self.file.rsplit("/", 1)[-1].lower()

    @functools.cached_property
    def lines(self) -> list[str]:
        """The lines without their ends."""
        return self.text.split("\n")

    @functools.cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        for line in self.lines:
            starts.append(starts[-1] + len(line) + 1)
        return starts

    def line(self, number: int) -> str:
        """Line `number` (1-based) stripped and cut at 160 characters; empty for line 0 or beyond the end."""
        return self.lines[number - 1].strip()[:160] if 0 < number <= len(self.lines) else ""

    def line_at(self, offset: int) -> int:
        """The 1-based line of a character offset."""
        return bisect.bisect_right(self._starts, offset)

    def column_at(self, offset: int) -> int:
        """The 0-based column of a character offset."""
        return offset - self._starts[self.line_at(offset) - 1]
