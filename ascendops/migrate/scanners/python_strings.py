"""Rules for strings in Python: devices, backends, providers, environment variables, tools, build flags and sources."""

from __future__ import annotations

import ast
import re

from ascendops.migrate.facts import tables
from ascendops.migrate.facts.tables import Fact
from ascendops.migrate.scanners.python_flags import call_name, scan as scan_flags
from ascendops.migrate.scanners.python_names import known
from ascendops.migrate.scanners.python_tree import Tree
from ascendops.migrate.scanners.sink import Sink

DEVICE = re.compile(r"cuda(:(\d*|%[ds]|\{\w*\}))?")
_PROVIDERS = {
    "CUDAExecutionProvider": Fact(
        "CUDAExecutionProvider",
        "restricted",
        "CANNExecutionProvider",
        "needs ONNX Runtime built with CANN; or convert with ATC",
        "library_map.json onnxruntime-gpu",
    ),
    "TensorrtExecutionProvider": Fact(
        "TensorrtExecutionProvider",
        "restricted",
        "CANNExecutionProvider or ATC",
        "engine caches cannot be reused",
        "library_map.json onnxruntime-gpu",
    ),
    "ROCMExecutionProvider": Fact(
        "ROCMExecutionProvider", "no_equivalent", "", "another vendor's provider", "library_map.json onnxruntime-gpu"
    ),
}
_PATH_CALLS = {
    "join",
    "joinpath",
    "glob",
    "rglob",
    "iglob",
    "open",
    "Path",
    "exists",
    "isdir",
    "isfile",
    "listdir",
    "makedirs",
    "mkdir",
    "endswith",
    "startswith",
    "split",
    "replace",
    "import_module",
    "find_spec",
    "library_dir",
    "add_argument_group",
    "mark",
    "debug",
    "info",
    "warning",
    "error",
    "print",
    "log",
    "format",
    "getLogger",
}
_NOT_DEVICE_WORDS = {
    "impl",
    "sources",
    "name",
    "language",
    "lang",
    "module",
    "title",
    "label",
    "text",
    "help",
    "description",
    "path",
    "dir",
    "folder",
    "package",
    "packages",
    "extra",
    "suffix",
    "prefix",
    "version",
    "tag",
    "license",
    "desc",
    "msg",
    "message",
    "id",
    "ids",
    "reason",
    "pattern",
}


def scan(tree: Tree, sink: Sink) -> None:
    """Adds findings for the strings of a file; docstrings and messages are not looked at."""
    for node in tree.nodes:
        if id(node) in tree.docstrings:
            continue
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and not isinstance(tree.parents.get(node), ast.JoinedStr)
        ):
            _constant(tree, node, node.value, sink)
        elif isinstance(node, ast.JoinedStr):
            head = node.values[0] if node.values else None
            if (
                isinstance(head, ast.Constant)
                and isinstance(head.value, str)
                and re.fullmatch(r"cuda:?", head.value)
                and _is_device(tree, node)
            ):
                _device(node, sink, _is_sure(tree, node))
            elif isinstance(head, ast.Constant):
                scan_flags(
                    tree,
                    node,
                    "".join(v.value for v in node.values if isinstance(v, ast.Constant) and isinstance(v.value, str)),
                    sink,
                )


