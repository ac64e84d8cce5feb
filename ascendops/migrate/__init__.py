"""What a CUDA code base needs before it runs on CANN: `scan(paths)` returns a `Report`. Scanned code is never run."""

from __future__ import annotations

from typing import Any

__all__ = ["Finding", "Report", "scan"]


def __getattr__(name: str) -> Any:
    if name == "scan":
        from ascendops.migrate.scanners.all import scan as function

        return function
    if name in ("Finding", "Report"):
        from ascendops.migrate import model

        return getattr(model, name)
    raise AttributeError(name)
