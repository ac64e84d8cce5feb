"""From configurations to predicted times."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ascendops.errors import UnknownSoc
from ascendops.perf import chips, fitted
from ascendops.perf.floor import floor_us
from ascendops.perf.ops import traits
from ascendops.perf.pipes import PIPES, work
from ascendops.perf.table import BadRow, Config
from ascendops.spec.socs import DEFAULT_SOC

__all__ = ["PIPES", "Estimate", "estimate", "estimate_table"]


@dataclass(frozen=True)
class Estimate:
    """What one call is expected to take.

    Attributes:
        predicted_us: The time on the device in µs; None for a row that describes no call.
        bound: The pipe of PIPES that takes longest.
        pipes_us: The time of each pipe of the busiest core in µs; they overlap, so that their sum is more than predicted_us.
        soc: The SoC whose rates were used.
        basis: What the number rests on: measured calls of the `operator`, of its `category`, `general` ones, or `mechanistic` (none).
        notes: What had to be assumed, or what is wrong with the row.
    """

    row_id: str
    predicted_us: float | None
    bound: str
    pipes_us: dict[str, float]
    soc: str
    basis: str
    notes: tuple[str, ...]

    @property
    def failed(self) -> bool:
        """Whether the row describes no call."""
        return self.predicted_us is None


def estimate_table(
    rows: Iterable[Config | BadRow], *, soc: str | None = None, parameters: tuple[fitted.Parameters, fitted.Correction | None] | None = None
) -> Iterator[Estimate]:
    """One estimate per row, in order; a BadRow becomes an estimate without a number."""
    for row in rows:
        if isinstance(row, BadRow):
            yield Estimate(row.row_id, None, "", {}, "", "", (f"error: {row.problem}",))
        else:
            yield estimate(row, soc=soc, parameters=parameters)


def estimate(config: Config, *, soc: str | None = None, parameters: tuple[fitted.Parameters, fitted.Correction | None] | None = None) -> Estimate:
    """The estimate of one call.

    Args:
        config: The call. An unknown chip is replaced by `soc` (or DEFAULT_SOC), and the estimate's notes say so.
        parameters: Globals and correction to use instead of the shipped ones; without a correction the estimate is purely mechanistic.
    """
    fit, correction = parameters or fitted.shipped()
    notes = list(config.notes)
    chip = _chip(config.chip, soc, notes)
    kind = traits(config)
    if not kind.known:
        notes.append(f"unknown operator {config.op}: taken as {kind.category}")
    if config.blocks > max(chip.aic, chip.vector_cores) * 4:
        notes.append(f"block_dim {config.blocks} is more than {chip.name} runs at once")
    names = fitted.labels(config, kind)
    done = work(config, kind, chip, fit.of(names))
    factor, basis = 1.0, "mechanistic"
    if correction is not None:
        factor = math.exp(max(-3.0, min(3.0, correction.log_factor(names, fitted.features(config, kind, done)))))
        basis = correction.basis(names)
    pipes = {name: round(done.us[name] * factor, 3) for name in PIPES}
    total, bound, least = done.total * factor, done.bound, floor_us(config, chip)
    if total < least:
        notes.append(f"raised from {total:.0f} us to what the cube cores need at their peak")
        total, bound, pipes["cube"] = least, "cube", round(least, 3)
    return Estimate(config.row_id, round(total, 3), bound, pipes, chip.name, basis, tuple(notes))


def _chip(name: str, soc: str | None, notes: list[str]) -> chips.Chip:
    try:
        if name:
            return chips.chip(name)
    except UnknownSoc as error:
        notes.append(f"{error.what}: taken as {soc or DEFAULT_SOC}")
    else:
        notes.append(f"no chip: taken as {soc or DEFAULT_SOC}")
    return chips.chip(soc or DEFAULT_SOC)
