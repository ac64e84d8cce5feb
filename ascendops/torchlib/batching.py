"""torch.vmap of a registered operator: one call over the batch where the declared shapes allow it, else one call per item."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from ascendops.build.operator import Operator
    from ascendops.spec.model import OpSpec, TensorSpec


def register(qualified: str, operator: Operator, library: torch.library.Library) -> None:
    """Gives the operator its vmap rule; operators that write to inputs, and those without op.toml, have none."""
    spec = operator.spec
    if spec is None or any(t.mutated for t in spec.inputs) or any(arg.kwarg_only and arg.is_tensor for arg in spec.schema.arguments):
        return
    torch.library.register_vmap(qualified, _rule(qualified, spec), lib=library)


def _rule(qualified: str, spec: OpSpec) -> Callable[..., Any]:
    namespace, name = qualified.split("::")
    names = [arg.name for arg in spec.schema.arguments if not arg.kwarg_only]
    axis = leading_axis(spec)

    def rule(info: Any, in_dims: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
        op = getattr(getattr(torch.ops, namespace), name)
        dims = dict(zip(names, in_dims, strict=False))
        if axis is not None and _whole(spec, axis, dims):
            results = op(*(_front(spec, axis, each, value, dims[each], info.batch_size) for each, value in zip(names, args, strict=False)), **kwargs)
        else:
            each_item = [op(*(_item(value, dims[each], i) for each, value in zip(names, args, strict=False)), **kwargs) for i in range(info.batch_size)]
            many = len(spec.outputs) > 1
            results = tuple(torch.stack(parts) for parts in zip(*each_item, strict=True)) if many else torch.stack(each_item)
        return results, (0,) * len(results) if isinstance(results, tuple) else 0

    return rule


def leading_axis(spec: OpSpec) -> str | None:
    """The variadic axis that leads every tensor that has a batch (`*batch`): one more leading dim is one more row; None without one.

    An operator with whole numbers as attributes has none: they may count dims from the front.
    """
    if any(attr.type.startswith("int") for attr in spec.attrs):
        return None
    named: set[str] = set()
    for tensor in spec.inputs:
        axis = _leading(tensor)
        if tensor.variadic or tensor.shape.rule is not None or (axis is None and tensor.shape.variadic is not None):
            return None
        named |= {axis} if axis else set()
    if len(named) != 1:
        return None
    axis = named.pop()
    by_name = {tensor.name: tensor for tensor in spec.inputs}
    for tensor in spec.outputs:
        like = by_name.get(tensor.shape.tensors[0]) if tensor.shape.rule == "same" else tensor
        if like is None or like.shape.rule is not None or _leading(like) != axis:
            return None
    reads = {name for tensor in spec.outputs for dim in tensor.shape.dims for name in (*dim.expr.names, *dim.expr.tensors) if not dim.variadic}
    return None if axis in reads or reads & set(by_name) else axis


def _leading(tensor: TensorSpec) -> str | None:
    dims = tensor.shape.dims
    return dims[0].expr.axis if dims and dims[0].variadic else None


def _whole(spec: OpSpec, axis: str, dims: dict[str, Any]) -> bool:
    """Whether only tensors with the leading axis are batched (a weight per item needs a call per item)."""
    return all(dims.get(tensor.name) is None or _leading(tensor) == axis for tensor in spec.inputs)


def _front(spec: OpSpec, axis: str, name: str, value: Any, dim: int | None, size: int) -> Any:
    tensor = next((t for t in spec.inputs if t.name == name), None)
    if tensor is None or value is None or _leading(tensor) != axis:
        return value
    return value.movedim(dim, 0) if dim is not None else value.expand(size, *value.shape)


def _item(value: Any, dim: Any, index: int) -> Any:
    if isinstance(value, (list, tuple)) and isinstance(dim, (list, tuple)):
        return [_item(one, each, index) for one, each in zip(value, dim, strict=True)]
    return value.select(dim, index) if isinstance(dim, int) and isinstance(value, torch.Tensor) else value
