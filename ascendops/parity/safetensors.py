"""The safetensors format: an 8-byte length, a JSON header, raw little-endian data. Only what bundles need; no pickle."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from ascendops.build.tensors import raw_bytes
from ascendops.errors import BundleCorrupt, BundleMissing, BundleTruncated

_NAMES: dict[torch.dtype, str] = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.float8_e4m3fn: "F8_E4M3",
    torch.float8_e5m2: "F8_E5M2",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.int16: "I16",
    torch.int8: "I8",
    torch.uint8: "U8",
    torch.uint16: "U16",
    torch.uint32: "U32",
    torch.uint64: "U64",
    torch.bool: "BOOL",
    torch.complex64: "C64",
}
_DTYPES = {name: dtype for dtype, name in _NAMES.items()}


def dumps(tensors: Mapping[str, torch.Tensor]) -> bytes:
    """The tensors as one safetensors file. Complex128 has no name in the format: store its view as real numbers."""
    header: dict[str, Any] = {}
    parts, start = [], 0
    for name, tensor in tensors.items():
        data = raw_bytes(tensor.detach().cpu())
        header[name] = {
            "dtype": _NAMES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [start, start + len(data)],
        }
        parts.append(data)
        start += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([len(text).to_bytes(8, "little"), text, *parts])


def load(path: Path) -> dict[str, torch.Tensor]:
    """The tensors of a file.

    Raises:
        BundleMissing: No such file.
        BundleTruncated: It ends before its tensors do.
        BundleCorrupt: It is not of this format.
    """
    if not path.is_file():
        raise BundleMissing(f"{path} does not exist", where=str(path))
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    if len(content) < 8 or len(content) < 8 + min(size, 1 << 30):
        raise BundleTruncated(f"{path} has {len(content)} bytes and ends inside its header", where=str(path))
    try:
        header = json.loads(content[8 : 8 + size])
        found = {
            name: _tensor(entry, content, 8 + size, path) for name, entry in header.items() if name != "__metadata__"
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BundleCorrupt(f"{path} is not a safetensors file: {error}", where=str(path)) from error
    return found


def _tensor(entry: dict[str, Any], content: bytes, base: int, path: Path) -> torch.Tensor:
    start, end = entry["data_offsets"]
    if base + end > len(content):
        raise BundleTruncated(
            f"{path} has {len(content)} bytes, its tensors need {base + end}", where=str(path), help="copy it again"
        )
    dtype, shape = _DTYPES[entry["dtype"]], entry["shape"]
    if start == end:
        return torch.empty(shape, dtype=dtype)
    data = torch.frombuffer(bytearray(content[base + start : base + end]), dtype=torch.uint8)
    return data.view(dtype).reshape(shape)
