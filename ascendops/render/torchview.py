"""What the torch binding's template reads as `op.torch`: C++ signatures and conversions for the schema's types."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ascendops.render import autogradview
from ascendops.render.autogradview import AutogradView
from ascendops.spec.attrs import op_def_type
from ascendops.spec.dtypes import BY_NAME

if TYPE_CHECKING:
    from ascendops.spec.model import AttrSpec, OpSpec

NAMESPACE = "ascendops"
_AT_NAMES = {
    "float32": "Float",
    "float16": "Half",
    "bfloat16": "BFloat16",
    "float64": "Double",
    "int8": "Char",
    "uint8": "Byte",
    "int16": "Short",
    "uint16": "UInt16",
    "int32": "Int",
    "uint32": "UInt32",
    "int64": "Long",
    "uint64": "UInt64",
    "bool": "Bool",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}
_CPP = {
    "int": "int64_t",
    "float": "double",
    "bool": "bool",
    "str": "std::string",
    "int[]": "at::IntArrayRef",
    "float[]": "c10::ArrayRef<double>",
    "bool[]": "c10::List<bool>",
    "int[]?": "at::OptionalIntArrayRef",
    "float[]?": "std::optional<c10::ArrayRef<double>>",
    "bool[]?": "std::optional<c10::List<bool>>",
}

_GE_ATTRS = {"Int": "Int", "Float": "Float", "Bool": "Bool", "String": "Str", "ListInt": "ListInt", "ListFloat": "ListFloat", "ListBool": "ListBool"}


@dataclass(frozen=True)
class DtypeView:
    """One dtype of the operator: ge's enumerator, its value, and at::ScalarType's name."""

    ge: str
    ge_code: int
    at: str


@dataclass(frozen=True)
class OnnxAttr:
    """An attribute in the ATC plug-in: ONNX's key of its value, and the C++ expression that reads it."""

    name: str
    key: str
    value: str


@dataclass(frozen=True)
class TorchView:
    """The binding's C++ pieces.

    Attributes:
        parameters: Parameter list of the kernels, in the schema's order.
        arguments: The same as arguments of a call.
        result: Return type.
        fresh: For each output whether it is allocated, as a C++ initialiser (not when it is written in place).
        collect: Statements that fill a Call from the parameters.
        prepare: Statements that turn attributes and outputs into lvalues for aclnn.
        aclnn: Arguments of the aclnn call.
        returned: The returned expression.
        float_lists: Whether a list of floats is passed.
        overload: The overload that a graph calls: `mutate` where the schema returns an input that it writes to.
        ge_parameters: Parameters of the converter for torchair.
        ge_attrs: GE attributes as (name, Python expression).
        ge_outputs: GE outputs as a Python list.
        onnx_attrs: Attributes for the parser plug-in of ATC.
        autograd: The Autograd kernel.
        op_command: Statements that fill an OpCommand, for an operator of the TBE DSL.
    """

    parameters: str
    arguments: str
    result: str
    fresh: str
    collect: tuple[str, ...]
    prepare: tuple[str, ...]
    aclnn: str
    returned: str
    float_lists: bool
    overload: str
    ge_parameters: str
    ge_attrs: tuple[tuple[str, str], ...]
    ge_outputs: str
    onnx_attrs: tuple[OnnxAttr, ...]
    autograd: AutogradView
    op_command: tuple[str, ...]


def dtypes(*specs: OpSpec) -> tuple[DtypeView, ...]:
    """The dtypes of the operators, each once, in the order of ge::DataType."""
    names = {name for spec in specs for tensor in (*spec.inputs, *spec.outputs) for name in tensor.dtypes}
    rows = sorted((BY_NAME[name] for name in names), key=lambda dtype: dtype.ge_code)
    return tuple(DtypeView(row.ge, row.ge_code, _AT_NAMES[row.name]) for row in rows)


