"""What the hosts of a file pass to a kernel: kinds, dtypes and strides of arguments, and values of its compile-time parameters."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ascendops.migrate.lowering.evaluate import Host, Unknown
from ascendops.migrate.scanners.python_tree import Tree

_DTYPES = {"float32": "fp32", "float": "fp32", "float16": "fp16", "half": "fp16", "bfloat16": "bf16", "int32": "i32", "int64": "i64", "long": "i64", "int8": "i8", "uint8": "i8", "bool": "i1", "float64": "fp64", "double": "fp64"}  # fmt: skip
_CREATE = re.compile(r"^torch\.(empty|zeros|ones|full|arange|tensor|rand|randn|randint)(_like)?$")


@dataclass
class Launch:
    """One launch.

    Attributes:
        line: Its line.
        kinds: Parameter to `pointer`, `int`, `float`, `bool` or `none`.
        dtypes: Parameter to the dtype that the host gives its tensor, where it is written there.
        ones: Integer parameters that are the innermost stride of a tensor.
        constants: Values of compile-time parameters.
        assumed: Unknown sizes and the number that stood for them.
        loose: Compile-time parameters that were computed from such a size.
        grid: The text of the grid.
    """

    line: int
    kinds: dict[str, str] = field(default_factory=dict)
    dtypes: dict[str, str] = field(default_factory=dict)
    ones: set[str] = field(default_factory=set)
    constants: dict[str, Any] = field(default_factory=dict)
    assumed: dict[str, int] = field(default_factory=dict)
    loose: set[str] = field(default_factory=set)
    grid: str = ""


def find(tree: Tree, kernel: ast.FunctionDef, fixed: set[str], size: int) -> Iterator[Launch]:
    """Every launch of `kernel` in its file; `fixed` are its compile-time parameters, `size` stands for unknown sizes."""
    functions = {node.name: node for node in tree.nodes if isinstance(node, ast.FunctionDef)}
    module = _assigned(tree.nodes[0])
    order = [item.arg for item in (*kernel.args.posonlyargs, *kernel.args.args)]
    for call in tree.nodes:
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Subscript)):
            continue
        owner = tree.owners.get(call)
        if not isinstance(call.func.value, (ast.Name, ast.Attribute)):
            continue
        names = {**module, **(_assigned(owner) if owner is not None else {})}
        if kernel.name not in _targets(tree, call.func.value, names):
            continue
        host = Host(tree, size, functions=functions)
        launch = Launch(call.lineno, grid=_grid(call.func.slice, names))
        given = [*zip(order, call.args, strict=False), *((word.arg, word.value) for word in call.keywords if word.arg)]
        given += [pair for word in call.keywords if word.arg is None for pair in _spread(host, word.value, names)]
        strides: dict[str, dict[str, int]] = {}
        for name, value in given:
            if name in fixed:
                _constant(host, launch, name, value, names)
            elif isinstance(value, ast.expr):
                kind, dtype = _passed(tree, value, names, owner)
                launch.kinds.update({name: kind} if kind else {})
                launch.dtypes.update({name: dtype} if dtype else {})
                tensor, axis = _stride(value)
                if tensor:
                    strides.setdefault(tensor, {})[name] = axis
        launch.ones = _innermost(strides)
        launch.assumed = host.assumed
        yield launch


def _targets(tree: Tree, node: ast.expr, names: dict[str, Any]) -> set[str]:
    """The names that `f[grid]` may launch: f, or what the function assigned to f."""
    name = tree.dotted(node).rsplit(".", 1)[-1]
    source = names.get(name)
    sides = (source.body, source.orelse) if isinstance(source, ast.IfExp) else (source,)
    return {name, *(side.id for side in sides if isinstance(side, ast.Name))}


def _assigned(scope: ast.AST) -> dict[str, Any]:
    """Variables of a scope with the expression that they were last given; parameters with their defaults."""
    found: dict[str, Any] = {}
    if isinstance(scope, ast.FunctionDef):
        for item, default in zip(reversed(scope.args.args), reversed(scope.args.defaults), strict=False):
            if not (isinstance(default, ast.Constant) and default.value is None):
                found[item.arg] = default
    for node in ast.walk(scope) if not isinstance(scope, ast.Module) else scope.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found.setdefault(node.targets[0].id, node.value)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
            _unpack(node.targets[0], node.value, found)
    return found


def _unpack(target: ast.Tuple, value: ast.expr, found: dict[str, Any]) -> None:
    for index, part in enumerate(target.elts):
        if not isinstance(part, ast.Name):
            continue
        if isinstance(value, ast.IfExp) and isinstance(value.body, ast.Tuple) and isinstance(value.orelse, ast.Tuple):
            sides = [side.elts[index] for side in (value.body, value.orelse) if index < len(side.elts)]
            if len(sides) == 2:
                found.setdefault(part.id, ast.copy_location(ast.IfExp(value.test, *sides), value))
        elif isinstance(value, ast.Tuple):
            found.setdefault(part.id, value.elts[index] if index < len(value.elts) else value)
        elif (isinstance(value, ast.Attribute) and value.attr == "shape") or (isinstance(value, ast.Call) and isinstance(value.func, ast.Name)):
            item = ast.Subscript(value, ast.Constant(index), ast.Load())
            found.setdefault(part.id, ast.copy_location(item, value))


def _spread(host: Host, value: ast.expr, names: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    try:
        table = host.value(value, names)
    except Unknown:
        return
    if isinstance(table, dict):
        yield from table.items()


def _constant(host: Host, launch: Launch, name: str, value: Any, names: dict[str, Any]) -> None:
    if not isinstance(value, ast.expr):
        launch.constants[name] = value
        return
    before, host.assumed = host.assumed, {}
    try:
        found = host.value(value, {key: item for key, item in names.items() if key != name or not _mentions(item, name)})
    except Unknown:
        host.assumed = before
        return
    if host.assumed:
        launch.loose.add(name)
    host.assumed = {**before, **host.assumed}
    if (isinstance(found, (bool, int, float, str, type(None))) and not (isinstance(found, str) and found.startswith("torch."))) or (isinstance(found, dict) and set(found) == {"dtype"}):
        launch.constants[name] = found


def _mentions(item: Any, name: str) -> bool:
    return isinstance(item, ast.AST) and any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(item))


def _passed(tree: Tree, value: ast.expr, names: dict[str, Any], owner: ast.AST | None, depth: int = 0) -> tuple[str, str]:
    """(kind, dtype) of an argument."""
    if isinstance(value, ast.Constant):
        kinds = {bool: "bool", int: "int", float: "float", type(None): "none"}
        return kinds.get(type(value.value), ""), ""
    if isinstance(value, ast.Subscript) and isinstance(value.value, ast.Attribute) and value.value.attr == "shape":
        return "int", ""
    if isinstance(value, ast.Call):
        leaf = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
        if leaf in ("stride", "numel", "size", "dim", "len", "cdiv", "next_power_of_2", "element_size"):
            return "int", ""
        if leaf in ("sqrt", "float", "item", "exp", "log"):
            return "float", ""
        if _CREATE.match(tree.dotted(value.func)) or leaf in ("contiguous", "view", "reshape", "to", "new_empty", "empty_like", "clone", "detach", "new_zeros"):
            return "pointer", _dtype(tree, value)
    if isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Div, ast.Pow)):
        return "float", ""
    if isinstance(value, ast.Name):
        return _named(tree, value.id, names, owner, depth)
    return "", ""


def _named(tree: Tree, name: str, names: dict[str, Any], owner: ast.AST | None, depth: int) -> tuple[str, str]:
    if isinstance(owner, ast.FunctionDef):
        for item in (*owner.args.args, *owner.args.kwonlyargs):
            text = ast.unparse(item.annotation) if item.arg == name and item.annotation is not None else ""
            if "Tensor" in text:
                return "pointer", ""
            if text.split(" ")[0] in ("float", "int", "bool"):
                return text.split(" ")[0], ""
    source = names.get(name)
    if isinstance(source, ast.expr) and depth < 4:
        return _passed(tree, source, names, owner, depth + 1)
    return "", ""


def _dtype(tree: Tree, call: ast.Call) -> str:
    for word in call.keywords:
        if word.arg == "dtype":
            return _DTYPES.get(tree.dotted(word.value).removeprefix("torch."), "")
    return "i64" if tree.dotted(call.func) in ("torch.arange", "torch.randint") else ""


def _stride(value: ast.expr) -> tuple[str, int]:
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "stride" and value.args:
        axis = value.args[0]
        if isinstance(axis, ast.UnaryOp) and isinstance(axis.operand, ast.Constant) and isinstance(axis.operand.value, int):
            return ast.unparse(value.func.value), -axis.operand.value
        if isinstance(axis, ast.Constant) and isinstance(axis.value, int):
            return ast.unparse(value.func.value), axis.value
    return "", 0


def _innermost(strides: dict[str, dict[str, int]]) -> set[str]:
    """Of each tensor, the stride of the last axis that is passed; -1 is always the last, a lone stride(0) is not."""
    found: set[str] = set()
    for axes in strides.values():
        last = max(axes.values())
        found |= {name for name, axis in axes.items() if axis == -1 or (axis == last and last > 0)}
    return found


def by_name(names: list[str]) -> set[str]:
    """Innermost strides by their names, for kernels without a launch: the last of `stride_am, stride_ak`."""
    groups: dict[str, list[str]] = {}
    for name in names:
        match = re.fullmatch(r"stride_?(\w+)_?\w", name) or re.fullmatch(r"(\w+)_stride_?\w", name)
        if match:
            groups.setdefault(match[1].rstrip("_"), []).append(name)
    return {group[-1] for group in groups.values() if len(group) > 1}


def _grid(node: ast.expr, names: dict[str, Any]) -> str:
    source = names.get(node.id) if isinstance(node, ast.Name) else node
    if isinstance(source, ast.Lambda):
        source = source.body
    return ast.unparse(source)[:160] if isinstance(source, ast.expr) else ""
