"""What the golden says: fp64 outputs, and how far honest float32 arithmetic may be from them (kappa).

kappa = 8 * max(S, E) for each output element, where
S: the largest response of the fp64 golden to a change of every float input by one ulp of the compute dtype, over six draws of
   random signs; at least its row's median in units of the output's ulp (a draw may cancel by luck);
E: the largest error of the golden evaluated in the compute dtype on those inputs, at least its root mean square over outputs of
   the same binade (rounding of intermediates, which changes of the inputs alone do not show).
"""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from ascendops.errors import AscendOpsError, GoldenError
from ascendops.parity import inputs as generator
from ascendops.parity.calling import Outputs, Values, clone, invoke, map_tensors, named_tensors, outputs_of
from ascendops.parity.decompose import MOVES, SIGNED_ZERO
from ascendops.parity.rounding import Trace
from ascendops.parity.ulp import EIGHT_BIT, compute_dtype, round_to, ulp

DRAWS = 6
FACTOR = 8
_FEW_DRAWS = 2
_LARGE = 1 << 22  # elements; above this fewer draws are made
_STEEP = 16.0  # a response of so many output ulps may be a jump: a much smaller step tells
_SMALL = 2.0**-10


@dataclass(frozen=True)
class Truth:
    """The golden's answer for one output.

    Attributes:
        want: fp64 values for float outputs (complex: real and imaginary parts in a last dim of 2); else the golden's own tensor.
        dtype: The dtype that the candidate must return, or None when any integer dtype will do.
        kappa: Allowance on top of two ulps, float64, shape of `want`; None for exact outputs.
        exact: Every output is an integer that float32 arithmetic reaches without rounding: bits are compared.
        wider: `kappa` also allows intermediates rounded to the output's dtype.
        names: The torch functions that the golden called.
        single: The golden evaluated in float32, as float64, if it has nan or infinities that `want` has not.
    """

    want: torch.Tensor
    dtype: torch.dtype | None
    kappa: torch.Tensor | None
    exact: bool = False
    single: torch.Tensor | None = None
    names: tuple[str, ...] = ()
    wider: bool = False

    @property
    def moves(self) -> bool:
        """Whether the golden only moves or casts values."""
        return all(name in MOVES for name in self.names)

    @property
    def signed_zero(self) -> bool:
        """Whether the golden only moves values or sets their signs, so that the sign of zero counts."""
        return all(name in SIGNED_ZERO for name in self.names)

    def ulps(self) -> torch.Tensor:
        """One ulp of the output dtype at each golden value, float64."""
        assert self.dtype is not None
        return ulp(self.want, real(self.dtype))

    def allowed(self) -> torch.Tensor:
        """The largest error that passes, |got - want| <= 2 ulp + kappa; 0 where bits are compared."""
        if self.exact or self.kappa is None:
            return torch.zeros(self.want.shape, dtype=torch.float64)
        assert self.dtype is not None
        if real(self.dtype) in EIGHT_BIT:  # one code beside the right one; a cast rounds to nearest
            return (0.5 if self.moves else 1.5) * self.ulps() + self.kappa
        return 2 * self.ulps() + self.kappa


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
    wants = evaluate(golden, values, torch.float64, trace)
    names = tuple(dict.fromkeys(trace.names))
    declared = list(dtypes or []) + [None] * len(wants)
    kinds = [None if want is None else declared[i] or _expected(want, values) for i, want in enumerate(wants)]
    floats = [kind is not None and (kind.is_floating_point or kind.is_complex) for kind in kinds]
    kappas: list[torch.Tensor | None] = [None] * len(wants)
    if any(floats):
        kappas = _kappas(
            golden,
            values,
            [want if is_float else None for want, is_float in zip(wants, floats, strict=True)],
            kinds,
            seed,
        )
    found: list[Truth | None] = []
    for i, (want, kind, is_float, kappa) in enumerate(zip(wants, kinds, floats, kappas, strict=True)):
        if want is None:
            found.append(None)
        elif is_float:
            assert kind is not None and kappa is not None
            wide = wide_of(want)
            found.append(
                Truth(
                    wide, kind, kappa, _is_exact(wide, kind, values), _overflowing(golden, values, i, wide, kind), names
                )
            )
        else:
            found.append(Truth(want, kind, None, names=names))
    return found


