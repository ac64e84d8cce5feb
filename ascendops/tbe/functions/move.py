"""Functions that move data: broadcast, concat, split, transpose, slices, gathers, updates in place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ascendops.errors import TbeDtypeError, TbeParameterError, TbeShapeError
from ascendops.tbe import dtypes
from ascendops.tbe.functions.base import dsl, evaluates, tensor
from ascendops.tbe.functions.reductions import axes_of
from ascendops.tbe.graph import Const, Tensor, caller, concrete, number

if TYPE_CHECKING:
    import torch


@dsl
def broadcast(var_: Any, shape: Any, output_dtype: str | None = None) -> Tensor:
    """A number or tensor stretched to a shape; a tensor's dims of 1 are repeated, missing ones come in front.

    Raises:
        TbeShapeError: A dim is neither 1 nor the wanted size, or the tensor has more dims.
        TbeDtypeError: `output_dtype` is another dtype than the tensor's.
    """
    sizes = list(shape) if isinstance(shape, list | tuple) else [shape]
    if not isinstance(var_, Tensor):
        dtype = output_dtype or (var_.dtype if isinstance(var_, Const) else "float16")
        return Tensor("fill", dtypes.name(dtype), sizes, [], {"scalar": number(var_)})
    mine, wanted = var_.sizes, tuple(concrete(size) for size in sizes)
    padded = (1,) * (len(wanted) - len(mine)) + mine
    if len(mine) > len(wanted) or any(have not in (1, want) for have, want in zip(padded, wanted, strict=True)):
        raise TbeShapeError(f"tbe.dsl.broadcast cannot stretch {var_.shape} to {sizes}", where=caller(), help="a dim must be 1 or the wanted size")
    if output_dtype is not None and dtypes.name(output_dtype) != var_.dtype:
        raise TbeDtypeError(f"tbe.dsl.broadcast was given {var_.dtype} and output_dtype {output_dtype}", where=caller(), help="cast with tbe.cast_to")
    return Tensor("broadcast", var_.dtype, sizes, [var_])


@dsl
def concat(raw_tensors: Any, axis: int) -> Tensor:
    """Tensors one after the other along an axis.

    Raises:
        TbeDtypeError: The dtypes differ.
        TbeShapeError: The shapes differ in another axis.
    """
    parts = [tensor("concat", one) for one in raw_tensors]
    (at,) = axes_of("concat", axis, parts[0].ndim)
    for one in parts:
        if one.dtype != parts[0].dtype:
            raise TbeDtypeError(f"tbe.dsl.concat was given {parts[0].dtype} and {one.dtype}", where=caller(), help="cast with tbe.cast_to")
        if [s for i, s in enumerate(one.sizes) if i != at] != [s for i, s in enumerate(parts[0].sizes) if i != at]:
            raise TbeShapeError(f"tbe.dsl.concat was given {parts[0].shape} and {one.shape} along axis {axis}", where=caller())
    shape = [sum(one.sizes[at] for one in parts) if i == at else size for i, size in enumerate(parts[0].shape)]
    return Tensor("concat", parts[0].dtype, shape, parts, {"axis": at})


@dsl
def split(data: Any, split_dim: int, size_splits: Any) -> list[Tensor]:
    """The parts of a tensor along an axis, of the given sizes.

    Raises:
        TbeShapeError: The sizes do not add up to that of the axis.
    """
    whole = tensor("split", data)
    (at,) = axes_of("split", split_dim, whole.ndim)
    sizes = [concrete(size) for size in size_splits]
    if sum(sizes) != whole.sizes[at]:
        raise TbeShapeError(f"tbe.dsl.split was given sizes {list(size_splits)} for {whole.shape[at]} elements", where=caller())
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    return [
        Tensor("narrow", whole.dtype, [size if i == at else s for i, s in enumerate(whole.shape)], [whole], {"axis": at, "start": start})
        for start, size in zip(starts, sizes, strict=True)
    ]


@dsl
def transpose(tensor_: Any, axes: Any) -> Tensor:
    """Axes in another order.

    Raises:
        TbeParameterError: `axes` does not name every axis once.
    """
    whole = tensor("transpose", tensor_)
    order = [int(number(axis)) for axis in axes]
    if sorted(order) != list(range(whole.ndim)):
        raise TbeParameterError(f"axes {order} of tbe.dsl.transpose are no order of {whole.ndim} dims", where=caller())
    return Tensor("transpose", whole.dtype, [whole.shape[i] for i in order], [whole], {"axes": order})


@dsl
def slice_(tensor_: Any, begin: Any, end: Any, stride: Any = None) -> Tensor:
    """tensor[begin:end:stride] in every dim.

    Raises:
        TbeShapeError: A range leaves its dim, a stride is below 1, or there are not as many as dims.
    """
    whole = tensor("slice", tensor_)
    steps = [1] * whole.ndim if stride is None else [concrete(s) for s in stride]
    ranges = list(zip(map(concrete, begin), map(concrete, end), steps, strict=True))
    if len(ranges) != whole.ndim or any(not 0 <= b <= e <= n or s < 1 for (b, e, s), n in zip(ranges, whole.sizes, strict=False)):
        raise TbeShapeError(f"tbe.dsl.slice was given {begin}, {end}, {stride} for {whole.shape}", where=caller())
    return Tensor("slice", whole.dtype, [len(range(*one)) for one in ranges], [whole], {"ranges": ranges})


@dsl
def set_value(tensor_: Any, condition: Callable[..., Any], value: Any) -> Tensor:
    """`value` (a number or a function of the indices) where `condition(*indices)` holds, else the tensor."""
    whole = tensor("set_value", tensor_)
    return Tensor("set_value", whole.dtype, whole.shape, [whole], {"condition": condition, "value": value})


@dsl
def gather(
    params: Any, indices: Any, axis: Any = None, batch_dims: int = 0, negative_index_support: bool = False, support_out_of_bound_index: bool = True
) -> Tensor:  # fmt: skip
    """Slices of params along an axis at the indices; an index out of bounds gives zeros if that is supported, else it is refused.

    Raises:
        TbeDtypeError: The indices are neither int32 nor int64.
    """
    table, where = tensor("gather", params), tensor("gather", indices, "second")
    at = batch_dims if axis is None else int(number(axis)) % max(table.ndim, 1)
    if where.dtype not in ("int32", "int64"):
        raise TbeDtypeError(f"the indices of tbe.dsl.gather are {where.dtype}", where=caller(), help="int32 or int64")
    shape = [*table.shape[:at], *where.shape[batch_dims:], *table.shape[at + 1 :]]
    attrs = {"axis": at, "batch": batch_dims, "negative": negative_index_support, "zeros": support_out_of_bound_index}
    return Tensor("gather", table.dtype, shape, [table, where], attrs)


@dsl
def gather_nd(params: Any, indices: Any, batch_dims: int = 0, negative_index_support: bool = False, support_out_of_bound_index: bool = True) -> Tensor:
    """Slices of params at index tuples, the last dim of `indices`.

    Raises:
        TbeParameterError: `batch_dims` is not 0.
    """
    table, where = tensor("gather_nd", params), tensor("gather_nd", indices, "second")
    if batch_dims:
        raise TbeParameterError("batch_dims of tbe.dsl.gather_nd must be 0 in the TBE twin", where=caller())
    depth = where.sizes[-1]
    attrs = {"negative": negative_index_support, "zeros": support_out_of_bound_index}
    return Tensor("gather_nd", table.dtype, [*where.shape[:-1], *table.shape[depth:]], [table, where], attrs)


def _inplace(function: str, lhs: Any, ids: Any, rhs: Any) -> Tensor:
    left, right = tensor(function, lhs), tensor(function, rhs, "third")
    rows = [int(number(one)) for one in (ids if isinstance(ids, list | tuple) else [ids])]
    if left.dtype != right.dtype:
        raise TbeDtypeError(f"tbe.dsl.{function} was given {left.dtype} and {right.dtype}", where=caller())
    if any(not 0 <= row < left.sizes[0] for row in rows) or right.sizes != (len(rows), *left.sizes[1:]):
        raise TbeShapeError(f"tbe.dsl.{function} was given rows {rows} of {left.shape} and values {right.shape}", where=caller())
    return Tensor(function, left.dtype, left.shape, [left, right], {"rows": rows})


@dsl
def inplace_add(lhs: Any, inplace_ids: Any, rhs: Any) -> Tensor:
    """Lhs with rhs[i] added to row inplace_ids[i]."""
    return _inplace("inplace_add", lhs, inplace_ids, rhs)


@dsl
def inplace_sub(lhs: Any, inplace_ids: Any, rhs: Any) -> Tensor:
    """Lhs with rhs[i] subtracted from row inplace_ids[i]."""
    return _inplace("inplace_sub", lhs, inplace_ids, rhs)


@dsl
def inplace_update(lhs: Any, inplace_ids: Any, rhs: Any) -> Tensor:
    """Lhs with row inplace_ids[i] replaced by rhs[i]."""
    return _inplace("inplace_update", lhs, inplace_ids, rhs)


@evaluates("fill", "broadcast", "concat", "narrow", "transpose", "slice")
def _moved(node: Tensor, data: Sequence[torch.Tensor]) -> torch.Tensor:
    import torch

    if node.kind == "fill":
        return torch.full(node.sizes, node.attrs["scalar"], dtype=dtypes.torch_dtype(node.dtype))
    if node.kind == "broadcast":
        return data[0].broadcast_to(node.sizes)
    if node.kind == "concat":
        return torch.cat(list(data), node.attrs["axis"])
    if node.kind == "narrow":
        axis = node.attrs["axis"]
        return data[0].narrow(axis, node.attrs["start"], node.sizes[axis])
    if node.kind == "transpose":
        return data[0].permute(node.attrs["axes"])
    return data[0][tuple(slice(*one) for one in node.attrs["ranges"])]


@evaluates("set_value")
def _set(node: Tensor, data: Sequence[torch.Tensor]) -> torch.Tensor:
    import torch

    indices = torch.meshgrid(*(torch.arange(size) for size in node.sizes), indexing="ij")
    value = node.attrs["value"]
    new = value(*indices) if callable(value) else number(value)
    return torch.where(node.attrs["condition"](*indices), torch.as_tensor(new, dtype=data[0].dtype), data[0])


@evaluates("gather", "gather_nd")
def _gathered(node: Tensor, data: Sequence[torch.Tensor]) -> torch.Tensor:
    import torch

    table, where = data[0], data[1].to(torch.int64)
    if node.kind == "gather_nd":
        depth = where.shape[-1]
        limits = torch.tensor(table.shape[:depth])
        bad = ((where < 0) | (where >= limits)).any(-1)
        found = table[tuple(where.where(~bad.unsqueeze(-1), torch.zeros_like(where)).unbind(-1))]
        return _without_bad(node, found, bad, 0)
    axis, batch = node.attrs["axis"], node.attrs["batch"]
    if node.attrs["negative"]:
        where = torch.where(where < 0, where + table.shape[axis], where)
    bad = (where < 0) | (where >= table.shape[axis])
    safe = where.where(~bad, torch.zeros_like(where))
    if batch:
        rows = [_take(t, i, axis - batch) for t, i in zip(table.flatten(0, batch - 1), safe.flatten(0, batch - 1), strict=True)]
        found = torch.stack(rows).reshape(node.sizes)
        return _without_bad(node, found, bad, batch if axis == batch else -1)
    return _without_bad(node, _take(table, safe, axis), bad, axis)


def _take(table: torch.Tensor, where: torch.Tensor, axis: int) -> torch.Tensor:
    found: torch.Tensor = table.index_select(axis, where.flatten()).unflatten(axis, where.shape or (1,))
    return found


def _without_bad(node: Tensor, found: torch.Tensor, bad: torch.Tensor, axis: int) -> torch.Tensor:
    if not bool(bad.any()):
        return found.reshape(node.sizes)
    if not node.attrs["zeros"] or axis != 0:
        raise TbeParameterError(f"an index of tbe.dsl.{node.kind} is out of bounds", where=node.where)
    mask = bad.reshape(*bad.shape, *[1] * (found.dim() - bad.dim()))
    return found.masked_fill(mask, 0).reshape(node.sizes)


@evaluates("inplace_add", "inplace_sub", "inplace_update")
def _updated(node: Tensor, data: Sequence[torch.Tensor]) -> torch.Tensor:
    out = data[0].clone()
    for i, row in enumerate(node.attrs["rows"]):
        new = data[1][i]
        out[row] = new if node.kind == "inplace_update" else out[row] + new if node.kind == "inplace_add" else out[row] - new
    return out
