"""The part of a file that a Triton kernel needs: kernels, helper functions, constants and imports of triton; never host code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ascendops.migrate.lowering.trust import refusal
from ascendops.migrate.scanners.python_tree import Tree, parse

_JIT = ("triton.jit", "triton.runtime.jit.jit", "triton.JITFunction", "triton.runtime.JITFunction")
_CALLS = {"float", "int", "bool", "min", "max", "len", "tuple", "abs", "round"}
_MODULES = ("triton", "math", "__future__")
_DEPTH = 4
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_HOST = (ast.Lambda, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.JoinedStr, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass
class Slice:
    """One file, reduced.

    Attributes:
        name: The slice's name in a request: `slice0`, `slice1`, ...
        file: The path as reported, with `#cellN` for notebook cells.
        kernels: Entry points (functions that hosts launch) by name.
        helpers: Functions that kernels call, by name; those of linked files, too.
        refused: Functions that reach outside of triton's language, with the place; they are not executed.
        keep: (line, column, conditional) of each statement to execute.
        links: (local name, slice, name there) of functions and constants from other files.
    """

    name: str
    file: str
    text: str
    tree: Tree
    kernels: dict[str, ast.FunctionDef] = field(default_factory=dict)
    helpers: dict[str, ast.FunctionDef] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    keep: list[tuple[int, int, bool]] = field(default_factory=list)
    links: list[tuple[str, str, str]] = field(default_factory=list)

    def request(self) -> dict[str, object]:
        """What the worker needs of it."""
        return {"name": self.name, "file": self.file, "text": self.text, "keep": self.keep, "links": self.links}


class Slicer:
    """Slices files and what they import from their own repository; a file is read once."""

    def __init__(self) -> None:
        self.slices: list[Slice] = []
        self._of: dict[str, Slice | None] = {}

    def take(self, file: str, text: str, path: Path | None, depth: int = 0) -> Slice:
        """The slice of one source; `path` is where its imports are resolved, None for notebook cells.

        Raises:
            SyntaxError: The text is not Python 3.
            ValueError: The text is nested too deeply.
        """
        tree = parse(text)
        piece = Slice("", file, text, tree)
        jit = {node.name: node for node in tree.nodes if isinstance(node, ast.FunctionDef) and is_jit(tree, node)}
        piece.refused = {name: why for name, node in jit.items() for why in [_refusal(tree, node, set(jit))] if why}
        needed = {part.id for node in jit.values() for part in ast.walk(node) if isinstance(part, ast.Name)}
        if path is not None:
            self._of[str(path.resolve())] = piece
            self._link(piece, path, needed if depth == 0 else None, depth)
        piece.name = f"slice{len(self.slices)}"
        self.slices.append(piece)
        self._split(piece, jit)
        known = {local for local, _, _ in piece.links}
        portable = portable_names(tree)
        for node, conditional in _statements(tree.nodes[0]):
            if isinstance(node, ast.FunctionDef) and node.name in piece.refused:
                continue
            if _wanted(tree, node, jit, known) and not _replaced(node, portable):
                piece.keep.append((node.lineno, node.col_offset, conditional))
                known.update(_bound(node))
        return piece

    def _split(self, piece: Slice, jit: dict[str, ast.FunctionDef]) -> None:
        called = {piece.tree.dotted(part.func) for node in jit.values() for part in ast.walk(node) if isinstance(part, ast.Call)}
        launched = {
            piece.tree.dotted(part.value)
            for part in piece.tree.nodes
            if isinstance(part, ast.Subscript) and isinstance(piece.tree.parents.get(part), ast.Call)
        }
        launched |= {part.id for part in piece.tree.nodes if isinstance(part, ast.Name) and part.id in jit and _is_value(piece.tree, part)}
        for name, node in jit.items():
            returns = any(isinstance(part, ast.Return) and part.value is not None for part in ast.walk(node))
            entry = name in launched or not (returns or name in called)
            (piece.kernels if entry else piece.helpers)[name] = node

    def _link(self, piece: Slice, path: Path, needed: set[str] | None, depth: int) -> None:
        if depth >= _DEPTH:
            return
        for node in piece.tree.nodes:
            if not isinstance(node, ast.ImportFrom) or (node.module or "").split(".")[0] in _MODULES:
                continue
            wanted = [alias for alias in node.names if needed is None or (alias.asname or alias.name) in needed]
            target = _module(path, node) if wanted else None
            other = self._load(target, depth) if target else None
            for alias in wanted if other else ():
                assert other is not None
                piece.links.append((alias.asname or alias.name, other.name, alias.name))
                helper = other.helpers.get(alias.name) or other.kernels.get(alias.name)
                if helper is not None:
                    piece.helpers[alias.asname or alias.name] = helper

    def _load(self, path: Path, depth: int) -> Slice | None:
        key = str(path.resolve())
        if key not in self._of:
            self._of[key] = None
            try:
                self._of[key] = self.take(path.as_posix(), path.read_text(encoding="utf-8"), path, depth + 1)
            except (OSError, SyntaxError, ValueError):
                return None
        found = self._of[key]
        return found if found is not None and found.name else None


def _refusal(tree: Tree, node: ast.FunctionDef, known: set[str]) -> str:
    """Of the body and the defaults; decorators and annotations are not executed."""
    parts: list[ast.AST] = [*node.body, *node.args.defaults, *(value for value in node.args.kw_defaults if value is not None)]
    return next((why for part in parts if (why := refusal(tree, part, known))), "")


def is_jit(tree: Tree, node: ast.FunctionDef) -> bool:
    """Whether a function has the decorator `@triton.jit`, with or without arguments."""
    names = (tree.dotted(item.func if isinstance(item, ast.Call) else item) for item in node.decorator_list)
    return any(name in _JIT for name in names)


def vendor(module: str) -> bool:
    """Whether a module is one vendor's library of device functions."""
    return module.startswith(("triton.language.extra", "triton.language.libdevice", "triton.language.math.libdevice")) or module.endswith("libdevice")


