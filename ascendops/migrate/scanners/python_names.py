"""Rules for dotted names in Python: torch.cuda, torch.backends, extensions, profilers, CUDA libraries."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from dataclasses import replace

from ascendops.migrate.facts import tables
from ascendops.migrate.facts.tables import Fact
from ascendops.migrate.scanners.python_libraries import USED, Hit, library_use
from ascendops.migrate.scanners.python_rows import COMPILED, PREFIXES
from ascendops.migrate.scanners.python_tree import Tree
from ascendops.migrate.scanners.sink import Sink

_QUIET_IMPORTS = {
    "torch",
    "torchvision",
    "torchaudio",
    "transformers",
    "accelerate",
    "peft",
    "trl",
    "onnxruntime",
    "torch.distributed",
    "lightning",
    "pytorch_lightning",
    "vllm",
    "deepspeed",
    "megatron",
    "triton",
    "liger_kernel",
    "fla",
    "sglang",
    "detectron2",
    "mmcv",
    "mmcv.ops",
}


def scan(tree: Tree, sink: Sink) -> None:
    """Adds a finding for each import and each use of a name that a rule knows."""
    seen: set[tuple[int, str]] = set()
    for alias, name in tree.imports():
        if hit := _import(name):
            sink.add(alias.lineno, *hit)
    for line, name in _compiled(tree):
        sink.add(line, name, "MIG-IMPORT", COMPILED)
    for node, name in tree.chains():
        line = node.end_lineno or node.lineno if isinstance(node, ast.Attribute) else node.lineno
        if hit := known(name):
            construct, rule, fact = hit
            if fact.name == "numba" and _in_kernel(tree, node):
                continue  # the kernel's own finding says that its body is written anew
            if rule == "MIG-CUDA-PYTHON":
                if (node.lineno, fact.name) in seen:
                    continue
                seen.add((node.lineno, fact.name))
                text = ast.unparse(node)
                construct = construct if text == construct else f"{construct} ({text})"
            first = _chain_line(node)
            sink.add(first, construct, rule, fact, line_end=line, edit=_edit(node, name, fact, sink))
        elif name.startswith("torch.cuda."):
            sink.unsure(node.lineno, name)
        elif isinstance(call := tree.parents.get(node), ast.Call) and call.func is node and (other := _replaced(name)):
            sink.add(node.lineno, name, "MIG-FUSED-CALL", other)  # its arguments are what changes
        elif isinstance(node, ast.Attribute):
            _tail(tree, node, sink)
    for part in tree.nodes:
        if isinstance(part, ast.FunctionDef) and part.name in ("cuda", "is_cuda") and isinstance(tree.parents.get(part), ast.ClassDef):
            sink.defined.add(f"method {part.name}")
        if isinstance(part, ast.Attribute) and not tree.dotted(part):
            _tail(tree, part, sink)  # a method of a call: f(x).cuda()


def _compiled(tree: Tree) -> Iterator[tuple[int, str]]:
    """Imports of modules that are named like a compiled CUDA extension and that no table lists: (line, module)."""
    for node in tree.nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            if isinstance(node, ast.ImportFrom) and (node.module or not node.level):
                continue  # a function of a Python module may be called anything
            found = [(alias.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.Call) and tree.dotted(node.func) == "importlib.import_module" and node.args:
            value = node.args[0].value if isinstance(node.args[0], ast.Constant) else ""
            found = [(node.lineno, str(value))]
        else:
            continue
        yield from (
            (line, name) for line, name in found if re.search(r"_cuda(_ext|_kernels?)?$", name) and not _import(name)
        )


def _in_kernel(tree: Tree, node: ast.AST) -> bool:
    """Whether a node is in the body of a function that numba.cuda.jit compiles."""
    for parent in tree.up(node):
        if isinstance(parent, ast.FunctionDef) and node not in parent.decorator_list:
            return any(
                "numba.cuda.jit" in (tree.dotted(part) if not isinstance(part, ast.Call) else tree.dotted(part.func))
                for part in parent.decorator_list
            )
    return False


def _chain_line(chain: ast.AST) -> int:
    node = chain
    while isinstance(node, ast.Attribute):
        node = node.value
    return getattr(node, "lineno", 0)


def _edit(node: ast.Attribute | ast.Name, name: str, fact: Fact, sink: Sink) -> object:
    """The rename of a chain that is written out in full on one line."""
    if (
        fact.status != "rename"
        or fact.name != name
        or not fact.target.startswith("torch.npu")
        or node.lineno != node.end_lineno
    ):
        return None
    prefix = sink.source.lines[node.lineno - 1].encode()[: node.col_offset].decode(errors="ignore")
    return sink.edit(node.lineno, len(prefix), name, fact.target)


def _tail(tree: Tree, node: ast.Attribute, sink: Sink) -> None:
    """Methods and attributes that are CUDA's whatever the object is."""
    line = node.end_lineno or node.lineno
    parent = tree.parents.get(node)
    start = len(
        sink.source.lines[line - 1]
        .encode()[: max((node.end_col_offset or 0) - len(node.attr), 0)]
        .decode(errors="ignore")
    )
    if node.attr == "cuda" and isinstance(parent, ast.Call) and parent.func is node:
        sink.add(
            line,
            ".cuda()",
            "MIG-TENSOR-CUDA",
            tables.related("Tensor.cuda()"),
            replacement=".npu()",
            edit=sink.edit(line, start, "cuda", "npu"),
        )
    elif node.attr == "is_cuda":
        sink.add(
            line,
            "is_cuda",
            "MIG-TENSOR-CUDA",
            tables.related("Tensor.is_cuda"),
            edit=sink.edit(line, start, "is_cuda", "is_npu"),
        )


