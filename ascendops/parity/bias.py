"""Gate G4: errors that lean to one side although each is within its bound (a truncating cast, n - 1 for n, another epsilon)."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from ascendops.parity.gates import Measured
from ascendops.parity.sensitivity import FACTOR, Truth, real
from ascendops.parity.ulp import compute_dtype, round_to
from ascendops.parity.verdict import GateResult

BIAS_MIN = 256
BIAS_LIMIT = 0.05
BIAS_CONDITION = 128.0
BIAS_LIMIT_COMPUTE = 1.0  # outputs in the compute dtype: errors of one row share its sum's or maximum's rounding


def bias(m: Measured, truth: Truth, reference: Measured | None) -> tuple[float, float]:
    """(largest excess of |mean error| over its limit, that mean) over the signed and the radial mean; (0, 0) if too few values.

    Errors are taken against the correctly rounded golden, in units of ulp + kappa / 8, and averaged over distinct golden values.
    """
    if truth.kappa is None or truth.exact or truth.dtype is None:
        return 0.0, 0.0
    unit = truth.ulps() + truth.kappa / FACTOR
    rounded = round_to(truth.want, real(truth.dtype))
    keep = torch.isfinite(m.got) & torch.isfinite(rounded) & (truth.want != 0) & ~m.special
    # where the allowance is wide, the unit is the computation's own error, which may lean to one side
    keep &= truth.kappa <= BIAS_CONDITION * truth.ulps()
    if int(keep.sum()) < BIAS_MIN:
        return 0.0, 0.0
    want = truth.want[keep]
    distinct, group, count = torch.unique(want, return_inverse=True, return_counts=True)
    if distinct.numel() < BIAS_MIN:
        return 0.0, 0.0
    limit = BIAS_LIMIT_COMPUTE if real(truth.dtype) == compute_dtype(real(truth.dtype)) else BIAS_LIMIT
    worst = (0.0, 0.0)
    for sign in (torch.ones_like(want), want.sign()):
        mean, spread = _group_mean(((m.got - rounded)[keep] / unit[keep]) * sign, group, count)
        allowance = limit + 4 * spread
        if reference is not None:
            theirs, _ = _group_mean(
                (torch.nan_to_num((reference.got - rounded)[keep], 0, 0, 0) / unit[keep]) * sign, group, count
            )
            allowance += 2 * abs(theirs)
        if abs(mean) - allowance > worst[0]:
            worst = (abs(mean) - allowance, mean)
    return worst


def _group_mean(errors: torch.Tensor, group: torch.Tensor, count: torch.Tensor) -> tuple[float, float]:
    means = torch.zeros(count.shape, dtype=torch.float64).index_add_(0, group, errors.clamp(-64, 64)) / count
    return float(means.mean()), float(means.std() / means.numel() ** 0.5)


def unbiased(
    all_measured: Sequence[Measured | None], truths: Sequence[Truth | None], references: Sequence[Measured | None]
) -> GateResult:
    """G4: the mean signed error and the mean error away from zero are near 0 (outputs of at least 256 distinct values)."""
    for i, (m, truth, reference) in enumerate(zip(all_measured, truths, references, strict=True)):
        if m is None or truth is None:
            continue
        excess, mean = bias(m, truth, reference)
        if excess > 0:
            text = f"the mean error of output {i} is {mean:+.3f} of its unit (ulp + kappa/8), {excess:.3f} beyond the limit"
            return GateResult("G4", "bias", "fail", text, ("BIAS",), {"mean": mean})
    return GateResult("G4", "bias", "pass")
