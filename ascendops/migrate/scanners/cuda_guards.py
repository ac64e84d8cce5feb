"""Conditions of the C++ preprocessor on CUDA's versions and architectures, and TensorRT plugins in C++."""

from __future__ import annotations

import re

from ascendops.migrate.facts import tables
from ascendops.migrate.facts.tables import Fact
from ascendops.migrate.scanners.sink import Sink

_GUARD = re.compile(
    r"^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif)\b[^\n]*?\b"
    r"(__CUDA_ARCH__|__CUDACC__|__CUDACC_VER_\w+|__NVCC__|CUDART_VERSION|CUDA_VERSION|NCCL_VERSION_CODE|NCCL_MAJOR|CUDNN_VERSION|CUDNN_MAJOR|CUB_VERSION|__CUDA_\w+_EXIST__|__CUDA_NO_\w+)\b",
    re.MULTILINE,
)
_DEVICE = Fact(
    "CUDA architecture guard",
    "restricted",
    "__NPU_ARCH__",
    "the guarded code exists for one GPU generation; decide which branch the kernel on Ascend follows",
    "derived from the __global__ row of cuda_cpp_map.json",
)
_VERSION = Fact(
    "CUDA version guard",
    "restricted",
    "",
    "the macro is not defined with CANN: the branch for old versions would be taken",
    "derived",
)
_TENSORRT = re.compile(r"\bnvinfer1::|\bREGISTER_TENSORRT_PLUGIN\b|\bnvonnxparser::")


def scan(masked: str, sink: Sink) -> None:
    """Adds findings for guards, and one for the first use of TensorRT's C++ interface in a file."""
    for match in _GUARD.finditer(masked):
        device = match[1].startswith(("__CUDA_ARCH", "__CUDACC__", "__NVCC__", "__CUDA_NO", "__CUDA_FP", "__CUDA_BF"))
        sink.add(sink.source.line_at(match.start(1)), f"#if {match[1]}", "MIG-CUDA-GUARD", _DEVICE if device else _VERSION)
    if first := _TENSORRT.search(masked):
        fact = tables.imports()["tensorrt"]
        sink.add(sink.source.line_at(first.start()), f"{first[0]} (first use in this file)", "MIG-CUDA-LIBRARY", fact)
