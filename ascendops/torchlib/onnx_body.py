"""golden.py as ONNX: what an operator is decomposed into, and the function body of its nodes."""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

from ascendops.errors import OnnxRefused
from ascendops.testing.reference import golden_of

if TYPE_CHECKING:
    from ascendops.spec.model import OpSpec

_SIZES = (6, 10, 14, 22, 26)  # for dims whose size is not known: different, so that one is not taken for another; even, for goldens that halve a dim


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Without torch.onnx's remarks on packages that are not installed and on its own use of deprecated functions."""
    logger = logging.getLogger("torch.onnx._internal.exporter._registration")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            warnings.simplefilter("ignore", FutureWarning)
            yield
    finally:
        logger.setLevel(before)


def to_onnx(program: torch.export.ExportedProgram, **options: Any) -> Any:
    """The ONNX program; without constant folding where that fails, as onnxscript's does for `chunk` of a dim of unknown size."""
    try:
        made = torch.onnx.export(program, (), dynamo=True, verbose=False, **options)
    except Exception:
        if "optimize" in options:
            raise
        made = torch.onnx.export(program, (), dynamo=True, verbose=False, optimize=False, **options)
    assert made is not None
    return made


def overload(qualified: str) -> Any:
    """The operator that is registered as `namespace::name`."""
    namespace, name = qualified.split("::")
    return getattr(getattr(torch.ops, namespace), name).default


def decompositions(specs: Mapping[str, OpSpec]) -> dict[Any, Callable[..., Any]]:
    """A decomposition table: each operator becomes its function of golden.py, in the dtypes of the call."""
    table: dict[Any, Callable[..., Any]] = dict(torch.export.default_decompositions())
    for qualified, spec in specs.items():
        table[overload(qualified)] = _golden_call(spec)
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


def function(spec: OpSpec, tensors: Mapping[str, Any], attrs: Mapping[str, Any], one_size: bool, domain: str) -> Any:
    """golden.py as the ONNX function of an operator's nodes, for any sizes where it allows that.

    Args:
        spec: The operator.
        tensors: The ONNX values of one call, None for an absent input.
        attrs: Its attributes.
        one_size: Whether all calls in the model have the same sizes, so that a body for those sizes will do.
        domain: Domain of the function.

    Raises:
        OnnxRefused: golden.py cannot be exported, or only for sizes that are not those of all calls.
    """
    import onnx_ir

    present = {name: value for name, value in tensors.items() if value is not None}
    graph = _graph(spec, present, attrs, one_size)
    for name, value in list(graph.initializers.items()):
        assert value.const_value is not None
        node = onnx_ir.Node("", "Constant", [], [onnx_ir.AttrTensor("value", value.const_value)], outputs=[onnx_ir.Value(name=name)])
        value.replace_all_uses_with(node.outputs[0])
        graph.insert_before(graph[0], node)
        graph.initializers.pop(name)
    for index, name in enumerate(tensors):
        if name not in present:
            graph.inputs.insert(index, onnx_ir.Value(name=f"absent_{name}"))
    names = [onnx_ir.Attr(attr.name, _ir_type(attr.type), None) for attr in spec.attrs if attrs.get(attr.name) is not None]
    return onnx_ir.Function(domain, spec.op_type, "", graph=graph, attributes=names)


def _graph(spec: OpSpec, present: Mapping[str, Any], attrs: Mapping[str, Any], one_size: bool) -> Any:
    symbols: dict[str, int] = {}
    samples = tuple(_sample(value, symbols) for value in present.values())
    any_size = tuple({i: torch.export.Dim.DYNAMIC for i, size in enumerate(sample.shape) if size > 1} for sample in samples)
    known = tuple({i: torch.export.Dim.DYNAMIC for i, size in enumerate(value.shape) if not isinstance(size, int)} for value in present.values())
    error: Exception | None = None
    for dynamic in (any_size, known) if one_size else (any_size,):
        try:
            with quiet():
                program = torch.export.export(_Body(spec, attrs, list(present)), samples, dynamic_shapes=(dynamic,), strict=False)
                return to_onnx(program).model.graph
        except Exception as caught:  # noqa: BLE001  the boundary to the user's golden.py
            error = caught
    assert error is not None
    root: BaseException = error
    while root.__cause__ is not None:
        root = root.__cause__
    lines = str(root).strip().splitlines()
    why = f"{type(root).__name__}: {lines[0] if lines else 'no message'}"
    raise OnnxRefused(
        f"golden.py of {spec.name} cannot be exported to ONNX" + ("" if one_size else " for the different sizes of its calls"),
        where=str(spec.root / "golden.py"), why=why, help="write it with operations that torch.onnx exports, without values of tensors in Python's control flow",
    ) from error  # fmt: skip


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


def _ir_type(word: str) -> Any:
    import onnx_ir

    kind = onnx_ir.AttributeType
    plain = word.rstrip("?")
    return {"int": kind.INT, "bool": kind.INT, "float": kind.FLOAT, "str": kind.STRING, "int[]": kind.INTS, "bool[]": kind.INTS, "float[]": kind.FLOATS}[plain]
