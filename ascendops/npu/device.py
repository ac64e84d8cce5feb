"""Switching the laptop `npu` device on, and what kit operators and reports need of it."""

from __future__ import annotations

import ctypes
import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.utils.backend_registration import generate_methods_for_privateuse1_backend, rename_privateuse1_backend

from ascendops.errors import DeviceRefused
from ascendops.npu.build import device_library
from ascendops.npu.module import make_module, stand_in


@dataclass(frozen=True)
class Twin:
    """The device that is on.

    Attributes:
        library: Its library, for what needs no tensor.
    """

    library: ctypes.CDLL

    def host_view(self, value: Any) -> Any:
        """Tensors of the device as CPU tensors over the same memory; lists item by item, other values as they are."""
        if isinstance(value, (list, tuple)):
            return [self.host_view(one) for one in value]
        on_device = isinstance(value, torch.Tensor) and value.device.type == "npu"
        return torch.ops.ascendops_npu.host_view(value) if on_device else value

    def device_view(self, value: Any, device: torch.device) -> Any:
        """CPU tensors as tensors of the device over the same memory; tuples and lists item by item."""
        if isinstance(value, (list, tuple)):
            return type(value)(self.device_view(one, device) for one in value)
        return torch.ops.ascendops_npu.device_view(value, device.index or 0) if isinstance(value, torch.Tensor) else value

    def fallbacks(self) -> dict[str, int]:
        """How often each ATen operator ran on the CPU, by name, the most frequent first."""
        self.library.ascendops_npu_fallbacks.restype = ctypes.c_char_p
        rows = [line.rsplit(" ", 1) for line in self.library.ascendops_npu_fallbacks().decode().splitlines()]
        return dict(sorted(((name, int(count)) for name, count in rows), key=lambda row: (-row[1], row[0])))

    def reset_fallbacks(self) -> None:
        """Counts from zero again."""
        self.library.ascendops_npu_reset_fallbacks()

    def report(self) -> str:
        """The compatibility report: every operator that ran, how often, and whether torch_npu has it."""
        from ascendops.npu.report import report

        return report(self.fallbacks())


def start(library: Path | None = None) -> Twin:
    """Loads the device (the compiled one of the build cache by default) and gives `torch` its names for it.

    Raises:
        DeviceRefused: Another backend has the PrivateUse1 device of this process.
    """
    if "torch_npu" in sys.modules:
        raise DeviceRefused(
            "torch_npu is loaded, so the npu twin stays off", why="only one backend per process can have the npu device",
            help="unset ASCENDOPS_NPU to use the real NPU, or start without torch_npu (TORCH_DEVICE_BACKEND_AUTOLOAD=0)",
        )  # fmt: skip
    name = torch._C._get_privateuse1_backend_name()
    if name != "privateuseone":
        raise DeviceRefused(f"PyTorch's PrivateUse1 device is taken by '{name}', so the npu twin stays off", help="start a new process")
    path = library or device_library()
    torch.ops.load_library(str(path))
    twin = Twin(ctypes.CDLL(str(path)))
    rename_privateuse1_backend("npu")
    module = make_module(twin.library, twin)
    torch._register_device_module("npu", module)
    generate_methods_for_privateuse1_backend(for_tensor=True, for_module=True, for_storage=True, unsupported_dtype=None)
    sys.modules["torch.npu"] = module
    if importlib.util.find_spec("torch_npu") is None:
        sys.modules["torch_npu"] = stand_in(module)
    return twin
