"""Floating-point operations and bytes of one call, from the [cost] expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ascendops.errors import CostError, ExprError
from ascendops.spec.dtypes import BY_NAME
from ascendops.spec.evaluate import Env, product
from ascendops.spec.expr import Expr
from ascendops.spec.shapes import bind, infer_bound

if TYPE_CHECKING:
    from ascendops.spec.model import OpSpec


def cost(spec: OpSpec, shapes: Mapping[str, Any], attrs: Mapping[str, Any], column: int) -> tuple[int, int]:
    """(floating-point operations, bytes of GM traffic) of one call; bytes default to every tensor once.

    Raises:
        ShapeMismatch: The shapes do not fit the declaration.
        CostError: An expression cannot be evaluated for this call.
    """
    binding = bind(spec, shapes, attrs)
    infer_bound(spec, binding)
    itemsizes = {t.name: BY_NAME[t.dtypes[column]].itemsize for t in (*spec.inputs, *spec.outputs)}
    env = Env(binding.values, binding.shapes, itemsizes)
    flops = _evaluate(spec.flops, env) if spec.flops is not None else 0
    if spec.bytes is not None:
        return flops, _evaluate(spec.bytes, env)
    outputs = (t for t in spec.outputs)
    return flops, sum(_nbytes(binding.shapes[t.name], itemsizes[t.name]) for t in (*spec.inputs, *outputs))


def _nbytes(shape: Sequence[Any] | None, itemsize: int) -> int:
    if shape is None:
        return 0
    return int(sum(product(item) for item in shape) if isinstance(shape, list) else product(shape)) * itemsize


def _evaluate(expr: Expr, env: Env) -> int:
    try:
        return int(expr.evaluate(env))
    except ExprError as error:
        raise CostError(f"the cost '{expr.text}' has no value here: {error.what}", where=expr.where, help=error.help) from None
