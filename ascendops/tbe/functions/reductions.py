"""Reductions over axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ascendops.errors import TbeParameterError, TbeShapeError
from ascendops.tbe.functions.base import computed, dsl, evaluates, finished, tensor
from ascendops.tbe.graph import Tensor, caller, concrete, number

if TYPE_CHECKING:
    import torch


def axes_of(function: str, axis: Any, rank: int) -> list[int]:
    """The axes as sorted whole numbers of 0 to rank - 1.

    Raises:
        TbeParameterError: One is out of range.
    """
    given = list(axis) if isinstance(axis, list | tuple | range) else [axis]
    axes = sorted({int(number(one)) % rank if -rank <= int(number(one)) < rank else rank for one in given})
    if axes and axes[-1] >= rank:
        raise TbeParameterError(f"axis {axis} of tbe.dsl.{function} does not fit {rank} dims", where=caller())
    return axes


def _reduce(function: str, x: Any, axis: Any, keepdims: bool) -> Tensor:
    given = tensor(function, x)
    dtype, (operand,) = computed(function, given)
    axes = axes_of(function, axis, operand.ndim)
    shape = [1 if i in axes else size for i, size in enumerate(operand.shape) if keepdims or i not in axes]
    return finished(Tensor(function, dtype, shape or [1], [operand], {"axes": axes}), given)


@dsl
def reduce_sum(raw_tensor: Any, axis: Any, keepdims: bool = False) -> Tensor:
    """The sum; halves are added pair by pair in the tensor's dtype, so float16 rounds at every step."""
    return _reduce("reduce_sum", raw_tensor, axis, keepdims)


@dsl
def reduce_mean(raw_tensor: Any, axis: Any, keepdims: bool = False) -> Tensor:
    """The sum divided by the number of elements."""
    return _reduce("reduce_mean", raw_tensor, axis, keepdims)


@dsl
def reduce_prod(raw_tensor: Any, axis: Any, keepdims: bool = False) -> Tensor:
    """The product."""
    return _reduce("reduce_prod", raw_tensor, axis, keepdims)


@dsl
def reduce_max(raw_tensor: Any, axis: Any, keepdims: bool = False, impl_mode: str = "high_performance") -> Tensor:
    """The maximum."""
    return _reduce("reduce_max", raw_tensor, axis, keepdims)


@dsl
def reduce_min(raw_tensor: Any, axis: Any, keepdims: bool = False, impl_mode: str = "high_performance") -> Tensor:
    """The minimum."""
    return _reduce("reduce_min", raw_tensor, axis, keepdims)


@dsl
def reduce_all(raw_tensor: Any, axis: Any, keepdims: bool = False) -> Tensor:
    """Whether all are true."""
    return _reduce("reduce_all", raw_tensor, axis, keepdims)


@dsl
def reduce_any(raw_tensor: Any, axis: Any, keepdims: bool = False) -> Tensor:
    """Whether any is true."""
    return _reduce("reduce_any", raw_tensor, axis, keepdims)


@dsl
def tuple_sum(input_tensors: Any, axis: Any, keepdims: bool = False) -> tuple[Tensor, ...]:
    """The sums of several tensors of one shape."""
    return tuple(_reduce("tuple_sum", one, axis, keepdims) for one in input_tensors)


@evaluates("reduce_sum", "reduce_mean", "reduce_prod", "reduce_max", "reduce_min", "reduce_all", "reduce_any", "tuple_sum")
def _reduced(node: Tensor, data: Sequence[torch.Tensor]) -> torch.Tensor:
    import torch

    (x,) = data
    axes = node.attrs["axes"]
    if not axes:
        return x
    rows = x.permute([i for i in range(x.dim()) if i not in axes] + axes).flatten(x.dim() - len(axes))
    count = rows.shape[-1]
    if count == 0 and node.kind in ("reduce_max", "reduce_min"):
        raise TbeShapeError(f"tbe.dsl.{node.kind} has no elements along axes {axes} of {list(x.shape)}", where=node.where, help="refuse such shapes before")
    functions: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
        "reduce_sum": lambda v: _pairs(v, torch.add, 0),
        "tuple_sum": lambda v: _pairs(v, torch.add, 0),
        "reduce_prod": lambda v: _pairs(v, torch.mul, 1),
        "reduce_mean": lambda v: _pairs(v, torch.add, 0) / count,
        "reduce_max": lambda v: v.amax(-1),
        "reduce_min": lambda v: v.amin(-1),
        "reduce_all": lambda v: (v != 0).all(-1).to(v.dtype),
        "reduce_any": lambda v: (v != 0).any(-1).to(v.dtype),
    }
    return functions[node.kind](rows).reshape([concrete(size) for size in node.shape])


def _pairs(rows: torch.Tensor, combine: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], empty: int) -> torch.Tensor:
    """Combine the last dim pair by pair in the tensor's dtype."""
    import torch

    while rows.shape[-1] > 1:
        half = rows.shape[-1] // 2
        combined = combine(rows[..., :half], rows[..., half : 2 * half])
        rows = torch.cat([combined, rows[..., 2 * half :]], -1) if rows.shape[-1] % 2 else combined
    return rows[..., 0] if rows.shape[-1] else rows.new_full(rows.shape[:-1], empty)
