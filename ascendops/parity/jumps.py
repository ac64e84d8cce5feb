"""Outputs at which a function jumps: roundings, selections. Which other results are right, and which are explained by a small inner error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from ascendops.errors import GoldenError
from ascendops.parity import inputs as generator
from ascendops.parity.calling import Outputs, Values, named_tensors
from ascendops.parity.decompose import MOVES, ROUNDINGS, SELECTS
from ascendops.parity.gates import Measured
from ascendops.parity.golden import evaluate, wide_of
from ascendops.parity.rounding import Rounded
from ascendops.parity.sensitivity import Steps
from ascendops.parity.truth import Truth

_TRIES = 8
_MANY = 4  # exact ties that all went the same way are a rounding rule, not an accident
TINY = 2.0**-10
_REACH = 4.0


@dataclass(frozen=True)
class Excused:
    """The measurement without the elements that may be otherwise, and why."""

    measured: Measured
    note: str


def excuse(
    golden: Callable[..., Any], values: Values, output: int, got: torch.Tensor, truth: Truth, m: Measured, seed: int
) -> Excused | None:
    """Elements that fail but are as right as the golden's: other indices of equal values, roundings of values next to a tie."""
    names = set(truth.names)
    if not bool(m.failing.any()):
        return None
    if truth.kappa is None and names & SELECTS:
        same = _equally_selected(got, truth.want, values)
        return None if same is None else _without(m, same, "indices of equal values in another order")
    inner = names - MOVES - ROUNDINGS
    if not names & ROUNDINGS or not inner:
        return None
    near = seen(golden, values, output, got, truth, 1.0, seed, m.failing)
    if near is None or not bool((near & m.failing).any()):
        return None
    exact = seen(golden, values, output, got, truth, TINY, seed, m.failing)
    if exact is not None and bool((exact & m.failing).any()):
        # a tie is certain only if float32 computes it without rounding; else an error of half an ulp, common to a row, sends all of its ties one way
        certain = exact & m.failing & ~reached(golden, values, output, got, truth, m.failing, seed)
        if _one_way(got, truth.want, certain):
            return None
    return _without(m, near, "roundings of values within an ulp of a tie")


def explained(
    golden: Callable[..., Any],
    values: Values,
    output: int,
    got: torch.Tensor,
    truth: Truth,
    failing: torch.Tensor,
    seed: int,
) -> bool:
    """Whether an inner error of an ulp or two of float32 carries the golden to `got` on every failing element."""
    return not bool((failing & ~reached(golden, values, output, got, truth, failing, seed)).any())


def reached(
    golden: Callable[..., Any], values: Values, output: int, got: torch.Tensor, truth: Truth, wanted: torch.Tensor, seed: int
) -> torch.Tensor:
    """Which of the `wanted` elements of `got` the golden gives if float32 results inside of it are off by an ulp or two; exact ones are not."""
    left = wanted.clone()
    for draw in range(4 * _TRIES):
        try:
            mode = Rounded(torch.float32, generator.key(seed, "jump", draw), _REACH)
            outputs = evaluate(golden, values, torch.float64, mode)
        except GoldenError:
            break
        out = outputs[output] if output < len(outputs) else None
        if out is None or out.shape != got.shape:
            break
        left &= ~_close(got, out, truth)
        if not bool(left.any()):
            break
    return wanted & ~left


def seen(
    golden: Callable[..., Any], values: Values, output: int, got: torch.Tensor, truth: Truth, step: float, seed: int, wanted: torch.Tensor
) -> torch.Tensor | None:
    """Where `got` is the golden of inputs moved by up to `step` ulp of float32, or the golden in float32; draws end when all `wanted` are found."""
    found, moved = torch.zeros(got.shape, dtype=torch.bool), Steps(values, torch.float32)
    for draw in range(3 * _TRIES):
        if draw >= _TRIES and not bool((wanted & ~found).any()):
            break
        changed = moved(generator.key(seed, "tie", draw), step)
        try:
            outputs = [evaluate(golden, changed, torch.float64)]
            outputs += [evaluate(golden, values, torch.float32)] if draw == 0 and step == 1.0 else []
        except GoldenError:
            return None
        for each in outputs:
            out = each[output] if output < len(each) else None
            if out is None or out.shape != got.shape:
                return None
            found |= _close(got, out, truth)
    return found


def _close(got: torch.Tensor, want: torch.Tensor, truth: Truth) -> torch.Tensor:
    if truth.kappa is None:
        return got == want.to(got.dtype)
    return ((wide_of(got) - wide_of(want)).abs() <= truth.allowed).reshape(got.shape)


def _one_way(got: torch.Tensor, want: torch.Tensor, different: torch.Tensor) -> bool:
    if different.shape != got.shape or int(different.sum()) < _MANY:
        return False
    mine, theirs = got[different].double(), want[different].double()
    steps = (mine > theirs, mine < theirs, mine.abs() > theirs.abs(), mine.abs() < theirs.abs())
    return any(bool(way.all()) for way in steps)


def _without(m: Measured, fine: torch.Tensor, why: str) -> Excused:
    count = int((m.failing & fine).sum())
    cleared = replace(
        m, failing=m.failing & ~fine, excess=torch.where(fine, 0, m.excess), error=torch.where(fine, 0, m.error)
    )
    return Excused(cleared, f"{count} elements differ and are as right: {why}")


def _equally_selected(got: torch.Tensor, want: torch.Tensor, values: Values) -> torch.Tensor | None:
    """Where index `got` selects the same value from an input as index `want`; None if the output is no index into one."""
    if got.dtype not in (torch.int64, torch.int32, torch.int16, torch.uint8) or got.shape != want.shape:
        return None
    for _, x in named_tensors(values):
        for axis in range(x.dim()):
            for keep in (True, False):
                mine, theirs = (
                    (got, want)
                    if keep
                    else (got.unsqueeze(min(axis, got.dim())), want.unsqueeze(min(axis, want.dim())))
                )
                if mine.dim() == x.dim() and _fits(mine, theirs, x, axis):
                    return _same_values(x, mine.long(), theirs.long(), axis).reshape(got.shape)
    return None


def _fits(mine: torch.Tensor, theirs: torch.Tensor, x: torch.Tensor, axis: int) -> bool:
    others = all(a == b for i, (a, b) in enumerate(zip(mine.shape, x.shape, strict=True)) if i != axis)
    size = x.shape[axis]
    inside = mine.numel() > 0 and int(mine.min()) >= 0 and int(mine.max()) < size and int(theirs.max()) < size
    unique = mine.shape[axis] == 1 or bool((mine.sort(axis).values.diff(dim=axis) > 0).all())
    return others and inside and unique


def _same_values(x: torch.Tensor, mine: torch.Tensor, theirs: torch.Tensor, axis: int) -> torch.Tensor:
    a, b = x.gather(axis, mine), x.gather(axis, theirs)
    return (a == b) | (torch.isnan(a) & torch.isnan(b)) if x.is_floating_point() else a == b


def excuse_all(
    golden: Callable[..., Any],
    values: Values,
    outputs: Outputs,
    truths: Sequence[Truth | None],
    measured: Sequence[Measured | None],
    seed: int,
) -> tuple[list[Measured | None], list[str]]:
    """`excuse` for every output: the measurements, and notes."""
    found, notes = list(measured), []
    for i, (out, truth, m) in enumerate(zip(outputs, truths, measured, strict=True)):
        if out is None or truth is None or m is None:
            continue
        excused = excuse(golden, values, i, out, truth, m, seed)
        if excused is not None:
            found[i] = excused.measured
            notes.append(excused.note)
    return found, notes
