"""Models with kit operators as ONNX: decomposed into standard operators, or as `ascendops::X` nodes whose function body any runtime can run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from ascendops.errors import OnnxRefused, did_you_mean
from ascendops.torchlib import onnx_body
from ascendops.torchlib.onnx_body import decompositions, overload

if TYPE_CHECKING:
    from ascendops.build.library import Library
    from ascendops.spec.model import OpSpec

DOMAIN = "ascendops"
FORMS = ("decomposed", "node")
_PYTHON: dict[str, Any] = {
    "int": int, "bool": bool, "float": float, "str": str, "int[]": Sequence[int], "bool[]": Sequence[int], "float[]": Sequence[float],
}  # fmt: skip


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
        with onnx_body.quiet():
            program = torch.export.export(model, args, dynamic_shapes=options.pop("dynamic_shapes", None), strict=False)
            made = onnx_body.to_onnx(program.run_decompositions(decompositions(specs)), **options)
    else:
        nodes = {qualified: _Nodes(spec) for qualified, spec in specs.items()}
        table = {overload(qualified): node.translator() for qualified, node in nodes.items()}
        with onnx_body.quiet():
            made = torch.onnx.export(model, args, dynamo=True, custom_translation_table=table, verbose=False, **options)
        assert made is not None
        for node in nodes.values():
            for body in node.functions():
                made.model.functions[body.identifier()] = body
                made.model.opset_imports[DOMAIN] = 1
    assert made is not None
    made.save(str(path))
    return made


@dataclass
class _Nodes:
    """The `ascendops::<OpType>` nodes of one operator in one model, and a function body for each distinct kind of call."""

    spec: OpSpec
    calls: dict[tuple[Any, ...], tuple[Mapping[str, Any], Mapping[str, Any]]] = field(default_factory=dict)
    sizes: set[tuple[Any, ...]] = field(default_factory=set)

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
        return [onnx_body.function(self.spec, tensors, attrs, len(self.sizes) == 1, DOMAIN) for tensors, attrs in self.calls.values()]

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
        self.sizes.add(tuple(str(value.shape) for value in tensors.values() if value is not None))


def _attr_value(value: Any) -> Any:
    return int(value) if isinstance(value, bool) else [int(v) if isinstance(v, bool) else v for v in value] if isinstance(value, (list, tuple)) else value


def _attr_type(word: str) -> Any:
    import onnx

    kind = onnx.defs.OpSchema.AttrType
    plain = word.rstrip("?")
    return {"int": kind.INT, "bool": kind.INT, "float": kind.FLOAT, "str": kind.STRING, "int[]": kind.INTS, "bool[]": kind.INTS, "float[]": kind.FLOATS}[plain]