def evaluate(
    golden: Callable[..., Any], values: Values, dtype: torch.dtype, mode: TorchFunctionMode | None = None
) -> Outputs:
    """The golden's outputs with float inputs converted to `dtype` (complex ones to the matching complex dtype), run under `mode`.

    Raises:
        GoldenError: The golden raised, or returned something that is not tensors.
    """

    def convert(tensor: torch.Tensor) -> torch.Tensor:
        tensor = tensor.detach().cpu()
        if tensor.is_complex():
            return tensor.to(dtype.to_complex())
        return tensor.to(dtype) if tensor.is_floating_point() else tensor

    return _call(golden, clone(map_tensors(values, convert)), mode)


def _call(golden: Callable[..., Any], values: Values, mode: TorchFunctionMode | None = None) -> Outputs:
    try:
        with mode or contextlib.nullcontext():
            result = invoke(golden, values)
        return [None if out is None else out.detach().cpu() for out in outputs_of(result)]
    except AscendOpsError as error:
        raise GoldenError(error.what, help=error.help) from error
    except Exception as error:  # the boundary to the user's code
        name = getattr(golden, "__name__", "golden")
        raise GoldenError(f"{name} raised {type(error).__name__}: {error}", where=_place(error)) from error


def own_arithmetic(golden: Callable[..., Any], values: Values) -> Outputs:
    """The golden on the inputs as they are, so that torch computes in their dtypes.

    Raises:
        GoldenError: The golden cannot.
    """
    return _call(golden, clone(values))


def real(dtype: torch.dtype) -> torch.dtype:
    """The dtype of the parts of a complex dtype; other dtypes unchanged."""
    return dtype.to_real() if dtype.is_complex else dtype


def wide_of(tensor: torch.Tensor) -> torch.Tensor:
    """float64 values; complex tensors as real and imaginary parts in a last dim of 2."""
    return torch.view_as_real(tensor.to(torch.complex128)) if tensor.is_complex() else tensor.to(torch.float64)


def _place(error: BaseException) -> str | None:
    """The innermost line outside installed packages: the user's."""
    frames = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    own = [place for place in frames if "site-packages" not in place[0]] or frames
    return f"{own[-1][0]}:{own[-1][1]}" if own else None


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


def _is_exact(want: torch.Tensor, dtype: torch.dtype, values: Values) -> bool:
    floats = [tensor for _, tensor in named_tensors(values) if tensor.is_floating_point()]
    if (
        want.numel() < 8
        or not floats
        or not bool((want == want.round()).all())
        or bool((want == want.flatten()[0]).all())
    ):
        return False
    if not all(bool((tensor == tensor.round()).all()) for tensor in floats):
        return False
    return bool((round_to(want, real(dtype)) == want).all()) and bool((want.abs() < 2**24).all())


def _overflowing(
    golden: Callable[..., Any], values: Values, output: int, want: torch.Tensor, dtype: torch.dtype
) -> torch.Tensor | None:
    outputs = _single(golden, values) if real(dtype) != torch.float64 else None
    low = outputs[output] if outputs is not None and output < len(outputs) else None
    if low is None or bool(torch.isfinite(low).all()):
        return None
    wide = wide_of(low)
    return wide if wide.shape == want.shape else None


