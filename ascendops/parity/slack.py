"""The wider bound for implementations that round intermediates to the output's dtype, or add in float32 in a bad order.

It applies only where the tight bound (2 ulp + kappa) is exceeded, never to functions that jump, and comes with a second condition:
the errors as a whole must be as small as such rounding makes them, so that a systematic error does not hide below the bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from ascendops.errors import GoldenError
from ascendops.parity import inputs as generator, operands
from ascendops.parity.calling import Outputs, Values
from ascendops.parity.decompose import JUMPS, MOVES
from ascendops.parity.gates import Measured, measure
from ascendops.parity.golden import evaluate, real, wide_of
from ascendops.parity.orders import InOrder
from ascendops.parity.rounding import Rounded
from ascendops.parity.sensitivity import binade_rms
from ascendops.parity.truth import Truth

DRAWS = 8
DEVIATIONS = 7.0  # the largest of a million normal deviates is 5; the deviation itself is an estimate from DRAWS values
RMS_LIMIT = 1.6
_NARROW = (torch.float16, torch.bfloat16)
_ROUNDING = 0.3  # deviation of one rounding, in ulp


@dataclass(frozen=True)
class Relaxed:
    """The truths and measurements under the wider bound, and a note that says which."""

    truths: list[Truth | None]
    measured: list[Measured | None]
    note: str


def relax(
    golden: Callable[..., Any], values: Values, truths: Sequence[Truth | None], outputs: Outputs, measured: Sequence[Measured | None],
    seed: int, compute: str = "float32",
) -> Relaxed | None:  # fmt: skip
    """The wider bound applied, or None if it does not apply or the errors as a whole are too large for it.

    Args:
        compute: How products of matrices are declared to be computed, a key of `operands.COMPUTE`.
    """
    if not any(_applies(t, m) for t, m in zip(truths, measured, strict=True)):
        return None
    try:
        spreads = deviations(golden, values, truths, seed, compute)
    except GoldenError:  # a golden that cannot be taken apart has the tight bound only
        return None
    if spreads is None:
        return None
    new_truths, new_measured, used = list(truths), list(measured), set()
    for i, (truth, m, spread, out) in enumerate(zip(truths, measured, spreads, outputs, strict=True)):
        if truth is None or m is None or out is None or spread is None or not _applies(truth, m):
            continue
        assert truth.kappa is not None and truth.dtype is not None
        wider = replace(truth, kappa=torch.maximum(truth.kappa, DEVIATIONS * spread), wider=True)
        again = measure(out, wider)
        if not bool(again.failing.any()) and _rms(m, truth, spread) > _limit(m):
            return None
        new_truths[i], new_measured[i] = wider, again
        used.add(str(real(truth.dtype)).removeprefix("torch."))
    return Relaxed(new_truths, new_measured, _note(used, compute))


def _note(used: set[str], compute: str) -> str:
    if compute != "float32":
        return f"within the bound for {compute} products, which are declared, not within that for float32 products"
    if used == {"float32"}:
        return "within the bound for intermediates of float32 sums in any order"
    return f"within the bound for intermediates rounded to {', '.join(sorted(used))}, not within that for float32 intermediates"


def deviations(
    golden: Callable[..., Any], values: Values, truths: Sequence[Truth | None], seed: int, compute: str = "float32"
) -> list[torch.Tensor | None] | None:
    """Standard deviation of each output element over honest roundings of intermediates; None if the golden jumps.

    Raises:
        GoldenError: The golden cannot run under these conditions.
    """
    names = next((truth.names for truth in truths if truth is not None), ())
    if any(name in JUMPS for name in names):
        return None
    single = len([name for name in names if name not in MOVES]) <= 1  # torch's own kernel, not a chain of roundings
    narrow = [real(t.dtype) for t in truths if t is not None and t.dtype is not None and real(t.dtype) in _NARROW]
    models = list(dict.fromkeys(narrow)) or [torch.float32]  # what float32 rounds, the narrow dtypes round further
    total: list[torch.Tensor | None] = [None] * len(truths)
    for model in models:
        squares = _squares(golden, values, truths, model, seed)
        native = evaluate(golden, values, model) if model in _NARROW and single else None
        for i, truth in enumerate(truths):
            square = squares[i]
            if truth is None or square is None:
                continue
            spread = _smooth(truth, torch.sqrt(square / DRAWS))
            if native is not None:
                spread = torch.maximum(spread, _own_error(native, i, truth))
            total[i] = spread if total[i] is None else torch.maximum(total[i], spread)  # type: ignore[arg-type]
    for reverse in (False, True):
        found = evaluate(golden, values, torch.float32, InOrder(reverse))
        for i, truth in enumerate(truths):
            if truth is not None and total[i] is not None:
                total[i] = torch.maximum(total[i], _own_error(found, i, truth))  # type: ignore[arg-type]
    if compute == "float32":
        return total
    both = zip(total, operands.spreads(golden, values, truths, compute, seed), strict=True)
    return [a if a is None or b is None else torch.hypot(a, b) for a, b in both]


def _applies(truth: Truth | None, m: Measured | None) -> bool:
    return (
        truth is not None and m is not None and truth.kappa is not None and not truth.exact and real(truth.dtype) != torch.float64  # type: ignore[arg-type]
        and bool((m.excess > 1).any())
    )  # fmt: skip


def _squares(
    golden: Callable[..., Any], values: Values, truths: Sequence[Truth | None], model: torch.dtype, seed: int
) -> Outputs:
    squares: Outputs = [None] * len(truths)
    for draw in range(DRAWS):
        mode = Rounded(model, generator.key(seed, "rounding", str(model), draw))
        outputs = evaluate(golden, values, torch.float64, mode)
        for i, (out, truth) in enumerate(zip(outputs, truths, strict=True)):
            if out is None or truth is None or truth.kappa is None:
                continue
            wide = wide_of(out)
            apart = torch.where(torch.isfinite(wide) & torch.isfinite(truth.want), (wide - truth.want).square(), 0)
            squares[i] = apart if squares[i] is None else squares[i] + apart  # type: ignore[operator]
    return squares


def _own_error(native: Outputs, i: int, truth: Truth) -> torch.Tensor:
    out = native[i] if i < len(native) else None
    wide = None if out is None else wide_of(out)
    if wide is None or wide.shape != truth.want.shape:
        return torch.zeros_like(truth.want)
    error = torch.where(torch.isfinite(wide) & torch.isfinite(truth.want), (wide - truth.want).abs(), 0)
    return torch.maximum(error / 2, binade_rms(truth.want, error))


def _smooth(truth: Truth, spread: torch.Tensor) -> torch.Tensor:
    return torch.maximum(spread, binade_rms(truth.want, spread))


def _rms(m: Measured, truth: Truth, spread: torch.Tensor) -> float:
    unit = ((_ROUNDING * truth.ulps).square() + spread.square()).sqrt()
    return float((m.error / unit).square().mean().sqrt())


def _limit(m: Measured) -> float:
    """Errors of one row may share the rounding of its statistics, so few rows say little."""
    rows = max(1, m.error.numel() // max(1, m.error.shape[-1] if m.error.dim() > 1 else m.error.numel()))
    return RMS_LIMIT * (1 + 1.5 / math.sqrt(rows))
