"""Times kept in a file, and what has become of them."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendops.errors import BenchBaselineError

if TYPE_CHECKING:
    from ascendops.perf.rows import Bench, Row

FORMAT = "ascendops-bench/1"
_SAME = ("backend", "soc")


@dataclass(frozen=True)
class Change:
    """A row's time then and now, µs."""

    row: Row
    before: float

    @property
    def percent(self) -> float:
        """How much slower it became; negative if it became faster."""
        return (self.row.us / self.before - 1) * 100 if self.before else 0.0


@dataclass(frozen=True)
class Comparison:
    """Rows that both runs have, rows that only this one has, and names of those that it lacks; `notes` say what else differs."""

    changes: tuple[Change, ...]
    new: tuple[Row, ...]
    missing: tuple[str, ...]
    notes: tuple[str, ...]

    def slower(self, percent: float) -> tuple[Change, ...]:
        """Rows that became slower by more than this."""
        return tuple(change for change in self.changes if change.percent > percent)


def save(path: Path, done: Bench) -> None:
    """Writes a run's times, all or nothing.

    Raises:
        BenchBaselineError: A call was not timed, or the file cannot be written.
    """
    untimed = [" ".join(row.id) for row in done.rows if row.wrong]
    if untimed:
        raise BenchBaselineError(f"{len(untimed)} of {len(done.rows)} calls were not timed, so there is no baseline", where=str(path), why=", ".join(untimed))
    text = json.dumps({"format": FORMAT, **done.to_dict()}, indent=1)
    stage = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        stage.write_text(text + "\n", encoding="utf-8")
        stage.replace(path)
    except OSError as error:
        stage.unlink(missing_ok=True)
        raise BenchBaselineError(f"the baseline cannot be written: {error.strerror}", where=str(path)) from None


def load(path: Path) -> dict[str, Any]:
    """The environment and rows of a baseline file.

    Raises:
        BenchBaselineError: It is not there, or not a baseline.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BenchBaselineError(f"the baseline cannot be read: {error.strerror}", where=str(path), help="make one: ascendops bench --save FILE") from None
    except ValueError as error:
        raise BenchBaselineError("this is no baseline: it is not JSON", where=str(path), why=str(error), help="make one: ascendops bench --save FILE") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        found = data.get("format") if isinstance(data, dict) else type(data).__name__
        raise BenchBaselineError(f"this is no baseline of format {FORMAT}: it has {found!r}", where=str(path), help="make one: ascendops bench --save FILE")
    rows, env = data.get("rows"), data.get("environment")
    keys = ("op", "case", "shapes", "dtype")
    named = isinstance(env, dict) and isinstance(rows, list) and all(isinstance(row, dict) and all(isinstance(row.get(key), str) for key in keys) for row in rows)
    if not named or not rows or not all(isinstance(row.get("us"), (int, float)) and math.isfinite(row["us"]) and row["us"] > 0 for row in rows):
        raise BenchBaselineError("the baseline is damaged: a row has no name or no time", where=str(path), help="make it again: ascendops bench --save FILE")
    return data


def compare(done: Bench, baseline: Mapping[str, Any], path: Path) -> Comparison:
    """This run beside a baseline.

    Raises:
        BenchBaselineError: The baseline was made with another backend or for another SoC, or shares no row with this run.
    """
    then, now = baseline["environment"], done.environment
    for key in _SAME:
        if then.get(key) != now[key]:
            raise BenchBaselineError(
                f"the baseline's {key} is {then.get(key)}, this run's is {now[key]}: their times cannot be compared", where=str(path),
                help=f"run with --{key} {then.get(key)}, or make a baseline for {now[key]}",
            )  # fmt: skip
    before = {(row["op"], f"{row['case']} {row['shapes']}", row["dtype"]): float(row["us"]) for row in baseline["rows"]}
    changes = tuple(Change(row, before[row.id]) for row in done.rows if row.id in before and not row.wrong)
    if not changes:
        raise BenchBaselineError("the baseline has none of this run's calls", where=str(path), help="was it made of the same projects?")
    here = {row.id for row in done.rows}
    version, current = then.get("versions", {}).get("ascendops"), now["versions"]["ascendops"]
    notes = [f"the baseline is from ascendops {version}, this is {current}: the model itself may have changed"] if version != current else []
    notes += [f"the baseline was made with {then['tried']}, this run with {now['tried']}"] if then.get("tried", {}) != now["tried"] else []
    return Comparison(changes, tuple(row for row in done.rows if row.id not in before), tuple(" ".join(key) for key in before if key not in here), tuple(notes))
