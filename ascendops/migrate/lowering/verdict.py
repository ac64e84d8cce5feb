"""What `ascendops check` says about a kernel."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from ascendops.migrate.lowering.hivm import Plan

LOWERS, FAILS, UNCHECKED = "lowers", "fails", "not_checked"


@dataclass
class Attempt:
    """One compilation: a kernel with one dtype and one configuration.

    Attributes:
        status: `lowers`, `fails` or `not_checked` (the file does not say enough, or the tool itself failed).
        dtype: Dtype of the data: fp32, fp16 or bf16.
        config: The compile-time values.
        assumed: The names among them, and unknown sizes, whose values are assumptions.
        stage: load, ttir, ttadapter, compile; `hivm` when it lowers.
        kind: Which kind of failure (see `hints`).
        file: With `line`, where the compiler points.
        message: The compiler's words.
        help: What to change.
        fits: The largest variant that lowers, where memory overflowed.
        bounds: Largest size known to lower and smallest known not to, 0 where none is.
        ones: Integer arguments that had to be 1 for it to lower.
    """

    status: str
    dtype: str
    config: dict[str, Any]
    assumed: dict[str, Any] = field(default_factory=dict)
    stage: str = ""
    kind: str = ""
    file: str = ""
    line: int = 0
    message: str = ""
    help: str = ""
    needs: dict[str, int] = field(default_factory=dict)
    available: dict[str, int] = field(default_factory=dict)
    plan: Plan | None = None
    fits: str = ""
    ones: tuple[str, ...] = ()
    bounds: list[int] = field(default_factory=lambda: [0, 0])


@dataclass(frozen=True)
class Note:
    """A rule of `lint`: `warning` for what goes wrong without an error, `note` for what has no effect or a limit."""

    id: str
    level: str
    file: str
    line: int
    message: str
    help: str


@dataclass
class Verdict:
    """All attempts and notes for one kernel of a file.

    Attributes:
        signature: Run-time argument to its kind (see `arguments`).
        configurations: How many there are; `attempts` may have fewer.
        strides: Integer arguments that a launch may pass as 1.
        refused: What the kernel reaches outside of triton's language; it is then not compiled.
    """

    kernel: str
    file: str
    line: int
    signature: dict[str, str]
    target: str
    attempts: list[Attempt] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    configurations: int = 1
    strides: tuple[str, ...] = ()
    refused: str = ""

    @property
    def status(self) -> str:
        """`lowers` if every dtype has a configuration that lowers; `not_checked` if nothing was decided; else `fails`."""
        of: dict[str, set[str]] = {}
        for attempt in self.attempts:
            of.setdefault(attempt.dtype, set()).add(attempt.status)
        if of and all(LOWERS in found for found in of.values()):
            return LOWERS
        return FAILS if any(FAILS in found and LOWERS not in found for found in of.values()) else UNCHECKED

    @property
    def open(self) -> bool:
        """Whether someone has to act."""
        return self.status != LOWERS or any(note.level == "warning" for note in self.notes)

    def to_dict(self) -> dict[str, Any]:
        """The verdict as JSON-ready fields."""
        fields = asdict(self)
        for row, attempt in zip(fields["attempts"], self.attempts, strict=True):
            row["plan"] = asdict(attempt.plan) if attempt.plan else None
        return {"status": self.status, **fields}
