"""The gates G0 to G6 of the rule set ascendops-parity/1, each a function of recorded runs and the golden's truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from ascendops.build.tensors import octets
from ascendops.parity.execute import POISONS, Run
from ascendops.parity.golden import real, wide_of
from ascendops.parity.truth import Truth
from ascendops.parity.ulp import EIGHT_BIT, classes, finite, round_to
from ascendops.parity.verdict import GateResult, called
from ascendops.words import plural

# max, mean and RMS of error / allowed error, candidate over reference; level of the commercial standard
RATIOS = {"L0": (10.0, 2.0, 2.0), "L1": (5.0, 1.5, 1.5), "L2": (2.0, 1.2, 1.2)}
FLOORS = (1.0, 0.15, 0.15)
CREDIBLE_MEAN = 8.0  # a reference whose mean error is larger than this many allowances proves nothing


@dataclass(frozen=True)
class Measured:
    """One output compared with its truth; all tensors have the truth's shape.

    Attributes:
        got: The candidate's values in float64 (integers: their own dtype).
        error: |got - want| where both are finite, else 0; float64.
        excess: error / allowed error; 0 where nothing is wrong, inf where bits had to be equal.
        special: True where the class (nan, +inf, -inf, finite) is wrong.
        failing: True where the element fails G1 or G2.
    """

    got: torch.Tensor
    error: torch.Tensor
    excess: torch.Tensor
    special: torch.Tensor
    failing: torch.Tensor


def structure(
    runs: Sequence[Run],
    truths: Sequence[Truth | None],
    device: str,
    mutates: Sequence[str],
    shapes: Sequence[tuple[int, ...] | None],
    names: Sequence[str] = (),
) -> GateResult:
    """G0: count, None-ness, shape, dtype, device, aliasing, inputs unchanged, guard zones, every byte written; `names` are the outputs'."""
    problems: list[tuple[str, str]] = []
    first = runs[0]
    if len(first.outputs) != len(truths):
        problems.append(("SHAPE", f"{plural(len(first.outputs), 'output')} came back, {len(truths)} expected"))
    else:
        for i, (out, truth, shape) in enumerate(zip(first.outputs, truths, shapes, strict=True)):
            problems += _one_output(called(names, i), out, truth, shape, first.devices[i], device)
    for run in runs:
        problems += [("MUTATED_INPUT", f"input {name} was changed") for name in run.mutated if name not in mutates]
        problems += [
            ("ALIAS", f"output {called(names, i)} shares memory with input {name}") for i, name in run.aliases if name not in mutates
        ]
        problems += [("OUT_OF_BOUNDS", f"memory next to output {called(names, i)} was written") for i in run.overrun]
        problems += [("OUT_OF_BOUNDS", f"memory next to input {name} was written") for name in run.trespassed]
    if not any(label in ("SHAPE", "DTYPE") for label, _ in problems) and len(runs) > 1:
        for i in range(len(truths)):
            missing = unwritten(runs[0], runs[1], i)
            if missing is not None and bool(missing.any()):
                problems.append(
                    (
                        "UNWRITTEN",
                        f"{int(missing.sum())} of {missing.numel()} elements of output {called(names, i)} were never written",
                    )
                )
    unique = list(dict.fromkeys(problems))
    labels = tuple(dict.fromkeys(label for label, _ in unique))
    return GateResult("G0", "structure", "fail" if unique else "pass", "; ".join(text for _, text in unique), labels)


def _one_output(
    name: str,
    out: torch.Tensor | None,
    truth: Truth | None,
    shape: tuple[int, ...] | None,
    device: str,
    expected_device: str,
) -> list[tuple[str, str]]:
    if out is None or truth is None:
        wrong = (out is None) != (truth is None)
        return [("SHAPE", f"output {name} is {'missing' if out is None else 'not None'}")] if wrong else []
    problems = []
    if tuple(out.shape) != shape:
        problems.append(("SHAPE", f"output {name} has shape {list(out.shape)}, expected {list(shape or ())}"))
    if not _dtype_fits(out.dtype, truth):
        dtype = str(truth.dtype or truth.want.dtype).removeprefix("torch.")
        problems.append(("DTYPE", f"output {name} is {str(out.dtype).removeprefix('torch.')}, expected {dtype}"))
    if device != expected_device:
        problems.append(("DEVICE", f"output {name} is on {device}, expected {expected_device}"))
    return problems


