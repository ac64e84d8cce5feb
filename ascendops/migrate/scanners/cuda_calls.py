"""Names in CUDA C++: runtime and driver calls, libraries, NCCL, PyTorch glue, headers, and device constructs outside of a kernel's row."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ascendops.migrate.facts import tables
from ascendops.migrate.facts.tables import Fact
from ascendops.migrate.scanners import cuda_edits, cuda_guards
from ascendops.migrate.scanners.python_libraries import native
from ascendops.migrate.scanners.sink import Sink

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"\n]+)[>\"]", re.MULTILINE)
_NAME = re.compile(
    r"(?<![\w.>])(?:(cuda[A-Z]\w*)|(CU(?:device|context|module|function|stream|event|result|tensorMap)\w*|cu[A-Z]\w*|nvrtc[A-Z]\w*)|(nccl[A-Z]\w*))\b"
)
_LIBRARY = re.compile(
    r"\b(?:cublas(?:Lt|Xt)?[A-Z]\w*|cudnn[A-Z]\w*|curand\w*|cufft[A-Z]\w*|cusparse[A-Z]\w*|cusolver\w*|nvshmemx?_\w+(?=\s*[(<])|nvshmem\w*_t\b|nvml[A-Z]\w*|nvtx[A-Z]\w*|cupti[A-Z]\w*|nppi?[A-Z]\w*|nvjpeg\w+|(?:\w+_)?cub::\w*[a-z]\w*|cudnn_frontend::\w+|thrust::\w+)"
)
_PROPERTY = re.compile(
    r"(?:\.|->)\s*(multiProcessorCount|maxThreadsPerMultiProcessor|sharedMemPerBlock\w*|sharedMemPerMultiprocessor|regsPerBlock|maxThreadsPerBlock|maxGridSize|maxThreadsDim|totalConstMem|warpSize|l2CacheSize|totalGlobalMem|clockRate|memoryClockRate|memoryBusWidth|persistingL2CacheMaxSize|computeMode|major|minor)\b"
)
_DEFINED = re.compile(
    r"#[ \t]*define[ \t]+((?:cu|nccl|AT_DISPATCH)\w+)\(|^[ \t]*(?:template\s*<[^>]*>\s*)?(?:(?:static|inline|extern|constexpr)\s+)*[\w:]+[ \t*&]+((?:cu|nccl)\w+)\s*\([^;{}()]*\)\s*\{",
    re.MULTILINE,
)
"""Functions and macros of the project that are named like CUDA's."""
_WRAPPER = re.compile(r"(?:Check|CHECK|Safe|Assert)(?:Error|Err|Call|Last)?_?$")
"""Error-checking wrappers: every project has its own, and they follow the call inside."""
_STREAM = "at::cuda::getCurrentCUDAStream()"
_CHECK = "C10_CUDA_CHECK / AT_CUDA_CHECK"

