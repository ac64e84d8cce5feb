"""`ascendops tune`: which values of an operator's tunables are fastest, among those with which it stays right."""

from __future__ import annotations

import itertools
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendops.errors import CompileError, TuneError
from ascendops.perf.bench import Kept, Options, environment, measured
from ascendops.perf.rows import Row

if TYPE_CHECKING:
    from ascendops.build import Project
    from ascendops.spec.tunables import Tunable

Values = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Trial:
    """One set of values.

    Attributes:
        values: The values by name; empty for the sources as they are now.
        rows: The bench of the operator with them.
        wrong: Why they do not count, or empty.
        ratio: Geometric mean of the times over those of the sources as they are now; NaN if they do not count.
    """

    values: Values
    rows: tuple[Row, ...] = ()
    wrong: str = ""
    ratio: float = math.nan

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready fields."""
        ratio = None if math.isnan(self.ratio) else self.ratio
        return {"values": dict(self.values), "ratio": ratio, "wrong": self.wrong, "rows": [row.to_dict() for row in self.rows]}


@dataclass(frozen=True)
class Step:
    """What `tune` reports after each trial: `number` of `total` sets of values are done (0: only the sources as they are), `best` is the fastest so far."""

    number: int
    total: int
    trial: Trial
    best: Trial


@dataclass(frozen=True)
class Tuning:
    """The trials, the fastest first, then those that do not count; `now` is the bench without any change."""

    now: Trial
    trials: tuple[Trial, ...]
    environment: Mapping[str, Any]

    @property
    def best(self) -> Trial:
        """The fastest one; `now` where nothing is faster."""
        first = next((trial for trial in self.trials if not trial.wrong), self.now)
        return first if first.ratio < 1 else self.now

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready fields."""
        return {
            "environment": dict(self.environment), "now": self.now.to_dict(), "best": dict(self.best.values),
            "trials": [trial.to_dict() for trial in self.trials],
        }  # fmt: skip


def tune(project: Project, options: Options, trials: int, progress: Callable[[Step], None] | None = None) -> Tuning:
    """Tries every combination of values if there are at most `trials`, else one tunable after the other, each with the best of those before.

    Args:
        options: Backend, SoC and seed of each bench.
        trials: Up to so many combinations are all tried; 1 always goes one by one.
        progress: Called after each trial.

    Raises:
        TuneError: The operator has no tunables, a source does not read one, or the operator is wrong as it is.
        CompileError: It does not build as it is.
    """
    kept = Kept()
    try:
        return _tune(project, options, trials, progress, kept)
    finally:
        kept.close()


def _tune(project: Project, options: Options, trials: int, progress: Callable[[Step], None] | None, kept: Kept) -> Tuning:
    tunables = declared(project)
    now = _trial(project, options, (), kept)
    if now.wrong:
        raise TuneError(f"{project.name} is not right as it is, so nothing can be tuned", where=str(project.root), why=now.wrong, help="ascendops test")
    now = replace(now, ratio=1.0)
    done: dict[Values, Trial] = {}
    grid = _grid(tunables, trials)
    total = sum(len(one.values) for one in tunables) if grid is None else len(grid)

    def tell(trial: Trial) -> None:
        if progress:
            best = min((one for one in (now, *done.values()) if not one.wrong), key=lambda one: one.ratio)
            progress(Step(len(done), total, trial, best))

    def attempt(values: Values) -> Trial:
        if values not in done:
            done[values] = _against(now, _tried(project, options, values, kept))
            tell(done[values])
        return done[values]

    tell(now)
    for values in grid or ():
        attempt(values)
    if grid is None:
        _one_by_one(tunables, attempt)
    order = sorted(done.values(), key=lambda trial: (bool(trial.wrong), trial.ratio))
    return Tuning(now, tuple(order), environment(options))


