"""An operator's Python sources: loaded, called with the dicts of a graph compiler, and evaluated."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendops.errors import AscendOpsError, TbeDtypeError, TbeError, TbeShapeError
from ascendops.spec.socs import DEFAULT_SOC, resolve
from ascendops.tbe import dtypes
from ascendops.tbe.classify import REAL
from ascendops.tbe.functions.base import EVALUATE
from ascendops.tbe.graph import Tensor, order
from ascendops.tbe.modules import installed
from ascendops.tbe.session import DYNAMIC, Session, opened, operators

if TYPE_CHECKING:
    import torch

    from ascendops.spec.socs import Soc


@dataclass(frozen=True)
class Source:
    """One implementation of an operator.

    Attributes:
        path: Its Python file.
        entry: The function that the graph compiler calls.
        mode: `dynamic` or `static`.
        root: The folder that is the package impl.
    """

    path: Path
    entry: Callable[..., Any]
    mode: str
    root: Path


def load(path: Path, op_type: str, name: str, mode: str, root: Path) -> Source:
    """The entry function of a source: what @register_operator marks, else the function called like the operator.

    Raises:
        TbeError: The file raises when it is imported, or has no such function.
    """
    operators.clear()
    with installed([root]), opened(Session(resolve(DEFAULT_SOC), mode)):
        spec = importlib.util.spec_from_file_location(f"impl.{'dynamic.' if mode == DYNAMIC else ''}{path.stem}", path)
        assert spec is not None
        assert spec.loader is not None
        module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
        with _named(path):
            spec.loader.exec_module(module)
    entry = operators.get(op_type) or getattr(module, name, None)
    if not callable(entry):
        raise TbeError(f"{path.name} has no function {name}", where=str(path), help=f'define {name}(...), or mark it with @register_operator("{op_type}")')
    return Source(path, entry, mode, root)


class _named:
    """Turns any other exception of the operator's Python into a TbeError with its line."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if error is None or isinstance(error, AscendOpsError) or not isinstance(error, Exception):
            return
        frames = traceback.extract_tb(trace)
        mine = [frame for frame in frames if Path(frame.filename) == self.path]
        line = mine[-1].lineno if mine else getattr(error, "lineno", None)
        raise TbeError(f"{self.path.name} raised {type(error).__name__}: {error}", where=f"{self.path}:{line}" if line else str(self.path)) from error


def describe(tensor: torch.Tensor, mode: str, name: str) -> dict[str, Any]:
    """The dict of an input or output as the graph compiler gives it; a scalar has the shape (1,)."""
    sizes = list(tensor.shape) or [1]
    known = mode != DYNAMIC
    shape = tuple(sizes if known else [-1] * len(sizes))
    return {
        "shape": shape, "ori_shape": shape, "format": "ND", "ori_format": "ND", "dtype": str(tensor.dtype).removeprefix("torch."),
        "range": [(size, size) if known else (1, None) for size in sizes], "param_name": name, REAL: sizes,
    }  # fmt: skip


def call(source: Source, inputs: Sequence[tuple[str, Any]], outputs: Sequence[tuple[str, torch.Tensor]], attrs: Mapping[str, Any], kernel_name: str, soc: Soc) -> list[torch.Tensor]:
    """The values of one call, written with the outputs' dtypes and shapes.

    Args:
        inputs: Name and tensor of each input in order; None for an absent one, a list for a tensor list.
        outputs: Name and an (unwritten) tensor of each output: its shape and dtype are the declared ones.
        attrs: Attributes in order.

    Raises:
        TbeError: The source fails, or builds something else than was declared.
    """

    def as_dict(name: str, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [as_dict(name, one) for one in value]
        return None if value is None else describe(value, source.mode, name)

    arguments = [as_dict(name, value) for name, value in (*inputs, *outputs)]
    plain = [list(value) if isinstance(value, tuple) else value for value in attrs.values()]
    with installed([source.root]), opened(Session(soc, source.mode)) as session, _named(source.path):
        source.entry(*arguments, *plain, kernel_name)
    if not session.tensors:
        raise TbeError(f"{source.path.name} built nothing", where=str(source.path), help="end the function with tbe.build(schedules, config)")
    data = [one for _, value in inputs for one in (value if isinstance(value, list | tuple) else [value]) if one is not None]
    results = evaluate(session.tensors[0], data, source)
    if len(results) != len(outputs):
        raise TbeError(f"{source.path.name} builds {len(results)} results, but the operator has {len(outputs)} outputs", where=str(source.path))
    return [_fitted(node, value, name, out) for (node, value), (name, out) in zip(results, outputs, strict=True)]


def evaluate(tensors: Sequence[Tensor], data: Sequence[torch.Tensor], source: Source) -> list[tuple[Tensor, torch.Tensor]]:
    """The results of a graph with their values.

    Raises:
        TbeShapeError: An input does not fit its placeholder.
        TbeDtypeError: Its dtype is another one.
    """
    places = [node for node in tensors if node.kind == "placeholder"]
    if len(places) != len(data):
        raise TbeError(f"tensor_list has {len(places)} placeholders, but the operator got {len(data)} tensors", where=str(source.path))
    values: dict[int, torch.Tensor] = {}
    for node, value in zip(places, data, strict=True):
        values[id(node)] = _bound(node, value)
    results = [node for node in tensors if node.kind != "placeholder"]
    for node in order(results):
        if node.kind != "placeholder":
            values[id(node)] = EVALUATE[node.kind](node, [values[id(child)] for child in node.inputs])
        elif id(node) not in values:
            raise TbeError(f"placeholder {node.name} is not in tensor_list", where=node.where)
    return [(node, values[id(node)]) for node in results]


def _bound(node: Tensor, value: torch.Tensor) -> torch.Tensor:
    wanted = dtypes.torch_dtype(node.dtype)
    if value.dtype != wanted:
        if str(value.dtype) != "torch.bool" or node.dtype not in ("int8", "uint8"):
            raise TbeDtypeError(f"placeholder {node.name} is {node.dtype}, but the tensor {str(value.dtype).removeprefix('torch.')}", where=node.where)
        value = value.to(wanted)
    count = 1
    for size in node.sizes:
        count *= size
    if count != value.numel():
        raise TbeShapeError(f"placeholder {node.name} has the shape {list(node.sizes)}, but the tensor {list(value.shape)}", where=node.where)
    return value.reshape(node.sizes)


def _fitted(node: Tensor, value: torch.Tensor, name: str, out: torch.Tensor) -> torch.Tensor:
    import torch

    if value.dtype != out.dtype and not (out.dtype == torch.bool and value.dtype in (torch.int8, torch.uint8)):
        raise TbeDtypeError(
            f"the result for '{name}' is {node.dtype}, but the operator declares {str(out.dtype).removeprefix('torch.')}", where=node.where,
            help="cast it with tbe.cast_to before the schedule",
        )  # fmt: skip
    if value.numel() != out.numel():
        raise TbeShapeError(f"the result for '{name}' has the shape {list(value.shape)}, but the operator declares {list(out.shape)}", where=node.where)
    return value.to(out.dtype).reshape(out.shape).contiguous()