_TORCH = (
    (r"\b(?:at::cuda::|c10::cuda::)?getCurrentCUDAStream\b", _STREAM, ""),
    (
        r"\b(?:at::cuda::|c10::cuda::)(?:Optional)?CUDA(?:Stream)?Guard\b|\b(?:Optional)?CUDAGuard\b",
        "at::cuda::CUDAGuard / c10::cuda::CUDAGuard",
        "",
    ),
    (
        r"\b(?:at::cuda::)?getCurrentDeviceProperties\b|\b(?:at::cuda::)getDeviceProperties\b",
        "at::cuda::getCurrentDeviceProperties()",
        "",
    ),
    (r"\b(?:at::cuda::)?getCurrentCUDABlas(?:Lt)?Handle\b", "at::cuda::getCurrentCUDABlasHandle()", ""),
    (
        r"\bPhiloxCudaState\b|\bat::cuda::philox\w*|\bCUDAGeneratorImpl\b|\bcuda::detail::getDefaultCUDAGenerator\b",
        "at::cuda::philox / PhiloxCudaState",
        "",
    ),
    (r"\b(?:at::|torch::|c10::)?kCUDA\b", "at::kCUDA / torch::kCUDA", ""),
    (r"\b(?:at::|c10::|torch::)?DeviceType::CUDA\b", "at::kCUDA / torch::kCUDA", ""),
    (r"\bDispatchKey::CUDA\b|\bBackend::CUDA\b", "DispatchKey CUDA in TORCH_LIBRARY_IMPL(…, CUDA, m)", ""),
    (
        r"\bTORCH_LIBRARY_IMPL\s*\([^,()]*,\s*CUDA\s*,",
        "DispatchKey CUDA in TORCH_LIBRARY_IMPL(…, CUDA, m)",
        "TORCH_LIBRARY_IMPL CUDA",
    ),
    (
        r"\bSTABLE_TORCH_LIBRARY_IMPL\s*\([^,()]*,\s*CUDA\s*,",
        "DispatchKey CUDA in TORCH_LIBRARY_IMPL(…, CUDA, m)",
        "TORCH_LIBRARY_IMPL CUDA",
    ),
    (r"\bis_cuda\s*(?=\()", "tensor.is_cuda()", "is_cuda"),
    (
        r"\b(?:C10|AT|TORCH)_CUDA_(?:CHECK|DRIVER_CHECK|CHECK_WARN)\b|\bTHCudaCheck\b|\bAT_CUDA_CU\w+_CHECK\b",
        _CHECK,
        "",
    ),
    (r"\bC10_CUDA_KERNEL_LAUNCH_CHECK\b|\bSTD_CUDA_KERNEL_LAUNCH_CHECK\b", "C10_CUDA_KERNEL_LAUNCH_CHECK()", ""),
    (r"\bAT_DISPATCH_\w+", "AT_DISPATCH_FLOATING_TYPES_AND_HALF host dispatch + template kernel", ""),
    (r"\bPackedTensorAccessor\w*|\bpacked_accessor\w*", "PackedTensorAccessor", ""),
    (r"\b(?:at|c10)::cuda::\w+(?:::\w+)*", "", ""),
)
_TORCH_RULE = re.compile("|".join(f"(?P<r{number}>{pattern})" for number, (pattern, _, _) in enumerate(_TORCH)))

_DEVICE = (
    (r"\b(?:atomic(?:Sub|Exch|Inc|Dec|CAS|And|Or|Xor|Max|Min|Add))\w*\s*\(", ""),
    (
        r"\b(?:__shfl_(?:sync|up_sync|down_sync|xor_sync)|__shfl(?:_up|_down|_xor)?|__(?:ballot|any|all)_sync|__activemask|__match_(?:any|all)_sync|__reduce_(?:add|max|min)_sync)\b",
        "",
    ),
    (r"(?<!extern )\b__constant__\b", ""),
    (r"\b(?:tex[123]D\w*|texture<|surf[123]D\w*)", "tex1D/tex2D/tex3D, texture<>"),
    (r"\b(?:wmma::\w+|nvcuda::\w+|using\s+namespace\s+nvcuda\b)", "wmma:: / mma.sync / nvcuda"),
    (r"\basm\s*(?:__)?(?:volatile)?(?:__)?\s*\(", 'inline PTX asm("…")'),
    (r"\b(?:__pipeline_\w+|cuda::pipeline|cuda::barrier)\b", "cp.async / __pipeline_memcpy_async / cuda::pipeline"),
    (r"\b(?:grid_group|this_grid\(\)\s*\.\s*sync|grid\.sync)\b", "cooperative_groups grid_group / this_grid().sync()"),
    (
        r"\b(?:cooperative_groups|tiled_partition|this_thread_block|this_grid|coalesced_threads)\b",
        "cooperative_groups thread_block / tiled_partition / coalesced_threads",
    ),
)
_DEVICE_RULE = re.compile("|".join(f"(?P<r{number}>{pattern})" for number, (pattern, _) in enumerate(_DEVICE)))


