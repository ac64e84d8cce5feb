"""The declared shapes as C++: the statements of InferShape, over the helpers of gen/op_host/infer_math.h and infer_rules.h."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ascendops.spec.attrs import op_def_type
from ascendops.spec.dims import Option, Shape
from ascendops.spec.expr import Expr

if TYPE_CHECKING:
    from ascendops.spec.model import AttrSpec, OpSpec, TensorSpec

FAILED = "return ge::GRAPH_FAILED;"
WIDTH = 96


def statements(spec: OpSpec) -> list[str]:
    """The lines of `ge::graphStatus InferShape(gert::InferShapeContext *context)`, without indentation of the function."""
    return list(_Emitter(spec).lines())


class _Emitter:
    def __init__(self, spec: OpSpec) -> None:
        self.spec = spec
        self.inputs = {tensor.name: tensor for tensor in spec.inputs}
        self.attrs = {attr.name: (index, attr) for index, attr in enumerate(spec.attrs)}
        self.done: set[str] = set()

    def lines(self) -> Iterator[str]:
        yield from self.pointers()
        yield from self.attributes()
        single = [tensor for tensor in self.spec.inputs if not tensor.variadic]
        yield from self.axes(single)
        for tensor in single:
            yield from self.bind(tensor)
        for tensor in single:
            yield from self.check(tensor)
        for tensor in self.spec.inputs:
            if tensor.variadic:
                yield from self.bind_list(tensor)
        for tensor in self.spec.outputs:
            yield from self.output(tensor)
        yield "return ge::GRAPH_SUCCESS;"

    def variable(self, tensor: str) -> str:
        return f"in_{tensor}" if tensor in self.inputs else f"out_{tensor}"

    def name(self, name: str) -> str:
        return f"attr_{name}" if name in self.attrs else f"axis_{name}"

    def cpp(self, expr: Expr) -> str:
        return expr.cpp(self.name, self.variable)

    def pointers(self) -> Iterator[str]:
        needed = []
        for index, tensor in enumerate(self.spec.inputs):
            if not tensor.variadic:
                getter = "GetOptionalInputShape" if tensor.optional else "GetRequiredInputShape"
                yield f"const gert::Shape *in_{tensor.name} = context->{getter}({index});"
                if not tensor.optional:
                    needed.append(f"in_{tensor.name}")
        for index, tensor in enumerate(self.spec.outputs):
            yield f"gert::Shape *out_{tensor.name} = context->GetOutputShape({index});"
            needed.append(f"out_{tensor.name}")
        yield from _fail_if(*(f"{pointer} == nullptr" for pointer in needed))

    def attributes(self) -> Iterator[str]:
        used = self.used_attrs()
        if not used:
            return
        yield "const gert::RuntimeAttrs *attrs = context->GetAttrs();"
        yield from _fail_if("attrs == nullptr")
        for name in used:
            yield self.attribute(*self.attrs[name])

    def used_attrs(self) -> list[str]:
        used: set[str] = set()
        for tensor in (*self.spec.inputs, *self.spec.outputs):
            used.update(*(dim.expr.names for dim in tensor.shape.dims))
            used.update(option.attr for option in tensor.shape.options.values() if option.attr)
        return [name for name in self.attrs if name in used]

    def attribute(self, index: int, attr: AttrSpec) -> str:
        """One C++ variable: Num for int and bool, Axes for lists (an absent int? is an empty list)."""
        kind = op_def_type(attr)
        if kind == "ListInt":
            return f"const Axes attr_{attr.name}(ListAttr(*attrs, {index}));"
        if kind == "Bool":
            return f"const Num attr_{attr.name}(BoolAttr(*attrs, {index}, {str(bool(attr.default)).lower()}) ? 1 : 0);"
        return f"const Num attr_{attr.name}(IntAttr(*attrs, {index}, {int(attr.default or 0)}));"  # type: ignore[arg-type]

    def axes(self, tensors: list[TensorSpec]) -> Iterator[str]:
        for tensor in tensors:
            yield from self.new_axes(tensor.shape)

    def new_axes(self, shape: Shape) -> Iterator[str]:
        for dim in shape.dims:
            axis = dim.expr.axis
            if axis is not None and axis not in self.done:
                self.done.add(axis)
                yield f"{'Axes' if dim.variadic else 'Num'} axis_{axis};"

    def bind(self, tensor: TensorSpec) -> Iterator[str]:
        if tensor.shape.rule is None:
            tests = list(self.rank_test(tensor)) + list(self.tests(tensor, binding=True))
            yield f"// {tensor.name}: {tensor.shape}"
            yield from self.guarded(tensor, tests)

    def check(self, tensor: TensorSpec) -> Iterator[str]:
        if tensor.shape.rule is None:
            yield from self.guarded(tensor, list(self.tests(tensor, binding=False)))
            return
        pointer = f"in_{tensor.name}"
        yield f"// {tensor.name}: {tensor.shape}"
        yield f"if ({pointer} != nullptr) {{" if tensor.optional else "{"
        yield "    gert::Shape want;"
        for line in (*self.rule(tensor.shape, "want"), *_fail_if(f"!Fits(want, *{pointer})")):
            yield f"    {line}"
        yield "}"

    def guarded(self, tensor: TensorSpec, tests: list[str]) -> Iterator[str]:
        if not tests:
            return
        pointer = f"in_{tensor.name}"
        present = f"{pointer} != nullptr && " if tensor.optional else ""
        yield f"if ({present}!IsUnknownRank(*{pointer})) {{"
        if any(re.search(r"\brank\b", test) for test in tests):
            yield f"    const size_t rank = {pointer}->GetDimNum();"
        for line in _fail_if(*tests):
            yield f"    {line}"
        yield "}"

    def rank_test(self, tensor: TensorSpec) -> Iterator[str]:
        count, variadic = len(tensor.shape.dims), tensor.shape.variadic
        if not count:
            yield f"in_{tensor.name}->GetDimNum() != 0"
        elif variadic is None:
            yield f"rank != {count}"
        elif count > 1:
            yield f"rank < {count - 1}"

    def tests(self, tensor: TensorSpec, *, binding: bool) -> Iterator[str]:
        pointer, variadic, count = f"in_{tensor.name}", tensor.shape.variadic, len(tensor.shape.dims)
        for position, dim in enumerate(tensor.shape.dims):
            after = variadic is not None and position > variadic
            index = f"rank - {count - position}" if after else str(position)
            if dim.variadic:
                extra = "rank" if count == 1 else f"rank - {count - 1}"
                if binding:
                    yield f"!Bind(axis_{dim.expr.axis}, *{pointer}, {position}, {extra})"
            elif dim.expr.axis is not None:
                if binding:
                    yield f"!Bind(axis_{dim.expr.axis}, {pointer}->GetDim({index}))"
            elif (dim.expr.constant is not None) == binding:
                yield f"!Fits({self.cpp(dim.expr)}, {pointer}->GetDim({index}))"

    def bind_list(self, tensor: TensorSpec) -> Iterator[str]:
        """Every tensor of a list on its own: axes that only the list has may differ from item to item."""
        index = list(self.inputs).index(tensor.name)
        outer = set(self.done)
        yield f"// {tensor.name}: a list of {tensor.shape}"
        yield f"for (size_t item = 0; context->GetDynamicInputShape({index}, item) != nullptr; ++item) {{"
        yield f"    const gert::Shape *in_{tensor.name} = context->GetDynamicInputShape({index}, item);"
        for axis in sorted(tensor.shape.binds & outer):
            kind = "Axes" if any(dim.variadic and dim.expr.axis == axis for dim in tensor.shape.dims) else "Num"
            yield f"    const {kind} common_{axis} = axis_{axis};"
            yield f"    {kind} axis_{axis} = common_{axis};"
        body = (*self.new_axes(tensor.shape), *self.bind(tensor), *self.check(tensor))
        for line in body[1:] if body and body[0].startswith("// ") else body:
            if not line.startswith("// "):
                yield f"    {line}"
        yield "}"
        self.done = outer

    def output(self, tensor: TensorSpec) -> Iterator[str]:
        yield f"// {tensor.name}: {'in place' if tensor.mutated else tensor.shape}"
        if tensor.mutated:
            yield f"*out_{tensor.name} = *in_{tensor.name};"
        elif tensor.shape.rule is not None:
            yield from self.rule(tensor.shape, f"*out_{tensor.name}")
        else:
            chain = "".join(f".Add({self.cpp(dim.expr)})" for dim in tensor.shape.dims)
            yield from _fail_if(f"!Dims(*out_{tensor.name}){chain}.Done()")

    def rule(self, shape: Shape, target: str) -> Iterator[str]:
        sources = [self.variable(name) for name in shape.tensors]
        absent = [self.variable(name) for name in shape.tensors if name in self.inputs and self.inputs[name].optional]
        if absent:
            yield from _fail_if(*(f"{pointer} == nullptr" for pointer in absent))
        if shape.rule == "same":
            yield f"{target} = *{sources[0]};"
        elif shape.rule == "broadcast":
            yield from _fail_if(f"!Broadcast({{{', '.join(sources)}}}, {target})")
        elif shape.rule == "reduce":
            dims, keep = self.dims(shape.options.get("dim")), self.flag(shape.options.get("keepdim"))
            yield from _fail_if(f"!Reduce(*{sources[0]}, {dims}, {keep}, {target})")
        elif shape.rule == "permute":
            yield from _fail_if(f"!Permute(*{sources[0]}, {self.dims(shape.options['dims'])}, {target})")
        else:
            flags = ", ".join(self.flag(shape.options.get(f"transpose_{side}")) for side in "ab")
            yield from _fail_if(f"!Matmul(*{sources[0]}, *{sources[1]}, {flags}, {target})")

    def flag(self, option: Option | None) -> str:
        if option is None or option.attr is None:
            return "true" if option is not None and option.value else "false"
        return f"attr_{option.attr}.value != 0"

    def dims(self, option: Option | None) -> str:
        if option is not None and option.attr is not None:
            single = op_def_type(self.attrs[option.attr][1]) == "Int"
            return f"std::vector<int64_t>(1, attr_{option.attr}.value)" if single else f"attr_{option.attr}.sizes"
        value = None if option is None else option.value
        items = () if value is None else value if isinstance(value, tuple) else (value,)
        return f"std::vector<int64_t>({{{', '.join(str(item) for item in items)}}})" if items else "std::vector<int64_t>()"


def _fail_if(*conditions: str) -> Iterator[str]:
    text = " || ".join(conditions)
    if len(text) <= WIDTH:
        yield f"if ({text}) {{"
    else:
        yield f"if ({conditions[0]} ||" if len(conditions) > 1 else f"if ({conditions[0]}) {{"
        yield from (f"    {condition} ||" for condition in conditions[1:-1])
        yield from (f"    {condition}) {{" for condition in conditions[1:][-1:])
    yield f"    {FAILED}"
    yield "}"
