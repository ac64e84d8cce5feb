"""Operators as PyTorch custom ops: one schema, and a kernel for each dispatch key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ascendops.build.library import Library

__all__ = ["copies", "kinds", "register"]


def register(library: Library, namespace: str = "ascendops", *, compiled: bool = False) -> Any:
    """Registers every operator of a library under `torch.ops.<namespace>`; see `Library.register`."""
    from ascendops.torchlib.registry import register as _register

    return _register(library, namespace, compiled=compiled)


def kinds(namespace: str = "ascendops") -> dict[str, str]:
    """For each registered operator `compiled`, or why its CPU kernel is the Python one."""
    from ascendops.torchlib.registry import kinds as _kinds

    return _kinds(namespace)


def copies() -> dict[str, int]:
    """How many inputs were copied because they were not contiguous, by `operator.input`."""
    from ascendops.torchlib.layout import copies as _copies

    return _copies()
