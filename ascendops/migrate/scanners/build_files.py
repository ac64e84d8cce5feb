"""CMake and Make: the CUDA language, packages, architectures, flags and sources. Comments are not looked at."""

from __future__ import annotations

import re

from ascendops.migrate.facts import tables
from ascendops.migrate.facts.tables import Fact
from ascendops.migrate.scanners.sink import Sink
from ascendops.migrate.sources.text import Source

_CUDA = "CUDA language (project, enable_language)"
_LANGUAGE = "enable_language(CUDA) / project(… LANGUAGES CUDA) / set_source_files_properties(LANGUAGE CUDA)"
_PACKAGE = "find_package(CUDAToolkit) / find_package(CUDA)"
_ARCHITECTURE = "CMAKE_CUDA_ARCHITECTURES / -gencode arch=compute_XX / TORCH_CUDA_ARCH_LIST"
_FLAGS = "nvcc flags (-O3 --use_fast_math -Xptxas …)"
_LINK = "target_link_libraries(… cudart cublas cudnn nccl)"

_RULES = (
    (
        r"\benable_language\s*\(\s*CUDA\b|\bLANGUAGES\b[^)\n]{0,200}\bCUDA\b|\bLANGUAGE\s+CUDA\b|\bcheck_language\s*\(\s*CUDA",
        _CUDA,
        "MIG-BUILD",
        _LANGUAGE,
    ),
    (r"\bproject\s*\([^)]{0,400}\bCUDA\b", _CUDA, "MIG-BUILD", _LANGUAGE),
    (
        r"\bcuda_add_(?:library|executable)\b|\bcuda_(?:compile|wrap_srcs)\w*|\bcuda_select_nvcc_arch_flags\b",
        "cuda_add_library",
        "MIG-BUILD",
        _LANGUAGE,
    ),
    (
        r"\bfind_package\s*\(\s*(?:CUDA\w*|NCCL|CUDNN|TensorRT|Thrust|CUB|cudnn)\b",
        "find_package(CUDA)",
        "MIG-BUILD",
        _PACKAGE,
    ),
    (
        r"\b(?:CMAKE_)?CUDA_ARCH(?:ITECTURES|S|_LIST|_FLAGS|_BIN|_PTX)?\b|\bTORCH_CUDA_ARCH_LIST\b",
        "CUDA_ARCHITECTURES",
        "MIG-CUDA-ARCH",
        _ARCHITECTURE,
    ),
    (
        r"(?:compute|sm)_\d+[a-z]?\b|-gencode\b|--generate-code\b|-arch=\S+",
        "gencode arch flag",
        "MIG-CUDA-ARCH",
        _ARCHITECTURE,
    ),
    (
        r"\bCUDA_NVCC_FLAGS\w*|\bCMAKE_CUDA_FLAGS\w*|\bCMAKE_CUDA_STANDARD\w*|COMPILE_LANGUAGE:CUDA|\bNVCC_?FLAGS\w*|\bCUDA_SEPARABLE_COMPILATION\b",
        "nvcc flags",
        "MIG-NVCC-FLAGS",
        _FLAGS,
    ),
    (
        r"\b(?:CUDA|CUDAToolkit)_(?:INCLUDE_DIRS?|LIBRARIES|TOOLKIT_ROOT_DIR|TOOLKIT_INCLUDE|ROOT|BIN_DIR|LIBRARY_DIR|CUDA_LIBRARY|CUDART_LIBRARY)\b|\bCMAKE_CUDA_COMPILER\w*|\bCUDA_(?:HOME|PATH)\b|\bCUDACXX\b",
        "CUDA toolkit variable",
        "MIG-BUILD",
        _PACKAGE,
    ),
    (
        r"\bCUDA::\w+|-l(?:cudart|cublas\w*|cudnn|curand|cufft|cusparse|cusolver|nccl|nvrtc|cuda|nvToolsExt|nvidia-ml)\b|\b(?:target_link_libraries)\s*\([^)]{0,1000}\b(?:cudart|cublas\w*|cudnn|cusparse|cufft|curand|nccl)\b",
        "CUDA libraries",
        "MIG-BUILD",
        _LINK,
    ),
)
_COMPILED = tuple(
    (
        re.compile(pattern, re.IGNORECASE if "find_package" in pattern or "cuda_add" in pattern else 0),
        construct,
        rule,
        row,
    )
    for pattern, construct, rule, row in _RULES
)
_SOURCE = re.compile(r"[\w./${}*-]+\.cuh?\b(?!\.)")
_NVCC = re.compile(r"(?<![\w-])(?:nvcc|\$[({]NVCC[)}])(?![\w.])")
_CU = Fact(
    ".cu source",
    "custom_op",
    "an Ascend C operator project per kernel",
    "bisheng does not compile CUDA C++",
    "cuda_cpp_map.json build",
)


def scan(source: Source) -> Sink:
    """The findings of a CMake file, a Makefile or a CMake module."""
    sink = Sink(source)
    masked = "\n".join(_code(line).ljust(len(line)) for line in source.lines)
    for pattern, construct, rule, row in _COMPILED:
        for match in pattern.finditer(masked):
            at = match.start() + (match[0].rfind("CUDA") if construct == _CUDA and "\n" in match[0] else 0)
            line = source.line_at(at)
            sink.add(
                line,
                construct if construct == _CUDA else f"{construct} {_short(match[0])}",
                rule,
                tables.cpp("build")[row],
            )
    for match in _SOURCE.finditer(masked):
        sink.add(source.line_at(match.start()), f"{match[0]} (.cu source)", "MIG-CU-SOURCE", _CU)
    for match in _NVCC.finditer(masked):
        sink.add(source.line_at(match.start()), "nvcc", "MIG-NVCC-FLAGS", tables.cpp("build")[_FLAGS])
    return sink


def _code(line: str) -> str:
    """The line without its comment; nothing of a message."""
    return "" if re.match(r"\s*(message|MESSAGE|\$\((info|warning|error)|@?echo)\b", line) else _uncomment(line)


def _uncomment(line: str) -> str:
    """The line without its comment; `#` in a string stays."""
    match = re.match(r"((?:[^#\"']|\"[^\"]*\"|'[^']*')*)#", line)
    return match[1] if match else line


def _short(text: str) -> str:
    return " ".join(text.split())[:60]
