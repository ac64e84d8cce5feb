"""Errors of the parity harness (ASC3xx)."""

from __future__ import annotations

from ascendops.errors.base import AscendOpsError, ExitCode

__all__ = ["ParityError"]


class ParityError(AscendOpsError):
    """The parity harness could not run a case."""

    id = "ASC301"
    exit_code = ExitCode.MISMATCH
