"""How candidates, goldens and references are called with a case's values, and what they may return."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Mapping
from typing import Any

import torch

from ascendops.errors import ParityError
from ascendops.words import plural

Values = Mapping[str, Any]
Outputs = list["torch.Tensor | None"]

_known: weakref.WeakKeyDictionary[Callable[..., Any], Mapping[str, inspect.Parameter]] = weakref.WeakKeyDictionary()


def invoke(function: Callable[..., Any], values: Values, **extra: Any) -> Any:
    """`function` called with a case's values in order.

    Tensors go by position. A scalar goes by keyword where it can: the function has a parameter of its name (keyword-only, or
    with no tensor still to come), or takes any keyword; else by position.
    """
    parameters = _parameters(function)
    takes_all = _takes_all(function)
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    names = list(values)
    last_tensor = max((i for i, name in enumerate(names) if _is_tensor(values[name])), default=-1)
    positional, keywords = [], dict(extra)
    for i, (name, item) in enumerate(values.items()):
        parameter = parameters.get(name)
        if parameter is None:
            by_name = takes_any and not _is_tensor(item)
        else:
            by_name = (parameter.kind is parameter.KEYWORD_ONLY and not (takes_all and _is_tensor(item))) or (
                i > last_tensor and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
            )
        if by_name:
            keywords[name] = item
        else:
            positional.append(item)
    return function(*positional, **keywords)


def takes_out(function: Callable[..., Any], values: Values) -> bool:
    """Whether the function has a parameter `out` for buffers: one that is not for the case's input of that name."""
    parameter = _parameters(function).get("out")
    return parameter is not None and ("out" not in values or (parameter.kind is parameter.KEYWORD_ONLY and _takes_all(function)))


def _takes_all(function: Callable[..., Any]) -> bool:
    """Whether the function takes any number of positional arguments."""
    return any(p.kind is p.VAR_POSITIONAL for p in _parameters(function).values())


def outputs_of(result: Any) -> Outputs:
    """The tensors a call returned, as a list (a single tensor, a tuple or list; numpy arrays and numbers become tensors).

    Raises:
        ParityError: Something else came back.
    """
    if isinstance(result, (tuple, list)):
        return [_tensor(item) for item in result]
    return [_tensor(result)]


def map_tensors(values: Values, change: Callable[[torch.Tensor], torch.Tensor]) -> dict[str, Any]:
    """The values with `change` applied to every tensor, also inside lists."""

    def walk(item: Any) -> Any:
        if isinstance(item, torch.Tensor):
            return change(item)
        if isinstance(item, (list, tuple)) and any(isinstance(entry, torch.Tensor) for entry in item):
            return type(item)(walk(entry) for entry in item)
        return item

    return {name: walk(item) for name, item in values.items()}


def named_tensors(values: Values) -> list[tuple[str, torch.Tensor]]:
    """(name, tensor) of every tensor; members of lists are called name[i]."""
    found: list[tuple[str, torch.Tensor]] = []
    for name, item in values.items():
        if isinstance(item, torch.Tensor):
            found.append((name, item))
        elif isinstance(item, (list, tuple)):
            found += [(f"{name}[{i}]", entry) for i, entry in enumerate(item) if isinstance(entry, torch.Tensor)]
    return found


def clone(values: Values, copy_storage: Callable[[torch.UntypedStorage], torch.UntypedStorage] = torch.UntypedStorage.clone) -> dict[str, Any]:
    """A copy with the same layouts: strides, offsets and storages shared between tensors are kept.

    Args:
        copy_storage: Makes the copy of a storage.
    """
    storages: dict[int, torch.UntypedStorage] = {}

    def copy(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        place = storage.data_ptr()
        if place == 0:
            return tensor.detach().clone()
        if place not in storages:
            storages[place] = copy_storage(storage)
        fresh = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
        return fresh.set_(storages[place], tensor.storage_offset(), tensor.shape, tensor.stride())

    return map_tensors(values, copy)


def describe(values: Values) -> str:
    """A case in a few words: `x float32[3, 1023], dim=-1`."""
    parts = []
    for name, item in values.items():
        if isinstance(item, torch.Tensor):
            parts.append(f"{name} {str(item.dtype).removeprefix('torch.')}{list(item.shape)}")
        elif _is_tensor(item):
            parts.append(f"{name} {plural(len(item), 'tensor')}" if item is not None else f"{name}=None")
        else:
            parts.append(f"{name}={item}")
    return ", ".join(parts)


def _is_tensor(item: Any) -> bool:
    if isinstance(item, (list, tuple)):
        return bool(item) and all(isinstance(entry, torch.Tensor) for entry in item)
    return item is None or isinstance(item, torch.Tensor)


def _parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        known = _known.get(function)
    except TypeError:  # it can be neither hashed nor referred to weakly
        return _read_parameters(function)
    if known is None:
        known = _known[function] = _read_parameters(function)
    return known


def _read_parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(function).parameters
    except (ValueError, TypeError):  # builtins such as torch.softmax have no signature
        return {}


def _tensor(item: Any) -> torch.Tensor | None:
    import numpy as np

    if item is None or isinstance(item, torch.Tensor):
        return item
    if isinstance(item, np.ndarray):
        return torch.from_numpy(item)
    if isinstance(item, bool):
        return torch.tensor(item)
    if isinstance(item, (int, np.integer)):
        return torch.tensor(int(item), dtype=torch.int64)
    if isinstance(item, (float, np.floating)):
        return torch.tensor(float(item), dtype=torch.float64)
    raise ParityError(
        f"a {type(item).__name__} came back where a tensor is expected", help="return a tensor or a tuple of tensors"
    )
