"""What the golden says: fp64 outputs, and how far honest float32 arithmetic may be from them (kappa).

kappa = 8 * max(S, E) for each output element, where
S: the largest response of the fp64 golden to a change of every float input by one ulp of the compute dtype, over six draws of
   random signs (three where an input has more than 2^18 elements); at least its row's median in units of the output's ulp (a draw
   may cancel by luck);
E: the largest error of the golden evaluated in the compute dtype on those inputs, at least its root mean square over outputs of
   the same binade (rounding of intermediates, which changes of the inputs alone do not show).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import torch

from ascendops.errors import GoldenError
from ascendops.parity import inputs as generator
from ascendops.parity.calling import Outputs, Values, map_tensors, named_tensors
from ascendops.parity.decompose import CONTRACTIONS, COPIES, JUMPS, MOVES, RING
from ascendops.parity.flush import NORMAL, flushed
from ascendops.parity.golden import evaluate, real, run, wide_of
from ascendops.parity.rounding import Rounded, Trace
from ascendops.parity.truth import Truth
from ascendops.parity.ulp import compute_dtype, finite, round_to, ulp

DRAWS = 6
FACTOR = 8
_FEW_DRAWS = 3
_LARGE = 1 << 18  # elements of one input; above this fewer draws are made, since medians of rows know many elements
_STEEP = 16.0  # a response of so many output ulps may be a jump: a much smaller step tells
_SMALL = 2.0**-10


def truths(
    golden: Callable[..., Any], values: Values, dtypes: list[torch.dtype | None] | None = None, seed: int = 0
) -> list[Truth | None]:
    """One Truth per output of the golden for these inputs (None where the golden returns None).

    Args:
        dtypes: Declared output dtypes, where known (from the schema or from a reference).

    Raises:
        GoldenError: The golden raised, or returned something that is not tensors.
    """
    trace = Trace()
    first = run(golden, values, torch.float64, trace)
    wants, names = first.outputs, tuple(dict.fromkeys(trace.names))
    declared = list(dtypes or []) + [None] * len(wants)
    kinds = [
        None if want is None else declared[i] or cast or _expected(want, values) for i, (want, cast) in enumerate(zip(wants, first.casts, strict=True))
    ]
    floats = [kind is not None and (kind.is_floating_point or kind.is_complex) for kind in kinds]
    single = _single(golden, values) if any(floats) else None
    without = flushed(golden, values, wants) if any(floats) and not any(kind == torch.float64 for kind in kinds) else None
    kappas: list[torch.Tensor | None] = [None] * len(wants)
    if any(floats):
        only = [want if is_float else None for want, is_float in zip(wants, floats, strict=True)]
        kappas = _kappas(golden, values, only, kinds, single, _may_jump(names), seed)
    found: list[Truth | None] = []
    for i, (want, kind, is_float, kappa) in enumerate(zip(wants, kinds, floats, kappas, strict=True)):
        if want is None:
            found.append(None)
        elif is_float:
            assert kind is not None and kappa is not None
            wide, low = wide_of(want), None if single is None or i >= len(single) else single[i]
            if _copied(names, wide, low, values):
                found.append(Truth(round_to(wide, real(kind)), kind, kappa, True, None, names, unrounded=wide))
                continue
            exact = _is_exact(golden, i, wide, kind, names, values, seed)
            flat = None if without is None or i >= len(without) else without[i]
            found.append(Truth(wide, kind, _flushing(kappa, wide, flat, kind), exact, _overflowing(_either(low, flat, wide), wide, kind), names))
        else:
            found.append(Truth(want, kind, None, names=names))
    return [
        truth if truth is None or declared[i] is not None or first.casts[i] is not None else replace(truth, guessed=True) for i, truth in enumerate(found)
    ]


def _expected(want: torch.Tensor, values: Values) -> torch.dtype | None:
    """The dtype a candidate must return when nothing declares it: that of the float (or integer) inputs, promoted."""
    tensors = [tensor for _, tensor in named_tensors(values)]
    if want.dtype == torch.bool:
        return torch.bool
    if want.is_floating_point() and want.dtype != torch.float64:
        return want.dtype
    if want.is_floating_point() or want.is_complex():
        floats = [t.dtype for t in tensors if t.is_floating_point() or t.is_complex()]
        kind = floats[0] if floats else torch.float32
        for other in floats[1:]:
            kind = kind if other == kind else torch.promote_types(kind, other)
        return (
            kind.to_complex()
            if want.is_complex() and not kind.is_complex
            else (kind if want.is_complex() else real(kind))
        )
    return None  # integers: a golden widens them freely, so the values decide


def _copied(names: tuple[str, ...], want: torch.Tensor, single: torch.Tensor | None, values: Values) -> bool:
    """Whether the output only holds values of the inputs, selected or cast, so that there is one right result.

    The names alone do not tell: a golden may compute where no function of torch is seen (autograd, NumPy, compiled code). Then float32 gives another result.
    """
    if not all(name in COPIES for name in names) or any(tensor.is_complex() for _, tensor in named_tensors(values)):
        return False
    if single is None or single.shape != want.shape:
        return bool(names)
    same = (wide_of(single) == want) | (torch.isnan(single) & torch.isnan(want))
    return bool(same.all()) or any(tensor.dtype == torch.float64 for _, tensor in named_tensors(values))


def _is_exact(
    golden: Callable[..., Any], output: int, want: torch.Tensor, dtype: torch.dtype, names: tuple[str, ...], values: Values, seed: int
) -> bool:
    """Whether sums and products of whole numbers give whole numbers, none of which any order of additions rounds."""
    if not all(name in MOVES or name in RING or name in CONTRACTIONS for name in names):
        return False
    floats = [tensor for _, tensor in named_tensors(values) if tensor.is_floating_point()]
    if want.numel() < 8 or not floats or not _whole(want) or bool((want == want.flatten()[0]).all()):
        return False
    if not all(_whole(tensor) for tensor in floats) or not bool((round_to(want, real(dtype)) == want).all()):
        return False
    largest = evaluate(golden, map_tensors(values, lambda tensor: tensor.abs() if tensor.is_floating_point() else tensor), torch.float64)[output]
    if largest is None or not bool((wide_of(largest).abs() < 2**24).all()):
        return False
    if real(dtype) in (torch.float32, torch.float64):
        return True
    rounded = evaluate(golden, values, torch.float64, Rounded(real(dtype), generator.key(seed, "exact")))[output]
    return rounded is not None and torch.equal(wide_of(rounded), want)


def _whole(tensor: torch.Tensor) -> bool:
    return bool((tensor == tensor.round()).all())


def _flushing(kappa: torch.Tensor, want: torch.Tensor, flat: torch.Tensor | None, dtype: torch.dtype) -> torch.Tensor:
    """`kappa` with room for zeros in place of subnormal numbers of float32; float16 has its own, which float32 arithmetic does not flush."""
    if flat is None or want.shape != wide_of(flat).shape:
        return kappa
    lost = (wide_of(flat) - want).abs()
    if real(dtype) != torch.float16:
        lost = torch.maximum(lost, torch.where(want.abs() < NORMAL, want.abs(), 0))
    return torch.maximum(kappa, torch.where(finite(lost), lost, 0))


def _either(low: torch.Tensor | None, flat: torch.Tensor | None, want: torch.Tensor) -> torch.Tensor | None:
    """The golden in float32, or where only flushing makes it another class (the logarithm of a subnormal number), in flushing arithmetic."""
    if low is None or flat is None or wide_of(flat).shape != want.shape or wide_of(low).shape != want.shape:
        return low
    a, b = wide_of(low), wide_of(flat)
    return torch.where(finite(a) & ~finite(b), b, a)


def _overflowing(single: torch.Tensor | None, want: torch.Tensor, dtype: torch.dtype) -> torch.Tensor | None:
    if single is None or real(dtype) == torch.float64 or bool(finite(wide_of(single)).all()):
        return None
    wide = wide_of(single)
    return wide if wide.shape == want.shape else None


def _kappas(
    golden: Callable[..., Any], values: Values, wants: Outputs, kinds: list[torch.dtype | None], single: Outputs | None, may_jump: bool, seed: int
) -> list[torch.Tensor | None]:
    compute = torch.float64 if any(kind == torch.float64 for kind in kinds) else torch.float32
    size = max((tensor.numel() for _, tensor in named_tensors(values)), default=0)
    draws = range(DRAWS if size <= _LARGE else _FEW_DRAWS)
    streams = [(generator.key(seed, "kappa", draw), False) for draw in draws]
    if sum(tensor.is_floating_point() for _, tensor in named_tensors(values)) > 1:
        # two inputs may have moved alike in every draw: once more with every other input the other way
        streams += [(stream, True) for stream, _ in streams[: 2 if size <= _LARGE else 1]]
    moved = Steps(values, compute)
    steps = [values, *(moved(stream, other_way=way) for stream, way in streams)]
    shifted = [wants, *(evaluate(golden, each, torch.float64) for each in steps[1:])]
    singles = [single, *(_single(golden, each) for each in steps[1:])] if compute == torch.float32 else []
    small: list[Outputs] | None = None
    kappas: list[torch.Tensor | None] = []
    for i, (want, kind) in enumerate(zip(wants, kinds, strict=True)):
        if want is None or kind is None:
            kappas.append(None)
            continue
        response = _largest(_apart(outputs[i], want) for outputs in shifted)
        error = _largest(_apart(low[i], outputs[i]) for low, outputs in zip(singles, shifted, strict=False) if low)
        wide = wide_of(want)
        if bool((response > _STEEP * ulp(wide, real(kind))).any()):
            if small is None:
                tiny = (moved(stream, _SMALL, way) for stream, way in streams)
                small = [evaluate(golden, each, torch.float64) for each in tiny]
            response = _without_jumps(response, _largest(_apart(outputs[i], want) for outputs in small), may_jump)
        kappas.append(_smooth(wide, response, error.to(wide).expand(wide.shape), kind))
    return kappas


def _may_jump(names: tuple[str, ...]) -> bool:
    """Whether the golden calls a function that jumps, or computes where none is seen."""
    return not names or any(name in JUMPS or name in ("numpy", "array") for name in names)


def _without_jumps(response: torch.Tensor, small: torch.Tensor, may_jump: bool) -> torch.Tensor:
    """The response, and 0 where it does not shrink with the step: there the golden jumps (floor, round, sign, compare).

    What remains of kappa at a jump is the error of the golden in float32, which is 0 if only exact inputs decide.
    """
    jumps = small > response / 16
    if may_jump:  # between the steps; a square at its minimum looks the same
        jumps |= response > 64 * small / _SMALL
    return torch.where(jumps, 0, response)


def _largest(differences: Iterable[torch.Tensor]) -> torch.Tensor:
    total = torch.zeros(())
    for difference in differences:
        total = torch.maximum(total, difference.nan_to_num(0.0, 0.0))
    return total


def _apart(a: torch.Tensor | None, b: torch.Tensor | None) -> torch.Tensor:
    if a is None or b is None or a.shape != b.shape:
        return torch.zeros((), dtype=torch.float64)
    return (wide_of(a) - wide_of(b)).abs()


def _single(golden: Callable[..., Any], values: Values) -> Outputs | None:
    try:
        return evaluate(golden, values, torch.float32)
    except GoldenError:  # a golden that insists on float64 has no float32 error to show
        return None


class Steps:
    """The float inputs as float64, each element moved by steps of an ulp of the compute dtype, up or down at random."""

    def __init__(self, values: Values, compute: torch.dtype) -> None:
        self.values, self.compute = values, compute
        self._known: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def __call__(self, stream: int, step: float = 1.0, other_way: bool = False) -> dict[str, Any]:
        """The values moved by `step` ulp, in the directions of a stream of random signs; `other_way` turns every other input's."""
        counter = 0

        def move(tensor: torch.Tensor) -> torch.Tensor:
            nonlocal counter
            counter += 1
            if not (tensor.is_floating_point() or tensor.is_complex()):
                return tensor
            wide, size = self._sizes(counter, tensor)
            signs = torch.from_numpy(generator.signs(stream ^ counter, wide.numel())).reshape(wide.shape)
            other = torch.addcmul(wide, signs, size, value=-step if other_way and counter % 2 else step)
            return torch.view_as_complex(other) if tensor.is_complex() else other

        return map_tensors(self.values, move)

    def _sizes(self, number: int, tensor: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        if number not in self._known:
            wide = wide_of(tensor.detach().cpu())
            kind = compute_dtype(real(tensor.dtype)) if self.compute == torch.float32 else self.compute
            self._known[number] = wide, ulp(wide, kind)
        return self._known[number]


def _smooth(want: torch.Tensor, response: torch.Tensor, error: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    step = ulp(want, real(dtype))
    ratio = response / step
    if want.numel() >= 8:
        by_row = want.dim() > 0 and want.shape[-1] >= 8
        ratio = torch.where(want.abs() < torch.finfo(real(dtype)).smallest_normal, float("nan"), ratio)  # zeros and subnormals show nothing
        middle = (ratio.nanmedian(-1, keepdim=True).values if by_row else ratio.nanmedian()).nan_to_num(0.0)
        response = torch.maximum(response, middle * step)
    return FACTOR * torch.maximum(response, torch.maximum(error, binade_rms(want, error)))


def binade_rms(want: torch.Tensor, error: torch.Tensor) -> torch.Tensor:
    """For each element, the root mean square of the errors of the elements in its binade."""
    if want.numel() == 0:
        return error
    flat = torch.where(finite(want), want, 0).flatten()
    binade = torch.frexp(flat).exponent.to(torch.int64).clamp(-1100, 1100) + 1100
    total = torch.zeros(2201, dtype=torch.float64).index_add_(0, binade, error.flatten().square())
    count = torch.zeros(2201, dtype=torch.float64).index_add_(0, binade, torch.ones_like(flat))
    return (total / count.clamp(min=1)).sqrt()[binade].reshape(want.shape)
