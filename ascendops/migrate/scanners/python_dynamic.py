"""What Python code says about CUDA by strings and attributes of objects: imports by name, times of the profiler."""

from __future__ import annotations

import ast
import re

from ascendops.migrate.facts import tables
from ascendops.migrate.facts.tables import Fact
from ascendops.migrate.scanners.python_libraries import native
from ascendops.migrate.scanners.python_tree import Tree
from ascendops.migrate.scanners.sink import Sink

_IMPORTERS = ("__import__", "importlib.import_module", "pytest.importorskip", "importlib.util.find_spec", "import_module", "find_spec")
_TIMES = re.compile(r"(?:self_)?cuda_(?:time(?:_total|_str|_total_str)?|memory_usage)")
_RUNTIME = re.compile(r"cuda[A-Z]\w+")
_LIBRARIES = {"cuda", "cudart", "cublas", "cublasLt", "cudnn", "curand", "cufft", "cusparse", "cusolver", "nccl", "nvrtc", "nvToolsExt", "nvidia-ml"}
_LINK = "target_link_libraries(… cudart cublas cudnn nccl)"
_TIME = Fact(
    "cuda_time of torch.profiler",
    "rename",
    "device_time, device_time_total",
    "torch 2.4 and later name these fields by device; tables of key_averages are not documented for torch_npu",
    "torch.autograd.profiler_util (torch 2.13), cuda_api_map.json related: torch.profiler.profile",
)


def scan(tree: Tree, sink: Sink) -> None:
    """Adds findings for imports by name and for the profiler's fields that are named after CUDA."""
    for node in tree.nodes:
        if isinstance(node, ast.Call) and node.args and tree.dotted(node.func) in _IMPORTERS:
            _imported(node, sink)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _RUNTIME.fullmatch(node.func.attr):
            _runtime(tree, node.func, sink)
        elif isinstance(node, ast.keyword) and node.arg == "libraries" and isinstance(node.value, ast.List):
            names = [_text(item) for item in node.value.elts if _text(item) in _LIBRARIES]
            if names:
                sink.add(node.value.lineno, f"libraries {', '.join(names)}", "MIG-BUILD", tables.cpp("build")[_LINK])
        elif isinstance(node, ast.Attribute) and _TIMES.fullmatch(node.attr) and isinstance(node.ctx, ast.Load):
            sink.add(node.end_lineno or node.lineno, f".{node.attr}", "MIG-PROFILER", _TIME)
        elif isinstance(node, ast.keyword) and node.arg == "sort_by" and _TIMES.fullmatch(_text(node.value)):
            sink.add(node.value.lineno, f'sort_by="{_text(node.value)}"', "MIG-PROFILER", _TIME)


def _runtime(tree: Tree, node: ast.Attribute, sink: Sink) -> None:
    """A call of the runtime through ctypes or another binding, such as `lib.cudaSetDevice(0)`; imported bindings have a rule of their own."""
    root = tree.dotted(node).split(".")[0]
    fact = native("runtime", node.attr)
    if fact is not None and not fact.quiet and root not in ("torch", "cupy", "cuda", "numba", "pycuda"):
        sink.add(node.end_lineno or node.lineno, node.attr, "MIG-RUNTIME-API", fact)


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _imported(node: ast.Call, sink: Sink) -> None:
    name = _text(node.args[0])
    parts = name.split(".")
    fact = next((fact for end in range(len(parts), 0, -1) if (fact := tables.imports().get(".".join(parts[:end])))), None)
    if fact and fact.status != "works_as_is":
        sink.add(node.args[0].lineno, f'import of "{name}" by name', "MIG-IMPORT", fact)
