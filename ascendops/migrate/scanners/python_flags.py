"""Rules for strings in Python that belong to a build or start a program: flags, architectures, sources, binaries, tools."""

from __future__ import annotations

import ast
import re

from ascendops.migrate.facts import tables
from ascendops.migrate.facts.tables import Fact
from ascendops.migrate.scanners.environment import package, requirements
from ascendops.migrate.scanners.python_tree import Tree
from ascendops.migrate.scanners.sink import Sink

ARCH = re.compile(r"(?:compute|sm|lto)_\d+[a-z]?")
_TOOLS = {
    "nvidia-smi": "nvidia-smi",
    "nvcc": "",
    "nsys": "Nsight",
    "ncu": "Nsight",
    "nvprof": "Nsight",
    "cuda-memcheck": "compute-sanitizer",
    "compute-sanitizer": "compute-sanitizer",
    "cuda-gdb": "cuda-gdb",
}


def call_name(call: ast.Call) -> str:
    """The name of the function or method that is called; empty for other callees."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def scan(tree: Tree, node: ast.expr, value: str, sink: Sink) -> None:
    """Build flags, CUDA sources and tools; prose (a string with several plain words) is not looked at."""
    if (ARCH.search(value) or "--gpu-architecture" in value) and not _is_prose(value):
        arch = ARCH.search(value)
        sink.add(node.lineno, f"gencode {arch[0] if arch else value}", "MIG-CUDA-ARCH", tables.cpp("build")[_ARCH_ROW])
    elif re.search(r"\.cuh?$", value) and "\n" not in value and " " not in value.strip():
        sink.add(node.lineno, f"{value} (.cu source)", "MIG-CU-SOURCE", _CU_SOURCE)
    elif value == "nvcc" and not isinstance(tree.parents.get(node), ast.Compare):
        sink.add(
            node.lineno,
            "nvcc flags",
            "MIG-NVCC-FLAGS",
            tables.cpp("build")["nvcc flags (-O3 --use_fast_math -Xptxas …)"],
        )
    elif re.search(r"\.(so|dll|dylib)", value) and "cuda" in value.lower() and not _is_prose(value):
        sink.add(node.lineno, f"{value} (CUDA binary)", "MIG-CUDA-BINARY", _CUDA_BINARY)
    elif (tool := re.match(r"(?:\S*/)?([\w-]+)(?=\s|$)", value)) and tool[1] in _TOOLS:
        if _runs(tree, node) or re.match(r"\S+\s+[-|]", value):
            row = _TOOLS[tool[1]]
            fact = tables.feature(row) if row else tables.cpp("build")["nvcc flags (-O3 --use_fast_math -Xptxas …)"]
            sink.add(node.lineno, tool[1], "MIG-TOOL", fact)
    elif (words := re.search(r"(?:pip3? |^)install\s+(.+)", value)) and re.search(
        "pip|run|system|call|install", _caller(tree, node)
    ):
        requirements(node.lineno, words[1], sink)
    elif (
        (pin := re.match(r"([A-Za-z][\w.-]*)(?:\[[\w,]*\])?\s*(?:[=<>~!;@].*)?$", value))
        and pin[1] not in _TORCH
        and _requires(tree, node)
    ):
        package(node.lineno, pin[1], sink)


_TORCH = ("torch", "torchvision", "torchaudio")
"""Requirements of nearly every setup.py: the environment files say what takes their place."""


def _caller(tree: Tree, node: ast.AST) -> str:
    return next((call_name(parent) for parent in tree.up(node) if isinstance(parent, ast.Call)), "")


def _requires(tree: Tree, node: ast.AST) -> bool:
    """Whether the string is a requirement: of setup(), of a variable or a call that says so."""
    for parent in tree.up(node):
        if isinstance(parent, ast.keyword):
            return (parent.arg or "").endswith(("_requires", "_require", "requirements"))
        if isinstance(parent, ast.Call):
            return bool(re.search(r"requirement|pip_install|install_package", call_name(parent)))
        if isinstance(parent, ast.Assign):
            return any("require" in ast.unparse(target).lower() for target in parent.targets)
    return False


def _runs(tree: Tree, node: ast.AST) -> bool:
    """Whether the string is (part of) the argument of a call that starts a program."""
    for parent in tree.up(node):
        if isinstance(parent, ast.Call):
            return call_name(parent) in (
                "run",
                "Popen",
                "check_output",
                "check_call",
                "call",
                "system",
                "popen",
                "which",
                "getoutput",
                "find_executable",
                "spawn",
                "getstatusoutput",
            )
        if isinstance(parent, ast.stmt):
            return False
    return False


def _is_prose(value: str) -> bool:
    words = value.split()
    return len(words) > 3 and sum(word.isalpha() for word in words) > len(words) / 2


_ARCH_ROW = "CMAKE_CUDA_ARCHITECTURES / -gencode arch=compute_XX / TORCH_CUDA_ARCH_LIST"
_CU_SOURCE = Fact(
    ".cu source",
    "custom_op",
    "an Ascend C operator project per kernel",
    "bisheng does not compile CUDA C++",
    "cuda_cpp_map.json build: CUDAExtension",
    status_950="custom_op",
)
_CUDA_BINARY = Fact(
    "CUDA shared library", "custom_op", "", "built by nvcc; port its sources", "library_map.json bitsandbytes"
)
