"""Python sources: names, strings, Triton, keywords, and CUDA C++ inside strings."""

from __future__ import annotations

import ast
import functools
import re
from dataclasses import replace

from ascendops.migrate.facts import tables
from ascendops.migrate.facts.tables import Fact
from ascendops.migrate.rules.finding import new_op
from ascendops.migrate.scanners import cuda, python_dynamic, python_names, python_strings, triton
from ascendops.migrate.scanners.python_tree import Tree, parse
from ascendops.migrate.scanners.sink import Sink
from ascendops.migrate.sources.text import Source

_INLINE = re.compile(
    r"__global__|__device__|<<<|#include\s*[<\"](cuda|ATen/cuda|c10/cuda)|\bcuda[A-Z]\w+\s*\(|AT_DISPATCH_|torch::kCUDA|\.is_cuda\(\)"
)
_WORDS = (
    "cuda", "cudnn", "cublas", "nccl", "triton", "nvidia", "nvcc", "nvrtc", "nvml", "__global__", r"\bsm_\d", "compute_", r"\.cuh?\b", "cpp_extension",
    "torch.compile",
    "accelerator",
    "dataparallel", "inductor", "float8_", "channels_last", "profiler", "executionprovider", "sdpa", "sdp", "attention",
)  # fmt: skip
"""Text without any of these, and without the name of a library of the tables, cannot have a finding: it is not parsed."""


@functools.cache
def _worth() -> re.Pattern[str]:
    libraries = {name.split(".")[0] for name in tables.imports()} - {
        "torch",
        "torchvision",
        "torchaudio",
        "transformers",
    }
    return re.compile("|".join([*_WORDS, *(rf"\b{re.escape(name)}" for name in sorted(libraries))]), re.IGNORECASE)


def scan(source: Source, aliases: dict[str, str] | None = None) -> Sink:
    """The findings of a Python source; `aliases` are taken from earlier cells of a notebook and updated.

    Raises:
        SyntaxError: The text is not Python 3.
        ValueError: It cannot be parsed for another reason.
    """
    sink = Sink(source)
    if aliases is None and not _worth().search(source.text):
        return sink
    tree = parse(source.text, aliases)
    if aliases is not None:
        aliases.update(tree.aliases)
    python_names.scan(tree, sink)
    python_strings.scan(tree, sink)
    python_dynamic.scan(tree, sink)
    if "triton" in source.text or any(name.startswith("triton") for name in tree.aliases.values()):
        triton.scan(tree, sink)
    numba = any(name.startswith("numba") and name.endswith("cuda") for name in tree.aliases.values())
    native = "cuda" in source.text.lower()
    for node in tree.nodes:
        if isinstance(node, ast.keyword) and node.arg == "extra_cuda_cflags":
            sink.add(
                node.lineno,
                "extra_cuda_cflags",
                "MIG-NVCC-FLAGS",
                tables.cpp("build")["nvcc flags (-O3 --use_fast_math -Xptxas …)"],
            )
        elif isinstance(node, ast.Call) and native and tree.dotted(node.func) in _LOADERS:
            sink.add(node.lineno, f"{tree.dotted(node.func)} (native library)", "MIG-CUDA-BINARY", _NATIVE)
        elif isinstance(node, (ast.Constant, ast.JoinedStr)):
            _inline(tree, node, sink)
        elif isinstance(node, ast.FunctionDef):
            _numba(tree, node, sink)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript) and numba:
            _numba_launch(node, node.func, sink)
    return sink


_LOADERS = ("ctypes.CDLL", "ctypes.cdll.LoadLibrary", "torch.ops.load_library", "torch.classes.load_library")
_NATIVE = Fact(
    "native library",
    "custom_op",
    "",
    "if it was built by nvcc, its sources are ported",
    "library_map.json bitsandbytes",
)


def _inline(tree: Tree, node: ast.Constant | ast.JoinedStr, sink: Sink) -> None:
    """CUDA C++ in a string: the source text of the literal is scanned, so that lines are the file's."""
    if (isinstance(node, ast.Constant) and not isinstance(node.value, str)) or isinstance(
        tree.parents.get(node), ast.JoinedStr
    ):
        return
    lines = sink.source.lines[node.lineno - 1 : node.end_lineno or node.lineno]
    if len(lines) < 2 or not _INLINE.search("\n".join(lines)):
        return
    if id(node) in tree.docstrings and not any("__global__" in line for line in lines):
        return
    lines[0] = " " * node.col_offset + lines[0].encode()[node.col_offset :].decode(errors="ignore")
    lines[-1] = lines[-1].encode()[: node.end_col_offset].decode(errors="ignore")
    text = re.sub(r"'''|\"\"\"", "   ", "\n".join(lines))
    inner = cuda.scan(replace(sink.source, text=text, first=sink.source.first + node.lineno - 1))
    sink.findings += inner.findings
    sink.unknown += inner.unknown


def _numba(tree: Tree, node: ast.FunctionDef, sink: Sink) -> None:
    names = {tree.dotted(item.func if isinstance(item, ast.Call) else item) for item in node.decorator_list}
    if any(name in ("numba.cuda.jit", "cupyx.jit.rawkernel", "cupy.fuse") for name in names):
        fact = Fact(
            "numba.cuda",
            "custom_op",
            "Triton for Ascend or Ascend C",
            "no numba target for Ascend",
            "library_map.json numba",
        )
        sink.add(
            node.lineno,
            f"@cuda.jit kernel {node.name}",
            "MIG-PY-KERNEL",
            fact,
            command=new_op(node.name, sink.source.file),
        )


def _numba_launch(node: ast.Call, launch: ast.Subscript, sink: Sink) -> None:
    """`kernel[blocks, threads](...)`: only a launch has a tuple of two to four between its brackets and is called."""
    if (
        isinstance(launch.slice, ast.Tuple)
        and 2 <= len(launch.slice.elts) <= 4
        and isinstance(launch.value, (ast.Name, ast.Attribute))
    ):
        fact = Fact(
            "numba launch", "custom_op", "the call of the operator", "follows from the kernel", "library_map.json numba"
        )
        sink.add(node.lineno, f"launch of {ast.unparse(launch.value)}", "MIG-LAUNCH", fact)


_TEXT = re.compile(r"torch\.cuda(?:\.\w+)*|\.cuda\(\)|([\"'])cuda(?::\d+)?\1|([\"'])nccl\2")


def scan_text(source: Source) -> Sink:
    """What can be said about a file that is not Python 3: names and strings outside of comments."""
    sink = Sink(source)
    for number, line in enumerate(source.lines, 1):
        for match in _TEXT.finditer(line.split("#")[0]):
            text = match[0]
            if text.startswith("torch.cuda"):
                if hit := python_names.known(text):
                    sink.add(number, *hit)
            elif text == ".cuda()":
                sink.add(number, ".cuda()", "MIG-TENSOR-CUDA", tables.related("Tensor.cuda()"))
            elif "nccl" in text:
                sink.add(number, '"nccl" distributed backend', "MIG-DIST-NCCL", tables.related('dist backend "nccl"'))
            else:
                sink.add(number, '"cuda" device string', "MIG-DEVICE-STRING", tables.related('"cuda", "cuda:N"'))
    return sink