def _kappas(
    golden: Callable[..., Any], values: Values, wants: Outputs, kinds: list[torch.dtype | None], seed: int
) -> list[torch.Tensor | None]:
    compute = torch.float64 if any(kind == torch.float64 for kind in kinds) else torch.float32
    size = max((tensor.numel() for _, tensor in named_tensors(values)), default=0)
    draws = range(DRAWS if size <= _LARGE else _FEW_DRAWS)
    steps = [values, *(moved(values, compute, generator.key(seed, "kappa", draw)) for draw in draws)]
    if sum(tensor.is_floating_point() for _, tensor in named_tensors(values)) > 1:
        # two inputs may have moved alike in every draw: once more with every other input the other way
        steps += [moved(values, compute, generator.key(seed, "kappa", draw), other_way=True) for draw in draws[:2]]
    shifted = [wants, *(evaluate(golden, each, torch.float64) for each in steps[1:])]
    singles = [_single(golden, each) for each in steps] if compute == torch.float32 else []
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
                tiny = (moved(values, compute, generator.key(seed, "kappa", draw), _SMALL) for draw in draws)
                small = [evaluate(golden, each, torch.float64) for each in tiny]
            response = _without_jumps(response, _largest(_apart(outputs[i], want) for outputs in small))
        kappas.append(_smooth(wide, response, error.to(wide).expand(wide.shape), kind))
    return kappas


def _without_jumps(response: torch.Tensor, small: torch.Tensor) -> torch.Tensor:
    """The response, and 0 where it does not shrink with the step: there the golden jumps (floor, round, sign, compare).

    What remains of kappa at a jump is the error of the golden in float32, which is 0 if only exact inputs decide.
    """
    jumps = (small > response / 16) | (response > 64 * small / _SMALL)
    return torch.where(jumps, 0, response)


def _largest(differences: Iterable[torch.Tensor]) -> torch.Tensor:
    total = torch.zeros(())
    for difference in differences:
        total = torch.maximum(total, torch.where(torch.isfinite(difference), difference, 0))
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


def moved(values: Values, compute: torch.dtype, stream: int, step: float = 1.0, other_way: bool = False) -> dict[str, Any]:
    """The float inputs as float64, each element moved by `step` ulp of the compute dtype, up or down at random."""
    counter = 0

    def move(tensor: torch.Tensor) -> torch.Tensor:
        nonlocal counter
        counter += 1
        if not (tensor.is_floating_point() or tensor.is_complex()):
            return tensor
        wide = wide_of(tensor.detach().cpu())
        signs = torch.from_numpy(generator.signs(stream ^ counter, wide.numel())).reshape(wide.shape)
        signs = -signs if other_way and counter % 2 else signs
        kind = compute_dtype(real(tensor.dtype)) if compute == torch.float32 else compute
        other = torch.where(torch.isfinite(wide), wide + step * signs * ulp(wide, kind), wide)
        return torch.view_as_complex(other) if tensor.is_complex() else other

    return map_tensors(values, move)


def _smooth(want: torch.Tensor, response: torch.Tensor, error: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    step = ulp(want, real(dtype))
    ratio = response / step
    if want.numel() >= 8:
        by_row = want.dim() > 0 and want.shape[-1] >= 8
        middle = ratio.median(-1, keepdim=True).values if by_row else ratio.median()
        response = torch.maximum(response, middle * step)
    return FACTOR * torch.maximum(response, torch.maximum(error, binade_rms(want, error)))


def binade_rms(want: torch.Tensor, error: torch.Tensor) -> torch.Tensor:
    """For each element, the root mean square of the errors of the elements in its binade."""
    if want.numel() == 0:
        return error
    finite = torch.where(torch.isfinite(want), want, 0).flatten()
    binade = torch.frexp(finite).exponent.to(torch.int64).clamp(-1100, 1100) + 1100
    total = torch.zeros(2201, dtype=torch.float64).index_add_(0, binade, error.flatten().square())
    count = torch.zeros(2201, dtype=torch.float64).index_add_(0, binade, torch.ones_like(finite))
    return (total / count.clamp(min=1)).sqrt()[binade].reshape(want.shape)
