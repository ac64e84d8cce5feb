"""Turns the failing elements of a case into labels: what class of bug it looks like, and a sentence saying why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ascendops.errors import GoldenError
from ascendops.parity.calling import Outputs, Values, map_tensors, named_tensors
from ascendops.parity.decompose import JUMPS
from ascendops.parity.gates import Measured, measure
from ascendops.parity.golden import evaluate, wide_of
from ascendops.parity.jumps import TINY, explained, seen
from ascendops.parity.locality import locate
from ascendops.parity.rules import rounded_otherwise
from ascendops.parity.truth import Truth
from ascendops.parity.ulp import EIGHT_BIT

_MATCH = 0.9  # share of the failing elements that a hypothesis must explain
_SMALL_ERROR = 0.05  # error relative to the output's RMS: below, the arithmetic is imprecise; above, the value is wrong
_JUMP = "discontinuity: the golden jumps here, and an inner error of at most 1 ulp of float32 explains the result"


@dataclass(frozen=True)
class Context:
    """What the hypotheses need of a case: the golden, the inputs, and the outputs and inputs of earlier calls."""

    golden: Callable[..., Any]
    values: Values
    earlier: Sequence[Outputs] = ()
    history: Sequence[Values] = ()


def diagnose(
    output: int, got: torch.Tensor, truth: Truth, m: Measured, context: Context
) -> tuple[tuple[str, ...], str]:
    """(labels, sentence) for one output with failing elements; `got` is the candidate's tensor."""
    rounding = rounded_otherwise(got, truth, m, lambda: seen(context.golden, context.values, output, got, truth, TINY, 0, m.failing))
    if rounding is not None:
        return rounding
    if _jumps_there(output, got, truth, m, context):
        return ("TIE", "DISCONTINUITY"), _JUMP
    place = locate(_by_element(m.failing, got))
    labels: list[str] = []
    sentences = [place.text]
    for label, text in (
        _stale(output, got, m, context.earlier),
        _stale_size(output, got, m, context.earlier),
        _zero_sign(output, got, m, truth, context),
        _stale_values(output, got, m, truth, context),
        _shifted(m, truth),
        _row_stride(output, got, m, truth, context),
    ):
        if label:
            labels.append(label)
            sentences.append(text)
            break
    if place.label:
        labels.append(place.label)
    numeric = m.failing & ~m.special
    if not labels and bool(numeric.any()):
        label, text = _numeric(numeric, m, truth, context.values)
        labels.append(label)
        sentences.append(text)
    return tuple(dict.fromkeys(labels)), "; ".join(filter(None, sentences))


def _jumps_there(output: int, got: torch.Tensor, truth: Truth, m: Measured, context: Context) -> bool:
    if not any(name in JUMPS for name in truth.names) or _at_ties(m.failing, context.values):
        return False
    return explained(context.golden, context.values, output, got, truth, _by_element(m.failing, got), 0)


def _by_element(mask: torch.Tensor, got: torch.Tensor) -> torch.Tensor:
    return mask.any(-1) if mask.dim() > got.dim() else mask


def _stale(output: int, got: torch.Tensor, m: Measured, earlier: Sequence[Outputs]) -> tuple[str, str]:
    failing = _by_element(m.failing, got).flatten()
    flat = got.flatten()
    here = flat[failing]
    if here.numel() < 2 or bool((here == here[0]).all()):
        return "", ""
    for outputs in reversed(earlier):
        old = outputs[output] if output < len(outputs) else None
        if old is None or old.dtype != got.dtype or old.numel() < 2:
            continue
        size = min(old.numel(), flat.numel())
        reach = failing[:size]
        if (
            int(reach.sum()) >= _MATCH * int(failing.sum())
            and float((flat[:size] == old.flatten()[:size])[reach].double().mean()) >= _MATCH
        ):
            return "STALE", "the wrong elements equal those of an earlier call"
    return "", ""


