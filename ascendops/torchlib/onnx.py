"""Models with kit operators as ONNX: decomposed into standard operators, or as `ascendops::X` nodes whose function body any runtime can run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from ascendops.errors import OnnxRefused, did_you_mean
from ascendops.testing.reference import golden_of

if TYPE_CHECKING:
    from ascendops.build.library import Library
    from ascendops.spec.model import OpSpec

DOMAIN = "ascendops"
FORMS = ("decomposed", "node")
_PYTHON: dict[str, Any] = {
    "int": int, "bool": bool, "float": float, "str": str, "int[]": Sequence[int], "bool[]": Sequence[int], "float[]": Sequence[float],
}  # fmt: skip
_SIZES = (5, 7, 11, 13, 17)  # for dims whose size is not known: different, so that one is not taken for another


def export(
    model: torch.nn.Module, args: tuple[Any, ...], path: str | Path, libraries: Sequence[Library], *, form: str = "node",
    namespace: str = "ascendops", **options: Any,
) -> Any:  # fmt: skip
    """Exports a model that calls registered kit operators.

    Args:
        model: The model.
        args: Example inputs.
        path: The .onnx file.
        libraries: The libraries of the operators (registered under `namespace`).
        form: `decomposed`: standard operators only, by golden.py; `node`: one `ascendops::<OpType>` node for each call, with golden.py as
            its function body, so that plain onnxruntime runs it and ATC maps it to the installed operator.
        options: For torch.onnx.export, e.g. `dynamic_shapes`, `opset_version`.

    Returns:
        What torch.onnx.export returns.

    Raises:
        OnnxRefused: golden.py is not made of operations that torch.onnx exports, or the onnx packages are missing.
    """
    if form not in FORMS:
        raise OnnxRefused(f"form '{form}' is not known", help=did_you_mean(form, FORMS))
    try:
        import onnxscript  # noqa: F401
    except ImportError:
        raise OnnxRefused("exporting needs onnx and onnxscript", help="pip install 'ascendops[onnx]'") from None
    specs = {f"{namespace}::{name}": op.spec for library in libraries for name, op in library.ops.items() if op.spec is not None}
    if form == "decomposed":
        program = torch.export.export(model, args, dynamic_shapes=options.pop("dynamic_shapes", None), strict=False)
        made = torch.onnx.export(program.run_decompositions(decompositions(specs)), (), dynamo=True, verbose=False, **options)
    else:
        nodes = {qualified: _Nodes(spec) for qualified, spec in specs.items()}
        table = {_overload(qualified): node.translator() for qualified, node in nodes.items()}
        made = torch.onnx.export(model, args, dynamo=True, custom_translation_table=table, verbose=False, **options)
        assert made is not None
        for node in nodes.values():
            for body in node.functions():
                made.model.functions[body.identifier()] = body
                made.model.opset_imports[DOMAIN] = 1
    assert made is not None
    made.save(str(path))
    return made


def _overload(qualified: str) -> Any:
    namespace, name = qualified.split("::")
    return getattr(getattr(torch.ops, namespace), name).default


def decompositions(specs: Mapping[str, OpSpec]) -> dict[Any, Callable[..., Any]]:
    """A decomposition table: each operator becomes its function of golden.py, in the dtypes of the call."""
    table: dict[Any, Callable[..., Any]] = dict(torch.export.default_decompositions())
    for qualified, spec in specs.items():
        table[_overload(qualified)] = _golden_call(spec)
    return table


def _golden_call(spec: OpSpec) -> Callable[..., Any]:
    golden = golden_of(spec)
    names = [arg.name for arg in spec.schema.arguments]
    order = [*(tensor.name for tensor in spec.inputs), *(attr.name for attr in spec.attrs)]
    defaults: dict[str, Any] = {attr.name: attr.default for attr in spec.attrs}

    def call(*args: Any, **kwargs: Any) -> Any:
        given = {**defaults, **dict(zip(names, args, strict=False)), **kwargs}
        result = golden(*(given.get(name) for name in order))
        outputs = list(result) if isinstance(result, (list, tuple)) else [result]
        tensors = {name: value for name, value in given.items() if isinstance(value, torch.Tensor)}
        wanted = _output_dtypes(spec, tensors)
        outputs = [out.to(dtype) for out, dtype in zip(outputs, wanted, strict=True)]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    return call


def _output_dtypes(spec: OpSpec, tensors: Mapping[str, torch.Tensor]) -> list[torch.dtype]:
    for column in range(spec.columns):
        inputs = {tensor.name: getattr(torch, tensor.dtypes[column]) for tensor in spec.inputs}
        if all(inputs[name] == tensor.dtype for name, tensor in tensors.items() if name in inputs):
            return [getattr(torch, tensor.dtypes[column]) for tensor in spec.outputs]
    raise OnnxRefused(f"{spec.name} has no dtype column for {', '.join(f'{name}: {tensor.dtype}' for name, tensor in tensors.items())}")


class _Body(torch.nn.Module):
    """The golden of one call as a module: tensors in, attributes fixed."""

    def __init__(self, spec: OpSpec, attrs: Mapping[str, Any], present: Sequence[str]) -> None:
        super().__init__()
        self.call, self.spec, self.attrs, self.present = _golden_call(spec), spec, dict(attrs), list(present)

    def forward(self, *tensors: torch.Tensor) -> Any:
        """The golden's outputs."""
        given: dict[str, Any] = dict(zip(self.present, tensors, strict=True))
        positional = [given.get(arg.name, self.attrs.get(arg.name)) for arg in self.spec.schema.arguments]
        return self.call(*positional)


