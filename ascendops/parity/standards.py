"""What published precision standards say about the same outputs, next to our own verdict.

Sources: CANN opbase, ops_precision_standard (2025: relative errors; experimental_standard.md of July 2026: mixed tolerance);
COMMERCIAL_OPS_PRECISION_DOCS.md (two benchmarks, levels L0 to L2); torch.testing.assert_close's defaults (torch 2.13).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from ascendops.parity.calling import Outputs
from ascendops.parity.golden import real, wide_of
from ascendops.parity.truth import Truth
from ascendops.parity.ulp import finite, ulp

Bounds = dict[torch.dtype, tuple[float, ...]]
_H, _B, _S = torch.float16, torch.bfloat16, torch.float32
_E4, _E5 = torch.float8_e4m3fn, torch.float8_e5m2
ECO_2025: dict[torch.dtype, float] = {_H: 2**-10, _B: 2**-7, _S: 2**-13, _E4: 2**-3, _E5: 2**-2}
# rtol, atol, largest absolute error
ECO_2026: Bounds = {
    _H: (2**-9, 2**-9, 1e-1),
    _B: (2**-6, 2**-6, 1.0),
    _S: (2**-10, 2**-16, 1e-2),
    _E4: (2**-2, 2**-4, 1.0),
    _E5: (2**-1, 2**-3, 1e-1),
}
# largest, mean and RMS relative error over the benchmark's
COMMERCIAL = {"L0": (10.0, 2.0, 2.0), "L1": (5.0, 1.5, 1.5), "L2": (2.0, 1.2, 1.2)}
# magnitude below which absolute errors count, and the error that counts
SMALL: Bounds = {
    _H: (2**-11, 2**-16),
    _B: (2**-8, 2**-16),
    _S: (2**-14, 2**-30),
    _E4: (2**-4, 2**-6),
    _E5: (2**-3, 2**-5),
}
TORCH: Bounds = {_H: (1e-3, 1e-5), _B: (1.6e-2, 1e-5), _S: (1.3e-6, 1e-5), torch.float64: (1e-7, 1e-7)}
NAMES = (
    "cann-eco-2025",
    "cann-eco-2026",
    "cann-commercial-L0",
    "cann-commercial-L1",
    "cann-commercial-L2",
    "torch-default",
)
_WHY = {
    "cann-eco-2025": "it looks at the mean and the largest relative error only",
    "cann-eco-2026": "it lets 1 % of the elements be wrong and adds an absolute tolerance that small outputs never reach",
    "cann-commercial": "it compares with the benchmark's errors, however large those are, and not with what float32 explains",
    "torch-default": "its absolute tolerance of 1e-5 covers outputs that are smaller than that",
}
_STRICT = {
    "cann-eco-2025": "relative errors of small elements that cancellation explains count in full",
    "cann-eco-2026": "its tolerances ignore how sensitive the function is to its inputs",
    "cann-commercial": "the benchmark happened to be more exact than the dtype demands",
    "torch-default": "its tolerances ignore how sensitive the function is to its inputs",
}


@dataclass(frozen=True)
class StandardResult:
    """One standard on one case: `pass`, `fail` or `not applicable`, and the number that decided."""

    name: str
    status: str
    detail: str = ""


def judge(
    outputs: Outputs, truths: Sequence[Truth | None], benchmark: Outputs | None, benchmark_name: str
) -> list[StandardResult]:
    """Every standard's verdict on one case; outputs have the golden's shapes."""
    found: dict[str, list[StandardResult]] = {name: [] for name in NAMES}
    for i, (out, truth) in enumerate(zip(outputs, truths, strict=True)):
        if out is None or truth is None:
            continue
        theirs = benchmark[i] if benchmark is not None and i < len(benchmark) else None
        for result in _one(out, truth, theirs, benchmark_name):
            found[result.name].append(result)
    order = ("fail", "not applicable", "pass")
    return [min(results, key=lambda r: order.index(r.status)) for results in found.values() if results]


def why_different(name: str, theirs: str, ours: str) -> str:
    """A line on why a standard and our verdict disagree; empty if they agree."""
    family = name.rsplit("-L", 1)[0]
    if theirs == "pass" and ours in ("fail", "crash"):
        return f"{name} accepts what fails here: {_WHY[family]}"
    if theirs == "fail" and ours in ("pass", "pass_by_reference"):
        return f"{name} rejects what passes here: {_STRICT[family]}"
    return ""


def _one(out: torch.Tensor, truth: Truth, benchmark: torch.Tensor | None, name: str) -> list[StandardResult]:
    if truth.kappa is None or truth.dtype is None:
        same = out.shape == truth.want.shape and bool((out.double() == truth.want.double()).all())
        return [StandardResult(each, "pass" if same else "fail", "bits are compared") for each in NAMES]
    dtype, got, want = real(truth.dtype), wide_of(out), truth.want
    alike = _specials_agree(got, want, dtype)
    fine = finite(got) & finite(want)
    error, size = (got - want).abs()[fine], want.abs()[fine]
    return [
        _eco_2025(error, size, dtype, alike),
        _eco_2026(error, size, dtype, alike),
        *_commercial(error, want[fine], dtype, alike, None if benchmark is None else wide_of(benchmark)[fine], name),
        _torch(error, size, dtype, alike),
    ]


def _specials_agree(got: torch.Tensor, want: torch.Tensor, dtype: torch.dtype) -> bool:
    rounded = torch.where(want.abs() > torch.finfo(dtype).max, want.sign() * float("inf"), want)
    same = (
        (torch.isnan(got) & torch.isnan(rounded)) | (got == rounded) | (finite(got) & finite(rounded))
    )
    return bool(same.all())


def _eco_2025(error: torch.Tensor, size: torch.Tensor, dtype: torch.dtype, alike: bool) -> StandardResult:
    name, limit = "cann-eco-2025", ECO_2025.get(dtype)
    if limit is None:
        return StandardResult(name, "not applicable", f"it has no row for {dtype}")
    relative = error / (size + 1e-7)
    mean, largest = (float(relative.mean()), float(relative.max())) if relative.numel() else (0.0, 0.0)
    ok = alike and mean < limit and largest < 10 * limit
    return StandardResult(
        name, "pass" if ok else "fail", f"MERE {mean:.2e} of {limit:.2e}, MARE {largest:.2e} of {10 * limit:.2e}"
    )


def _eco_2026(error: torch.Tensor, size: torch.Tensor, dtype: torch.dtype, alike: bool) -> StandardResult:
    name, bounds = "cann-eco-2026", ECO_2026.get(dtype)
    if bounds is None:
        return StandardResult(name, "not applicable", f"it has no row for {dtype}")
    rtol, atol, fixed = bounds
    matched = float((error <= atol + rtol * size).double().mean()) if error.numel() else 1.0
    within = bool((error <= torch.maximum(torch.full_like(size, fixed), 32 * ulp(size, dtype))).all())
    ok = alike and matched >= 0.99 and within
    return StandardResult(
        name,
        "pass" if ok else "fail",
        f"{matched:.2%} of the elements match, {'all' if within else 'not all'} within the largest error",
    )


def _commercial(
    error: torch.Tensor, want: torch.Tensor, dtype: torch.dtype, alike: bool, benchmark: torch.Tensor | None, what: str
) -> list[StandardResult]:
    names = [f"cann-commercial-{level}" for level in COMMERCIAL]
    if benchmark is None or dtype not in SMALL:
        return [StandardResult(name, "not applicable", "no benchmark ran") for name in names]
    edge, counted = SMALL[dtype]
    theirs = torch.where(finite(benchmark), (benchmark - want).abs(), 0)
    small = want.abs() < edge
    if int((small & (error > counted)).sum()) > 2 * max(int((small & (theirs > counted)).sum()), 1):
        return [StandardResult(name, "fail", "too many errors of small values") for name in names]
    ratios = [
        a / b if b > 0 else (0.0 if a == 0 else float("inf"))
        for a, b in zip(_sizes(error, want, small), _sizes(theirs, want, small), strict=True)
    ]
    text = f"MARE {ratios[0]:.2f}, MERE {ratios[1]:.2f}, RMSE {ratios[2]:.2f} times those of {what}"
    results = []
    for name, limits in zip(names, COMMERCIAL.values(), strict=True):
        ok = alike and all(ratio <= limit for ratio, limit in zip(ratios, limits, strict=True))
        results.append(StandardResult(name, "pass" if ok else "fail", text))
    return results


def _sizes(error: torch.Tensor, want: torch.Tensor, small: torch.Tensor) -> tuple[float, float, float]:
    kept, size = error[~small], want.abs()[~small]
    if kept.numel() == 0:
        return 0.0, 0.0, 0.0
    relative = kept / (size + 1e-7)
    return float(relative.max()), float(relative.mean()), float(kept.square().mean().sqrt())


def _torch(error: torch.Tensor, size: torch.Tensor, dtype: torch.dtype, alike: bool) -> StandardResult:
    name, bounds = "torch-default", TORCH.get(dtype)
    if bounds is None:
        return StandardResult(name, "not applicable", f"it has no row for {dtype}")
    rtol, atol = bounds
    bad = int((error > atol + rtol * size).sum())
    return StandardResult(
        name, "pass" if alike and not bad else "fail", f"{bad} elements beyond rtol {rtol:g}, atol {atol:g}"
    )
