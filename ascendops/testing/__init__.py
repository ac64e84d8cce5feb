"""Tests of operator projects: a pytest plugin, and `run`, which is `ascendops test`. Names load on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ascendops.testing.runs import TestRun, run

__all__ = ["TestRun", "run"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'ascendops.testing' has no attribute '{name}'")
    from ascendops.testing import runs

    return getattr(runs, name)
