"""Guard zones around inputs: what a candidate writes next to an input, and what it reads there, shows."""

from __future__ import annotations

import numpy as np
import torch

from ascendops.parity.calling import Values, named_tensors

_ZONE = 256  # bytes on either side
_ALIGN = 64


class InputZones:
    """Copies storages into the middle of larger buffers; `fill` is the byte around them, so that two fills show reads that matter."""

    def __init__(self, fill: int) -> None:
        self.fill = fill
        self._buffers: dict[int, tuple[np.ndarray, int, int]] = {}

    def copy(self, storage: torch.UntypedStorage) -> torch.UntypedStorage:
        """A copy of a CPU storage between two zones; others are copied plainly."""
        size = storage.nbytes()
        if storage.device.type != "cpu" or size == 0:
            plain: torch.UntypedStorage = storage.clone()
            return plain
        buffer = np.full(size + 2 * _ZONE + _ALIGN, self.fill, dtype=np.uint8)
        start = _ZONE + -(buffer.ctypes.data + _ZONE) % _ALIGN
        inside = torch.from_numpy(buffer[start : start + size])
        inside.untyped_storage().copy_(storage)
        fresh: torch.UntypedStorage = inside.untyped_storage()
        self._buffers[fresh.data_ptr()] = (buffer, start, size)
        return fresh

    def touched(self, values: Values) -> tuple[str, ...]:
        """Names of the inputs whose zones do not hold the fill any more."""
        found = []
        for name, tensor in named_tensors(values):
            entry = self._buffers.get(tensor.untyped_storage().data_ptr())
            if entry is not None:
                buffer, start, size = entry
                if not ((buffer[:start] == self.fill).all() and (buffer[start + size :] == self.fill).all()):
                    found.append(name)
        return tuple(found)
