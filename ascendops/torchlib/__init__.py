"""Operators as PyTorch custom ops: one schema, a CPU kernel (the twin) and a Meta kernel (the shape rule)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ascendops.build.library import Library


def register(library: Library, namespace: str = "ascendops") -> Any:
    """Registers every operator of a library under `torch.ops.<namespace>`; see `Library.register`."""
    from ascendops.torchlib.registry import register as _register

    return _register(library, namespace)
