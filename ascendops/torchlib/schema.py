"""The schema strings that PyTorch gets, from op.toml or from an OpDef."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ascendops.build.operator import Operator
    from ascendops.spec.model import OpSpec
    from ascendops.spec.schema import FunctionSchema

MUTATE = "mutate"  # overload that writes to its inputs and returns only new tensors: the one form of mutation that PyTorch can trace


def torch_schema(operator: Operator) -> str:
    """The operator's schema in PyTorch's grammar, e.g. `softmax(Tensor x) -> Tensor`."""
    if operator.spec is not None:
        schema = operator.spec.schema
        return f"{operator.name}({_arguments(schema)}) -> {_returns([str(item.type) for item in schema.returns])}"
    parts = [f"{p.type} {p.name}" + ("" if p.required else f"={_default(p.default)}") for p in operator.signature.parameters]
    return f"{operator.name}({', '.join(parts)}) -> {_returns(['Tensor'] * len(operator.outputs))}"


def returns_alias(spec: OpSpec) -> bool:
    """Whether the schema returns an input that it writes to."""
    return any(item.type.alias is not None for item in spec.schema.returns)


def mutate_schema(spec: OpSpec) -> str:
    """The schema without the returned inputs: `scatter.mutate(Tensor(a!) cache, Tensor x) -> ()`."""
    fresh = [str(item.type) for item in spec.schema.returns if item.type.alias is None]
    return f"{spec.name}.{MUTATE}({_arguments(spec.schema)}) -> {_returns(fresh)}"


def variant_schemas(spec: OpSpec) -> dict[str, str]:
    """The schemas of the variants that [torch] declares, by variant."""
    found: dict[str, str] = {}
    arguments, outputs = _arguments(spec.schema), [tensor.name for tensor in spec.outputs]
    if "out" in spec.torch.variants:
        names = ["out"] if len(outputs) == 1 else outputs
        aliases = [f"Tensor({chr(ord('a') + i)}!)" for i in range(len(names))]
        written = ", ".join(f"{alias} {name}" for alias, name in zip(aliases, names, strict=True))
        star = "" if any(arg.kwarg_only for arg in spec.schema.arguments) else "*, "
        found["out"] = f"{spec.name}.out({arguments}, {star}{written}) -> {_returns(aliases)}"
    if "inplace" in spec.torch.variants:
        first = spec.schema.tensors[0]
        changed = arguments.replace(f"Tensor {first.name}", f"Tensor(a!) {first.name}", 1)
        found["inplace"] = f"{spec.name}_({changed}) -> Tensor(a!)"
    return found


def _arguments(schema: FunctionSchema) -> str:
    parts: list[str] = []
    for argument in schema.arguments:
        if argument.kwarg_only and "*" not in parts:
            parts.append("*")
        parts.append(f"{argument.type} {argument.name}" + ("" if argument.required else f"={_default(argument.default)}"))
    return ", ".join(parts)


def _returns(types: list[str]) -> str:
    return types[0] if len(types) == 1 else f"({', '.join(types)})"


def _default(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(_default(item) for item in value)}]"
    return f'"{value}"' if isinstance(value, str) else str(value)