def _dtype_fits(dtype: torch.dtype, truth: Truth) -> bool:
    if truth.dtype is not None:
        return dtype == truth.dtype
    return not (dtype.is_floating_point or dtype.is_complex or dtype == torch.bool)


def unwritten(first: Run, second: Run, output: int) -> torch.Tensor | None:
    """True where an element holds the poison of both runs; None if there is no such output to compare."""
    a, b = first.outputs[output], second.outputs[output] if output < len(second.outputs) else None
    if a is None or b is None or a.shape != b.shape or a.dtype != b.dtype or a.numel() == 0:
        return None
    held = [
        (octets(out).reshape(out.numel(), -1) == fill).all(-1)
        for out, fill in zip((a, b), POISONS, strict=True)
    ]
    return (held[0] & held[1]).reshape(a.shape)


def poisoned(run: Run) -> bool:
    """Whether at least 16 bytes in a row of an output still hold the first poison: nothing was written there."""
    for out in run.outputs:
        if out is not None and out.numel():
            raw = (octets(out) == POISONS[0]).to(torch.int32)
            if raw.numel() >= 16 and bool((raw.cumsum(0)[15:] - torch.cat([raw.new_zeros(1), raw.cumsum(0)[:-16]]) == 16).any()):
                return True
    return False


def measure(out: torch.Tensor, truth: Truth) -> Measured:
    """Compares one output with its truth, element by element (shapes already agree)."""
    if truth.kappa is None:
        return _measure_exact(out, truth)
    got = wide_of(out)
    assert truth.dtype is not None
    want, dtype = truth.want, real(truth.dtype)
    kinds = classes(got)
    special = kinds != truth.classes
    if truth.at_edge is not None:
        reaches = got.abs() >= torch.finfo(dtype).max - (truth.ulps if truth.exact else truth.allowed)
        special &= ~(truth.at_edge & reaches & (got.sign() == want.sign()))
    if truth.single is not None:  # where float32 arithmetic overflows although float64 does not, either is right
        special &= kinds != classes(round_to(truth.single, dtype))
    if dtype in EIGHT_BIT:  # beyond the range, casts saturate or give nan
        special &= ~torch.isinf(truth.rounded)
    if truth.signed_zero:
        special |= (got == 0) & (truth.rounded == 0) & (torch.signbit(got) != torch.signbit(truth.rounded))
    both = (kinds == 0) & finite(want)
    error = torch.where(both, (got - want).abs_(), 0)
    # a float64 output is compared with a float64 golden: allowed is never below the golden's own rounding
    excess = torch.where(error == 0, 0, error / truth.allowed)
    return Measured(got, error, excess, special, special | (excess > 1))


def measure_sample(truth: Truth, places: torch.Tensor, values: torch.Tensor) -> int:
    """How many of the `values` at the flat `places` of an output fail."""
    if truth.dtype is not None and truth.dtype.is_complex:
        return 0  # real and imaginary parts are never sampled
    single = None if truth.single is None else truth.single.flatten()[places]
    kappa = None if truth.kappa is None else truth.kappa.flatten()[places]
    part = replace(truth, want=truth.want.flatten()[places], kappa=kappa, single=single)
    return int(measure(values, part).failing.sum())


def _measure_exact(out: torch.Tensor, truth: Truth) -> Measured:
    want = truth.want
    if want.is_floating_point():  # an integer output of a real-valued golden (quantisation): within half, a tie's slack
        want = want if truth.undefined is None else torch.where(truth.undefined, out.to(torch.float64), want.to(torch.float64))
        error = (out.to(torch.float64) - want).abs()
        bad = ~(error <= 0.5 + 1e-6 * want.abs().clamp(min=1))
    else:
        expected = want.to(out.dtype)  # integers wrap modulo 2^bits
        bad = out != expected
        error = (out.to(torch.float64) - expected.to(torch.float64)).abs()
        error = torch.where(bad & (error == 0), 1.0, error)  # int64 values that float64 cannot tell apart
    excess = torch.where(bad, float("inf"), 0.0).to(torch.float64)
    return Measured(out, error, excess, torch.zeros_like(bad), bad)


def special_values(all_measured: Sequence[Measured | None], truths: Sequence[Truth | None], names: Sequence[str] = ()) -> GateResult:
    """G1: nan, +inf, -inf and finite elements are where the golden, rounded to the output's dtype, has them."""
    for i, (m, truth) in enumerate(zip(all_measured, truths, strict=True)):
        if m is None or truth is None or not bool(m.special.any()):
            continue
        index = torch.nonzero(m.special)[0].tolist()
        got, want = float(m.got[tuple(index)]), float(truth.want[tuple(index)])
        detail = f"{plural(int(m.special.sum()), 'element')} of another class; first at {index} of output {called(names, i)}: got {got:g} want {want:g}"
        return GateResult("G1", "special values", "fail", detail, ("SPECIAL_VALUE",))
    return GateResult("G1", "special values", "pass")


