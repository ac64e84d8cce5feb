"""Errors of running kernels on the CPU twin (ASC5xx)."""

from __future__ import annotations

from typing import Any

from ascendops.errors.base import AscendOpsError, ExitCode

__all__ = ["InputError", "KernelCrash", "KernelHang", "OpHostError", "RegistrationError", "TwinCheckError"]


class InputError(AscendOpsError):
    """An operator was called with tensors or attributes that its declaration does not allow.

    The message names the tensor, what it is and what the declaration allows: count, dtype, rank, shape or device.
    """

    id = "ASC501"


class OpHostError(AscendOpsError):
    """InferShape, InferDataType or the tiling function of op_host returned a failure.

    These functions return ge::GRAPH_FAILED for inputs that they refuse; the message says which function and with which shapes.
    """

    id = "ASC502"
    exit_code = ExitCode.MISMATCH


class TwinCheckError(AscendOpsError):
    """The CPU twin found a fault in the kernel that would corrupt data, hang or trap on the device.

    `diagnostics` holds the findings; each has an id of its own (`ascendops explain ID`). Outputs were still collected: use
    `checks="warn"` to get them, and the findings, without this error.
    """

    id = "ASC503"
    exit_code = ExitCode.MISMATCH

    def __init__(self, what: str, *, diagnostics: tuple[Any, ...] = (), **fields: Any) -> None:
        super().__init__(what, **fields)
        self.diagnostics = diagnostics


class KernelCrash(AscendOpsError):
    """The kernel, or a function of op_host, crashed (a signal such as SIGSEGV).

    On the device this would be an exception of the AI core, such as 507015 or 507035. The message has the backtrace.
    """

    id = "ASC504"
    exit_code = ExitCode.MISMATCH


class KernelHang(AscendOpsError):
    """The kernel did not end within its time limit.

    On the device this would end in a task time-out. The message says where each block was when it was stopped.
    """

    id = "ASC505"
    exit_code = ExitCode.MISMATCH


class RegistrationError(AscendOpsError):
    """An operator could not be registered with PyTorch.

    PyTorch keeps a schema for the life of the process, so an operator of the same name cannot get another one.
    """

    id = "ASC506"
