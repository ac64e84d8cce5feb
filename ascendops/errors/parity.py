"""Errors of the parity harness (ASC3xx)."""

from __future__ import annotations

from typing import Any

from ascendops.errors.base import AscendOpsError, ExitCode

__all__ = ["GoldenError", "ParityError", "WorkerError"]


class ParityError(AscendOpsError):
    """The parity harness could not run a case.

    The candidate, the cases or an option of `ascendops.parity.verify` are not of a form that the harness can use; the message
    says which, and what is allowed.
    """

    id = "ASC301"
    exit_code = ExitCode.USAGE


class WorkerError(AscendOpsError):
    """A function that ran in a worker process raised an exception.

    The message has the exception as the worker saw it; `traceback` holds its full text. The worker is still usable.
    """

    id = "ASC302"
    exit_code = ExitCode.MISMATCH

    def __init__(self, what: str, *, type_name: str = "", traceback: str = "", **fields: Any) -> None:
        super().__init__(what, **fields)
        self.type_name = type_name
        self.traceback = traceback


class GoldenError(AscendOpsError):
    """The golden function (golden.py) failed or returned something unusable.

    `golden(...)` receives the tensors in schema order (floating ones as float64) and the attributes as keywords, and returns one
    tensor, or a tuple with one tensor per output. Nothing can be compared before it works.
    """

    id = "ASC303"
    exit_code = ExitCode.MISMATCH
