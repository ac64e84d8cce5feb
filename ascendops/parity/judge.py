"""The verdict on one case: runs the candidate under observation, applies the gates, and diagnoses what failed."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from ascendops.errors import GoldenError
from ascendops.parity import gates, operands, refused, standards
from ascendops.parity.bias import Lean, directions, leans, unbiased
from ascendops.parity.calling import Outputs, Values, named_tensors
from ascendops.parity.diagnose import Context
from ascendops.parity.execute import POISONS, Run, Runner, local_runner
from ascendops.parity.gates import Measured, measure
from ascendops.parity.golden import own_arithmetic
from ascendops.parity.jumps import excuse_all
from ascendops.parity.sampling import Sampling
from ascendops.parity.sensitivity import truths
from ascendops.parity.slack import relax
from ascendops.parity.summary import fill
from ascendops.parity.threads import few_threads
from ascendops.parity.truth import Truth
from ascendops.parity.verdict import CaseResult, GateResult, names_of

_REPEAT_SECONDS = 2.0  # per case: repeats end after this long; the verdict says how many were made
_REMEMBERED = 3  # cases whose inputs a later one is compared with


def no_reference() -> tuple[None, str]:
    """For a judge's `references`: nothing to compare with."""
    return None, ""


@dataclass(frozen=True)
class Judged:
    """A case's result together with the tensors it came from (for wrong candidates and later cases).

    `refused`: golden and candidate both refuse the inputs, so there is nothing to compare.
    """

    result: CaseResult
    run: Run
    truths: list[Truth | None]
    measured: list[Measured | None] = field(default_factory=list)
    leans: list[Lean] = field(default_factory=list)
    refused: bool = False


