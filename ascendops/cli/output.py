"""The one place that prints: results on stdout, talk on stderr, colours only for people."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any

import click

from ascendops.errors import AscendOpsError
from ascendops.words import plural as plural  # commands take it from here

SCHEMA_VERSION = 1


def wants_colour(stream: IO[Any]) -> bool:
    """Colours are for a terminal whose user has not set NO_COLOR (https://no-color.org) to a non-empty value."""
    return not os.environ.get("NO_COLOR") and stream.isatty()


@dataclass
class Output:
    """Where a command writes.

    Attributes:
        json: stdout carries exactly one JSON object and nothing else.
        quiet: No talk: only results and errors.
        verbose: Commands, paths and tracebacks too.
    """

    json: bool = False
    quiet: bool = False
    verbose: bool = False

    def result(self, text: str) -> None:
        """Prints a line of the result on stdout; with --json it is talk."""
        if self.json:
            self.say(text)
        else:
            _write(sys.stdout, text)

    def say(self, text: str) -> None:
        """Prints a line of talk on stderr, unless --quiet."""
        if not self.quiet:
            _write(sys.stderr, text)

    def detail(self, text: str) -> None:
        """Prints a line of talk on stderr with --verbose."""
        if self.verbose:
            _write(sys.stderr, text)

    def emit(self, payload: dict[str, Any]) -> None:
        """Prints the result object on stdout with --json; nothing otherwise."""
        if self.json:
            _write(sys.stdout, json.dumps({"schema_version": SCHEMA_VERSION, **payload}, indent=2, default=str))

    def error(self, error: AscendOpsError) -> None:
        """Prints an error of the catalogue: on stderr for people, and as the JSON object with --json."""
        _write(sys.stderr, render_error(error))
        if self.verbose:
            click.echo(_trace(error), err=True)
        self.emit({"error": {**error.to_dict(), "exit_code": int(error.exit_code)}})


def _write(stream: IO[str], text: str) -> None:
    click.echo(text, file=stream, color=wants_colour(stream))


def _trace(error: BaseException) -> str:
    import traceback

    return "".join(traceback.format_exception(error)).rstrip()


def render_error(error: AscendOpsError) -> str:
    """The text of an error, with its head in red and its help in cyan (stripped again where colours are not wanted)."""
    head, *rest = str(error).splitlines()
    body = [click.style(line, fg="cyan") if line.lstrip().startswith("= help:") else line for line in rest]
    more = [click.style(f"   = more: ascendops explain {error.id}", dim=True)] if error.id else []
    return "\n".join([click.style(head, fg="red", bold=True), *body, *more])


def table(rows: Sequence[Sequence[str]], *, indent: str = "  ") -> str:
    """Rows as left-aligned columns, two spaces apart; styled cells count by what is seen."""
    seen = [[len(click.unstyle(cell)) for cell in row] for row in rows]
    columns = max((len(row) for row in rows), default=0)
    width = [max((row[i] for row in seen if i < len(row)), default=0) for i in range(columns)]
    lines = []
    for row, lengths in zip(rows, seen, strict=True):
        cells = [cell + " " * (width[i] - lengths[i]) for i, cell in enumerate(row)]
        lines.append((indent + "  ".join(cells)).rstrip())
    return "\n".join(lines)