def scan(masked: str, sink: Sink) -> None:
    """Adds findings for the names in masked CUDA C++."""
    _includes(masked, sink)
    masked = _INCLUDE.sub(lambda match: " " * len(match[0]), masked)
    own = {name for match in _DEFINED.finditer(masked) if not _shim(name := match[1] or match[2])}
    sink.defined |= own
    own |= sink.defined
    for match in _NAME.finditer(masked):
        if match[0] not in own and not _WRAPPER.search(match[0]):
            _native(masked, match, sink)
    _libraries(masked, sink)
    for match in _PROPERTY.finditer(masked):
        if match[1] not in ("major", "minor", "warpSize") or re.search(
            r"[pP]rop\w*\s*$", masked[max(0, match.start() - 24) : match.start()]
        ):
            sink.add(sink.source.line_at(match.start()), f"deviceProp {match[1]}", "MIG-RUNTIME-API", _PROPERTY_FACT)
    _torch(masked, sink)
    _device(masked, sink)
    cuda_guards.scan(masked, sink)
    if first := re.search(r"\b(?:cutlass|cute)::", masked):
        fact = dict(tables.libraries())[r"cutlass::|cute::|CUTE_\w+"]
        sink.add(sink.source.line_at(first.start()), f"{first[0]} (first use in this file)", "MIG-CUDA-LIBRARY", fact)


@functools.lru_cache(maxsize=4096)
def _shim(name: str) -> bool:
    """Whether a macro or function bears the very name of a CUDA function: a header for another vendor, the calls are CUDA's."""
    if _WRAPPER.search(name):
        return False
    return name in tables.cpp("runtime") or name in tables.cpp("nccl") or bool(re.match(r"cu(?:blas|dnn|fft|sparse|solver|rand)[A-Z]", name))


def _includes(masked: str, sink: Sink) -> None:
    for match in _INCLUDE.finditer(masked):
        quoted = match[0].endswith('"')
        if quoted and (Path(sink.source.file).parent / match[1]).is_file():
            continue  # the project's own header: its lines are scanned where it lies
        if fact := header(match[1]):
            sink.add(sink.source.line_at(match.start(1)), match[1], "MIG-HEADER", fact, edits=cuda_edits.of_header(match, fact, sink))


@functools.lru_cache(maxsize=1024)
def header(path: str) -> Fact | None:
    """The fact of an included path: PyTorch's table, the header table; a family decides the status where the table has none."""
    family = next((fact for pattern, fact in tables.patterns("headers") if re.fullmatch(pattern, path)), None)
    fact = tables.cpp("torch_cpp").get(f"#include <{path}>")
    if fact or path not in tables.cpp("headers"):
        return fact or family
    fact = tables.cpp("headers")[path]
    if family and family.status != "rename":
        return replace(fact, status=family.status, status_950=family.status_950, source=family.source)
    return fact


def _native(masked: str, match: re.Match[str], sink: Sink) -> None:
    name, line = match[0], sink.source.line_at(match.start())
    if re.match(r"cu(?:rand|blas|dnn|fft|sparse|solver|pti)", name):
        return
    if match[3]:
        sink.add(
            line,
            name,
            "MIG-NCCL-API",
            tables.cpp("nccl").get(name)
            or next((fact for pattern, fact in tables.patterns("nccl") if re.fullmatch(pattern, name)), _NCCL),
        )
        return
    fact = native("runtime" if match[1] else "driver", name)
    if fact is None:
        sink.unsure(line, name)
    if fact is None or fact.quiet:
        return
    edits = cuda_edits.of_name(masked, match, fact, sink) if fact.status == "rename" and fact.name == name else ()
    sink.add(line, name, "MIG-RUNTIME-API", fact, edits=edits)