def _fused(name: str, fact: Fact) -> Fact:
    """The library's fact, with the fused torch_npu operator that replaces this very function, if the table has one."""
    leaf = name.rsplit(".", 1)[-1]
    row = next(
        (
            row
            for full, row in tables.fused().items()
            if full == name or (full.endswith(f".{leaf}") and full.split(".")[0] == name.split(".")[0])
        ),
        None,
    )
    if row is None:
        return fact
    limits = "; ".join(row.get("limits", []))
    note = "; ".join(part for part in (f"schema {row['schema']}" if row.get("schema") else "", limits) if part)
    made = row.get("hw") or []
    versions = f"products {', '.join(made)}" if made else ""
    if made and not {"A2", "A3"} & set(made):  # the operator is there on Ascend 950 only
        return replace(
            fact, name=name, source=row["source"], versions=versions, status_950=row["status"], target_950=row["npu"], note_950=note
        )  # fmt: skip
    other = "; ".join(filter(None, [note, "not documented for Ascend 950"])) if made and "950" not in made else None
    return Fact(name, row["status"], row["npu"], note, row["source"], versions=versions, note_950=other)


@functools.lru_cache(maxsize=4096)
def _replaced(name: str) -> Fact | None:
    """The fact of a library's function that a fused torch_npu operator replaces; None for all others."""
    library = tables.imports().get(name.split(".")[0])
    found = _fused(name, library) if library else None
    return found if found is not None and found is not library else None


def _import(name: str) -> Hit | None:
    if hit := known(name):
        return hit
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        module = ".".join(parts[:end])
        if module in _QUIET_IMPORTS:
            return None
        if fact := tables.imports().get(module):
            return name, "MIG-IMPORT", _fused(name, fact)
    return None


@functools.lru_cache(maxsize=4096)
def known(name: str) -> Hit | None:
    """The construct, rule and fact of a full dotted name, if a rule knows it."""
    if name == "torch.cuda" or name.startswith("torch.cuda."):
        return _torch_cuda(name)
    if name.startswith("torch.backends.") and name.split(".")[2] in ("cuda", "cudnn"):
        return _backend(name)
    for prefix, rule, row in PREFIXES:
        if name == prefix or name.startswith(prefix + ("" if prefix.endswith("_cuda") else ".")):
            return name if rule == "MIG-COMPILE" else prefix, rule, tables.related(row) if isinstance(row, str) else row
    for library in USED:
        if name.startswith(library + "."):
            return library_use(name, library)
    return None


def _torch_cuda(name: str) -> Hit | None:
    facts = tables.torch_cuda()
    parts = name.split(".")
    for end in range(len(parts), 2, -1):
        if fact := facts.get(".".join(parts[:end])):
            rule = (
                "MIG-PROFILER"
                if parts[2] in ("nvtx", "profiler")
                else "MIG-VERSION"
                if parts[2] in ("get_device_capability", "get_arch_list", "get_gencode_flags")
                else "MIG-TORCH-CUDA"
            )
            return fact.name, rule, fact
    if len(parts) == 2 or parts[2] in ("comm", "gds", "green_contexts", "memory", "jiterator"):
        return (
            name,
            "MIG-TORCH-CUDA",
            Fact(
                "torch.cuda",
                "rename",
                "torch.npu",
                "the module itself",
                tables.table("cuda_api_map")["_meta"]["torch_npu_source"],
                shim=True,
            ),
        )
    return None


def _backend(name: str) -> Hit:
    parts = name.split(".")
    leaf = parts[-1]
    if "allow_tf32" in parts:
        row = "torch.backends.cuda.matmul.allow_tf32" if "matmul" in parts else "torch.backends.cudnn.allow_tf32"
    elif "sdp" in leaf:
        row = "torch.backends.cuda.enable_flash_sdp"
    elif leaf == "preferred_linalg_library":
        row = "torch.backends.cuda.preferred_linalg_library"
    elif parts[2] == "cudnn":
        row = "torch.backends.cudnn.benchmark"
    else:
        return (
            name,
            "MIG-BACKEND-FLAG",
            Fact(
                name,
                "restricted",
                "",
                "a cuBLAS or cuDNN switch; it has no effect on NPU kernels",
                tables.related("torch.backends.cudnn.benchmark").source,
            ),
        )
    return name, "MIG-BACKEND-FLAG", tables.related(row)