def _constant(tree: Tree, node: ast.Constant, value: str, sink: Sink) -> None:
    if value == "cuda" and _is_target(tree, node):
        sink.add(node.lineno, 'numba target="cuda"', "MIG-PY-KERNEL", _NUMBA)
    elif DEVICE.fullmatch(value):
        sure = _is_sure(tree, node)
        if sure or (_is_device(tree, node) and sink.source.name != "setup.py"):  # there it names folders and variants
            _device(node, sink, sure)
    elif value in ("nccl", "NCCL") or value.endswith(":nccl") or ",cuda:nccl" in value:
        column = _column(node, sink)
        edit = sink.edit(node.lineno, column + 1, value, "hccl") if value in ("nccl", "NCCL") else None
        sink.add(
            node.lineno, '"nccl" distributed backend', "MIG-DIST-NCCL", tables.related('dist backend "nccl"'), edit=edit
        )
    elif value in _PROVIDERS:
        sink.add(node.lineno, value, "MIG-PROVIDER", _PROVIDERS[value])
    elif value.startswith("torch.cuda.") and (hit := known(value)):
        sink.add(node.lineno, *hit)
    elif value in ("CUDA", "AutogradCUDA", "AutocastCUDA") and _is_dispatch_key(tree, node):
        sink.add(node.lineno, f'"{value}" dispatch key', "MIG-TORCH-CPP", _DISPATCH)
    elif value == "gpu" and isinstance(parent := tree.parents.get(node), ast.keyword) and parent.arg == "accelerator":
        sink.add(node.lineno, 'accelerator="gpu"', "MIG-TORCH-FEATURE", tables.packages()["lightning"])
    elif value in ("flash_attention_2", "flash_attention_3"):
        sink.add(node.lineno, value, "MIG-ATTENTION-IMPL", tables.imports()["flash_attn"])
    elif value == "cudagraphs":
        sink.add(node.lineno, "cudagraphs", "MIG-COMPILE", tables.feature("CUDA graphs"))
    elif re.fullmatch(r"[A-Z][A-Z0-9_]{5,}", value):
        _variable(tree, node, value, sink)
    else:
        scan_flags(tree, node, value, sink)


def _column(node: ast.expr, sink: Sink) -> int:
    line = sink.source.lines[node.lineno - 1] if node.lineno <= len(sink.source.lines) else ""
    return len(line.encode()[: node.col_offset].decode(errors="ignore"))


def _device(node: ast.expr, sink: Sink, sure: bool) -> None:
    edit = None
    line = sink.source.lines[node.lineno - 1] if node.lineno <= len(sink.source.lines) else ""
    if sure and (opening := re.compile(r"[fFrR]{0,2}[\"'](?=cuda)").match(line, _column(node, sink))):
        edit = sink.edit(node.lineno, opening.end(), "cuda", "npu")
    fact = tables.related('"cuda", "cuda:N"')
    sink.add(node.lineno, '"cuda" device string', "MIG-DEVICE-STRING", fact, replacement='"npu"', edit=edit)


def _is_device(tree: Tree, node: ast.Constant | ast.JoinedStr) -> bool:
    """Whether a "cuda" string names a device: not a folder, not an implementation's name, not a word of a message."""
    indexed = not isinstance(node, ast.Constant) or ":" in str(node.value)
    child: ast.AST = node
    for parent in tree.up(node):
        if isinstance(parent, ast.keyword):
            return (parent.arg or "") not in _NOT_DEVICE_WORDS
        if isinstance(parent, ast.Call) and child is not parent.func:
            return _takes_device(parent)
        if isinstance(parent, ast.BinOp) and not indexed:
            return False  # a / "cuda" is a path, "a" + "cuda" a name
        if isinstance(parent, ast.arguments):
            return _parameter(parent, child) not in _NOT_DEVICE_WORDS
        if isinstance(parent, (ast.Compare, ast.Assign, ast.AnnAssign, ast.Return, ast.Subscript)):
            return not _names_something_else(parent)
        if isinstance(parent, ast.stmt):
            return not isinstance(parent, ast.Raise)
        child = parent
    return True


def _is_sure(tree: Tree, node: ast.AST) -> bool:
    """Whether a device string is the whole device argument, default or operand, so that it can be renamed alone."""
    child, parent = node, tree.parents.get(node)
    while isinstance(parent, ast.IfExp):
        child, parent = parent, tree.parents.get(parent)
    if isinstance(parent, ast.keyword):
        return parent.arg in ("device", "device_type", "map_location")
    if isinstance(parent, ast.Call):
        return (
            call_name(parent) in ("device", "to", "autocast", "GradScaler", "init_device_mesh")
            and child in parent.args[:1]
        )
    if isinstance(parent, ast.arguments):
        return _parameter(parent, child).startswith("device")
    if isinstance(parent, ast.Assign):
        return all("device" in ast.unparse(target).lower() for target in parent.targets)
    return isinstance(parent, ast.Compare) and "device" in ast.unparse(parent).lower() and len(parent.ops) == 1


