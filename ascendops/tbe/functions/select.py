"""Comparisons, selection and logic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ascendops.errors import TbeDtypeError, TbeParameterError, TbeShapeError
from ascendops.tbe import dtypes
from ascendops.tbe.functions.base import cast, computed, dsl, evaluates, finished, scalar, tensor
from ascendops.tbe.graph import Tensor, caller, concrete, same_shape

if TYPE_CHECKING:
    import torch

_OPERATIONS = ("eq", "ne", "lt", "gt", "ge", "le")


def _operation(function: str, operation: str, allowed: tuple[str, ...] = _OPERATIONS) -> None:
    if operation not in allowed:
        raise TbeParameterError(f"operation of tbe.dsl.{function} cannot be {operation!r}", where=caller(), help=f"use one of: {', '.join(allowed)}")


@dsl
def vcmp(lhs: Any, rhs: Any, operation: str = "lt", mode: str = "bool") -> Tensor:
    """Compares a tensor with a tensor or a number; `bool` gives one bool an element, `bit` eight elements a uint8 (last dim / 8).

    Raises:
        TbeParameterError: The operation or the mode is unknown.
        TbeShapeError: The shapes differ, or mode `bit` has a last dim that is no multiple of 8.
    """
    _operation("vcmp", operation)
    _operation("vcmp", mode, ("bool", "bit"))
    left = tensor("vcmp", lhs)
    operands, attrs = _operands("vcmp", left, rhs)
    attrs |= {"operation": operation, "mode": mode}
    if mode == "bool":
        return Tensor("vcmp", "bool", left.shape, operands, attrs)
    if not left.shape or (isinstance(left.shape[-1], int) and left.shape[-1] % 8):
        raise TbeShapeError(f"mode bit of tbe.dsl.vcmp needs a last dim that is a multiple of 8, not {left.shape}", where=caller())
    return Tensor("vcmp", "uint8", [*left.shape[:-1], (concrete(left.shape[-1]) + 7) // 8], operands, attrs)


def _operands(function: str, left: Tensor, rhs: Any) -> tuple[list[Tensor], dict[str, Any]]:
    if isinstance(rhs, Tensor):
        same_shape(function, left, rhs)
        return computed(function, left, rhs)[1], {}
    return computed(function, left)[1], {"scalar": scalar(function, rhs)}


@dsl
def vsel(condition: Any, lhs: Any, rhs: Any) -> Tensor:
    """Lhs where the condition (bool, or uint8 bits of vcmp) holds, else rhs; both may be numbers.

    Raises:
        TbeDtypeError: The condition is no result of vcmp, or lhs and rhs differ.
        TbeShapeError: The shapes differ.
    """
    mask = tensor("vsel", condition)
    if mask.dtype not in ("bool", "uint8", "uint1"):
        raise TbeDtypeError(f"the condition of tbe.dsl.vsel is {mask.dtype}", where=caller(), help="it is the result of tbe.vcmp")
    tensors = [value for value in (lhs, rhs) if isinstance(value, Tensor)]
    dtype = dtypes.check("vsel", *tensors) if tensors else "float16"
    shape = tensors[0].shape if tensors else mask.shape
    if tensors and mask.dtype == "bool":
        same_shape("vsel", mask, tensors[0])
    if len(tensors) == 2:
        same_shape("vsel", *tensors)
    attrs = {name: scalar("vsel", value) for name, value in (("lhs", lhs), ("rhs", rhs)) if not isinstance(value, Tensor)}
    made = Tensor("vsel", dtype, shape, [mask, *(cast(value, dtype) for value in tensors)], attrs)
    return finished(made, *tensors) if tensors else made


@dsl
def vcmpsel(lhs: Any, rhs: Any = None, operation: str = "lt", slhs: Any = None, srhs: Any = None) -> Tensor:
    """Slhs where `lhs operation rhs`, else srhs. Defaults: rhs 2.0; slhs is lhs; srhs is rhs if that is a tensor, else 0."""
    _operation("vcmpsel", operation)
    left = tensor("vcmpsel", lhs)
    right = 2.0 if rhs is None else rhs
    chosen = left if slhs is None else slhs
    other = (right if isinstance(right, Tensor) else 0.0) if srhs is None else srhs
    operands, attrs = _operands("vcmpsel", left, right)
    mask = Tensor("vcmp", "bool", left.shape, operands, {**attrs, "operation": operation, "mode": "bool"})
    values = [cast(value, operands[0].dtype) if isinstance(value, Tensor) else value for value in (chosen, other)]
    return finished(cast(vsel(mask, *values), operands[0].dtype), left)


@dsl
def vlogic(lhs: Any, rhs: Any = None, operation: str = "logic_and") -> Tensor:
    """logic_and, logic_or or logic_not of bool tensors."""
    _operation("vlogic", operation, ("logic_and", "logic_or", "logic_not"))
    operands = [tensor("vlogic", lhs)] + ([] if operation == "logic_not" else [tensor("vlogic", rhs, "second")])
    if len(operands) == 2:
        same_shape("vlogic", *operands)
    dtype, operands = computed("vlogic", *operands)
    return Tensor("vlogic", dtype, operands[0].shape, operands, {"operation": operation})


@evaluates("vcmp")
def _compare(node: Tensor, data: Sequence[torch.Tensor]) -> torch.Tensor:
    import torch

    right = data[1] if len(data) > 1 else data[0].new_tensor(node.attrs["scalar"])
    functions: dict[str, Any] = {"eq": torch.eq, "ne": torch.ne, "lt": torch.lt, "gt": torch.gt, "ge": torch.ge, "le": torch.le}
    found: torch.Tensor = functions[node.attrs["operation"]](data[0], right)
    if node.attrs["mode"] == "bool":
        return found
    padded = torch.nn.functional.pad(found, (0, -found.shape[-1] % 8))
    bits = padded.reshape(*found.shape[:-1], -1, 8).to(torch.uint8)
    packed: torch.Tensor = (bits << torch.arange(8, dtype=torch.uint8)).sum(-1).to(torch.uint8)
    return packed


@evaluates("vsel")
def _select(node: Tensor, data: Sequence[torch.Tensor]) -> torch.Tensor:
    import torch

    mask, rest = data[0], list(data[1:])
    if mask.dtype == torch.uint8:
        mask = ((mask.unsqueeze(-1) >> torch.arange(8, dtype=torch.uint8)) & 1).flatten(-2).to(torch.bool)[..., : concrete(node.shape[-1])]
    dtype = dtypes.torch_dtype(node.dtype)
    values = [torch.tensor(node.attrs[name], dtype=dtype) if name in node.attrs else rest.pop(0) for name in ("lhs", "rhs")]
    return torch.where(mask, values[0], values[1])


@evaluates("vlogic")
def _logic(node: Tensor, data: Sequence[torch.Tensor]) -> torch.Tensor:
    import torch

    functions: dict[str, Any] = {"logic_and": torch.logical_and, "logic_or": torch.logical_or, "logic_not": torch.logical_not}
    found: torch.Tensor = functions[node.attrs["operation"]](*data).to(data[0].dtype)
    return found
