"""tbe.common.utils.shape_util: what operators use of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ascendops.errors import TbeParameterError, TbeShapeError
from ascendops.tbe.classify import variable_shape
from ascendops.tbe.functions.reductions import axes_of
from ascendops.tbe.graph import Const, Dim, caller, concrete

__all__ = [
    "axis_check", "broadcast_shapes", "compare_tensor_dict_key", "produce_shapes", "refine_shape_axes", "refine_shapes_for_broadcast",
    "scalar2tensor_one", "shape_refine", "shape_to_list", "simplify_axis_shape", "squeeze_shape", "unify_broadcast_shapes", "variable_shape",
    "wrap_axes_to_positive",
]  # fmt: skip


def shape_to_list(shape: Any) -> list[Any]:
    """A shape as a list of numbers and variables."""
    return [size.value if isinstance(size, Const) else size for size in shape]


def scalar2tensor_one(shape: Any) -> Any:
    """`[1]` for the shape of a scalar."""
    return shape if isinstance(shape, list | tuple) and len(shape) else [1] if isinstance(shape, list) else (1,)


def _larger(left: Any, right: Any, shapes: Sequence[Any]) -> Any:
    if concrete(left) == concrete(right):
        return left if isinstance(left, Dim) or not isinstance(right, Dim) else right
    if 1 not in (concrete(left), concrete(right)):
        raise TbeShapeError(f"the shapes {' and '.join(map(str, shapes))} do not broadcast", where=caller())
    return right if concrete(left) == 1 else left


def unify_broadcast_shapes(shapes: Sequence[Any], op_name: str = "") -> list[list[Any]]:
    """The shapes with 1s in front up to one rank, and at the end the shape that all broadcast to.

    Raises:
        TbeShapeError: They do not broadcast.
    """
    rank = max(map(len, shapes))
    padded = [[1] * (rank - len(shape)) + list(shape) for shape in shapes]
    widest = padded[0]
    for other in padded[1:]:
        widest = [_larger(left, right, shapes) for left, right in zip(widest, other, strict=True)]
    return [*padded, widest]


def broadcast_shapes(
    shape1: Any, shape2: Any, op_name: str = "", param_name_input1: str = "", param_name_input2: str = ""
) -> tuple[list[Any], list[Any], list[Any]]:  # fmt: skip
    """Both shapes at one rank, and the shape they broadcast to."""
    left, right, widest = unify_broadcast_shapes([shape1, shape2])
    return left, right, widest


produce_shapes = broadcast_shapes


def refine_shapes_for_broadcast(shape1: Any, shape2: Any) -> tuple[list[Any], list[Any]]:
    """Both shapes with neighbouring axes of one kind fused."""
    left, right, _ = unify_broadcast_shapes([shape1, shape2])
    fused: list[list[Any]] = [[], []]
    last = None
    for a, b in zip(left, right, strict=True):
        kind = (concrete(a) == 1, concrete(b) == 1)
        if kind == (True, True):
            continue
        if kind == last:
            fused[0][-1], fused[1][-1] = fused[0][-1] * a, fused[1][-1] * b
        else:
            fused[0].append(a)
            fused[1].append(b)
        last = kind
    return (fused[0], fused[1]) if fused[0] else ([1], [1])


def axis_check(shape_len: int, axis: Any) -> Any:
    """The axes as sorted numbers of 0 to shape_len - 1; a single axis stays single."""
    found = axes_of("axis_check", axis, shape_len)
    return found if isinstance(axis, list | tuple | range) else found[0]


def wrap_axes_to_positive(axes: Sequence[int], rank: int) -> list[int]:
    """The axes without negative numbers, in their order."""
    return [axis % rank for axis in axes]


def squeeze_shape(shape: Sequence[Any]) -> list[Any]:
    """The shape without 1s; `[1]` if nothing else is there."""
    return [size for size in shape if concrete(size) != 1] or [1]


def refine_shape_axes(shape: Sequence[Any], axes: Sequence[int]) -> tuple[list[Any], list[int]]:
    """Neighbouring axes of one kind fused, 1s dropped, and the reduced axes in the new numbering."""
    reduced = set(wrap_axes_to_positive(list(axes), len(shape)))
    sizes: list[Any] = []
    kinds: list[bool] = []
    for index, size in enumerate(shape):
        if concrete(size) == 1:
            continue
        if kinds and kinds[-1] == (index in reduced):
            sizes[-1] = sizes[-1] * size
        else:
            sizes.append(size)
            kinds.append(index in reduced)
    return (sizes, [i for i, kind in enumerate(kinds) if kind]) if sizes else ([1], [])


simplify_axis_shape = refine_shape_axes


def shape_refine(shape: Sequence[Any], reduce_axis: Any = None, keep_dims: bool = True) -> Any:
    """The shape without 1s, and the reduced axes in the new numbering if there are any."""
    if reduce_axis is None:
        return tuple(squeeze_shape(shape))
    sizes, axes = refine_shape_axes(shape, list(reduce_axis) if isinstance(reduce_axis, list | tuple) else [reduce_axis])
    return sizes, axes


def compare_tensor_dict_key(dict1: Any, dict2: Any, dict_key: str) -> None:
    """Refuses two input dicts that differ in a key.

    Raises:
        TbeParameterError: They do, or one lacks it.
    """
    values = [one.get(dict_key) for one in (dict1, dict2)]
    plain = [list(value) if isinstance(value, list | tuple) else str(value).lower() for value in values]
    if None in values or plain[0] != plain[1]:
        raise TbeParameterError(f"'{dict_key}' of both must be equal, but is {values[0]} and {values[1]}", where=caller())
