"""Declared compute: products of matrices whose float32 operands are rounded to TF32 or HF32 first.

How far the result then moves is measured on the golden in float64: operands to the nearest, towards zero, and up or down at random. The candidate
may be seven deviations of that from the golden, and all errors together as large as that, as for other roundings of intermediates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode

from ascendops.errors import ParityError, did_you_mean
from ascendops.parity import inputs as generator
from ascendops.parity.decompose import CONTRACTIONS, DECOMPOSED
from ascendops.parity.golden import evaluate, wide_of

if TYPE_CHECKING:
    from ascendops.parity.calling import Outputs, Values
    from ascendops.parity.truth import Truth

COMPUTE = {"float32": 23, "tf32": 10, "hf32": 11}  # mantissa bits of the operands
_DRAWS = 6
_ADDED_FIRST = frozenset(("addmm", "baddbmm", "addbmm", "addmv"))
_ADDED_LAST = frozenset(("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "bilinear"))


def known(compute: str) -> str:
    """The name again.

    Raises:
        ParityError: It is no way to compute that may be declared.
    """
    if compute not in COMPUTE:
        raise ParityError(f"there is no compute '{compute}'", help=did_you_mean(compute, COMPUTE))
    return compute


class Operands(TorchFunctionMode):
    """While active, products of matrices round their operands to `bits` bits of mantissa; what is added to the product is not rounded.

    Args:
        how: `nearest`, `zero` (towards zero) or `random` (to either neighbour, more often to the nearer one).
        stream: Key of the random numbers.
    """

    def __init__(self, bits: int, how: str, stream: int = 0) -> None:
        super().__init__()
        self.bits, self.how, self.stream, self.count = bits, how, stream, 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Runs the function, or its parts, on rounded operands."""
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "").strip("_")
        if name in DECOMPOSED:
            with self:
                return DECOMPOSED[name](*args, **kwargs)
        if name not in CONTRACTIONS:
            return func(*args, **kwargs)
        tensors = [i for i, arg in enumerate(args) if isinstance(arg, torch.Tensor)]
        added = tensors[:1] if name in _ADDED_FIRST else tensors[2:] if name in _ADDED_LAST else []
        rounded = [self._round(arg) if i not in added else arg for i, arg in enumerate(args)]
        named = {key: value if key == "bias" else self._round(value) for key, value in kwargs.items()}
        return func(*rounded, **named)

    def _round(self, item: Any) -> Any:
        if isinstance(item, (list, tuple)):
            return type(item)(self._round(entry) for entry in item)
        if not isinstance(item, torch.Tensor) or item.dtype != torch.float64:
            return item
        exponent = torch.frexp(torch.where(torch.isfinite(item), item, 0)).exponent.clamp(min=-125)
        step = torch.ldexp(torch.ones_like(item), exponent - 1 - self.bits)
        scaled = item / step
        if self.how == "zero":
            return torch.trunc(scaled) * step
        if self.how == "nearest":
            return torch.round(scaled) * step
        self.count += 1
        noise = generator.uniform(generator.key(0, self.stream, self.count), item.numel(), 0.0, 1.0)
        return torch.floor(scaled + torch.from_numpy(noise).reshape(item.shape)) * step


def models(compute: str, seed: int) -> list[Operands]:
    """The ways in which operands may be rounded, nearest first and towards zero second."""
    bits = COMPUTE[compute]
    return [Operands(bits, "nearest"), Operands(bits, "zero"), *(Operands(bits, "random", generator.key(seed, "operands", draw)) for draw in range(_DRAWS))]


def differences(golden: Callable[..., Any], values: Values, truths: Sequence[Truth | None], compute: str, seed: int) -> list[Outputs]:
    """For each way to round operands, how far each output's elements move; float64, None where an output is not a float.

    Raises:
        GoldenError: The golden cannot run under these conditions.
    """
    found: list[Outputs] = []
    for mode in models(compute, seed):
        outputs = evaluate(golden, values, torch.float64, mode)
        moved: Outputs = []
        for out, truth in zip(outputs, truths, strict=True):
            if out is None or truth is None or truth.kappa is None or wide_of(out).shape != truth.want.shape:
                moved.append(None)
                continue
            wide = wide_of(out)
            moved.append(torch.where(torch.isfinite(wide) & torch.isfinite(truth.want), (wide - truth.want).abs(), 0))
        found.append(moved)
    return found


def moves(golden: Callable[..., Any], values: Values, truths: Sequence[Truth | None], compute: str) -> list[bool]:
    """Which outputs change at all if operands are rounded to the nearest."""
    (nearest, *_) = models(compute, 0)
    outputs = evaluate(golden, values, torch.float64, nearest)
    return [out is not None and truth is not None and not torch.equal(wide_of(out), wide_of(truth.want)) for out, truth in zip(outputs, truths, strict=True)]


def spreads(golden: Callable[..., Any], values: Values, truths: Sequence[Truth | None], compute: str, seed: int) -> Outputs:
    """Deviation of each output element over the ways to round operands, at least half of what rounding all of them alike does.

    Raises:
        GoldenError: The golden cannot run under these conditions.
    """
    from ascendops.parity.sensitivity import binade_rms

    rows = differences(golden, values, truths, compute, seed)
    found: Outputs = []
    for i, truth in enumerate(truths):
        mine = [row[i] for row in rows]
        if truth is None or any(each is None for each in mine):
            found.append(None)
            continue
        stack = torch.stack([each for each in mine if each is not None])
        deviation = stack.square().mean(0).sqrt()
        alike = torch.maximum(stack[0], stack[1])
        together = torch.maximum(binade_rms(truth.want, stack[0]), binade_rms(truth.want, stack[1]))
        found.append(torch.stack([deviation, binade_rms(truth.want, deviation), alike / 2, together]).amax(0))
    return found
