"""Errors of operators under PyTorch (ASC7xx)."""

from __future__ import annotations

from ascendops.errors.base import AscendOpsError, ExitCode

__all__ = ["BackendMissing", "DeviceRefused", "GradientError", "LayoutRefused", "OnnxRefused"]


class GradientError(AscendOpsError):
    """A gradient was asked for that the operator does not declare.

    [autograd] in op.toml says how gradients are computed: by another operator of the project (`backward`), or by `formula`. Call the
    operator under torch.no_grad(), or declare it.
    """

    id = "ASC701"


class LayoutRefused(AscendOpsError):
    """An input is not contiguous, and op.toml says `contiguous = "required"`.

    With `contiguous = "copy"` (the default) such inputs are copied; each copy is an entry `ascendops::copy::OP.INPUT` in torch's profiler
    and counts in `ascendops.torchlib.copies()`.
    """

    id = "ASC702"


class BackendMissing(AscendOpsError):
    """The operator has nothing to run on this device.

    CPU tensors run on the CPU twin, CUDA tensors on the Triton reference that op.toml declares, NPU tensors on the operator installed for
    CANN through the extension in gen/torch, or on the twin where the laptop `npu` device is on (`ascendops.enable_npu_twin()`).
    """

    id = "ASC703"
    exit_code = ExitCode.TOOLCHAIN


class DeviceRefused(AscendOpsError):
    """The laptop `npu` device cannot be switched on in this process.

    It takes PyTorch's PrivateUse1 device, which only one backend per process can have: torch_npu, or the twin. Start a new process and call
    `ascendops.enable_npu_twin()` first, or set ASCENDOPS_NPU=twin.
    """

    id = "ASC704"


class OnnxRefused(AscendOpsError):
    """An operator cannot be exported to ONNX as asked for.

    Both forms use golden.py: its function is what the operator is decomposed into, and the body of the node. It must be made of torch
    operations that torch.onnx exports.
    """

    id = "ASC705"
