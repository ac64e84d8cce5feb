"""Arrays as GM buffers: what torch tensors and NumPy arrays become before a launch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ascendops.errors import InputError
from ascendops.spec.dtypes import BY_NAME

if TYPE_CHECKING:
    import torch


def as_tensor(value: Any, name: str, op: str) -> torch.Tensor:
    """`value` as a contiguous CPU tensor; a NumPy array shares its memory where it can.

    Raises:
        InputError: Not an array, on another device, or of a dtype that Ascend C lacks.
    """
    import numpy
    import torch

    if isinstance(value, numpy.ndarray):
        value = torch.from_numpy(value)
    if not isinstance(value, torch.Tensor):
        kind = type(value).__name__
        raise InputError(f"{op}: '{name}' must be a tensor, not {kind}", help="pass a torch.Tensor or a numpy.ndarray")
    if value.device.type != "cpu":
        raise InputError(f"{op}: '{name}' lies on {value.device}", why="the CPU twin reads host memory", help=f"pass {name}.cpu()")
    if dtype_name(value) not in BY_NAME:
        raise InputError(f"{op}: '{name}' is {dtype_name(value)}, which no Ascend C kernel takes", help=f"use one of: {', '.join(BY_NAME)}")
    return value.detach().contiguous()


def as_list(value: Any, name: str, op: str) -> list[torch.Tensor]:
    """`value` as a list of contiguous CPU tensors; None is an empty one.

    Raises:
        InputError: Not a list or tuple, or an item that `as_tensor` refuses, named by its index.
    """
    if value is None:
        return []
    if not isinstance(value, (list, tuple)):
        kind = type(value).__name__
        raise InputError(f"{op}: '{name}' must be a list of tensors, not {kind}", help=f"pass [{name}]" if hasattr(value, "shape") else "pass a list or a tuple of tensors")
    return [as_tensor(item, f"{name}[{i}]", op) for i, item in enumerate(value)]


def dtype_name(tensor: torch.Tensor) -> str:
    """The dtype's PyTorch name without the module, e.g. `float16`."""
    return str(tensor.dtype).removeprefix("torch.")


def nbytes(tensor: torch.Tensor) -> int:
    """Bytes of the elements of a contiguous tensor."""
    return tensor.numel() * tensor.element_size()


def octets(tensor: torch.Tensor) -> torch.Tensor:
    """The bytes of the elements in order, as a one-dimensional uint8 tensor: memory of its own where the tensor is not contiguous.

    torch calls a tensor of one element contiguous whatever its strides are, and then refuses to view it as bytes.
    """
    import torch

    flat = tensor.contiguous().reshape(-1)
    if flat.numel() == 1:
        flat = torch.empty(1, dtype=flat.dtype, device=flat.device).copy_(flat)
    return flat.view(torch.uint8)


def raw_bytes(tensor: torch.Tensor) -> bytes:
    """The elements of a tensor as bytes (bfloat16 included, which NumPy lacks)."""
    return octets(tensor).numpy().tobytes() if tensor.numel() else b""


def describe(tensors: Sequence[tuple[str, Any]]) -> str:
    """`x: float16 [3, 5], w: float32 [5]`, for messages."""
    parts = []
    for name, tensor in tensors:
        if tensor is None:
            parts.append(f"{name}: absent")
        elif isinstance(tensor, (list, tuple)):
            parts.append(f"{name}: [{describe([(str(i), item) for i, item in enumerate(tensor)])}]")
        else:
            parts.append(f"{name}: {dtype_name(tensor)} {list(tensor.shape)}")
    return ", ".join(parts)