def elementwise(all_measured: Sequence[Measured | None], names: Sequence[str] = ()) -> GateResult:
    """G2: |got - want| <= 2 ulp + kappa for every finite element; integers bit for bit."""
    numbered = {i: m for i, m in enumerate(all_measured) if m is not None and m.excess.numel()}
    present = list(numbered.values())
    counts = {called(names, i): int((m.excess > 1).sum()) for i, m in numbered.items()}
    bad = sum(counts.values())
    worst = max((float(m.excess.max()) for m in present), default=0.0)
    numbers = {"max": worst, "mean": max((float(m.excess.mean()) for m in present), default=0.0), "failing": bad}
    of = f" ({', '.join(f'{count} of output {name}' for name, count in counts.items() if count)})" if len(all_measured) > 1 else ""
    detail = f"{plural(bad, 'element')} beyond the allowed error{of}, the worst {worst:.3g}-fold" if bad else ""
    return GateResult("G2", "elementwise", "fail" if bad else "pass", detail, (), numbers)


def ratios(mine: Measured, theirs: Measured) -> tuple[float, float, float] | None:
    """max, mean and RMS error ratios of candidate over reference in units of the allowed error; None if not comparable."""
    if mine.excess.numel() == 0 or not bool(finite(mine.excess).all() & finite(theirs.excess).all()):
        return None

    def of(excess: torch.Tensor) -> tuple[float, float, float]:
        return float(excess.max()), float(excess.mean()), float(excess.square().mean().sqrt())

    a, b, c = (x / max(y, floor) for x, y, floor in zip(of(mine.excess), of(theirs.excess), FLOORS, strict=True))
    return a, b, c


def non_inferior(mine: Sequence[Measured | None], theirs: Sequence[Measured | None], level: str) -> GateResult:
    """G3: the candidate's errors are not larger than the reference's by more than the level's ratios (max, mean, RMS)."""
    limits, largest = RATIOS[level], (0.0, 0.0, 0.0)
    for m, t in zip(mine, theirs, strict=True):
        if m is None or t is None:
            continue
        if bool((m.special & ~_same_special(m, t)).any()):
            return GateResult(
                "G3", "by reference", "fail", "special values differ from the golden's and the reference's"
            )
        found = ratios(m, t)
        if found is None:
            return GateResult("G3", "by reference", "fail", "bits must be equal")
        if float(t.excess.mean()) > CREDIBLE_MEAN:
            return GateResult(
                "G3", "by reference", "fail", "the reference itself is too far from the golden to prove anything"
            )
        largest = tuple(max(a, b) for a, b in zip(largest, found, strict=True))  # type: ignore[assignment]
    ok = all(x <= limit for x, limit in zip(largest, limits, strict=True))
    text = "max {:.2g}, mean {:.2g}, RMS {:.2g} times the reference's error".format(*largest)
    numbers = dict(zip(("max", "mean", "rms"), largest, strict=True))
    return GateResult("G3", "by reference", "by_reference" if ok else "fail", text, (), numbers)


def _same_special(mine: Measured, theirs: Measured) -> torch.Tensor:
    return classes(mine.got) == classes(theirs.got)


def repeatable(runs: Sequence[Run]) -> GateResult:
    """G6: repeated runs return the same bits."""
    first, different = runs[0], 0
    for run in runs[1:]:
        same = len(run.outputs) == len(first.outputs) and all(
            same_bits(a, b) for a, b in zip(first.outputs, run.outputs, strict=True)
        )
        different += not same
    text = f"{different} of {len(runs)} runs on the same input returned other bits" if different else ""
    status = "fail" if different else ("pass" if len(runs) > 1 else "skipped")
    return GateResult("G6", "repeats", status, text, ("NONDETERMINISTIC",) if different else (), {"runs": len(runs)})


def same_bits(a: torch.Tensor | None, b: torch.Tensor | None) -> bool:
    """Whether two CPU tensors have the same shape, dtype and bytes."""
    if a is None or b is None:
        return a is b
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    return a.numel() == 0 or torch.equal(octets(a), octets(b))