def _stale_size(output: int, got: torch.Tensor, m: Measured, earlier: Sequence[Outputs]) -> tuple[str, str]:
    """Right up to exactly the size that an earlier call had, wrong beyond it."""
    wrong = torch.nonzero(_by_element(m.failing, got).flatten()).flatten()
    for outputs in reversed(earlier):
        old = outputs[output] if output < len(outputs) else None
        if (
            old is not None
            and 0 < old.numel() < got.numel()
            and int(wrong[0]) == old.numel()
            and len(wrong) * 2 > got.numel() - old.numel()
        ):
            return "STALE", f"right up to element {old.numel()}, which is the size of an earlier call"
    return "", ""


def _stale_values(output: int, got: torch.Tensor, m: Measured, truth: Truth, context: Context) -> tuple[str, str]:
    """The result of this call's tensors with an earlier call's scalars, or of as many of their elements as an earlier call had."""
    for old in reversed(context.history):
        if list(old) != list(context.values):
            continue
        now = context.values
        scalars = {name: item for name, item in old.items() if isinstance(item, (int, float, str)) and item != now[name]}
        if scalars and _matches(output, got, {**now, **scalars}, m, truth, context):
            return "STALE", f"the result is that of an earlier call's {', '.join(scalars)}"
        cut = map_tensors(now, lambda tensor: tensor)
        for (name, tensor), (_, other) in zip(named_tensors(now), named_tensors(old), strict=False):
            if name in cut and tensor.dim() == other.dim() and any(b < a for a, b in zip(tensor.shape, other.shape, strict=True)):
                cut[name] = tensor[tuple(slice(0, min(a, b)) for a, b in zip(tensor.shape, other.shape, strict=True))]
        if any(cut[name] is not now[name] for name in cut) and _matches_part(output, got, cut, m, truth, context):
            return "STALE", "the result is that of as many elements as an earlier call had"
    return "", ""


def _matches_part(output: int, got: torch.Tensor, values: Values, m: Measured, truth: Truth, context: Context) -> bool:
    """Whether the golden of smaller inputs explains the failing elements in its corner of the output."""
    if truth.kappa is None or got.is_complex():
        return False
    try:
        wants = evaluate(context.golden, values, torch.float64)
    except GoldenError:
        return False
    want = wants[output] if output < len(wants) else None
    if want is None or want.dim() != got.dim() or want.numel() < 2 or any(a > b for a, b in zip(want.shape, got.shape, strict=True)):
        return False
    corner = tuple(slice(0, size) for size in want.shape)
    failing, apart = m.failing[corner], (m.got[corner] - wide_of(want)).abs()
    close = (apart <= 2 * truth.allowed[corner] + 1e-6 * wide_of(want).abs()) & (apart < m.error[corner] / 2)
    return bool(failing.any()) and float(close[failing].double().mean()) >= _MATCH


def _zero_sign(output: int, got: torch.Tensor, m: Measured, truth: Truth, context: Context) -> tuple[str, str]:
    """The result of the same inputs with every zero positive."""
    tensors = [t for _, t in named_tensors(context.values) if t.is_floating_point()]
    if not any(bool(((t == 0) & torch.signbit(t)).any()) for t in tensors if t.dtype not in EIGHT_BIT):
        return "", ""
    plain = map_tensors(context.values, lambda t: t + 0.0 if t.is_floating_point() else t)
    if _matches(output, got, plain, m, truth, context):
        return "SPECIAL_VALUE", "the sign of a negative zero in the input is lost"
    return "", ""


def _matches(output: int, got: torch.Tensor, values: Values, m: Measured, truth: Truth, context: Context) -> bool:
    """Whether the golden of other inputs explains nearly all failing elements."""
    try:
        wants = evaluate(context.golden, values, torch.float64)
    except GoldenError:
        return False
    want = wants[output] if output < len(wants) else None
    if want is None or want.shape != got.shape:
        return False
    wide = torch.view_as_real(want.to(torch.complex128)) if got.is_complex() else want.to(truth.want.dtype)
    other = measure(got, Truth(wide, truth.dtype, truth.kappa, False, names=truth.names))
    return int((m.failing & ~other.failing).sum()) >= _MATCH * int(m.failing.sum())


