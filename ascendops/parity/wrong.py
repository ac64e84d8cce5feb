"""Wrong candidates, made from a candidate's own output: a case that accepts one of them cannot tell right from wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch

from ascendops.parity.bias import leans, unbiased
from ascendops.parity.calling import Outputs
from ascendops.parity.gates import Measured, measure
from ascendops.parity.truth import Truth

_TILES = 16


def _zeros(x: torch.Tensor) -> torch.Tensor:
    return torch.zeros_like(x)


def _shifted(x: torch.Tensor) -> torch.Tensor:
    return torch.roll(x.flatten(), 1).reshape(x.shape)


def _dropped(x: torch.Tensor) -> torch.Tensor:
    flat = x.flatten().clone()
    flat[flat.numel() - max(1, flat.numel() // _TILES) :] = 0
    return flat.reshape(x.shape)


WRONG: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "all zeros": _zeros,
    "shifted by one": _shifted,
    "last tile dropped": _dropped,
}


@dataclass(frozen=True)
class Wrong:
    """One wrong candidate against one case: `rejected`, or `equivalent` (the change left every value as it was)."""

    name: str
    rejected: bool
    equivalent: bool


def _same_values(a: torch.Tensor, b: torch.Tensor, truth: Truth | None) -> bool:
    """Whether no gate could tell them apart: equal values (-0 is 0) and nan at the same places, or no right value."""
    same = (a == b) | ((a != a) & (b != b))
    return bool((same if truth is None or truth.undefined is None else same | truth.undefined).all())


def wrong_candidates(
    outputs: Outputs, truths: Sequence[Truth | None], changes: Mapping[str, Callable[[torch.Tensor], torch.Tensor]] | None = None
) -> list[Wrong]:
    """Each wrong candidate made from `outputs` (which passed), judged by gates G1, G2 and G4; `changes` are WRONG unless given."""
    results = []
    for name, change in (WRONG if changes is None else changes).items():
        changed = [None if out is None or out.numel() == 0 else change(out) for out in outputs]
        if all(a is None or b is None or _same_values(a, b, truth) for a, b, truth in zip(outputs, changed, truths, strict=True)):
            results.append(Wrong(name, rejected=False, equivalent=True))
            continue
        results.append(Wrong(name, rejected=rejected(changed, truths), equivalent=False))
    return results


def rejected(changed: Outputs, truths: Sequence[Truth | None]) -> bool:
    """Whether gates G1, G2 or G4 refuse these outputs."""
    measured: list[Measured | None] = []
    for out, truth in zip(changed, truths, strict=True):
        measured.append(None if out is None or truth is None else measure(out, truth))
        last = measured[-1]
        if last is not None and bool(last.failing.any()):  # what fails G1 or G2
            return True
    return unbiased(leans(measured, truths, [None] * len(measured), [{}] * len(measured))).failed