def view(spec: OpSpec) -> TorchView:
    """The torch view of a declaration."""
    order = [arg.name for arg in spec.schema.arguments]
    attrs = {attr.name: attr for attr in spec.attrs}
    result, parameters = call_type(spec)
    fresh = [tensor.name for tensor in spec.outputs if not tensor.mutated]
    prepare = [line for attr in spec.attrs for line in _lvalue(attr)]
    prepare += [f"at::Tensor out_{t.name} = theOutputs[{i}];" for i, t in enumerate(spec.outputs) if not t.mutated]
    returns = [tensor.name if tensor.mutated else f"theOutputs[{index}]" for index, tensor in enumerate(spec.outputs)]
    nothing = not spec.schema.returns
    many = len(returns) > 1
    arguments = [_attr_argument(attrs[name]) for name in attrs]
    tensors = [tensor.name for tensor in spec.inputs]
    return TorchView(
        parameters=parameters,
        arguments=", ".join(order),
        result=result,
        fresh="{" + ", ".join("false" if tensor.mutated else "true" for tensor in spec.outputs) + "}",
        collect=tuple(_collect(spec)),
        prepare=tuple(prepare),
        aclnn=", ".join([*tensors, *arguments, *(f"out_{name}" for name in fresh)]),
        returned="" if nothing else f"{{{', '.join(returns)}}}" if many else returns[0],
        float_lists=any(attr.type.startswith("float") and attr.type != "float" for attr in spec.attrs),
        overload="mutate" if any(ret.type.alias is not None for ret in spec.schema.returns) else "default",
        ge_parameters=", ".join(_ge_parameters(spec)),
        ge_attrs=tuple((attr.name, _ge_attr(attr)) for attr in spec.attrs),
        ge_outputs=json.dumps([tensor.name for tensor in spec.outputs]),
        onnx_attrs=tuple(_onnx_attr(attr) for attr in spec.attrs),
        autograd=autogradview.view(spec, call_type),
        op_command=tuple(_op_command(spec)),
    )


def _op_command(spec: OpSpec) -> Iterator[str]:
    """Statements that fill torch_npu's OpCommand, which runs one operator of a graph: inputs in order, outputs, attributes."""
    for tensor in spec.inputs:
        if tensor.variadic:
            yield f"theCommand.Inputs({tensor.name});"
        elif tensor.optional:
            yield f"{tensor.name}.has_value() ? theCommand.Input(*{tensor.name}) : theCommand.Input();"
        else:
            yield f"theCommand.Input({tensor.name});"
    yield from (f"theCommand.Output({tensor.name if tensor.mutated else f'out_{tensor.name}'});" for tensor in spec.outputs)
    for attr in spec.attrs:
        base, optional = attr.type.rstrip("?"), attr.type.endswith("?")
        value = f"*{attr.name}" if optional else attr.name
        dot, lines = "->" if optional else ".", []
        if base in ("float[]", "bool[]"):
            item = "float" if base == "float[]" else "uint8_t"
            lines = [f"const auto list_{attr.name} = {attr.name}{dot}vec();"]
            value = f"c10::ArrayRef<{item}>(std::vector<{item}>(list_{attr.name}.begin(), list_{attr.name}.end()))"
        set_it = f'theCommand.Attr("{attr.name}", {f"static_cast<float>({value})" if base == "float" else value});'
        lines.append(set_it)
        yield from ([f"if ({attr.name}.has_value()) {{", *(f"    {line}" for line in lines), "}"] if optional else lines)


def call_type(spec: OpSpec) -> tuple[str, str]:
    """Result type and parameters of an operator's kernel in C++."""
    attrs = {attr.name: attr for attr in spec.attrs}
    results = ["at::Tensor &" if tensor.mutated else "at::Tensor" for tensor in spec.outputs]
    result = "void" if not spec.schema.returns else f"std::tuple<{', '.join(results)}>" if len(results) > 1 else results[0]
    return result, _wrapped([_parameter(spec, arg.name, attrs) for arg in spec.schema.arguments])


def _onnx_attr(attr: AttrSpec) -> OnnxAttr:
    plain = attr.type.rstrip("?")
    key = {"int": "i", "bool": "i", "float": "f", "str": "s", "int[]": "ints", "bool[]": "ints", "float[]": "floats"}[plain]
    kind = op_def_type(attr)
    reader = {"Int": "Int({})", "Float": "Float({})", "Bool": "Bool({})", "String": "ge::AscendString({}.text.c_str())"}
    reader |= {"ListInt": "List<int64_t, Int>({})", "ListFloat": "List<float, Float>({})", "ListBool": "List<bool, Bool>({})"}
    return OnnxAttr(attr.name, key, reader[kind].format("(*given)" if kind == "String" else "*given"))