@dataclass
class _Nodes:
    """The `ascendops::<OpType>` nodes of one operator in one model, and a function body for each distinct kind of call."""

    spec: OpSpec
    calls: dict[tuple[Any, ...], tuple[Mapping[str, Any], Mapping[str, Any]]] = field(default_factory=dict)

    def translator(self) -> Callable[..., Any]:
        """`translate` as a function with the operator's own parameters, which torch.onnx looks at."""

        def translate(*args: Any, **kwargs: Any) -> Any:
            return self.translate(*args, **kwargs)

        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        types: dict[str, Any] = {attr.name: _PYTHON[attr.type.rstrip("?")] for attr in self.spec.attrs}
        parameters = []
        for arg in self.spec.schema.arguments:
            default = inspect.Parameter.empty if arg.required else list(arg.default) if isinstance(arg.default, tuple) else arg.default
            parameters.append(inspect.Parameter(arg.name, kind, default=default, annotation=types.get(arg.name, inspect.Parameter.empty)))
        translate.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        translate.__annotations__ = types
        return translate

    def functions(self) -> list[Any]:
        """The body of the nodes that were made: one ONNX function, or none when the model does not call the operator."""
        return [self._function(tensors, attrs) for tensors, attrs in self.calls.values()]

    def translate(self, *args: Any, **kwargs: Any) -> Any:
        """One node: what torch.onnx calls for each call of the operator."""
        import onnx
        import onnxscript

        names = [arg.name for arg in self.spec.schema.arguments]
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        attrs = {attr.name: given.get(attr.name, attr.default) for attr in self.spec.attrs}
        tensors = {tensor.name: given.get(tensor.name) for tensor in self.spec.inputs}
        if any(isinstance(value, (list, tuple)) for value in tensors.values()):
            raise OnnxRefused(f"{self.spec.name} takes a list of tensors, which has no place in an ONNX node of this form", help='use form="decomposed"')
        self._note(tensors, attrs)
        formal = onnx.defs.OpSchema.FormalParameter
        option = onnx.defs.OpSchema.FormalParameterOption
        inputs = [
            formal(t.name, f"T{i}", param_option=option.Optional if t.optional else option.Single) for i, t in enumerate(self.spec.inputs)
        ]
        outputs = [formal(t.name, f"U{i}") for i, t in enumerate(self.spec.outputs)]
        every = [f"tensor({name})" for name in ("float16", "float", "double", "bfloat16", "int8", "uint8", "int16", "int32", "int64", "bool")]
        schema = onnx.defs.OpSchema(
            self.spec.op_type, DOMAIN, 1, inputs=inputs, outputs=outputs,
            type_constraints=[(parameter.type_str, every, "") for parameter in (*inputs, *outputs)],
            attributes=[onnx.defs.OpSchema.Attribute(attr.name, _attr_type(attr.type), required=False) for attr in self.spec.attrs],
        )  # fmt: skip
        op = onnxscript.values.Op(onnxscript.values.Opset(DOMAIN, 1), self.spec.op_type, schema)
        values = list(tensors.values())
        while values and values[-1] is None:
            values.pop()
        return op(*values, **{name: _attr_value(value) for name, value in attrs.items() if value is not None})

    def _note(self, tensors: Mapping[str, Any], attrs: Mapping[str, Any]) -> None:
        kinds = tuple((name, str(value.dtype), len(value.shape)) if value is not None else (name, None, None) for name, value in tensors.items())
        key = (kinds, tuple((name, str(value)) for name, value in attrs.items()))
        if self.calls and key not in self.calls:
            raise OnnxRefused(
                f"the model calls {self.spec.name} in two different ways", why="one ONNX function has one body, but dtypes, ranks or attributes differ",
                help='use form="decomposed"',
            )  # fmt: skip
        self.calls.setdefault(key, (tensors, attrs))

    def _function(self, tensors: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
        import onnx_ir

        present = {name: value for name, value in tensors.items() if value is not None}
        symbols: dict[str, int] = {}
        samples = [_sample(value, symbols) for value in present.values()]
        dynamic = tuple({i: torch.export.Dim.DYNAMIC for i, size in enumerate(sample.shape) if size > 1} for sample in samples)
        try:
            program = torch.export.export(_Body(self.spec, attrs, list(present)), tuple(samples), dynamic_shapes=(dynamic,), strict=False)
            made = torch.onnx.export(program, (), dynamo=True, verbose=False)
        except Exception as error:  # the boundary to the user's golden.py
            raise OnnxRefused(f"golden.py of {self.spec.name} cannot be exported: {type(error).__name__}: {error}", where=str(self.spec.root / "golden.py")) from error
        assert made is not None
        graph = made.model.graph
        for name, value in list(graph.initializers.items()):
            assert value.const_value is not None
            node = onnx_ir.Node("", "Constant", [], [onnx_ir.AttrTensor("value", value.const_value)], outputs=[onnx_ir.Value(name=name)])
            value.replace_all_uses_with(node.outputs[0])
            graph.insert_before(graph[0], node)
            graph.initializers.pop(name)
        for index, name in enumerate(tensors):
            if name not in present:
                graph.inputs.insert(index, onnx_ir.Value(name=f"absent_{name}"))
        names = [onnx_ir.Attr(attr.name, _ir_type(attr.type), None) for attr in self.spec.attrs if attrs.get(attr.name) is not None]
        return onnx_ir.Function(DOMAIN, self.spec.op_type, "", graph=graph, attributes=names)


def _sample(value: Any, symbols: dict[str, int]) -> torch.Tensor:
    """An example tensor of the shape and dtype of an ONNX value; one size for each unknown dim."""
    sizes = []
    for dim in value.shape:
        if isinstance(dim, int):
            sizes.append(dim)
        else:
            sizes.append(symbols.setdefault(str(dim), _SIZES[len(symbols) % len(_SIZES)]))
    return torch.ones(sizes, dtype=_torch_dtype(value.dtype))


def _torch_dtype(dtype: Any) -> torch.dtype:
    names = {"FLOAT": "float32", "DOUBLE": "float64", "INT64": "int64", "INT32": "int32", "INT16": "int16", "INT8": "int8", "UINT8": "uint8", "BOOL": "bool"}
    found: torch.dtype = getattr(torch, names.get(dtype.name, dtype.name.lower()))
    return found


def _attr_value(value: Any) -> Any:
    return int(value) if isinstance(value, bool) else [int(v) if isinstance(v, bool) else v for v in value] if isinstance(value, (list, tuple)) else value


def _attr_type(word: str) -> Any:
    import onnx

    kind = onnx.defs.OpSchema.AttrType
    plain = word.rstrip("?")
    return {"int": kind.INT, "bool": kind.INT, "float": kind.FLOAT, "str": kind.STRING, "int[]": kind.INTS, "bool[]": kind.INTS, "float[]": kind.FLOATS}[plain]


def _ir_type(word: str) -> Any:
    import onnx_ir

    kind = onnx_ir.AttributeType
    plain = word.rstrip("?")
    return {"int": kind.INT, "bool": kind.INT, "float": kind.FLOAT, "str": kind.STRING, "int[]": kind.INTS, "bool[]": kind.INTS, "float[]": kind.FLOATS}[plain]
