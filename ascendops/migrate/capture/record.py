"""Runs inside the worker: one forward pass under a dispatch mode that writes down every ATen operator."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from ascendops.loading import resolve


def record(model: str, inputs: str | None) -> list[dict[str, Any]]:
    """The operators of `model` (`module:factory`, or a .pt2 file of torch.export), with their counts, dtypes and shapes.

    Args:
        inputs: `module:factory` that returns the tuple of example inputs; None for a .pt2 file, whose graph is read instead.

    Raises:
        ValueError: `inputs` is None for a model that is no .pt2 file.
    """
    if model.endswith(".pt2"):
        return exported(Path(model))
    if inputs is None:
        raise ValueError("--inputs is needed: a factory that returns the example inputs")
    return traced(resolve(model)(), resolve(inputs)())


def traced(module: Any, arguments: Any) -> list[dict[str, Any]]:
    """The operators of one forward pass, on whatever device the module and its inputs are (CPU or meta)."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    seen: Counter[tuple[str, str, str]] = Counter()

    class Recorder(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            tensors = [
                value for value in torch.utils._pytree.tree_leaves((args, kwargs)) if isinstance(value, torch.Tensor)
            ]
            seen[_key(str(func.name()), tensors)] += 1
            return func(*args, **(kwargs or {}))

    recorder: Any = Recorder  # torch does not type the constructor of its modes
    with torch.no_grad(), recorder():
        module(*arguments) if isinstance(arguments, (tuple, list)) else module(**arguments)
    return _rows(seen)


def exported(path: Path) -> list[dict[str, Any]]:
    """The operators in the graphs of a file that torch.export saved: those of branches and loops, too.

    Raises:
        ValueError: It is not such a file, or its operators belong to an extension that is not loaded.
    """
    import torch

    try:
        program = torch.export.load(path)
    except Exception as error:
        raise ValueError(f"{path} cannot be read as a file of torch.export ({type(error).__name__}: {error})") from error
    seen: Counter[tuple[str, str, str]] = Counter()
    for graph in (module.graph for module in program.graph_module.modules() if isinstance(module, torch.fx.GraphModule)):
        for node in graph.nodes:
            if node.op != "call_function":
                continue
            values = [argument.meta.get("val") for argument in node.all_input_nodes]
            tensors = [value for value in values if isinstance(value, torch.Tensor)]
            if isinstance(node.target, torch._ops.OpOverload):
                seen[_key(str(node.target.name()), tensors)] += 1
            elif isinstance(node.target, torch._ops.HigherOrderOperator):
                seen[_key(f"higher_order::{node.target.name()}", tensors)] += 1
    return _rows(seen)


def _key(name: str, tensors: list[Any]) -> tuple[str, str, str]:
    dtypes = ", ".join(dict.fromkeys(str(tensor.dtype).removeprefix("torch.") for tensor in tensors))
    shapes = " ".join("x".join(map(str, tensor.shape)) or "scalar" for tensor in tensors[:3])
    return name, dtypes, shapes


def _rows(seen: Counter[tuple[str, str, str]]) -> list[dict[str, Any]]:
    return [
        {"op": op, "dtypes": dtypes, "shapes": shapes, "count": count} for (op, dtypes, shapes), count in seen.items()
    ]
