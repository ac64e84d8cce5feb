"""`torch.npu` of the laptop device: the functions that user code calls, in the form that torch_npu and torch.cuda give them."""

from __future__ import annotations

import contextlib
import ctypes
import types
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import torch

NAME = "Ascend NPU host twin (CPU)"


def _index(device: Any) -> int:
    if isinstance(device, int):
        return device
    found = torch.device(device).index if device is not None else None
    return int(torch.npu.current_device()) if found is None else int(found)  # type: ignore[attr-defined]


def make_module(library: ctypes.CDLL, twin: Any) -> types.ModuleType:
    """The module `torch.npu`."""
    module = types.ModuleType("torch.npu", "The laptop npu device of ascendops: a twin in host memory, not an NPU.")
    library.ascendops_npu_memory.restype = ctypes.c_int64
    functions = {**_devices(library), **_memory(library), **_random(), **_streams()}
    for name, function in functions.items():
        setattr(module, name, function)
    module.is_twin = True  # type: ignore[attr-defined]
    module.twin = twin  # type: ignore[attr-defined]
    module.amp = types.SimpleNamespace(  # type: ignore[attr-defined]
        autocast=lambda enabled=True, dtype=torch.float16, cache_enabled=True: torch.autocast(
            "npu", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled
        ),
        GradScaler=lambda *args, **kwargs: torch.amp.GradScaler("npu", *args, **kwargs),
    )
    return module


def _devices(library: ctypes.CDLL) -> dict[str, Any]:
    def set_device(device: Any) -> None:
        torch._C._accelerator_setDeviceIndex(_index(device))

    @contextlib.contextmanager
    def device(target: Any) -> Iterator[None]:
        before = library.ascendops_npu_current_device()
        set_device(target)
        try:
            yield
        finally:
            set_device(before)

    def get_device_properties(target: Any = None) -> types.SimpleNamespace:
        return types.SimpleNamespace(name=NAME, total_memory=_total_memory(), index=_index(target))

    return {
        "is_available": lambda: True, "is_initialized": lambda: True, "init": lambda: None, "_lazy_init": lambda: None, "_is_in_bad_fork": lambda: False,
        "device_count": library.ascendops_npu_device_count, "current_device": library.ascendops_npu_current_device, "set_device": set_device,
        "device": device, "synchronize": lambda *_: None, "get_device_name": lambda *_: NAME,
        "get_device_properties": get_device_properties, "is_bf16_supported": lambda: True, "utils": types.SimpleNamespace(set_device=set_device),
        "get_amp_supported_dtype": lambda: [torch.float16, torch.bfloat16], "set_compile_mode": lambda **_: None,
        "get_device_capability": lambda *_: None, "config": types.SimpleNamespace(allow_internal_format=False),
    }  # fmt: skip


def _total_memory() -> int:
    import os

    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _memory(library: ctypes.CDLL) -> dict[str, Any]:
    def now(device: Any = None) -> int:
        return int(library.ascendops_npu_memory(_index(device), 0))

    def peak(device: Any = None) -> int:
        return int(library.ascendops_npu_memory(_index(device), 1))

    def reset(device: Any = None) -> None:
        library.ascendops_npu_reset_peak(_index(device))

    return {
        "memory_allocated": now, "memory_reserved": now, "max_memory_allocated": peak, "max_memory_reserved": peak,
        "reset_peak_memory_stats": reset, "reset_max_memory_allocated": reset, "empty_cache": lambda: None,
        "mem_get_info": lambda device=None: (_total_memory() - now(device), _total_memory()),
        "memory_stats": lambda device=None: {"allocated_bytes.all.current": now(device), "allocated_bytes.all.peak": peak(device)},
    }  # fmt: skip


def _random() -> dict[str, Any]:
    def manual_seed(seed: int) -> None:
        torch.ops.ascendops_npu.manual_seed(int(seed), _index(None))

    def manual_seed_all(seed: int) -> None:
        for index in range(torch.npu.device_count()):  # type: ignore[attr-defined]
            torch.ops.ascendops_npu.manual_seed(int(seed), index)

    def get_rng_state(device: Any = "npu") -> torch.Tensor:
        state: torch.Tensor = torch.ops.ascendops_npu.rng_state(_index(device))
        return state

    def set_rng_state(state: torch.Tensor, device: Any = "npu") -> None:
        torch.ops.ascendops_npu.set_rng_state(state.cpu(), _index(device))

    def set_rng_state_all(states: Sequence[torch.Tensor]) -> None:
        for index, state in enumerate(states):
            set_rng_state(state, index)

    return {
        "manual_seed": manual_seed, "manual_seed_all": manual_seed_all, "seed": lambda: manual_seed(torch.seed()),
        "seed_all": lambda: manual_seed_all(torch.seed()), "get_rng_state": get_rng_state, "set_rng_state": set_rng_state,
        "get_rng_state_all": lambda: [get_rng_state(i) for i in range(torch.npu.device_count())],  # type: ignore[attr-defined]
        "set_rng_state_all": set_rng_state_all,
        "initial_seed": lambda: int(torch.ops.ascendops_npu.initial_seed(_index(None))),
    }  # fmt: skip


def _streams() -> dict[str, Any]:
    def stream_of(device: Any = None, priority: int = 0, **_: Any) -> torch.Stream:
        return torch.Stream(device=torch.device("npu", _index(device)), priority=priority)

    def event(enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> torch.Event:
        return torch.Event(device="npu", enable_timing=enable_timing, blocking=blocking, interprocess=interprocess)

    def current(device: Any = None) -> torch.Stream:
        return torch.accelerator.current_stream(torch.device("npu", _index(device)))

    @contextlib.contextmanager
    def stream(chosen: torch.Stream | None) -> Iterator[None]:
        if chosen is None:
            yield
            return
        before = current(chosen.device_index)
        torch.accelerator.set_stream(chosen)
        try:
            yield
        finally:
            torch.accelerator.set_stream(before)

    return {
        "Stream": stream_of, "Event": event, "stream": stream, "current_stream": current, "set_stream": torch.accelerator.set_stream,
        "default_stream": lambda device=None: torch.Stream(stream_id=0, device_index=_index(device), device_type=20),
    }  # fmt: skip


def stand_in(npu: types.ModuleType) -> types.ModuleType:
    """A module `torch_npu` for programs that import it to get `torch.npu`; anything else asked of it is refused by name."""
    module = types.ModuleType("torch_npu", "Stands for torch_npu while the laptop npu device of ascendops is on.")

    def missing(name: str) -> NoReturn:
        raise AttributeError(f"torch_npu.{name} needs the real torch_npu: this is the laptop npu device of ascendops")

    module.npu, module.is_twin, module.__version__ = npu, True, "0+ascendops.twin"  # type: ignore[attr-defined]
    module.__getattr__ = missing  # type: ignore[method-assign]
    return module
