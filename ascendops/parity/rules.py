"""Results that are rounded by another rule than to the nearest, ties to even: truncating casts, ties that go up or away from zero."""

from __future__ import annotations

from collections.abc import Callable

import torch

from ascendops.parity.decompose import ROUNDINGS
from ascendops.parity.gates import Measured
from ascendops.parity.golden import real
from ascendops.parity.truth import Truth
from ascendops.parity.ulp import ulp

_ENOUGH = 8  # elements from which on a common direction is a rule and no accident
_SHARE = 0.99
_DIVISIONS = frozenset(("floor_divide", "floordiv"))
_WAYS: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {"towards zero": lambda a, b: a.abs() < b.abs(), "away from zero": lambda a, b: a.abs() > b.abs(), "down": lambda a, b: a < b, "up": lambda a, b: a > b}


def rounded_otherwise(got: torch.Tensor, truth: Truth, m: Measured, ties: Callable[[], torch.Tensor | None]) -> tuple[tuple[str, ...], str] | None:
    """(labels, sentence) if the failing elements are the other neighbour of the exact value: TIE if it is half-way between both, else BIAS if all lie on one side.

    Args:
        ties: For outputs of whole numbers: where the golden changes with the smallest change of its inputs.
    """
    if truth.kappa is None:
        return _whole(got, truth, m, ties)
    if truth.unrounded is None or truth.dtype is None:
        return None
    failing, exact = m.failing, truth.unrounded
    limit = torch.finfo(real(truth.dtype)).max
    step = ulp(exact, real(truth.dtype))
    cut = (m.got.abs() == limit) & (exact.abs() > limit) & (m.got.sign() == exact.sign())  # a cast that truncates never gives infinity
    beside = ((m.got - exact).abs() < step) & torch.isfinite(m.got) | cut & torch.isfinite(exact)
    chosen = failing & beside
    if int(chosen.sum()) < _SHARE * int(failing.sum()) or not bool((chosen & ~cut).any()):  # only overflow: saturation is no rounding
        return None
    a, b = m.got[chosen], exact[chosen]
    if bool(((a - b).abs() * 2 == step[chosen]).all()):
        return ("TIE",), f"all failing elements are half-way between two results{_way(a, truth.want[chosen])}"
    way = _direction(a, b)
    return None if way is None else (("BIAS",), f"values are rounded {way}, not to the nearest")


def _whole(got: torch.Tensor, truth: Truth, m: Measured, ties: Callable[[], torch.Tensor | None]) -> tuple[tuple[str, ...], str] | None:
    """Integers made by rounding: one less, or one more, in one direction only."""
    if not set(truth.names) & ROUNDINGS or got.dtype.is_complex or int(m.failing.sum()) < _ENOUGH:
        return None
    a, b = got[m.failing].double(), truth.want[m.failing].double()
    if not bool(((a - b).abs() == 1).all()):
        return None
    at = ties()
    if at is not None and int((at & m.failing).sum()) >= _SHARE * int(m.failing.sum()):
        return ("TIE",), f"all failing elements are half-way between two results{_way(a, b)}"
    way = _direction(a, b)
    labels = ("WRONG_VALUE", "BIAS") if set(truth.names) & _DIVISIONS else ("BIAS",)
    return None if way is None else (labels, f"results are one step off, all of them {way}: another rounding than the golden's")


def _direction(got: torch.Tensor, exact: torch.Tensor) -> str | None:
    if got.numel() < _ENOUGH:
        return None
    return next((name for name, side in _WAYS.items() if float(side(got, exact).double().mean()) >= _SHARE), None)


def _way(got: torch.Tensor, want: torch.Tensor) -> str:
    name = next((name for name, side in _WAYS.items() if bool(side(got, want).all())), None)
    return "" if name is None else f", and went {name}"
