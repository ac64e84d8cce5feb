"""Packs the arguments of a host function for the twin's host runtime (twin/hostrt/request.cpp reads them)."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ascendops.errors import InputError
from ascendops.spec.dtypes import BY_NAME, WITHOUT_TORCH
from ascendops.twin.opdef import OpAttr, OpDef, OpParam
from ascendops.words import plural

_FORMAT_CODES = {
    "NCHW": 0, "NHWC": 1, "ND": 2, "NC1HWC0": 3, "FRACTAL_Z": 4, "CHWN": 14, "HWCN": 16, "NDHWC": 27, "FRACTAL_NZ": 29,
    "NCDHW": 30, "DHWCN": 31, "NDC1HWC0": 32, "FRACTAL_Z_3D": 33, "NC": 35, "NCL": 47,
}  # fmt: skip
_EXTRA_DTYPES = {name: code for name, _, _, code in WITHOUT_TORCH}
_UNDEFINED = 28


@dataclass(frozen=True)
class HostTensor:
    """What a host function sees of a tensor.

    Attributes:
        shape: Dims; -1 for an unknown one, (-2,) for an unknown rank.
        dtype: torch dtype name.
        format: GE format.
        data: Little-endian elements, for inputs declared ValueDepend.
        storage_shape: Shape in memory when the format is not the user's; `shape` by default.
    """

    shape: tuple[int, ...]
    dtype: str
    format: str = "ND"
    data: bytes | None = None
    storage_shape: tuple[int, ...] | None = None

    def __str__(self) -> str:
        layout = "" if self.format == "ND" else f" {self.format}"
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]{layout}"


TensorArg = HostTensor | Sequence[HostTensor] | None


def pack(
    op: OpDef,
    platform: int,
    inputs: Sequence[TensorArg],
    outputs: Sequence[TensorArg],
    attrs: Mapping[str, Any],
    readable: frozenset[str],
    deterministic: bool = False,
) -> bytes:
    """The request of one call; elements are passed only for inputs in `readable`.

    Raises:
        InputError: A required tensor or attribute is missing, or a value does not fit its declaration.
    """
    parts = [struct.pack("<ii", platform, deterministic), struct.pack("<I", len(op.inputs))]
    for param, value in zip(op.inputs, _aligned(op, inputs), strict=True):
        parts.append(_pack_tensors(op, param, value, param.name in readable))
    parts.append(struct.pack("<I", len(op.outputs)))
    for param, value in zip(op.outputs, outputs, strict=True):
        parts.append(_pack_tensors(op, param, value, False))
    parts.append(struct.pack("<I", len(op.attrs)))
    parts += [_pack_attr(op, attr, attrs.get(attr.name)) for attr in op.attrs]
    return b"".join(parts)


def _aligned(op: OpDef, inputs: Sequence[TensorArg]) -> list[TensorArg]:
    if len(inputs) > len(op.inputs):
        raise InputError(f"{op.op_type} has {plural(len(op.inputs), 'input')}, given: {len(inputs)}")
    return [*inputs, *[None] * (len(op.inputs) - len(inputs))]


def _pack_tensors(op: OpDef, param: OpParam, value: TensorArg, readable: bool) -> bytes:
    if value is None:
        if param.param_type == "required":
            raise InputError(f"{op.op_type}: input '{param.name}' is required")
        return struct.pack("<I", 0)
    tensors = [value] if isinstance(value, HostTensor) else list(value)
    if param.param_type != "dynamic" and len(tensors) != 1:
        raise InputError(f"{op.op_type}: '{param.name}' is one tensor, a list of {len(tensors)} was given")
    return struct.pack("<I", len(tensors)) + b"".join(_pack_tensor(tensor, readable) for tensor in tensors)


def _pack_tensor(tensor: HostTensor, readable: bool) -> bytes:
    known = BY_NAME.get(tensor.dtype)
    code = known.ge_code if known is not None else _EXTRA_DTYPES.get(tensor.dtype, _UNDEFINED)
    layout = _FORMAT_CODES.get(tensor.format, _FORMAT_CODES["ND"])
    data = tensor.data if readable else None
    storage = tensor.shape if tensor.storage_shape is None else tensor.storage_shape
    head = struct.pack("<iii", code, layout, layout) + _dims(tensor.shape) + _dims(storage)
    return head + struct.pack("<q", -1 if data is None else len(data)) + (data or b"")


def _dims(shape: Sequence[int]) -> bytes:
    return struct.pack(f"<I{len(shape)}q", len(shape), *shape)


def _pack_attr(op: OpDef, attr: OpAttr, value: Any) -> bytes:
    if value is None:
        value = attr.default
    if value is None:
        raise InputError(f"{op.op_type}: attribute '{attr.name}' ({attr.type}) is required")
    try:
        return attr.kind.encode() + _pack_value(attr.kind, value)
    except (TypeError, ValueError, struct.error, OverflowError):
        raise InputError(f"{op.op_type}: attribute '{attr.name}' must be {attr.type}, not {value!r}") from None


def _pack_value(kind: str, value: Any) -> bytes:
    if kind == "b":
        return struct.pack("<?", value)
    if kind == "i":
        return struct.pack("<q", value)
    if kind == "f":
        return struct.pack("<f", value)
    if kind == "s":
        text = value.encode()
        return struct.pack("<I", len(text)) + bytes(text)
    if kind == "L":
        return struct.pack("<I", len(value)) + b"".join(_dims(row) for row in value)
    letter = {"B": "?", "I": "q", "F": "f"}[kind]
    value = (value,) if isinstance(value, int | float) else value  # op.toml's `int?` is a list of no or one item in OpDef
    return struct.pack(f"<I{len(value)}{letter}", len(value), *value)
