"""CUDA libraries used from Python: which uses are findings, and what becomes of them."""

from __future__ import annotations

import functools
import re

from ascendops.migrate.facts import tables
from ascendops.migrate.facts.tables import Fact

Hit = tuple[str, str, Fact]  # construct, rule, fact

USED = (
    "cupy",
    "numba.cuda",
    "pycuda",
    "tensorrt",
    "torch_tensorrt",
    "torch2trt",
    "pynvml",
    "nvtx",
    "cuda.cuda",
    "cuda.nvrtc",
    "cuda.bindings",
    "cuda.cudart",
)
"""Libraries of which every use is a finding, not only the import."""


def library_use(name: str, library: str) -> Hit | None:
    """The construct, rule and fact of a name of a CUDA library; None for flags whose call is a finding."""
    parts = name.removeprefix(library + ".").split(".")
    facts = [fact for part in parts for section in ("runtime", "driver") if (fact := native(section, part))]
    if facts:
        return None if any(fact.quiet for fact in facts) else (name, "MIG-CUDA-PYTHON", facts[0])
    row = tables.imports().get(library) or tables.imports()[library.split(".")[0]]
    if parts[-1] in _PYTHON_KERNELS:
        target = "Triton for Ascend or Ascend C"
        fact = Fact(name, "custom_op", target, "CUDA C++ or Numba code is written anew", row.source)
        return name, "MIG-PY-KERNEL", fact
    if library == "numba.cuda" and parts[0] in _NUMBA_HOST:
        fact = Fact(
            name,
            "restricted",
            "torch tensors on npu, torch.npu streams and events",
            "no numba target for Ascend",
            row.source,
        )
        return name, "MIG-CUDA-PYTHON", fact
    return name, "MIG-CUDA-PYTHON", row


_PYTHON_KERNELS = (
    "RawKernel",
    "RawModule",
    "ElementwiseKernel",
    "ReductionKernel",
    "SourceModule",
    "fuse",
    "jit",
    "reduce",
    "declare_device",
)
_NUMBA_HOST = {
    "to_device", "device_array", "device_array_like", "pinned_array", "pinned_array_like", "mapped_array", "mapped_array_like", "managed_array", "external_stream", "per_thread_default_stream", "open_ipc_array", "profile_start", "profile_stop", "event_elapsed_time", "reset", "current_context", "synchronize", "stream", "event", "select_device",
    "get_current_device", "as_cuda_array", "is_available", "close", "default_stream", "pinned", "gpus", "list_devices", "detect", "defer_cleanup",
}  # fmt: skip


@functools.lru_cache(maxsize=4096)
def native(section: str, name: str) -> Fact | None:
    """The fact of a CUDA runtime or driver name: the table's row, else the family that its spelling shows."""
    base = re.sub(r"(Async|_v\d|_ptsz|_ptds|WithFlags|WithStream)+$", "", name)
    if fact := tables.cpp("runtime").get(name) or tables.cpp("runtime").get(base):
        return fact
    return next((fact for pattern, fact in tables.patterns(section) if re.fullmatch(pattern, name)), None)