def _shifted(m: Measured, truth: Truth) -> tuple[str, str]:
    if truth.kappa is None or m.got.numel() < 16:
        return "", ""
    got, want, allowed = m.got.flatten(), truth.want.flatten(), truth.allowed.flatten()
    failing = m.failing.flatten()
    if float(want.nan_to_num(0, 0, 0).std()) == 0 or int(failing.sum()) < 4:
        return "", ""
    for step in (1, -1, 2, -2, 4, -4, 8, -8):
        moved = torch.roll(want, step)
        close = (got - moved).abs() <= 2 * torch.maximum(allowed, torch.roll(allowed, step))
        if float((close & failing).sum()) >= _MATCH * float(failing.sum()):
            return "SHIFT", f"the output equals the golden shifted by {step:+d} elements"
    return "", ""


def _row_stride(output: int, got: torch.Tensor, m: Measured, truth: Truth, context: Context) -> tuple[str, str]:
    guesses: list[tuple[str, Callable[[torch.Tensor], torch.Tensor]]] = []
    tensors = [tensor for _, tensor in named_tensors(context.values)]
    if any(not tensor.is_contiguous() for tensor in tensors):
        guesses.append(("an input that is a view was read as if it were contiguous", _as_if_contiguous))
    if any(tensor.dim() > 1 and tensor.shape[-1] * tensor.itemsize % 32 for tensor in tensors):
        guesses.append(("rows were read at the next multiple of 32 bytes", _as_if_aligned))
    for text, change in guesses:
        if _matches(output, got, map_tensors(context.values, change), m, truth, context):
            return "ROW_STRIDE", text
    return "", ""


def _storage(tensor: torch.Tensor) -> torch.Tensor:
    size = tensor.untyped_storage().nbytes() // tensor.itemsize
    return torch.as_strided(tensor, (size,), (1,), 0)


def _as_if_contiguous(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.is_contiguous() or tensor.numel() == 0:
        return tensor
    flat = _storage(tensor)[tensor.storage_offset() :]
    return _take(flat, torch.arange(tensor.numel())).reshape(tensor.shape)


def _as_if_aligned(tensor: torch.Tensor) -> torch.Tensor:
    cols = tensor.shape[-1] if tensor.dim() else 1
    if tensor.dim() < 2 or cols * tensor.itemsize % 32 == 0 or tensor.numel() == 0:
        return tensor
    pitch = -(-cols * tensor.itemsize // 32) * 32 // tensor.itemsize
    rows = tensor.numel() // cols
    index = torch.arange(rows)[:, None] * pitch + torch.arange(cols)
    return _take(tensor.contiguous().flatten(), index.flatten()).reshape(tensor.shape)


def _take(flat: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    padded = torch.cat([flat, flat.new_zeros(1)])
    return padded[index.clamp(max=flat.numel())]


def _numeric(failing: torch.Tensor, m: Measured, truth: Truth, values: Values) -> tuple[str, str]:
    if _at_ties(failing, values):
        return "TIE", "all failing elements are half-way between two results"
    if truth.kappa is None:
        return "WRONG_VALUE", ""
    scale = float(truth.want[torch.isfinite(truth.want)].square().mean().sqrt())
    size = float(m.error[failing].square().mean().sqrt())
    if not bool(failing.all()) and _cancelling(failing, truth, scale):
        return "CANCELLATION", "the failing elements are those whose terms cancel"
    if scale > 0 and size / scale <= _SMALL_ERROR:
        return "PRECISION", f"the error is {size / scale:.1e} of the output's RMS"
    return "WRONG_VALUE", ""


def _at_ties(failing: torch.Tensor, values: Values) -> bool:
    for _, tensor in named_tensors(values):
        if tensor.is_floating_point() and tensor.shape == failing.shape:
            twice = tensor.double()[failing] * 2
            if bool(((twice == twice.round()) & (twice % 2 != 0)).all()):
                return True
    return False


def _cancelling(failing: torch.Tensor, truth: Truth, scale: float) -> bool:
    assert truth.kappa is not None
    relative = truth.kappa / truth.ulps
    if float(relative[failing].median()) >= 16 * float(relative.median().clamp(min=1e-9)):
        return True
    small = truth.want.abs() < scale / 32
    return bool(small[failing].double().mean() >= _MATCH) and float(small.double().mean()) < 0.5
