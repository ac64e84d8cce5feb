"""The CPU twin: compiles unmodified Ascend C and op_host sources with the host compiler and runs them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ascendops.twin.diagnostics import Diagnostic
    from ascendops.twin.kernel import Kernel, compile  # noqa: A004  the contract's name
    from ascendops.twin.launch import LaunchResult

__all__ = ["Diagnostic", "Kernel", "LaunchResult", "compile"]

_HOME = {"Diagnostic": "diagnostics", "Kernel": "kernel", "LaunchResult": "launch", "compile": "kernel"}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        module = importlib.import_module(f"ascendops.twin.{_HOME[name]}")
        value = getattr(module, name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'ascendops.twin' has no attribute '{name}'")