def portable_names(tree: Tree) -> set[str]:
    """Local names that some import of the file takes from a module of triton that is no vendor's."""
    imports = (node for node in tree.nodes if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("triton"))
    return {alias.asname or alias.name for node in imports if not vendor(node.module or "") for alias in node.names}


def _replaced(node: ast.stmt, portable: set[str]) -> bool:
    """Whether an import from a vendor's library has an alternative in the file: on an NPU that one is taken."""
    return isinstance(node, ast.ImportFrom) and vendor(node.module or "") and {alias.asname or alias.name for alias in node.names} <= portable


def _is_value(tree: Tree, node: ast.Name) -> bool:
    """Whether a kernel is assigned to a variable, `kernel = a if test else b`, by a host function."""
    parent = tree.parents.get(node)
    return isinstance(parent, ast.Assign) or (isinstance(parent, ast.IfExp) and isinstance(tree.parents.get(parent), ast.Assign) and node is not parent.test)


def _module(path: Path, node: ast.ImportFrom) -> Path | None:
    """The file of `from a.b import c` below one of the folders above `path`, or beside it for relative imports."""
    parts = (node.module or "").split(".") if node.module else []
    if node.level:
        base = path.resolve().parent
        for _ in range(node.level - 1):
            base = base.parent
        roots = [base]
    else:
        roots = list(path.resolve().parents)[:8]
    for root in roots:
        stem = root.joinpath(*parts)
        for candidate in (stem.with_suffix(".py") if parts else stem / "__init__.py", stem / "__init__.py"):
            if candidate.is_file() and candidate != path.resolve():
                return candidate
    return None


def _statements(root: ast.AST, conditional: bool = False) -> Iterator[tuple[ast.stmt, bool]]:
    """Statements of the module's own scope, those of `if`, `try` and `with` included (they are conditional), and nested kernels."""
    for name in ("body", "handlers", "orelse", "finalbody"):
        for node in getattr(root, name, []):
            if isinstance(node, (ast.ExceptHandler, ast.If, ast.Try, ast.With)):
                yield from _statements(node, True)
            elif isinstance(node, _FUNCTIONS):
                yield node, conditional
                yield from ((inner, flag) for inner, flag in _statements(node, conditional) if isinstance(inner, _FUNCTIONS))
            elif isinstance(node, ast.ClassDef):
                yield from ((inner, flag) for inner, flag in _statements(node, conditional) if isinstance(inner, _FUNCTIONS))
            else:
                yield node, conditional


def _wanted(tree: Tree, node: ast.stmt, jit: dict[str, ast.FunctionDef], known: set[str]) -> bool:
    if isinstance(node, ast.Import):
        return all(alias.name.split(".")[0] in _MODULES for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return not node.level and (node.module or "").split(".")[0] in _MODULES
    if isinstance(node, ast.FunctionDef):
        defaults = [value for value in (*node.args.defaults, *node.args.kw_defaults) if value is not None]
        return node in jit.values() and all(safe(tree, value, known) for value in defaults)
    if isinstance(node, ast.Assign) and all(isinstance(target, (ast.Name, ast.Tuple)) for target in node.targets):
        return safe(tree, node.value, known)
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
        return safe(tree, node.value, known) and tree.dotted(node.annotation).startswith(("triton.", "int", "float", "bool", "str"))
    return False


def _bound(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.Assign):
        return {part.id for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Name)}
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return {node.target.id}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {alias.asname or alias.name.split(".")[0] for alias in node.names}
    return {node.name} if isinstance(node, ast.FunctionDef) else set()


def safe(tree: Tree, node: ast.expr, known: set[str]) -> bool:
    """Whether an expression is made of literals, of names that are kept, and of names and functions of triton."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            name = tree.dotted(part)
            if part.id not in known and part.id not in _CALLS and name.split(".")[0] not in _MODULES:
                return False
        elif isinstance(part, ast.Attribute):
            if refusal(tree, part, set()):
                return False
        elif isinstance(part, ast.Call):
            name = tree.dotted(part.func)
            if name not in _CALLS and not re.fullmatch(r"triton\.(language\.)?(constexpr|next_power_of_2|cdiv)|math\.\w+", name):
                return False
        elif isinstance(part, _HOST):
            return False
    return True
