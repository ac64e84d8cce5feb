"""CUDA C++ sources: one finding per kernel with its features, and findings for launches, calls, headers and PyTorch glue."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ascendops.migrate.facts import tables
from ascendops.migrate.rules.finding import new_op
from ascendops.migrate.scanners import cuda_calls
from ascendops.migrate.scanners.cuda_text import Function, functions, mask, raw_strings
from ascendops.migrate.scanners.sink import Sink
from ascendops.migrate.sources.text import Source
from ascendops.words import plural

FEATURES = (
    ("shared memory", r"__shared__"),
    ("barrier", r"__syncthreads\w*|__syncwarp|\bbar\.sync"),
    ("warp shuffle", r"__shfl\w*"),
    ("warp vote", r"__(?:ballot|any|all|activemask|match_\w+)\w*"),
    ("reduction", r"\b\w*[rR]educe\w*\s*[<(]"),
    ("atomics", r"\batomic[A-Z]\w*|\bred\.global"),
    ("fp64", r"\bdouble\b"),
    ("half", r"\b__half2?\b|\bhalf2?\b|__nv_bfloat16"),
    ("tensor cores", r"\bwmma::|\bmma\b|nvcuda::|mma_sync"),
    ("CUB", r"\bcub::"),
    ("CUTLASS or CuTe", r"\bcutlass::|\bcute::"),
    ("cooperative groups", r"\bcg::|cooperative_groups|this_grid|tiled_partition"),
    ("asynchronous copy", r"cp_async|__pipeline_\w+|cuda::pipeline|cp\.async"),
    ("inline PTX", r"\basm\b"),
    ("texture", r"\btex[123]D\w*|\btexture<|\bsurf[123]D\w*|cudaTextureObject_t"),
    ("random numbers", r"\bcurand\w*|Philox\w*|philox\w*"),
    ("printf or assert", r"\bprintf\s*\(|\bassert\s*\("),
    ("clock", r"\bclock(?:64)?\s*\("),
    ("dynamic parallelism", r"<<<"),
)
CUBE = {"tensor cores", "CUTLASS or CuTe", "dot"}
"""Features of kernels that multiply matrices: no template family covers them."""
_FEATURES = tuple((name, re.compile(pattern)) for name, pattern in FEATURES)
_MARK = re.compile(
    r"__global__|__device__|<<<|\bcu[A-Za-z]|CUDA|\bnccl|\bnvtx|\bnvrtc|\bnpp|\bthrust::|\bcute::|\bwmma|is_cuda|__constant__|nvml|PackedTensorAccessor|packed_accessor|AT_DISPATCH|\bCU[a-z]|deviceProp|multiProcessorCount|atomic[A-Z]|__shfl|\btex[123]D|THC"
)


def scan(source: Source) -> Sink:
    """The findings of a C++ or CUDA source."""
    sink = Sink(source)
    if not source.name.endswith((".cu", ".cuh")) and not _MARK.search(source.text):
        return sink
    masked = _SPACED.sub(_join, mask(source.text))
    found = functions(masked)
    sink.defined |= {function.name for function in found}
    for function in found:
        if function.kind == "__global__":
            _kernel(function, masked, sink)
    for function in found:
        if function.kind == "__device__" and function.body[0] < function.body[1]:
            _device(function, sink)
    _launches(masked, sink)
    cuda_calls.scan(masked, sink)
    for offset, text in raw_strings(source.text):
        inner = scan(replace(source, text=text, first=source.first + source.line_at(offset) - 1))
        sink.findings += inner.findings
        sink.unknown += inner.unknown
    return sink


_SPACED = re.compile(r"(?<!<)(?:<<[ \t]+<|<[ \t]+<<|<[ \t]+<[ \t]+<)(?!<)|(?<!>)(?:>>[ \t]+>|>[ \t]+>>)(?=[ \t]*\()")
"""The brackets of a launch as some formatters write them: `k << <grid, block >> > (x)`."""


def _join(match: re.Match[str]) -> str:
    """The bracket without its spaces, padded so that offsets stay."""
    return "".join(match[0].split()).ljust(len(match[0]))


def _kernel(function: Function, masked: str, sink: Sink) -> None:
    line, start, end = sink.source.line_at(function.start), *function.body
    body = masked[start:end]
    features = tuple(name for name, pattern in _FEATURES if pattern.search(body))
    fact = tables.cpp("device")["__global__"]
    lines = max(1, body.count("\n"))
    effort = _effort(lines, features) if end > start else ("minutes", "a declaration follows its definition")
    sink.add(
        line,
        f"__global__ kernel {function.name}",
        "MIG-KERNEL",
        replace(fact, note=f"{plural(lines, 'line')}; uses {', '.join(features) or 'plain indexing only'}")
        if end > start
        else replace(fact, note="declaration"),
        line_end=min(sink.source.line_at(function.name_at), line + 2),
        todo=_advice(features) if end > start else "declare the operator's host function instead",
        features=features,
        effort=effort,
        todo_950=_advice_950(features) if end > start else "",
        command=new_op(function.name, sink.source.file) if end > start and not set(features) & CUBE else "",
    )


def _effort(lines: int, features: tuple[str, ...]) -> tuple[str, str]:
    hard = [
        name
        for name in features
        if name
        in (
            "tensor cores",
            "CUTLASS or CuTe",
            "inline PTX",
            "texture",
            "asynchronous copy",
            "cooperative groups",
            "dynamic parallelism",
        )
    ]
    if hard:
        return "days", f"redesign: {', '.join(hard)}"
    if lines <= 15 and not set(features) - {"half", "fp64", "printf or assert"}:
        return "hours", f"{plural(lines, 'line')} of elementwise code: a template of ascendops covers it"
    return "days", f"{plural(lines, 'line')} with {', '.join(features) or 'indexing'} to be written as tiles and queues"


def _advice_950(features: tuple[str, ...]) -> str:
    """Where SIMT code can keep the body; empty where the advice is the same as for A2/A3."""
    if set(features) & (CUBE | {"texture", "dynamic parallelism"}):
        return ""
    notes = [note for name, note in _NOTES if name in features]
    return "; ".join(["keep the body as SIMT code, with asc_* functions for CUDA's, or write it in Ascend C on tiles", *notes])


def _advice(features: tuple[str, ...]) -> str:
    return "; ".join([_way(set(features)), *(note for name, note in _NOTES if name in features)])


_NOTES = (
    ("fp64", "fp64 has no counterpart: compute in float"),
    ("inline PTX", "the PTX instructions are redesigned"),
    ("random numbers", "random numbers come from PhiloxRandom or an aclnn operator"),
    ("clock", "clocks become GetSystemCycle"),
)


def _way(used: set[str]) -> str:
    """The first way that fits, from the feature that constrains most."""
    if used & CUBE:
        return "write it with the Matmul API or CATLASS templates: cube and vector cores are programmed apart"
    if used & {"texture", "dynamic parallelism"}:
        return "redesign it: textures and launches inside a kernel have no counterpart"
    if used & {"warp shuffle", "warp vote", "CUB", "reduction", "shared memory", "barrier", "cooperative groups"}:
        return "write it in Ascend C: reductions become ReduceSum/WholeReduce on tiles, shared memory becomes UB queues"
    if "atomics" in used:
        return "write it in Ascend C: only DMA-granular atomic add, max and min exist on A2/A3"
    return "write it in Ascend C from an elementwise template: each thread's element becomes a lane of a tile"


def _device(function: Function, sink: Sink) -> None:
    fact = tables.cpp("device")["__device__"]
    line = sink.source.line_at(function.start)
    sink.add(
        line,
        f"__device__ function {function.name}",
        "MIG-DEVICE-CODE",
        fact,
        line_end=min(sink.source.line_at(function.name_at), line + 2),
        todo="rewrite it with the kernels that call it",
    )


_LAUNCH = re.compile(r"([A-Za-z_]\w*(?:::\w+)*)\s*(?:<(?:[^;{}<>]|<[^;{}<>]*>)*>)?\s*<<<")


def _launches(masked: str, sink: Sink) -> None:
    fact = tables.cpp("device")["kernel<<<grid, block, smem, stream>>>"]
    for start, end, name in _launch_places(masked):
        line, last = sink.source.line_at(start), sink.source.line_at(end)
        sink.add(line, f"<<<>>> launch of {name}", "MIG-LAUNCH", fact, line_end=min(last, line + 2))


def _launch_places(masked: str) -> Iterator[tuple[int, int, str]]:
    for match in re.finditer("<<<", masked):
        lower = max(
            masked.rfind(";", 0, match.start()),
            masked.rfind("{", 0, match.start()),
            masked.rfind("}", 0, match.start()),
            0,
        )
        head = _LAUNCH.search(masked, lower, match.end())
        yield (head.start(1), match.start(), head[1]) if head else (match.start(), match.start(), "a kernel")
