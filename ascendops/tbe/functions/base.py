"""Registration of functions and their evaluation, and the checks that they share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ascendops.errors import TbeParameterError
from ascendops.tbe import dtypes
from ascendops.tbe.graph import Const, Dim, Tensor, caller, number

if TYPE_CHECKING:
    import torch

Evaluator = Callable[[Tensor, Sequence["torch.Tensor"]], "torch.Tensor"]
Function = TypeVar("Function", bound=Callable[..., Any])

EVALUATE: dict[str, Evaluator] = {}
FUNCTIONS: dict[str, Callable[..., Any]] = {}


def evaluates(*kinds: str) -> Callable[[Evaluator], Evaluator]:
    """Marks the evaluation of nodes of these kinds."""

    def mark(function: Evaluator) -> Evaluator:
        for kind in kinds:
            EVALUATE[kind] = function
        return function

    return mark


def dsl(function: Function) -> Function:
    """Marks a function of tbe.dsl; its name there is its own without a trailing underscore."""
    FUNCTIONS[function.__name__.rstrip("_")] = function
    return function


def tensor(function: str, value: Any, position: str = "first") -> Tensor:
    """`value`, which must be a tensor.

    Raises:
        TbeParameterError: It is something else.
    """
    if not isinstance(value, Tensor):
        raise TbeParameterError(f"the {position} argument of tbe.dsl.{function} must be a tensor, not {type(value).__name__}", where=caller())
    return value


def scalar(function: str, value: Any, position: str = "second") -> Any:
    """The number of a scalar argument.

    Raises:
        TbeParameterError: It is a tensor or no number.
    """
    if isinstance(value, Tensor) or not isinstance(value, int | float | Const | Dim):
        raise TbeParameterError(
            f"the {position} argument of tbe.dsl.{function} must be a number or tvm.const, not {type(value).__name__}", where=caller(),
            help="two tensors: vadd, vsub, vmul, vmax, vmin",
        )  # fmt: skip
    return number(value)


def cast(value: Tensor, dtype: str) -> Tensor:
    """`value` in another dtype, or itself."""
    return value if value.dtype == dtype else Tensor("cast_to", dtype, value.shape, [value], {"mode": "none"})


def finished(node: Tensor, *operands: Tensor) -> Tensor:
    """`node`, rounded back to bfloat16 if its operands are; CANN's own operators (Maximum, Sub, Square) rely on the DSL to do so."""
    return Tensor("cast_to", "bfloat16", node.shape, [node], {"mode": "rint"}) if operands[0].dtype == "bfloat16" and node.dtype == "float32" else node


def computed(function: str, *operands: Tensor) -> tuple[str, list[Tensor]]:
    """The dtype in which a function computes, and its operands cast to it."""
    dtype = dtypes.check(function, *operands)
    return dtype, [cast(operand, dtype) for operand in operands]