def _is_dispatch_key(tree: Tree, node: ast.AST) -> bool:
    parent = tree.parents.get(node)
    call = tree.parents.get(parent) if isinstance(parent, ast.keyword) else parent
    return isinstance(call, ast.Call) and call_name(call) in (
        "impl",
        "Library",
        "fallback",
        "register_kernel",
        "py_impl",
    )


def _parameter(arguments: ast.arguments, default: ast.AST) -> str:
    """The name of the parameter that has this default value."""
    positional = [*arguments.posonlyargs, *arguments.args]
    named = dict(zip(map(id, reversed(arguments.defaults)), reversed(positional), strict=False))
    named |= {id(value): argument for argument, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)}
    return named[id(default)].arg if id(default) in named else ""


def _is_target(tree: Tree, node: ast.AST) -> bool:
    """Whether it is the target of a Numba ufunc."""
    parent = tree.parents.get(node)
    call = tree.parents.get(parent) if isinstance(parent, ast.keyword) and parent.arg == "target" else None
    return isinstance(call, ast.Call) and call_name(call) in ("vectorize", "guvectorize", "jit", "njit")


def _takes_device(call: ast.Call) -> bool:
    name = call_name(call)
    if name == "startswith":
        return isinstance(call.func, ast.Attribute) and "dev" in ast.dump(call.func.value).lower()
    return name not in _PATH_CALLS and not name.endswith(("Error", "Exception", "Warning"))


def _names_something_else(parent: ast.AST) -> bool:
    """`impl == "cuda"` and `impl = "cuda"` choose an implementation."""
    names: list[ast.expr] = []
    if isinstance(parent, ast.Compare):
        names = [parent.left, *parent.comparators]
    elif isinstance(parent, ast.Assign):
        names = list(parent.targets)
    elif isinstance(parent, ast.AnnAssign):
        names = [parent.target]
    words = {
        name.id if isinstance(name, ast.Name) else name.attr if isinstance(name, ast.Attribute) else ""
        for name in names
    }
    return bool({word.lower() for word in words} & _NOT_DEVICE_WORDS)


def _variable(tree: Tree, node: ast.Constant, value: str, sink: Sink) -> None:
    """An environment variable: a table's name anywhere, a family's name only where the environment is read or written."""
    fact = tables.environment().get(value)
    if not fact:
        text = {
            ast.unparse(parent)[:40]
            for parent, _ in zip(tree.up(node), range(3), strict=False)
            if isinstance(parent, (ast.Call, ast.Subscript))
        }
        if not any("environ" in part or "getenv" in part or "putenv" in part for part in text):
            return
        fact = next((fact for pattern, fact in tables.patterns("environment") if re.fullmatch(pattern, value)), None)
    if fact and fact.status != "works_as_is":
        edit = (
            sink.edit(node.lineno, _column(node, sink) + 1, value, fact.target)
            if fact.status == "rename" and re.fullmatch(r"[A-Z_]+", fact.target)
            else None
        )
        sink.add(node.lineno, value, "MIG-ENV", fact, edit=edit)


_NUMBA = Fact(
    "numba", "custom_op", "Triton for Ascend or torch operators", "no numba target for Ascend", "library_map.json numba"
)
_DISPATCH = Fact(
    "DispatchKey CUDA",
    "rename",
    "PrivateUse1",
    "the NPU's dispatch key; AutogradPrivateUse1 and AutocastPrivateUse1 likewise",
    "cuda_cpp_map.json torch_cpp: DispatchKey CUDA",
)