@dataclass
class Judge:
    """Judges one case after another with the same golden, reference and level; see `verify` for the fields.

    `names` are the outputs' names in order; without these the verdict calls them by number.
    `history` holds the inputs of the last cases, to recognise results that were computed with an earlier call's.
    """

    golden: Callable[..., Any]
    reference: Callable[..., Any] | None = None
    level: str = "L0"
    repeats: int = 2
    mutates: tuple[str, ...] = ()
    deterministic: bool = True
    seed: int = 0
    compute: str = "float32"
    sampling: Sampling = field(default_factory=Sampling)
    names: tuple[str, ...] = ()
    history: list[Values] = field(default_factory=list)

    def __call__(
        self,
        name: str,
        values: Values,
        runner: Runner,
        earlier: Sequence[Outputs] = (),
        dtypes: list[torch.dtype | None] | None = None,
        references: Callable[[], tuple[Outputs | None, str]] | None = None,
    ) -> Judged:
        """The verdict on one case.

        Args:
            earlier: Outputs of earlier cases, to recognise stale data.
            dtypes: Declared dtypes of the outputs.
            references: Gives (the reference's outputs or None, a note), if the caller runs the reference. With `dtypes` it is called
                when the candidate has run, so that both can run at once.
        """
        start = time.perf_counter()
        ask = functools.cache(references or (lambda: self._run_reference(values)))
        theirs = ask()[0] if dtypes is None or references is None else None
        if dtypes is None and theirs:
            dtypes = [None if out is None else out.dtype for out in theirs]
        try:
            with few_threads(values):
                truth = self._truths(values, dtypes)
        except GoldenError as error:
            return Judged(*refused.judge(name, values, runner, error, self.seed), [], refused=True)
        runs = self._runs(values, runner, truth)
        outputs, note = ask()
        taken = _taken(runs[0].outputs, truth, values)
        if taken is not None:
            with few_threads(values):
                truth = self._truths(values, taken)
            note = "; ".join(filter(None, [note, "inputs have several float dtypes and nothing declares the output's: the candidate's, one of these, is taken"]))
        result = CaseResult(name, "fail", seed=self.seed, notes=[note] if note else [])
        judged = Judged(result, runs[0], truth)
        if runs[0].error:
            result.status = "crash" if runs[0].label in ("CRASH", "HANG", "OUT_OF_MEMORY") else "fail"
            result.error, result.labels = runs[0].error, (runs[0].label,)
        else:
            with few_threads(values):
                drawn = self.sampling.judge(values, runner, runs, out_specs(truth, values), self.names) if self.sampling.outputs else []
                judged = self._compare(judged, runs, outputs, Context(self.golden, values, earlier, self.history), _device(values), drawn)
        self.history = [*self.history[1 - _REMEMBERED :], values]
        result.seconds = time.perf_counter() - start
        return judged

    def _truths(self, values: Values, dtypes: list[torch.dtype | None] | None) -> list[Truth | None]:
        """What the golden says; sums of whole numbers are not exact if declared operands cannot hold these."""
        found = truths(self.golden, values, dtypes, self.seed)
        if self.compute == "float32" or not any(truth is not None and truth.exact for truth in found):
            return found
        moved = operands.moves(self.golden, values, found, self.compute)
        return [replace(truth, exact=False) if truth is not None and moves else truth for truth, moves in zip(found, moved, strict=True)]

    def _run_reference(self, values: Values) -> tuple[Outputs | None, str]:
        if self.reference is None:
            return None, ""
        run = local_runner(self.reference)(values, None, None)
        if run.error:
            return None, f"the reference could not run: {run.error.splitlines()[0]}"
        return run.outputs, ""

    def _runs(self, values: Values, runner: Runner, truth: Sequence[Truth | None]) -> list[Run]:
        outs = out_specs(truth, values)
        runs = [runner(values, POISONS[0], outs)]
        if runs[0].label == "EXCEPTION":  # perhaps the candidate cannot run while torch.empty is watched
            plain = runner(values, None, outs)
            runs = [runs[0] if plain.error else plain]
        if runs[0].error:
            return runs
        runs.append(runner(values, POISONS[1], outs))
        start = time.perf_counter()
        while len(runs) < self.repeats and time.perf_counter() - start < _REPEAT_SECONDS and not runs[-1].error:
            runs.append(runner(values, None, outs))
        failed = next((run for run in runs if run.error), None)
        return [failed] if failed else runs

    def _compare(
        self, judged: Judged, runs: list[Run], references: Outputs | None, context: Context, device: str, drawn: Sequence[GateResult]
    ) -> Judged:
        result, truth = judged.result, judged.truths
        shapes, names = [None if t is None else _shape(t) for t in truth], names_of(self.names, len(truth))
        result.gates.append(gates.structure(runs, truth, device, self.mutates, shapes, names))
        if any(label in ("SHAPE", "DTYPE") for label in result.gates[0].labels):
            result.labels = result.gates[0].labels
            return judged
        repeated = runs
        if self.sampling.outputs:  # the golden does not say which numbers are drawn
            truth, runs = self.sampling.hide(truth), [self.sampling.without(run) for run in runs]
            references = None if references is None else self.sampling.hide(references)
        measured = [
            None if out is None or t is None else measure(out, t) for out, t in zip(runs[0].outputs, truth, strict=True)
        ]
        theirs = _measure_reference(references, truth)
        measured, excuses = excuse_all(context.golden, context.values, runs[0].outputs, truth, measured, self.seed)
        result.notes += excuses
        relaxed = relax(context.golden, context.values, truth, runs[0].outputs, measured, self.seed, self.compute)
        if relaxed is not None:
            truth, measured = relaxed.truths, relaxed.measured
            if not any(bool(m.failing.any()) for m in measured if m is not None):
                result.notes.append(relaxed.note)
        measured = [m if m is None else _unwritten_fails(m, runs, i) for i, m in enumerate(measured)]
        result.gates.append(gates.special_values(measured, truth, names))
        result.gates += [gates.elementwise(measured, names), *drawn]
        result.gates.append(self._by_reference(result, measured, theirs))
        own = theirs if any(theirs) else _measure_reference(self._own(context.values), truth)
        leaning = leans(measured, truth, own, directions(context.golden, context.values, truth))
        result.gates.append(unbiased(leaning, names))
        seeded = not self.sampling.outputs or self.sampling.seed in context.values
        result.gates.append(self._repeats(repeated if seeded else runs, truth))
        shown = theirs if relaxed is None else _measure_reference(references, truth)  # by the bound that the candidate has
        fill(result, runs[0], truth, measured, shown, context, names)
        self._standards(result, runs[0].outputs, truth, references, context.values)
        return Judged(result, runs[0], truth, measured, leaning)

    def _standards(
        self, result: CaseResult, outputs: Outputs, truth: Sequence[Truth | None], references: Outputs | None, values: Values
    ) -> None:
        """The verdict under each published standard, and a line where it differs from ours."""
        benchmark, name = (references, "the reference") if references is not None else (self._own(values), "torch in the same dtypes")
        for found in standards.judge(outputs, truth, benchmark, name):
            result.standards[found.name] = found.status
            line = standards.why_different(found.name, found.status, result.status)
            if line:
                result.why_standards.append(f"{line} ({found.detail})")

    def _own(self, values: Values) -> Outputs | None:
        """The golden in the inputs' own dtypes: a benchmark where no reference ran."""
        try:
            return own_arithmetic(self.golden, values)
        except GoldenError:  # a golden that insists on float64 is no benchmark
            return None

    def _by_reference(
        self, result: CaseResult, measured: Sequence[Measured | None], theirs: Sequence[Measured | None]
    ) -> GateResult:
        if all(t is None for t in theirs):
            return GateResult("G3", "by reference", "skipped", "no reference ran")
        gate = gates.non_inferior(measured, theirs, self.level)
        if any(g.failed for g in result.gates if g.gate in ("G1", "G2")):
            return gate
        return GateResult("G3", "by reference", "pass", gate.detail, (), gate.numbers)

    def _repeats(self, runs: list[Run], truth: Sequence[Truth | None]) -> GateResult:
        gate = gates.repeatable(_without_poison(runs))
        if self.deterministic or not gate.failed:
            return gate
        for run in runs[1:]:
            measured = [
                None if out is None or t is None else measure(out, t) for out, t in zip(run.outputs, truth, strict=True)
            ]
            if gates.special_values(measured, truth).failed or gates.elementwise(measured).failed:
                return gate
        return GateResult("G6", "repeats", "pass", "not bitwise, within the allowed error", (), gate.numbers)


