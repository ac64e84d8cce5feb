"""Kernels that flush subnormal numbers of float32 to zero, as vector units may: the golden in float32 with every operand and result flushed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from ascendops.errors import GoldenError
from ascendops.parity.calling import Outputs, Values, map_tensors, named_tensors
from ascendops.parity.decompose import DECOMPOSED, MOVES
from ascendops.parity.golden import evaluate, wide_of

NORMAL = torch.finfo(torch.float32).smallest_normal
_TINY = 2.0**-100  # below this, a factor of a result may have been subnormal


def _by_sigmoid(input: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
    """x * (1 / (1 + e^-x)): the form of silu that loses most, since the sigmoid is smaller than the result."""
    return input * (1 / (1 + torch.exp(-input)))


class Flushed(TorchFunctionMode):
    """While active, float32 results of arithmetic have no subnormal numbers. Composite functions are taken apart."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Runs the function, or its parts, and flushes what comes back."""
        name = getattr(func, "__name__", "").strip("_")
        parts = _by_sigmoid if name == "silu" else DECOMPOSED.get(name)
        if parts is not None:
            with self:
                return parts(*args, **(kwargs or {}))
        out = func(*args, **(kwargs or {}))
        return out if name in MOVES or not isinstance(out, torch.Tensor) else flush(out)


def flush(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor with zeros of the same sign for subnormal float32 numbers; other dtypes as they are."""
    if tensor.dtype != torch.float32 or not bool(_subnormal(tensor).any()):
        return tensor
    return torch.where(_subnormal(tensor), torch.copysign(torch.zeros_like(tensor), tensor), tensor)


def flushed(golden: Callable[..., Any], values: Values, wants: Outputs) -> Outputs | None:
    """The golden's outputs in flushing float32 arithmetic, or None where that cannot differ: no value is small enough.

    Args:
        wants: The golden's outputs in float64.
    """
    inputs = [tensor for _, tensor in named_tensors(values) if tensor.is_floating_point()]
    tiny = any(bool((out.abs() < _TINY).logical_and(out != 0).any()) for out in map(wide_of, (out for out in wants if out is not None and out.is_floating_point())))
    if not tiny and not any(bool(_subnormal(tensor.float()).any()) for tensor in inputs):
        return None
    try:
        return evaluate(golden, map_tensors(values, lambda tensor: flush(tensor.float()) if tensor.is_floating_point() else tensor), torch.float32, Flushed())
    except GoldenError:  # a golden that insists on float64 has no float32 arithmetic
        return None


def _subnormal(tensor: torch.Tensor) -> torch.Tensor:
    return (tensor.abs() < NORMAL) & (tensor != 0)
