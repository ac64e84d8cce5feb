"""What a probe reports, and the small tools that probes are made of. Probes read; they change nothing."""

from __future__ import annotations

import enum
import importlib.metadata
import importlib.util
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any


class Grade(enum.Enum):
    """How a thing stands for the chosen backend."""

    OK = "ok"
    WARN = "warn"  # works, or something optional is absent
    MISSING = "missing"  # the chosen backend cannot work
    UNNEEDED = "not needed"


@dataclass(frozen=True)
class Check:
    """One line of the doctor's report.

    Attributes:
        group: Heading, such as `CANN`.
        name: The thing, such as `bisheng`.
        grade: How it stands.
        version: Its version, None when absent or unknown.
        path: Where it is.
        note: What there is to know, in a few words.
        fix: What to do; set for every warning and every missing thing.
    """

    group: str
    name: str
    grade: Grade
    version: str | None = None
    path: str | None = None
    note: str = ""
    fix: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The check as JSON-ready fields."""
        return {**asdict(self), "grade": self.grade.value}

    def unless(self, needed: bool, note: str = "") -> Check:
        """This check when the backend needs the thing; else, if it is absent or poor, marked as not needed (with `note`)."""
        if needed or self.grade is Grade.OK:
            return self
        return replace(self, grade=Grade.UNNEEDED, note=note or self.note, fix=None)


@dataclass(frozen=True)
class Ran:
    """A finished probe: `ok` is a zero exit status; `text` holds both streams."""

    ok: bool
    text: str

    @property
    def first_line(self) -> str:
        """The first line that says something."""
        return next((line.strip() for line in self.text.splitlines() if line.strip()), "")

    @property
    def last_line(self) -> str:
        """The last line that says something; of a Python traceback, the error."""
        return next((line.strip() for line in reversed(self.text.splitlines()) if line.strip()), "")


def run(command: Sequence[str], timeout_s: float = 20.0) -> Ran:
    """Runs a probe; a program that is absent, hangs or fails gives `ok=False`."""
    try:
        done = subprocess.run(
            list(command), capture_output=True, text=True, errors="replace", timeout=timeout_s, check=False, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        return Ran(False, f"no answer within {timeout_s:.0f} s")
    except OSError as error:
        return Ran(False, str(error))
    return Ran(done.returncode == 0, done.stdout + done.stderr)


@dataclass(frozen=True)
class Package:
    """An installed Python distribution, found without importing it."""

    version: str
    path: str


def package(distribution: str, module: str | None = None) -> Package | None:
    """The installed distribution, or None. Reads metadata only: importing is what may be broken."""
    try:
        found = importlib.metadata.distribution(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None
    return Package(found.version, str(found.locate_file(module or distribution)))