def _taken(outputs: Outputs, truth: Sequence[Truth | None], values: Values) -> list[torch.dtype | None] | None:
    """The candidate's output dtypes, where the inputs have several float dtypes and nothing says which of them it must return; else None."""
    floats = {tensor.dtype for _, tensor in named_tensors(values) if tensor.is_floating_point()}
    if len(floats) < 2 or len(outputs) != len(truth):
        return None
    free = [t is not None and t.guessed and out is not None and out.dtype in floats for out, t in zip(outputs, truth, strict=True)]
    taken = [out.dtype if ok and out is not None else (None if t is None else t.dtype) for out, t, ok in zip(outputs, truth, free, strict=True)]
    return None if taken == [None if t is None else t.dtype for t in truth] else taken


def _without_poison(runs: list[Run]) -> list[Run]:
    """The runs with zeros where the two poisons were left: that they differ there says nothing about repeats."""
    missing = [gates.unwritten(runs[0], runs[1], i) for i in range(len(runs[0].outputs))] if len(runs) > 1 else []
    if not any(mask is not None and bool(mask.any()) for mask in missing):
        return runs
    return [
        replace(run, outputs=[out if mask is None or out is None else torch.where(mask, torch.zeros_like(out), out) for out, mask in zip(run.outputs, missing, strict=True)])
        for run in runs
    ]


def _unwritten_fails(m: Measured, runs: list[Run], output: int) -> Measured:
    """What was never written is wrong whatever the poison looks like: it is no nan of the candidate's."""
    missing = gates.unwritten(runs[0], runs[1], output) if len(runs) > 1 else None
    if missing is None or not bool(missing.any()):
        return m
    missing = missing.unsqueeze(-1).expand(m.failing.shape) if m.failing.dim() > missing.dim() else missing
    return replace(m, special=m.special & ~missing, failing=m.failing | missing, excess=torch.where(missing, float("inf"), m.excess))


def _measure_reference(outputs: Outputs | None, truth: Sequence[Truth | None]) -> list[Measured | None]:
    if outputs is None or len(outputs) != len(truth):
        return [None] * len(truth)
    return [
        measure(out, t) if out is not None and t is not None and tuple(out.shape) == _shape(t) else None
        for out, t in zip(outputs, truth, strict=True)
    ]


def _shape(truth: Truth) -> tuple[int, ...]:
    paired = truth.dtype is not None and truth.dtype.is_complex
    return tuple(truth.want.shape[:-1] if paired else truth.want.shape)


def _device(values: Values) -> str:
    return next((tensor.device.type for _, tensor in named_tensors(values)), "cpu")


def out_specs(truth: Sequence[Truth | None], values: Values) -> list[tuple[tuple[int, ...], torch.dtype]] | None:
    """Shape and dtype of each output, for buffers to write into; None when the golden does not say what an output is."""
    specs = []
    for t in truth:
        if t is None:
            return None
        kinds = [tensor.dtype for _, tensor in named_tensors(values) if not tensor.is_floating_point()]
        fallback = kinds[0] if kinds and t.want.dtype == torch.int64 and kinds[0] != torch.bool else t.want.dtype
        specs.append((_shape(t), t.dtype or fallback))
    return specs
