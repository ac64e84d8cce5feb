"""What an operator runs on each device: the twin (CPU), the Triton reference (CUDA), the installed operator or the twin (NPU), the shape rule (Meta)."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from ascendops.errors import BackendMissing
from ascendops.torchlib.layout import contiguous

if TYPE_CHECKING:
    from ascendops.build.operator import Operator
    from ascendops.torchlib.native import Native


@dataclass
class Entry:
    """One registered name: the operator that runs now (a new build replaces it), and what its calls need.

    Attributes:
        qualified: `namespace::name`.
        names: Positional arguments in order.
        fresh: Positions of the outputs that are returned (all, unless inputs that are written to are left out).
        native: The library with its compiled CPU kernel, where it has one.
    """

    qualified: str
    operator: Operator
    names: tuple[str, ...] = ()
    fresh: tuple[int, ...] | None = None
    policy: str = "copy"
    mutated: frozenset[str] = frozenset()
    functions: dict[str, Callable[..., Any]] = field(default_factory=dict)
    native: Native | None = None

    def update(self, operator: Operator) -> None:
        """Runs `operator` from now on."""
        spec = operator.spec
        if self.native is not None:
            self.native.forget(self.qualified)
        self.operator, self.functions = operator, {}
        if spec is not None:
            self.names = tuple(arg.name for arg in spec.schema.arguments if not arg.kwarg_only)
            self.policy = spec.torch.contiguous
            self.mutated = frozenset(tensor.name for tensor in spec.inputs if tensor.mutated)
        else:
            self.names = tuple(parameter.name for parameter in operator.signature.parameters)

    def returned(self, outputs: Any) -> Any:
        """The outputs that the schema returns: nothing, one tensor or a tuple."""
        if self.fresh is None:
            return outputs
        every = outputs if isinstance(outputs, tuple) else (outputs,)
        kept = tuple(every[index] for index in self.fresh)
        return None if not kept else kept[0] if len(kept) == 1 else kept


def on_cpu(entry: Entry) -> Callable[..., Any]:
    """The CPU kernel: the twin."""

    def run(*args: Any, **kwargs: Any) -> Any:
        return call(entry, entry.operator, args, kwargs)

    return run


def behind_native(entry: Entry, native: Native) -> Callable[..., Any]:
    """The CPU kernel behind a compiled one, which gets the plan of each call that it has not seen before."""

    def run(*args: Any, **kwargs: Any) -> Any:
        outputs = call(entry, entry.operator, args, kwargs)
        native.keep(entry, args, kwargs)
        return outputs

    return run


def call(entry: Entry, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Calls `function` with contiguous inputs; what it wrote into a copy of an input is copied back."""
    for value in (*args, *kwargs.values()):
        if isinstance(value, (list, tuple)) or (isinstance(value, torch.Tensor) and not value.is_contiguous()):
            break
    else:
        return entry.returned(function(*args, **kwargs))
    op = entry.operator.name
    flat = [contiguous(value, entry.policy, op, name) for name, value in zip(entry.names, args, strict=False)]
    named = {name: contiguous(value, entry.policy, op, name) for name, value in kwargs.items()}
    outputs = function(*flat, **named)
    given = {**dict(zip(entry.names, args, strict=False)), **kwargs}
    taken = {**dict(zip(entry.names, flat, strict=False)), **named}
    for name in entry.mutated:
        if given[name] is not taken[name]:
            given[name].copy_(taken[name])
    return entry.returned(outputs)


def on_cuda(entry: Entry) -> Callable[..., Any]:
    """The CUDA kernel: the Triton reference of op.toml, compiled for the GPU."""

    def run(*args: Any, **kwargs: Any) -> Any:
        if "cuda" not in entry.functions:
            entry.functions["cuda"] = triton_reference(entry.operator)
        with torch.cuda.device(_device(args, kwargs)):
            return call(entry, entry.functions["cuda"], args, kwargs)

    return run


def triton_reference(operator: Operator) -> Callable[..., Any]:
    """The function that `[reference] triton` names, for tensors on a GPU.

    Raises:
        BackendMissing: op.toml declares none, or triton is not installed.
    """
    from ascendops.loading import load_file

    spec = operator.spec
    declared = spec.reference.get("triton") if spec is not None else None
    if spec is None or not declared:
        raise BackendMissing(f"{operator.name} has nothing to run on a GPU", why="op.toml declares no [reference] triton", help="move the tensors to the CPU")
    if importlib.util.find_spec("triton") is None:
        raise BackendMissing(f"{operator.name} needs triton on a GPU", help="pip install triton")
    file, _, name = declared.rpartition(":")
    function = getattr(load_file(spec.root / file), name)

    def run(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        return tuple(result) if isinstance(result, list) else result

    return run


def on_npu(entry: Entry) -> Callable[..., Any]:
    """The NPU kernel for the laptop `npu` device: the twin, on memory that both devices see. A real NPU uses the extension in gen/torch.

    Raises:
        BackendMissing: When it is called without the laptop device.
    """

    def run(*args: Any, **kwargs: Any) -> Any:
        from ascendops.npu import active

        twin = active()
        if twin is None:
            raise BackendMissing(
                f"{entry.qualified} is not built for this NPU", why="the operator library was built for the CPU twin",
                help="build and install the extension: pip install --no-build-isolation ./gen/torch",
            )  # fmt: skip
        device = _device(args, kwargs)
        host = tuple(twin.host_view(value) for value in args)
        named = {name: twin.host_view(value) for name, value in kwargs.items()}
        return twin.device_view(call(entry, entry.operator, host, named), device)

    return run


def _device(args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.device:
    for value in (*args, *kwargs.values()):
        for one in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(one, torch.Tensor):
                return one.device
    raise AssertionError("a kernel is chosen by its tensors, so there is one")


def on_meta(entry: Entry) -> Callable[..., Any]:
    """The Meta kernel: shapes by the declared rule (symbolic sizes allowed), dtypes by the dtype column."""

    def infer(*args: Any, **kwargs: Any) -> Any:
        outputs = meta_outputs(entry.operator, args, kwargs)
        return entry.returned(outputs[0] if len(outputs) == 1 else tuple(outputs))

    return infer


def meta_outputs(operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[torch.Tensor]:
    """Empty outputs with the right shapes, dtypes and device for symbolic or meta inputs; an input that is written to is its own output.

    Raises:
        InputError: dtypes that no column has.
        SpecError: Shapes that the declaration does not allow.
    """
    bound = operator.signature.bind(args, kwargs)
    given = [t for value in bound.tensors.values() for t in (value if isinstance(value, (list, tuple)) else [value]) if t is not None]
    device = given[0].device if given else torch.device("meta")
    column = operator.column(bound.tensors)
    if operator.spec is not None:
        shapes: Any = operator.spec.output_shapes({name: _shape(value) for name, value in bound.tensors.items()}, bound.attrs)
    else:
        shapes = operator.infer_shapes(bound)
    return [
        bound.tensors[param.name]
        if bound.tensors.get(param.name) is not None
        else torch.empty(tuple(shape), dtype=getattr(torch, param.dtypes[column]), device=device)
        for param, shape in zip(operator.definition.outputs, shapes, strict=True)
    ]


def _shape(value: Any) -> Any:
    if value is None:
        return None
    return [tuple(one.shape) for one in value] if isinstance(value, (list, tuple)) else value.shape
