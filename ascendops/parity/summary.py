"""What a verdict says of one case: its status, labels, counts, histogram and worst element, and how the reference fared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch

from ascendops.parity.diagnose import Context, diagnose
from ascendops.parity.execute import Run
from ascendops.parity.gates import Measured
from ascendops.parity.locality import density, index_of
from ascendops.parity.truth import Truth
from ascendops.parity.verdict import CaseResult, OutputResult, Worst, called, number
from ascendops.words import plural

Rank = tuple[bool, float, float]  # whether it fails, its error in units of the bound, its error

_NUMERIC = ("PRECISION", "WRONG_VALUE", "CANCELLATION")  # of memory that nobody wrote they say nothing


def fill(
    result: CaseResult,
    run: Run,
    truth: Sequence[Truth | None],
    measured: Sequence[Measured | None],
    theirs: Sequence[Measured | None],
    context: Context,
    names: Sequence[str] = (),
) -> None:
    """Completes `result` from its gates: status, labels, counts, histogram, worst element, and a line on the reference.

    Args:
        run: The candidate's first run.
        truth: What the golden says of each output.
        measured: The candidate's errors, by output.
        theirs: The reference's errors, by output.
        context: What the diagnosis compares with.
        names: The outputs' names.
    """
    by_reference = any(gate.status == "by_reference" for gate in result.gates)
    blocking = [
        g for g in result.gates if g.failed and not (by_reference and g.gate in ("G1", "G2")) and g.gate != "G3"
    ]
    result.status = "fail" if blocking else ("pass_by_reference" if by_reference else "pass")
    wrong = any(gate.failed for gate in result.gates if gate.gate in ("G1", "G2"))
    if wrong and not by_reference:  # wrong elements shift every mean: a bias says nothing more
        result.gates = [replace(g, status="skipped") if g.gate == "G4" else g for g in result.gates]
        blocking = [g for g in blocking if g.gate != "G4"]
    labels = [label for gate in blocking for label in gate.labels]
    ranks: list[tuple[Rank, Worst]] = []
    for i, (out, t, m) in enumerate(zip(run.outputs, truth, measured, strict=True)):
        name = called(names, i)
        if out is None or t is None or m is None:
            result.outputs.append(OutputResult(name))
            continue
        _bin(result.histogram, m)
        if m.excess.numel():
            ranks.append(_worst(i, name, t, m))
        where = ""
        if bool(m.failing.any()):
            found, where = diagnose(i, out, t, m, context)
            result.map = result.map or density(m.failing.any(-1) if out.is_complex() else m.failing)
            labels += [label for label in found if label not in _NUMERIC or "UNWRITTEN" not in labels]
        result.outputs.append(OutputResult(name, m.failing.numel(), int(m.failing.sum()), where))
    result.elements, result.failing = sum(out.elements for out in result.outputs), sum(out.failing for out in result.outputs)
    result.worst = max(ranks, key=lambda pair: pair[0])[1] if ranks else None
    places = [f"output {out.name}: {out.where}" if len(result.outputs) > 1 else out.where for out in result.outputs if out.where]
    result.where = "; ".join(places)
    result.labels = tuple(dict.fromkeys(labels))
    result.reference = _on_reference(result, theirs) if any(t is not None for t in theirs) else ""


def _bin(histogram: dict[str, int], m: Measured) -> None:
    """Counts errors in units of the allowed error: the bins of the report's histogram."""
    edges = torch.tensor([0.0, 0.125, 0.25, 0.5, 1.0, 2.0, 8.0, 64.0], dtype=torch.float64)
    names = ["0", "<1/8", "<1/4", "<1/2", "<=1", "<=2", "<=8", "<=64", ">64"]
    place = torch.bucketize(m.excess.flatten().nan_to_num(1e9, 1e9), edges)
    for name, count in zip(names, torch.bincount(place, minlength=len(names)).tolist(), strict=True):
        histogram[name] = histogram.get(name, 0) + int(count)
    if bool(m.special.any()):
        histogram["nan/inf"] = histogram.get("nan/inf", 0) + int(m.special.sum())


def _worst(output: int, name: str, truth: Truth, m: Measured) -> tuple[Rank, Worst]:
    """The failing element whose error is the largest multiple of its bound; if none fails, of all elements."""
    fails = bool(m.failing.any())
    excess = torch.where(m.special, float("inf"), m.excess).nan_to_num(float("inf"), float("inf"))
    among = m.failing if fails else torch.ones_like(m.failing)
    largest = float(excess[among].max())
    among = among & (excess == largest)  # where bits must be equal every excess is infinite: the error decides
    error = torch.where(m.special, float("inf"), m.error).nan_to_num(float("inf"), float("inf"))
    index = index_of(int(torch.where(among, error, -1.0).argmax()), m.excess.shape)
    rank = (fails, largest, float(error[index]))
    got, want = m.got[index].item(), truth.want[index].item()
    if truth.kappa is None:
        return rank, Worst(output, index, got, want, float("nan"), 0.0, name=name)
    step, allowed = float(truth.ulps[index]), float(truth.allowed[index])
    why = "every value is an exact integer" if truth.exact else ""
    return rank, Worst(output, index, got, want, float(error[index]) / step, allowed / step, why, name)


def _on_reference(result: CaseResult, theirs: Sequence[Measured | None]) -> str:
    counts = [0 if t is None else int(t.failing.sum()) for t in theirs]
    bad = sum(counts)
    worst = max((float(t.excess.max()) for t in theirs if t is not None and t.excess.numel()), default=0.0)
    if not bad:
        return "" if result.passed else "the reference agrees with the golden, the candidate does not"
    both = "" if not result.failing else "; so does the candidate"
    of = ", ".join(f"{count} of output {out.name}" for count, out in zip(counts, result.outputs, strict=True) if count)
    size = f"worst {number(worst)} times the allowed error"
    return f"the reference differs from the golden in {plural(bad, 'element')} ({of + ', ' if len(counts) > 1 else ''}{size}){both}"
