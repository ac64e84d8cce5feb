"""Gate G4: errors that lean to one side although each is within its bound (a truncating cast, n - 1 for n, another epsilon).

Errors against the correctly rounded golden, in their unit (ulp + kappa / 8), are projected on a few directions: all up, away from
zero, and what scaling or shifting one input would do to the output. Honest rounding has no component along any of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ascendops.errors import GoldenError
from ascendops.parity.calling import Values, named_tensors
from ascendops.parity.flush import NORMAL
from ascendops.parity.gates import Measured
from ascendops.parity.golden import evaluate, real, wide_of
from ascendops.parity.sensitivity import FACTOR
from ascendops.parity.truth import Truth
from ascendops.parity.ulp import compute_dtype, finite
from ascendops.parity.verdict import GateResult, called

BIAS_MIN = 64  # distinct golden values
BIAS_LIMIT = 0.05
BIAS_LIMIT_COMPUTE = 1.0  # outputs in the compute dtype: errors of one row share its sum's or maximum's rounding
BIAS_CONDITION = 128.0  # in ulp: elements with a larger kappa are left out
BIAS_CONDITION_NARROW = 4.0  # where float32 arithmetic is exact to half an ulp of the output
_STEP = 2.0**-20
_CLIP = 64.0
_INPUTS = 4  # directions come from so many inputs at most


@dataclass(frozen=True)
class Lean:
    """How far the errors of one output lean along one direction; sums, so that cases can be pooled.

    Attributes:
        total: Sum of the projected errors in units; `reference`: the same of the reference's errors.
        variance: Variance of `total` if errors of one row, of one column and of one golden value may be one error.
        groups: Number of independent errors.
        key: Hash of the golden's values: equal cases count once.
    """

    output: int
    direction: str
    count: int
    total: float
    variance: float
    groups: int
    limit: float
    reference: float
    key: str

    @property
    def mean(self) -> float:
        """Mean projected error, in units."""
        return self.total / self.count


def directions(
    golden: Callable[..., Any], values: Values, truths: Sequence[Truth | None]
) -> list[dict[str, torch.Tensor]]:
    """For each output, its response to scaling and to shifting each float input, by name; float64, shape of the golden."""
    found: list[dict[str, torch.Tensor]] = [{} for _ in truths]
    names = [
        name
        for name, tensor in named_tensors(values)
        if tensor.is_floating_point() and tensor.numel() and name in values
    ][:_INPUTS]
    for name in names:
        for what in ("scale", "shift"):
            moved = dict(values)
            wide = values[name].detach().cpu().double()
            moved[name] = wide * (1 + _STEP) if what == "scale" else wide + _STEP
            try:
                outputs = evaluate(golden, moved, torch.float64)
            except GoldenError:
                continue
            for i, (out, truth) in enumerate(zip(outputs, truths, strict=False)):
                if (
                    out is not None
                    and truth is not None
                    and truth.kappa is not None
                    and wide_of(out).shape == truth.want.shape
                ):
                    found[i][f"{what} of {name}"] = (wide_of(out) - truth.want) / _STEP
    return found


def leans(
    measured: Sequence[Measured | None], truths: Sequence[Truth | None], references: Sequence[Measured | None],
    responses: Sequence[dict[str, torch.Tensor]],
) -> list[Lean]:  # fmt: skip
    """How far each output's errors lean along each direction."""
    found = []
    for i, (m, truth, reference, ways) in enumerate(zip(measured, truths, references, responses, strict=True)):
        if (
            m is not None
            and truth is not None
            and truth.kappa is not None
            and not truth.exact
            and truth.dtype is not None
        ):
            found += list(_of_output(i, m, truth, reference, ways))
    return found


def _of_output(
    i: int, m: Measured, truth: Truth, reference: Measured | None, ways: dict[str, torch.Tensor]
) -> Iterable[Lean]:
    assert truth.kappa is not None and truth.dtype is not None
    keep = (truth.classes == 0) & finite(m.got) & (truth.want != 0) & ~m.special
    if real(truth.dtype) in (torch.float32, torch.bfloat16):
        keep &= truth.want.abs() >= NORMAL  # subnormal numbers may all be flushed to zero
    # where the allowance is wide, the unit is the computation's own error, which may lean to one side
    narrow = real(truth.dtype) != compute_dtype(real(truth.dtype))
    keep &= truth.kappa <= (BIAS_CONDITION_NARROW if narrow and not truth.wider else BIAS_CONDITION) * truth.ulps
    kept = _Kept(keep)
    if kept.count == 0:
        return
    want, rounded, unit = kept(truth.want), kept(truth.rounded), kept(truth.ulps) + kept(truth.kappa) / FACTOR
    clusters = _clusters(kept, want)
    errors = ((kept(m.got) - rounded) / unit).clamp(-_CLIP, _CLIP)
    theirs = None if reference is None else ((kept(reference.got) - rounded) / unit).nan_to_num(0, 0, 0).clamp(-_CLIP, _CLIP)
    key = hashlib.sha256(want.numpy().tobytes()).hexdigest()
    limit = BIAS_LIMIT_COMPUTE if real(truth.dtype) == compute_dtype(real(truth.dtype)) else BIAS_LIMIT
    for name, way in {
        "all up": torch.ones_like(want),
        "away from zero": want.sign(),
        **_normal(ways, kept, unit),
    }.items():
        projected = errors * way
        lean_of_reference = 0.0 if theirs is None else float((theirs * way).sum())
        yield Lean(i, name, kept.count, float(projected.sum()), _variance(projected, clusters), clusters[0].count, limit, lean_of_reference, key)


