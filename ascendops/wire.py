"""Pickles for worker processes: CPU tensors travel with strides, offset and shared storages; torch loads only if needed."""

from __future__ import annotations

import io
import pickle
import sys
from typing import IO, Any


def dumps(value: Any) -> bytes:
    """Pickles `value`; CPU tensors keep strides, offset and the sharing of storages."""
    buffer = io.BytesIO()
    _Pickler(buffer, protocol=pickle.HIGHEST_PROTOCOL).dump(value)
    return buffer.getvalue()


class _Pickler(pickle.Pickler):
    def __init__(self, file: IO[bytes], protocol: int) -> None:
        super().__init__(file, protocol)
        self._storages: dict[int, Any] = {}

    def reducer_override(self, value: Any) -> Any:
        torch = sys.modules.get("torch")
        if (
            torch is None
            or type(value) is not torch.Tensor
            or value.device.type != "cpu"
            or value.layout != torch.strided
        ):
            return NotImplemented
        value = value.detach().resolve_conj().resolve_neg()
        storage = value.untyped_storage()
        key = storage.data_ptr() or -1 - len(self._storages)
        if key not in self._storages:
            view = torch.empty(0, dtype=torch.uint8).set_(storage)
            self._storages[key] = view.numpy().copy()
        layout = (str(value.dtype).removeprefix("torch."), tuple(value.shape), value.stride(), value.storage_offset())
        return _rebuild_tensor, (self._storages[key], *layout)


def _rebuild_tensor(data: Any, dtype: str, shape: tuple[int, ...], stride: tuple[int, ...], offset: int) -> Any:
    import torch

    if data.size == 0:
        return torch.empty_strided(shape, stride, dtype=getattr(torch, dtype))
    flat = torch.from_numpy(data)
    return torch.empty(0, dtype=getattr(torch, dtype)).set_(flat.untyped_storage(), offset, shape, stride)