def _ge_parameters(spec: OpSpec) -> Iterator[str]:
    star = False
    for argument in spec.schema.arguments:
        if argument.kwarg_only and not star:
            star = True
            yield "*"
        default = list(argument.default) if isinstance(argument.default, tuple) else argument.default
        yield argument.name if argument.required else f"{argument.name}={default!r}"


def _ge_attr(attr: AttrSpec) -> str:
    """The attribute as torchair's attr module builds it; an optional number is a list of no or one item, as in OpDef."""
    kind = op_def_type(attr)
    name = attr.name
    if attr.type.endswith("?"):
        empty = '""' if attr.type == "str?" else "[]"
        given = name if attr.type.endswith("]?") or attr.type == "str?" else f"[{name}]"
        name = f"{empty} if {name} is None else {given}"
    return f"attr.{_GE_ATTRS[kind]}({name})"


def _wrapped(parameters: list[str]) -> str:
    """A parameter list, one to a line when it is long."""
    line = ", ".join(parameters)
    return line if len(line) <= 90 else "\n    " + ",\n    ".join(parameters)


def _parameter(spec: OpSpec, name: str, attrs: dict[str, AttrSpec]) -> str:
    if name in attrs:
        return f"{_cpp_type(attrs[name].type)} {name}"
    tensor = spec.tensor(name)
    if tensor.variadic:
        return f"at::TensorList {name}"
    if tensor.optional:
        return f"const std::optional<at::Tensor> &{name}"
    return f"at::Tensor &{name}" if tensor.mutated else f"const at::Tensor &{name}"


def _cpp_type(word: str) -> str:
    return _CPP[word] if word in _CPP else f"std::optional<{_CPP[word.removesuffix('?')]}>"


def _collect(spec: OpSpec) -> Iterator[str]:
    for tensor in spec.inputs:
        optional = f"{tensor.name}.has_value() ? at::TensorList(*{tensor.name}) : at::TensorList()"
        yield f"theCall.Input({optional if tensor.optional else tensor.name});"
    for attr in spec.attrs:
        yield f"theCall.attrs.push_back(host::gert::Attr({_shape_value(attr)}));"


def _shape_value(attr: AttrSpec) -> str:
    """The attribute as InferShape reads it; empty for kinds that no shape can depend on."""
    name = attr.name
    lists = "std::vector<int64_t>"
    return {
        "int": name,
        "bool": name,
        "int[]": f"{name}.vec()",
        "int[]?": f"{name}.has_value() ? {name}->vec() : {lists}()",
        "int?": f"{name}.has_value() ? {lists}(1, *{name}) : {lists}()",
    }.get(attr.type, "")


def _attr_argument(attr: AttrSpec) -> str:
    return attr.name if attr.type in ("int", "float", "bool", "int[]") else f"arg_{attr.name}"


def _lvalue(attr: AttrSpec) -> Iterator[str]:
    """Statements that declare `arg_<name>` in the form that aclnn's wrapper converts; none when the parameter serves as it is."""
    name, optional = attr.name, attr.type.endswith("?")
    base, is_list = attr.type.split("[")[0].rstrip("?"), "[" in attr.type
    if _attr_argument(attr) == name:
        return
    if base == "str":
        yield f"std::string text_{name} = {f'{name}.value_or(std::string())' if optional else name};"
        yield f"char *arg_{name} = &text_{name}[0];"
        return
    item = {"int": "int64_t", "float": "float", "bool": "bool"}[base]
    holder = f"c10::SmallVector<bool, 8> list_{name};" if base == "bool" else f"std::vector<{item}> list_{name};"
    yield holder
    if is_list:
        source = f"*{name}" if optional else name
        loop = f"for (const auto value : {source}) {{"
        body = [loop, f"    list_{name}.push_back(static_cast<{item}>(value));", "}"]
        yield from ([f"if ({name}.has_value()) {{", *(f"    {line}" for line in body), "}"] if optional else body)
    else:
        yield f"if ({name}.has_value()) {{"
        yield f"    list_{name}.push_back(static_cast<{item}>(*{name}));"
        yield "}"
    if base == "float":
        yield f"void *arg_{name} = FloatArray(list_{name});"
    else:
        yield f"const at::ArrayRef<{item}> arg_{name}(list_{name}.data(), list_{name}.size());"
