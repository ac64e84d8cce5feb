"""Errors of rendering and scaffolding (ASC2xx)."""

from __future__ import annotations

from ascendops.errors.base import AscendOpsError

__all__ = ["RenderError"]


class RenderError(AscendOpsError):
    """A template could not be rendered."""

    id = "ASC201"
