"""Shapes and dtypes of a call's outputs: what the compiled InferShape and InferDataType say, held against op.toml."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ascendops.build import outputs as places
from ascendops.build.call import TensorArg
from ascendops.build.signature import Bound
from ascendops.build.tensors import describe
from ascendops.errors import InputError, OpHostError

if TYPE_CHECKING:
    from ascendops.build.operator import Operator


def output_shapes(
    operator: Operator, bound: Bound, tensors: Mapping[str, TensorArg], inputs: Sequence[Any], given: Sequence[Any]
) -> tuple[list[Any], tuple[str, ...]]:
    """Output shapes (a list of them for a dynamic output), and what had to be assumed for them.

    With an op.toml the compiled InferShape must agree with its shape rule. Without one the shapes of `out` count, then InferShape's,
    then the broadcast of the inputs.

    Raises:
        OpHostError: InferShape fails or disagrees with op.toml, or nothing says what the shapes are.
        InputError: InferShape leaves sizes open, and no `out` has them.
    """
    declared = None
    if operator.spec is not None:
        shapes = {name: [tuple(one.shape) for one in t] if isinstance(t, list) else None if t is None else tuple(t.shape) for name, t in tensors.items()}
        declared = [tuple(shape) for shape in operator.spec.output_shapes(shapes, bound.attrs)]
    elif given and len(given) == len(operator.definition.outputs):
        return [[tuple(t.shape) for t in each] if isinstance(each, (list, tuple)) else tuple(each.shape) for each in given], ()
    if not operator.definition.has_infershape:
        return _assumed_shapes(operator, tensors, "registers no InferShape") if declared is None else (declared, ())
    sizes = places.counts(operator.definition, tensors)
    inferred, touched = operator.host.inferred_shapes(operator.definition.op_type, inputs, bound.attrs, output_counts=sizes)
    if not touched and declared is None:
        return _assumed_shapes(operator, tensors, "has an InferShape that sets no shape")
    if declared is not None and inferred != declared:
        why = f"op_host says {inferred}, op.toml says {declared} for {describe(list(tensors.items()))}"
        raise OpHostError(f"InferShape of {operator.definition.op_type} disagrees with op.toml", where=operator.where, why=why)
    if any(size < 0 for shape in inferred for size in shape):
        what = f"InferShape of {operator.definition.op_type} leaves sizes open: {[list(shape) for shape in inferred]}"
        raise InputError(what, where=operator.where, help="pass output tensors that are large enough with out=")
    return places.nest(operator.definition, inferred, sizes), ()


def _assumed_shapes(operator: Operator, tensors: Mapping[str, TensorArg], lack: str) -> tuple[list[Any], tuple[str, ...]]:
    import torch

    op = operator.definition.op_type
    if not operator.definition.outputs:  # it writes into its inputs
        return [], ()
    shapes = [t.shape for t in tensors.values() if t is not None and not isinstance(t, list)]
    try:
        shape: tuple[int, ...] = tuple(torch.broadcast_shapes(*shapes))
    except RuntimeError as error:
        what = f"{op} {lack}, and its inputs do not broadcast, so its output shapes are not known"
        raise OpHostError(what, where=operator.where, why=describe(list(tensors.items())), help="pass the output tensors with out=") from error
    lists = [[tuple(t.shape) for t in value] for value in tensors.values() if isinstance(value, list)]
    assumed = [lists[0] if lists and param.param_type == "dynamic" else shape for param in operator.definition.outputs]
    return assumed, (f"{op} {lack}: its outputs were given the inputs' broadcast shape {list(shape)}",)


def output_dtypes(operator: Operator, inputs: Sequence[Any], bound: Bound, column: int) -> list[str]:
    """Dtypes of the outputs in a column.

    Raises:
        OpHostError: InferDataType disagrees with the column.
    """
    columns = [param.dtypes[column] for param in operator.definition.outputs]
    if operator.spec is None or not operator.definition.has_inferdtype:
        return columns
    inferred = operator.host.infer_dtype(operator.definition.op_type, inputs, bound.attrs)
    if inferred != columns:
        why = f"op_host says {inferred}, the dtype column says {columns}"
        raise OpHostError(f"InferDataType of {operator.definition.op_type} disagrees with its dtype columns", where=operator.where, why=why)
    return columns
