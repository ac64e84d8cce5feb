"""The base of the error catalogue: one class per mistake, printed in one place (`ascendops.cli`)."""

from __future__ import annotations

import enum
from typing import Any, ClassVar


class ExitCode(enum.IntEnum):
    """Exit codes of the `ascendops` command; docs/cli.md is generated from these comments."""

    OK = 0  # everything asked for was done
    MISMATCH = 1  # a mismatch, a regression or an open finding
    USAGE = 2  # wrong usage or an invalid specification
    TOOLCHAIN = 3  # a toolchain or a device is missing
    COMPILE = 4  # a compilation failed
    NOTHING = 5  # nothing was selected
    INTERNAL = 70  # a fault in ascendops itself
    INTERRUPTED = 130  # interrupted from the keyboard


class AscendOpsError(Exception):
    """Base of all errors that a user can cause or must act upon.

    A subclass sets `id` (stable, upper case) and `exit_code`; its docstring is the page that `ascendops explain ID` prints:
    the first line is the title.

    Args:
        what: One sentence: what went wrong, with the wrong value in it.
        where: `file:line`, `file`, or the name of the thing concerned.
        why: The reason, when `what` does not already say it.
        help: What to do next; name the allowed values.
    """

    id: ClassVar[str] = ""
    exit_code: ClassVar[ExitCode] = ExitCode.USAGE

    def __init__(self, what: str, *, where: str | None = None, why: str | None = None, help: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.why = why
        self.help = help

    def __str__(self) -> str:
        lines = [f"error[{self.id}]: {self.what}"]
        if self.where:
            lines.append(f"  --> {self.where}")
        if self.why:
            lines.extend(f"   = {line}" for line in self.why.splitlines())
        if self.help:
            lines.append(f"   = help: {self.help}")
        return "\n".join(lines)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.__dict__)

    def to_dict(self) -> dict[str, Any]:
        """The error as JSON-ready fields: id, what, where, why, help."""
        return {"id": self.id, "what": self.what, "where": self.where, "why": self.why, "help": self.help}


def _rebuild(cls: type[AscendOpsError], state: dict[str, Any]) -> AscendOpsError:
    error = cls.__new__(cls)
    Exception.__init__(error, state.get("what", ""))
    error.__dict__.update(state)
    return error


def did_you_mean(word: str, options: Any) -> str:
    """`did you mean 'x'? ` when an option is close to `word`, and the sorted list of the options."""
    import difflib

    names = sorted(str(option) for option in options)
    close = difflib.get_close_matches(word, names, n=1)
    hint = f"did you mean '{close[0]}'? " if close else ""
    return f"{hint}use one of: {', '.join(names)}"
