"""Errors of `op.toml` and of names (ASC1xx)."""

from __future__ import annotations

from ascendops.errors.base import AscendOpsError

__all__ = ["SpecError"]


class SpecError(AscendOpsError):
    """op.toml does not declare a valid operator.

    The message names the line and the allowed values. docs/op-toml.md describes every key.
    """

    id = "ASC101"
