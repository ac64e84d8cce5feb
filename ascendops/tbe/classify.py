"""classify: the shapes that the source of a dynamic operator gets to see.

The DSL fuses neighbouring axes that are treated alike and hands the source symbolic sizes. The twin does the same for the shapes of the call,
so a source that takes ranks or axes from anywhere else than from classify fails here as it does on the device.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ascendops.errors import TbeShapeError, TbeUnsupported, did_you_mean
from ascendops.tbe.functions.reductions import axes_of
from ascendops.tbe.graph import Dim, Tensor, caller, concrete

REAL = "_sizes"
"""Key of an input dict that holds the sizes of the call; `shape` has -1 for those that the source must not know."""

Input = dict[str, Any]


def real(item: Mapping[str, Any]) -> list[int]:
    """The sizes of the call."""
    return [concrete(size) for size in item.get(REAL, item["shape"])]


def _fused(item: Input, sizes: Sequence[int], hidden: bool, **more: Any) -> Input:
    shape = [size if size == 1 or not hidden else -1 for size in sizes]
    ranges = [(size, size) if size != -1 else (1, None) for size in shape]
    return {**item, "shape": tuple(shape), "ori_shape": tuple(shape), "range": ranges, REAL: list(sizes), **more}


def _hidden(items: Sequence[Any]) -> bool:
    return any(-1 in item["shape"] for item in _each(items))


def _each(items: Sequence[Any]) -> list[Input]:
    return [one for item in items for one in (item if isinstance(item, list | tuple) else [item]) if isinstance(one, dict)]


def _map(items: Sequence[Any], function: Callable[[Input], Input]) -> list[Any]:
    return [[function(one) for one in item] if isinstance(item, list | tuple) else function(item) for item in items]


def elewise(ins: Sequence[Any], _extra: Mapping[str, Any]) -> list[Any]:
    """All axes are one; every tensor has the same sizes.

    Raises:
        TbeShapeError: They differ.
    """
    shapes = {tuple(real(item)) for item in _each(ins)}
    if len(shapes) > 1:
        raise TbeShapeError(f"classify with ELEWISE was given {' and '.join(map(str, sorted(shapes)))}", where=caller(), help="use OpPatternMode.ELEWISE_WITH_BROADCAST")
    hidden = _hidden(ins)
    return _map(ins, lambda item: _fused(item, [math.prod(real(item))], hidden, mode="elewise" if hidden else "const"))


def broadcast(ins: Sequence[Any], _extra: Mapping[str, Any]) -> list[Any]:
    """Neighbouring axes that the same tensors stretch are one; all tensors get the same rank.

    Raises:
        TbeShapeError: The shapes do not broadcast.
    """
    items = _each(ins)
    rank = max(len(real(item)) for item in items)
    padded = {id(item): [1] * (rank - len(real(item))) + real(item) for item in items}
    columns = list(zip(*padded.values(), strict=True)) or [(1,) * len(items)]
    for column in columns:
        if len({size for size in column if size != 1}) > 1:
            raise TbeShapeError(f"the shapes {' and '.join(str(real(item)) for item in items)} do not broadcast", where=caller())
    wide = [column for column in columns if any(size != 1 for size in column)] or [columns[-1]]
    groups = [list(group) for _, group in itertools.groupby(wide, key=lambda column: tuple(size == 1 for size in column))]
    hidden = _hidden(ins)
    position = {id(item): index for index, item in enumerate(items)}

    def fuse(item: Input) -> Input:
        index = position[id(item)]
        return _fused(item, [math.prod(column[index] for column in group) for group in groups], hidden, mode="original" if hidden else "const")

    return _map(ins, fuse)


def _reduced_groups(sizes: Sequence[int], axes: Sequence[int]) -> tuple[list[list[int]], list[int]]:
    """Neighbouring axes of one kind, without axes of 1 where others remain, and which groups are reduced."""
    kept = [i for i, size in enumerate(sizes) if size != 1] or list(range(len(sizes)))[-1:]
    if axes and not any(i in axes for i in kept):
        kept = sorted({*kept, axes[0]})
    groups = [list(group) for _, group in itertools.groupby(kept, key=lambda i: i in axes)]
    return groups, [index for index, group in enumerate(groups) if group[0] in axes]


def reduce(ins: Sequence[Any], _extra: Mapping[str, Any]) -> list[Any]:
    """[x, {"value": axes}]: axes of one kind are one; the axes come back in the new numbering."""
    axis_item = next(item for item in ins if isinstance(item, dict) and item.get("rel_pos_to_reduce") == "axis")
    tensors = [item for item in ins if item is not axis_item]
    sizes = real(next(one for one in _each(tensors) if one.get("rel_pos_to_reduce", "before") == "before"))
    value = axis_item.get("_values", axis_item.get("value"))
    axes = axes_of("classify", value if value is not None else range(len(sizes)), len(sizes)) if sizes else []
    groups, reduced = _reduced_groups(sizes, axes)
    hidden = _hidden(tensors)

    def fuse(item: Input) -> Input:
        if item is axis_item:
            return {**item, "shape": (len(reduced),), REAL: [len(reduced)], "value": reduced}
        mine = real(item)
        aligned = mine if len(mine) == len(sizes) else _with_ones(mine, len(sizes), axes)
        return _fused(item, [math.prod(aligned[i] for i in group) for group in groups], hidden, mode="common")

    return _map(ins, fuse)


def _with_ones(sizes: Sequence[int], rank: int, axes: Sequence[int]) -> list[int]:
    rest = iter(sizes)
    return [1 if i in axes else next(rest) for i in range(rank)]


def norm(ins: Sequence[Any], _extra: Mapping[str, Any]) -> list[Any]:
    """[x, ..., axes]: like reduce, with the axes as a plain list; a tensor of input_type 1 and up has 1 where it is stretched."""
    axes_given = ins[-1]
    tensors = list(ins[:-1])
    sizes = real(_each(tensors)[0])
    axes = axes_of("classify", axes_given, len(sizes))
    groups, reduced = _reduced_groups(sizes, axes)
    hidden = _hidden(tensors)

    def fuse(item: Input) -> Input:
        mine = real(item)
        aligned = [1] * (len(sizes) - len(mine)) + mine
        return _fused(item, [math.prod(aligned[i] for i in group) for group in groups], hidden, mode="common")

    return [*_map(tensors, fuse), reduced]


_MODES: dict[str, Callable[[Sequence[Any], Mapping[str, Any]], list[Any]]] = {
    "elewise": elewise, "broadcast": broadcast, "reduce": reduce, "norm": norm, "tuple_reduce": reduce,
}  # fmt: skip


def classify(ins: Sequence[Any], mode: str, extra_params: Mapping[str, Any] | None = None) -> list[Any]:
    """The variants of an operator's inputs: here the one that the call needs.

    Raises:
        TbeUnsupported: The pattern is not one that the twin fuses.
    """
    function = _MODES.get(mode)
    if function is None:
        raise TbeUnsupported(f"classify knows no pattern '{mode}' in the TBE twin", where=caller(), help=did_you_mean(mode, _MODES))
    return [function(ins, extra_params or {})]


def variable_shape(inputs: Sequence[Any], op_mode: str = "elewise") -> list[list[Any]]:
    """The shape of each input with a variable for each size that is not known; one axis has one variable in all inputs."""
    found: list[list[Any]] = []
    shared: dict[tuple[int, int], Dim] = {}
    items = [item for item in inputs if isinstance(item, dict) and item.get("rel_pos_to_reduce") != "axis"]
    rank = max((len(item["shape"]) for item in items), default=0)
    for item in items:
        shape = []
        sizes = real(item)
        for index, size in enumerate(item["shape"]):
            place = (rank - len(item["shape"]) + index, sizes[index])
            shape.append(shared.setdefault(place, Dim(sizes[index], f"_dim_{place[0]}")) if size == -1 else size)
        found.append(shape)
    return found


def placeholder(shape: Any, dtype: Any = "float32", name: str = "placeholder", attrs: Any = None) -> Tensor:
    """tvm.placeholder: an input of the graph.

    Raises:
        TbeShapeError: A size is negative.
    """
    from ascendops.tbe import dtypes

    sizes = list(shape) if isinstance(shape, list | tuple) else [shape]
    if any(isinstance(size, int) and size < 0 for size in sizes):
        raise TbeShapeError(f"placeholder '{name}' was given the shape {sizes}", where=caller(), help="take the shape from shape_util.variable_shape")
    return Tensor("placeholder", dtypes.name(dtype or "float32"), sizes, [], attrs, name)
