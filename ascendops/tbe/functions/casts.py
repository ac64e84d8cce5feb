"""Casts and roundings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ascendops.errors import TbeParameterError
from ascendops.tbe import dtypes
from ascendops.tbe.functions.base import dsl, evaluates, tensor
from ascendops.tbe.graph import Tensor, caller, number

if TYPE_CHECKING:
    import torch


def _made(function: str, x: Any, dtype: str, mode: str) -> Tensor:
    operand = tensor(function, x)
    return Tensor("cast_to", dtypes.name(dtype), operand.shape, [operand], {"mode": mode})


@dsl
def cast_to(data: Any, dtype: str, f1628IntegerFlag: bool = True) -> Tensor:
    """`data` in another dtype: to integers towards zero and saturated, to shorter floats to nearest even."""
    operand = tensor("cast_to", data)
    return operand if operand.dtype == dtypes.name(dtype) else _made("cast_to", operand, dtype, "none")


@dsl
def round_(raw_tensor: Any, dtype: str = "int32", decimals: int = 0) -> Tensor:
    """To nearest, ties to even.

    Raises:
        TbeParameterError: `decimals` is not 0.
    """
    if number(decimals):
        raise TbeParameterError(f"decimals of tbe.dsl.round cannot be {decimals} in the TBE twin", where=caller(), help="scale with vmuls before and after")
    return _made("round", raw_tensor, dtype, "rint")


@dsl
def floor(raw_tensor: Any, dtype: str = "int32") -> Tensor:
    """Down."""
    return _made("floor", raw_tensor, dtype, "floor")


@dsl
def ceil(raw_tensor: Any, dtype: str = "int32") -> Tensor:
    """Up."""
    return _made("ceil", raw_tensor, dtype, "ceil")


@dsl
def trunc(raw_tensor: Any, dtype: str = "int32") -> Tensor:
    """Towards zero."""
    return _made("trunc", raw_tensor, dtype, "trunc")


@dsl
def round_half_up(raw_tensor: Any, dtype: str = "int32") -> Tensor:
    """To nearest, ties up: floor(x + 0.5)."""
    return _made("round_half_up", raw_tensor, dtype, "half_up")


@evaluates("cast_to")
def _cast_value(node: Tensor, data: Sequence[torch.Tensor]) -> torch.Tensor:
    import torch

    (x,) = data
    target, mode = dtypes.torch_dtype(node.dtype), node.attrs["mode"]
    if target == torch.bool:
        return x != 0
    if not x.is_floating_point():
        wide = x.to(torch.int64)
        if target.is_floating_point or x.dtype == torch.bool:
            return wide.to(torch.float32).to(target) if target.is_floating_point else wide.to(target)
        return _saturated(wide, target)
    functions: dict[str, Any] = {"rint": torch.round, "floor": torch.floor, "ceil": torch.ceil, "trunc": torch.trunc, "half_up": lambda v: torch.floor(v + 0.5)}
    wide = x.to(torch.float64)
    if target.is_floating_point:
        return (wide if mode in ("none", "rint") else functions[mode](wide)).to(target)
    whole = functions["trunc" if mode == "none" else mode](wide)
    return _saturated(torch.nan_to_num(whole, nan=0.0), target)


def _saturated(value: torch.Tensor, target: torch.dtype) -> torch.Tensor:
    import torch

    limits = torch.iinfo(target)
    if value.is_floating_point():
        high = value >= float(limits.max)
        inside = value.clamp(float(limits.min), float(limits.max)).where(~high, torch.zeros_like(value))
        return inside.to(torch.int64).where(~high, torch.tensor(limits.max)).to(target)
    return value.clamp(limits.min, limits.max).to(target)
