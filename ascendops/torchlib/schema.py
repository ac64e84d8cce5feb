"""The schema string that PyTorch gets, from op.toml or from an OpDef."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ascendops.build.operator import Operator
    from ascendops.spec.schema import FunctionSchema


def torch_schema(operator: Operator) -> str:
    """The operator's schema in PyTorch's grammar, e.g. `softmax(Tensor x) -> Tensor`."""
    if operator.spec is not None:
        return _from_schema(operator.name, operator.spec.schema)
    parts = [f"{p.type} {p.name}" + ("" if p.required else f"={_default(p.default)}") for p in operator.signature.parameters]
    return f"{operator.name}({', '.join(parts)}) -> {_returns(['Tensor'] * len(operator.outputs))}"


def _from_schema(name: str, schema: FunctionSchema) -> str:
    parts: list[str] = []
    for argument in schema.arguments:
        if argument.kwarg_only and "*" not in parts:
            parts.append("*")
        parts.append(f"{argument.type} {argument.name}" + ("" if argument.required else f"={_default(argument.default)}"))
    return f"{name}({', '.join(parts)}) -> {_returns([str(item.type) for item in schema.returns])}"


def _returns(types: list[str]) -> str:
    return types[0] if len(types) == 1 else f"({', '.join(types)})"


def _default(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(_default(item) for item in value)}]"
    return f'"{value}"' if isinstance(value, str) else str(value)