def _libraries(masked: str, sink: Sink) -> None:
    """One finding for each line and library family, with the names used there."""
    places: dict[tuple[int, str], tuple[Fact, dict[str, None]]] = {}
    for match in _LIBRARY.finditer(masked):
        name = re.sub(r"^\w+_(?=cub::)|(?<=cudnn_frontend)::\w+", "", match[0])
        fact = next((fact for pattern, fact in tables.libraries() if re.fullmatch(pattern, name)), None)
        if fact and match[0] not in sink.defined and not _WRAPPER.search(match[0]):
            key = sink.source.line_at(match.start()), fact.name
            places.setdefault(key, (fact, {}))[1].setdefault(match[0])
    for (line, _), (fact, names) in places.items():
        sink.add(line, ", ".join(names), "MIG-CUDA-LIBRARY", fact)


_TORCH_WORDS = (
    "CUDA",
    "cuda",
    "AT_DISPATCH",
    "ccessor",
    "Philox",
    "philox",
    "BlasHandle",
    "DeviceProperties",
    "THCuda",
)
_DEVICE_WORDS = (
    "atomic",
    "__",
    "tex",
    "surf",
    "wmma",
    "nvcuda",
    "asm",
    "cooperative_groups",
    "tiled_",
    "this_",
    "coalesced_",
    "cuda::",
    "grid",
)


def _near(pattern: re.Pattern[str], words: tuple[str, ...], text: str) -> Iterator[re.Match[str]]:
    """The matches of a pattern, searched only in lines that have one of `words`: the patterns are slow, most lines are plain."""
    start = 0
    for line in text.splitlines(keepends=True):
        if any(word in line for word in words):
            yield from pattern.finditer(text, start, start + len(line))
        start += len(line)


def _torch(masked: str, sink: Sink) -> None:
    cuda_file = sink.source.name.endswith((".cu", ".cuh")) or "cuda" in masked.lower()
    for match in _near(_TORCH_RULE, _TORCH_WORDS, masked):
        if match[0].startswith(("AT_DISPATCH", "Packed", "packed")) and not cuda_file:
            continue
        if match[0] in sink.defined:
            continue
        _, row, construct = _TORCH[int(str(match.lastgroup)[1:])]
        fact = tables.cpp("torch_cpp")[row] if row else _AT_CUDA
        sink.add(sink.source.line_at(match.start()), construct or match[0], "MIG-TORCH-CPP", fact)


def _device(masked: str, sink: Sink) -> None:
    device = tables.cpp("device")
    for match in _near(_DEVICE_RULE, _DEVICE_WORDS, masked):
        name = match[0].rstrip(" (")
        row = _DEVICE[int(str(match.lastgroup)[1:])][1]
        name = "asm" if name.startswith("asm") else name
        key = row or next(
            (key for key in (name, f"{name}_sync", re.sub(r"(?<=[a-z])_\w+$", "", name)) if key in device), ""
        )
        if name in ("__shfl", "__shfl_up", "__shfl_down", "__shfl_xor"):
            key = f"{name}_sync"
        if fact := device.get(key):
            sink.add(sink.source.line_at(match.start()), name, "MIG-DEVICE-CODE", fact)


_AT_CUDA = Fact(
    "at::cuda",
    "restricted",
    "c10_npu",
    "look for the counterpart in torch_npu/csrc/core/npu",
    "cuda_cpp_map.json torch_cpp, derived",
)
_PROPERTY_FACT = Fact(
    "cudaDeviceProp field",
    "restricted",
    "aclrtGetDeviceInfo",
    "ask for core counts and UB size; threads, warps and registers do not exist",
    "cuda_cpp_map.json runtime: cudaGetDeviceProperties",
)
_NCCL = Fact("NCCL", "restricted", "HCCL", "look it up in hccl.h", "cuda_cpp_map.json libraries: NCCL, derived")