class _Kept:
    """The elements of tensors of one shape where `keep` is true, flat and in order."""

    def __init__(self, keep: torch.Tensor) -> None:
        self.keep = keep
        places = keep.flatten().nonzero().squeeze(1)
        self.count = places.numel()
        self.all = self.count == keep.numel()
        self._places = places

    def __call__(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.flatten() if self.all else tensor.flatten()[self._places]


def _normal(ways: dict[str, torch.Tensor], kept: _Kept, unit: torch.Tensor) -> dict[str, torch.Tensor]:
    normal = {}
    for name, way in ways.items():
        steps = (kept(way) / unit).nan_to_num(0, 0, 0)
        size = steps.abs().median() * 4
        steps = steps.clamp(-size, size)  # a few elements must not decide
        rms = float(steps.square().mean().sqrt())
        if rms > 0:
            normal[name] = steps / rms
    return normal


@dataclass(frozen=True)
class _Cluster:
    """Elements grouped by what may give them one error: the number of groups, and what sums values by group."""

    count: int
    sums: Callable[[torch.Tensor], torch.Tensor]


def _clusters(kept: _Kept, want: torch.Tensor) -> list[_Cluster]:
    """The kept elements by golden value, by row and by column."""
    values, group = torch.unique(want, return_inverse=True)
    found = [_Cluster(values.numel(), lambda x: x) if values.numel() == want.numel() else _by(group, values.numel())]
    shape = kept.keep.shape
    if len(shape) < 2 or shape[-1] == 0:
        return found
    rows, columns = kept.keep.numel() // shape[-1], shape[-1]
    if kept.all:
        found += [_Cluster(rows, lambda x: x.reshape(rows, columns).sum(1)), _Cluster(columns, lambda x: x.reshape(rows, columns).sum(0))]
        return found
    place = kept.keep.reshape(rows, columns).nonzero()
    for axis in (0, 1):
        present, group = torch.unique(place[:, axis], return_inverse=True)
        found.append(_by(group, present.numel()))
    return found


def _by(group: torch.Tensor, count: int) -> _Cluster:
    return _Cluster(count, lambda x: torch.zeros(count, dtype=torch.float64).index_add_(0, group, x))


def _variance(projected: torch.Tensor, clusters: Sequence[_Cluster]) -> float:
    """The largest variance of the sum over the ways to group errors."""
    apart = projected - projected.mean()
    # the spread of few groups is itself uncertain, as in Student's t
    return max(float(cluster.sums(apart).square().sum()) * (1 + 4 / cluster.count) ** 2 for cluster in clusters)


def unbiased(found: Sequence[Lean], names: Sequence[str] = ()) -> GateResult:
    """G4: no mean error along any direction, over outputs of at least 64 distinct values; cases may be pooled."""
    worst: tuple[float, str, float] = (0.0, "", 0.0)
    for output, direction in dict.fromkeys((lean.output, lean.direction) for lean in found):
        same = list({lean.key: lean for lean in found if (lean.output, lean.direction) == (output, direction)}.values())
        if sum(lean.groups for lean in same) < BIAS_MIN:
            continue
        count = sum(lean.count for lean in same)
        mean = sum(lean.total for lean in same) / count
        error = sum(lean.variance for lean in same) ** 0.5 / count
        theirs = 2 * sum(lean.reference for lean in same) / count  # a reference may lean too: twice as far, to the same side
        allowed = max(lean.limit for lean in same) + 4 * error + (abs(theirs) if theirs * mean > 0 else 0.0)
        if abs(mean) - allowed > worst[0]:
            text = f"the mean error of output {called(names, output)}, {direction}, is {mean:+.3f} of its unit (ulp + kappa/8); {allowed:.3f} is allowed"
            worst = (abs(mean) - allowed, text, mean)
    if worst[1]:
        return GateResult("G4", "bias", "fail", worst[1], ("BIAS",), {"mean": worst[2]})
    return GateResult("G4", "bias", "pass")
