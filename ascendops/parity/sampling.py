"""Runs of an operator whose outputs are random numbers: other seeds, or other calls, give the sample that its distribution is tested with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ascendops.parity import chance
from ascendops.parity.calling import Values
from ascendops.parity.verdict import GateResult, called
from ascendops.spec.random import P_VALUE, arguments

if TYPE_CHECKING:
    from ascendops.parity.execute import OutSpec, Run, Runner


@dataclass(frozen=True)
class Sampling:
    """Which outputs are random.

    Attributes:
        outputs: Number of the output -> its distribution, such as `uniform(0, 1)`.
        seed: The scalar of a case that seeds the generator; None if each call draws other numbers.
        p_value: Probability that a run rejects right numbers; `cases`: how many cases share it.
    """

    outputs: Mapping[int, str] = field(default_factory=dict)
    seed: str | None = None
    p_value: float = P_VALUE
    cases: int = 1

    def judge(self, values: Values, runner: Runner, runs: Sequence[Run], outs: Sequence[OutSpec] | None, names: Sequence[str] = ()) -> list[GateResult]:
        """Gate G2 for every random output."""
        more = [runner(other, None, outs) for other in self._other(values, len(runs))]
        failed = next((run for run in more if run.error), None)
        if failed is not None:
            return [GateResult("G2", "distribution", "fail", f"with another seed: {failed.error.splitlines()[0]}", (failed.label,))]
        first = runs[:1] if self.seed in values else runs
        gates = []
        for i, text in self.outputs.items():
            samples = [run.outputs[i] for run in (*first, *more) if i < len(run.outputs)]
            present = [out for out in samples if out is not None]
            if present:
                gate = chance.judge(present, chance.Distribution(*arguments(text, values)), self.p_value, self.cases * len(self.outputs))
                several = len(first[0].outputs) > 1 and gate.detail
                gates.append(replace(gate, detail=f"output {called(names, i)}: {gate.detail}") if several else gate)
        return gates

    def _other(self, values: Values, done: int) -> list[Values]:
        if self.seed is None or self.seed not in values:
            return [values] * max(0, chance.SEEDS - done)
        base = int(values[self.seed])
        return [{**values, self.seed: base + step} for step in range(1, chance.SEEDS)]

    def without(self, run: Run) -> Run:
        """The run without its random outputs."""
        return replace(run, outputs=self.hide(run.outputs))

    def hide(self, items: Sequence[Any]) -> list[Any]:
        """None in place of random outputs."""
        return [None if i in self.outputs else item for i, item in enumerate(items)]


def of(distributions: Sequence[str | None], case: Mapping[str, Any], seed: str | None, p_value: float, cases: int) -> Sampling:
    """The sampling of `verify`'s arguments; `seed` counts only if the case has such a scalar."""
    return Sampling({i: text for i, text in enumerate(distributions) if text}, seed if seed in case else None, p_value, cases)
