"""The interface of an operator from a CUDA or Triton kernel: pointers become tensors, sizes go, other scalars become attributes."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from ascendops.errors import SourceError
from ascendops.interchange import constructs
from ascendops.interchange.declaration import AttrDecl, Declaration, ParamDecl
from ascendops.migrate.scanners import cuda_text
from ascendops.spec.names import snake

_DTYPES = {
    "float": ("float32",), "double": ("float32",), "half": ("float16",), "__half": ("float16",), "__nv_bfloat16": ("bfloat16",),
    "nv_bfloat16": ("bfloat16",), "int": ("int32",), "int32_t": ("int32",), "int64_t": ("int64",), "long": ("int64",), "int8_t": ("int8",),
    "uint8_t": ("uint8",), "bool": ("bool",), "unsigned char": ("uint8",), "signed char": ("int8",), "short": ("int16",), "int16_t": ("int16",),
}  # fmt: skip
_SIZE = re.compile(
    r"^(?:[nmkbhwcdtlrs]|num_?\w*|n_?\w+|\w*(?:size|sizes|len|length|count|numel|stride|strides|rows|cols|columns|dim|dims|elements|total|width|height"
    r"|batch|channels|heads|depth|offset|ld[abc]?|pitch)\w*|stride\w*)$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class _Param:
    """One parameter of a kernel: how it is used, and its element type (empty for Triton and templates)."""

    name: str
    type: str
    read: bool = False
    written: bool = False
    pointer: bool = False


def has_triton(tree: ast.Module) -> bool:
    """Whether a module has a kernel under @triton.jit."""
    return any(_is_kernel(node) for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def _is_kernel(node: ast.FunctionDef) -> bool:
    names = [ast.unparse(item.func if isinstance(item, ast.Call) else item) for item in node.decorator_list]
    return any(name in ("jit", "triton.jit") or name.endswith(".triton.jit") for name in names)


def read(path: Path, name: str) -> Declaration:
    """The declaration that the kernel of operator `name` in `path` implies, with its body's constructs and the file as a reference.

    Raises:
        SourceError: The file has no kernel with a tensor that it writes.
    """
    from ascendops.migrate.origin import origin

    kernel = origin(name, path).kernel
    text = path.read_text(encoding="utf-8", errors="replace")
    params, line, rows = _triton(text, kernel) if path.suffix == ".py" else _cuda(text, kernel)
    where = f"{path}:{line}"
    outputs = tuple(ParamDecl(_tensor_name(p.name), dtypes=_DTYPES.get(p.type, ())) for p in params if p.pointer and p.written)
    inputs = tuple(ParamDecl(_tensor_name(p.name), dtypes=_DTYPES.get(p.type, ())) for p in params if p.pointer and (p.read or not p.written))
    if not outputs or not inputs:
        missing = "writes" if not outputs else "reads"
        raise SourceError(f"kernel {kernel} has no tensor that it {missing}", where=where, help="declare the operator with --schema instead")
    sizes = [p.name for p in params if not p.pointer and _is_size(p)]
    attrs = tuple(AttrDecl(p.name, "int" if p.type in ("int", "int64_t", "long", "unsigned") else "float") for p in params if not p.pointer and not _is_size(p))
    notes = [f"{len(inputs)} inputs, {len(outputs)} outputs and {len(attrs)} attributes were read from {kernel} ({where})"]
    if sizes:
        notes.append(f"{', '.join(sizes)} were taken for sizes, which an operator has from its tensors' shapes")
    attrs = tuple(AttrDecl(_lower(attr.name), attr.type) for attr in attrs)
    return Declaration(name, inputs, outputs, attrs, where, tuple(notes), {f"reference/{path.name}": text}, rows)


def _is_size(param: _Param) -> bool:
    return param.type not in ("float", "double", "half") and bool(_SIZE.match(param.name))


def _tensor_name(name: str) -> str:
    short = re.sub(r"^(?:d|g|gpu|dev|p)_(?=\w)|_?(?:ptr|pointer|gm|gmem)$", "", name, flags=re.IGNORECASE).strip("_")
    return _lower(re.sub(r"^(\w+)Ptr$", r"\1", short) or name)


def _lower(name: str) -> str:
    return name.lower() if name.isupper() else snake(name[:1].upper() + name[1:]) if any(c.isupper() for c in name) else name


def _cuda(text: str, kernel: str) -> tuple[list[_Param], int, tuple[tuple[str, str], ...]]:
    masked = cuda_text.mask(text)
    functions = [f for f in cuda_text.functions(masked) if f.name == kernel and f.kind == "__global__"]
    function = next((f for f in functions if f.body[0] < f.body[1]), functions[0])
    start = masked.index("(", function.name_at)
    body = masked[function.body[0] : function.body[1]]
    params = [_cuda_param(part, body) for part in _split(masked[start + 1 : cuda_text.closing(masked, start) - 1])]
    return [p for p in params if p is not None], text.count("\n", 0, function.name_at) + 1, constructs.found(body, constructs.CUDA)


def _split(text: str) -> list[str]:
    """Split at the commas outside of brackets."""
    parts, depth, last = [], 0, 0
    for at, letter in enumerate(text):
        depth += letter in "<([{"
        depth -= letter in ">)]}"
        if letter == "," and depth == 0:
            parts.append(text[last:at])
            last = at + 1
    return [part.strip() for part in [*parts, text[last:]] if part.strip()]


def _cuda_param(text: str, body: str) -> _Param | None:
    plain = re.sub(r"\b__restrict__\b|\b__restrict\b|\brestrict\b|\bvolatile\b|=.*$", " ", text)
    match = re.match(r"^(?P<type>[\w:<>,\s*&]+?)\s*(?P<mark>[*&]*)\s*(?P<name>\w+)\s*(?:\[\w*\])?$", plain.strip())
    if match is None:
        return None
    words = [word for word in match["type"].split() if word not in ("const", "unsigned") or "char" in match["type"]]
    base = " ".join(words).strip("* ")
    pointer = "*" in match["mark"] or "*" in match["type"] or "[" in text
    written = pointer and not re.search(r"\bconst\b[^*]*\*", text)
    return _Param(match["name"], base, read=pointer and (not written or _reads(match["name"], body)), written=written, pointer=pointer)


def _reads(name: str, body: str) -> bool:
    """Whether elements of a writable pointer are also read: it is indexed anywhere but left of a plain `=`."""
    uses = re.finditer(rf"\b{name}\s*\[", body)
    for use in uses:
        end = cuda_text.closing(body, use.end() - 1)
        if not re.match(r"\s*=(?!=)", body[end:]) and not re.search(r"&\s*$", body[: use.start()]):
            return True
    return False


def _triton(text: str, kernel: str) -> tuple[list[_Param], int, tuple[tuple[str, str], ...]]:
    tree = ast.parse(text)
    function = next(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == kernel and _is_kernel(node))
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    names = {a.arg for a in arguments if not (a.annotation and "constexpr" in ast.unparse(a.annotation))}
    read, written = _accesses(function, names)
    params = [_Param(a.arg, "", read=a.arg in read, written=a.arg in written, pointer=a.arg in read | written) for a in arguments if a.arg in names]
    params = [p for p in params if p.pointer or not _unused(p.name, function)]
    return params, function.lineno, constructs.found(ast.unparse(function), constructs.TRITON)


def _unused(name: str, function: ast.FunctionDef) -> bool:
    return not any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(function))


def _accesses(function: ast.FunctionDef, names: set[str]) -> tuple[set[str], set[str]]:
    """Parameters that tl.load reads and tl.store writes, followed through assignments of pointer arithmetic."""
    origin: dict[str, set[str]] = {name: {name} for name in names}
    read: set[str] = set()
    written: set[str] = set()
    for node in sorted((n for n in ast.walk(function) if isinstance(n, ast.stmt | ast.expr)), key=lambda n: (n.lineno, n.col_offset)):
        if isinstance(node, ast.Assign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            sources = _pointers(node.value, origin)
            for target in targets:
                if isinstance(target, ast.Name) and sources:
                    origin[target.id] = origin.get(target.id, set()) | sources
        elif isinstance(node, ast.Call) and node.args:
            word = ast.unparse(node.func).rpartition(".")[2]
            if word in ("load", "store") or word.startswith("atomic_"):
                reached = _base(node.args[0], origin)
                (read if word == "load" else written).update(reached)
    return read, written


def _base(node: ast.expr, origin: dict[str, set[str]]) -> set[str]:
    """The pointer of an address: the leftmost operand that comes from a parameter called like one, else any parameter."""
    reached = _pointers(node, origin)
    named = {name for name in reached if re.search(r"ptr|pointer", name, re.IGNORECASE) or re.fullmatch(r"[A-Z]\w{0,3}", name)}
    if len(reached) > 1 and named:
        return named
    left = node
    while isinstance(left, ast.BinOp):
        left = left.left
    return _pointers(left, origin) or reached


def _pointers(node: ast.expr, origin: dict[str, set[str]]) -> set[str]:
    """Parameters that a value comes from; what is loaded is a value, not an address."""
    if isinstance(node, ast.Call):
        inner = node.args[:1] if ast.unparse(node.func).rpartition(".")[2] in ("make_block_ptr", "advance", "make_tensor_descriptor", "to", "cast") else []
        return set().union(*(_pointers(arg, origin) for arg in inner))
    if isinstance(node, ast.BinOp):
        return _pointers(node.left, origin) | _pointers(node.right, origin)
    return set(origin.get(node.id, ())) if isinstance(node, ast.Name) else set()
