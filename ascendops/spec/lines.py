"""Line numbers in a TOML text: where a key path is written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

Path = tuple[str | int, ...]

_KEY = r"""(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')"""
_DOTTED = re.compile(rf"{_KEY}(?:\s*\.\s*{_KEY})*")
_HEADER = re.compile(rf"\s*(\[\[?)\s*({_DOTTED.pattern})\s*\]\]?")
_PAIR = re.compile(rf"\s*({_DOTTED.pattern})\s*=")
_TOKEN = re.compile(r'"""|\'\'\'|"(?:\\.|[^"\\])*"|\'[^\']*\'|#.*|[\[\]{}]')


def _split(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in re.findall(_KEY, dotted))


@dataclass
class _Scanner:
    """Follows brackets and triple quotes, so that only lines at nesting depth 0 are read as keys."""

    depth: int = 0
    quote: str = ""

    def feed(self, line: str) -> None:
        position = 0
        while position < len(line):
            if self.quote:
                end = line.find(self.quote, position)
                if end < 0:
                    return
                position, self.quote = end + 3, ""
                continue
            token = _TOKEN.search(line, position)
            if token is None:
                return
            position = token.end()
            word = token.group()
            if word in ('"""', "'''"):
                self.quote = word
            elif word in "[{":
                self.depth += 1
            elif word in "]}":
                self.depth -= 1


@dataclass
class Lines:
    """The lines of one TOML text.

    Args:
        text: The file's content.
        name: What to print before the line number.
    """

    text: str
    name: str
    _found: dict[Path, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._found = dict(self._scan())

    def _scan(self) -> Iterator[tuple[Path, int]]:
        table: Path = ()
        arrays: dict[Path, int] = {}
        scanner = _Scanner()
        for number, line in enumerate(self.text.splitlines(), 1):
            outside = scanner.depth == 0 and not scanner.quote
            header = _HEADER.match(line) if outside else None
            pair = _PAIR.match(line) if outside and header is None else None
            if header is not None:
                table = _with_indexes(_split(header.group(2)), arrays)
                if header.group(1) == "[[":
                    arrays[table] = arrays.get(table, -1) + 1
                    table = (*table, arrays[table])
                yield table, number
                continue
            if pair is not None:
                yield (*table, *_split(pair.group(1))), number
            scanner.feed(line)

    def line(self, *path: str | int) -> int:
        """The line where `path` is written, or where the nearest enclosing table is (1 when nothing is)."""
        for length in range(len(path), 0, -1):
            if path[:length] in self._found:
                return self._found[path[:length]]
        return 1

    def where(self, *path: str | int, text: str | None = None) -> str:
        """`name:line` of `path`; with `text`, of the first line from there on that contains it (long lists)."""
        number = self.line(*path)
        if text is not None:
            lines = self.text.splitlines()
            hits = (i for i in range(number, len(lines) + 1) if text in lines[i - 1])
            number = next(hits, number)
        return f"{self.name}:{number}"


def _with_indexes(keys: tuple[str, ...], arrays: dict[Path, int]) -> Path:
    """`keys` with the index of the current element put after every key but the last that names an array of tables."""
    path: Path = ()
    for position, key in enumerate(keys):
        path = (*path, key)
        if path in arrays and position < len(keys) - 1:
            path = (*path, arrays[path])
    return path