def declared(project: Project) -> tuple[Tunable, ...]:
    """The tunables of a project.

    Raises:
        TuneError: There are none, or a source does not leave one to the build.
    """
    spec = project.spec
    if spec is None or not spec.tunables:
        raise TuneError(f"{project.name} declares no tunables", where=str(spec.path if spec else project.root), help="declare one in op.toml: ascendops explain ASC334")
    text = "\n".join(_sources(project.root))
    for one in spec.tunables:
        if not re.search(rf"^[ \t]*#[ \t]*ifndef[ \t]+{one.name}\b", text, re.MULTILINE):
            raise TuneError(
                f"no source leaves {one.name} to the build", where=str(spec.path),
                help=f"write in op_host or op_kernel: #ifndef {one.name}, #define {one.name} {one.values[0]}, #endif",
            )  # fmt: skip
    return spec.tunables


def apply(path: Path, values: Values) -> None:
    """Writes `best` of each tunable into op.toml, all or nothing; comments and everything else stay.

    Raises:
        TuneError: The file does not have them as tables [tune.NAME].
    """
    from ascendops.spec.load import parse

    text = path.read_text(encoding="utf-8")
    for name, value in values:
        text = _with_best(text, name, value, path)
    spec = parse(text, path)
    if any(spec.defines.get(name) != value for name, value in values):
        raise TuneError("the values could not be written", where=str(path), help=f"write them by hand: {dict(values)}")
    stage = path.with_name(f".{path.name}.{os.getpid()}")
    stage.write_text(text, encoding="utf-8")
    stage.replace(path)


def _with_best(text: str, name: str, value: int, path: Path) -> str:
    header = re.search(rf"^[ \t]*\[[ \t]*tune[ \t]*\.[ \t]*{name}[ \t]*\][^\n]*\n", text, re.MULTILINE)
    if header is None:
        raise TuneError(f"there is no table [tune.{name}]", where=str(path), help=f"write it as a table of its own, or set best = {value} by hand")
    following = re.search(r"^[ \t]*\[", text[header.end() :], re.MULTILINE)
    end = header.end() + following.start() if following else len(text)
    body = text[header.end() : end]
    body, found = re.subn(r"^([ \t]*best[ \t]*=[ \t]*)[^\s#]+", rf"\g<1>{value}", body, count=1, flags=re.MULTILINE)
    return text[: header.end()] + ("" if found else f"best = {value}\n") + body + text[end:]


def _sources(root: Path) -> Iterator[str]:
    for folder in ("op_host", "op_kernel"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in {".h", ".hpp", ".cpp", ".cc", ".cxx"}:
                yield path.read_text(encoding="utf-8", errors="replace")


def _grid(tunables: Sequence[Tunable], trials: int) -> list[Values] | None:
    if math.prod(len(one.values) for one in tunables) > trials:
        return None
    return [tuple(zip((one.name for one in tunables), chosen, strict=True)) for chosen in itertools.product(*(one.values for one in tunables))]


def _one_by_one(tunables: Sequence[Tunable], attempt: Callable[[Values], Trial]) -> None:
    best: dict[str, int] = {}
    for one in tunables:
        tried = [attempt(tuple({**best, one.name: value}.items())) for value in one.values]
        good = min((trial for trial in tried if not trial.wrong), key=lambda trial: trial.ratio, default=None)
        if good is not None and good.ratio < 1:
            best = dict(good.values)


def _trial(project: Project, options: Options, values: Values, kept: Kept) -> Trial:
    rows = tuple(measured(project, replace(options, tried=values), kept))
    wrong = next((f"{' '.join(row.id)}: {row.wrong}" for row in rows if row.wrong), "")
    return Trial(values, rows, wrong)


def _tried(project: Project, options: Options, values: Values, kept: Kept) -> Trial:
    try:
        return _trial(project, options, values, kept)
    except CompileError as error:
        return Trial(values, wrong=" ".join(filter(None, [error.what, error.where])))


def _against(now: Trial, trial: Trial) -> Trial:
    if trial.wrong:
        return trial
    logs = [math.log(row.us / before.us) for row, before in zip(trial.rows, now.rows, strict=True)]
    return replace(trial, ratio=math.exp(sum(logs) / len(logs)))
