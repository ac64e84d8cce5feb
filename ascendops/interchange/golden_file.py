"""The interface of an operator from the Python function that says what it means. The file is parsed, never imported."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

from ascendops.errors import SourceError, did_you_mean
from ascendops.interchange.declaration import AttrDecl, Declaration, ParamDecl

if TYPE_CHECKING:
    from ascendops.spec.model import AttrValue

_SCALARS = {"float": "float", "int": "int", "bool": "bool", "str": "str"}
_TENSORS = {"Tensor", "ndarray", "Array"}
_SEQUENCES = {"list", "List", "tuple", "Tuple", "Sequence"}


def functions(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    """The functions at the top of a module, by name."""
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def choose(tree: ast.Module, name: str) -> ast.FunctionDef | None:
    """The function that defines the operator: `golden`, else the one of its name, else the only public one."""
    found = functions(tree)
    public = [node for key, node in found.items() if not key.startswith("_")]
    return found.get("golden") or found.get(name) or (public[0] if len(public) == 1 else None)


def read(path: Path, text: str, tree: ast.Module, name: str) -> Declaration:
    """The declaration that the golden function of `path` implies: arguments, defaults and number of outputs.

    Raises:
        SourceError: No function is the golden, or an argument has a type that a schema cannot say.
    """
    function = choose(tree, name)
    if function is None:
        known = list(functions(tree))
        hint = did_you_mean(name, known) if known else "define golden(x, ...)"
        raise SourceError(f"no function in {path.name} is the golden of '{name}'", where=str(path), why="it is called golden or like the operator", help=hint)
    where = f"{path}:{function.lineno}"
    inputs: list[ParamDecl] = []
    attrs: list[AttrDecl] = []
    for argument, default in _arguments(function, where):
        kind = _kind(argument, default, where)
        if isinstance(kind, ParamDecl):
            inputs.append(kind)
        else:
            attrs.append(kind)
    if not inputs:
        raise SourceError(f"{function.name} has no tensor argument", where=where, help="annotate it: x: torch.Tensor")
    outputs = _outputs(function, {param.name for param in inputs} | {attr.name for attr in attrs})
    body = text if function.name == "golden" else f"{text.rstrip()}\n\n\ngolden = {function.name}\n"
    note = f"{function.name}() of {path.name} is the golden; inputs of one shape are assumed: name the axes in op.toml"
    return Declaration(name, tuple(inputs), outputs, tuple(attrs), where, (note,), {"golden.py": body})


def _arguments(function: ast.FunctionDef, where: str) -> list[tuple[ast.arg, ast.expr | None]]:
    args = function.args
    if args.vararg or args.kwarg:
        raise SourceError(f"{function.name} takes *args or **kwargs", where=where, help="an operator has a fixed list of arguments: name them")
    positional = [*args.posonlyargs, *args.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(args.defaults))
    defaults.extend(args.defaults)
    return [*zip(positional, defaults, strict=True), *zip(args.kwonlyargs, args.kw_defaults, strict=True)]


def _kind(argument: ast.arg, default: ast.expr | None, where: str) -> ParamDecl | AttrDecl:
    base, optional, many = _annotation(argument.annotation)
    value = _value(default, argument.arg, where)
    if base is None and default is not None and value is not None:
        first = value[0] if isinstance(value, tuple) and value else value
        base, many = type(first).__name__, isinstance(value, tuple)
    if base is None or base in _TENSORS:
        kind = "dynamic" if many else "optional" if optional or default is not None else "required"
        return ParamDecl(argument.arg, kind)
    if base not in _SCALARS:
        raise SourceError(
            f"argument '{argument.arg}' has the type {ast.unparse(argument.annotation) if argument.annotation else base}", where=where,
            help="a schema has tensors, int, float, bool, str and lists of the first three",
        )  # fmt: skip
    word = f"{_SCALARS[base]}{'[]' if many else ''}{'?' if optional else ''}"
    if isinstance(value, int) and not isinstance(value, bool) and base == "float":
        value = float(value)
    return AttrDecl(argument.arg, word, default is None, value)


def _annotation(node: ast.expr | None) -> tuple[str | None, bool, bool]:
    """(last name, may be None, is a list) of an annotation; (None, False, False) when there is none."""
    if node is None:
        return None, False, False
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return _annotation(ast.parse(node.value, mode="eval").body)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        sides = [node.left, node.right]
        real = [side for side in sides if not (isinstance(side, ast.Constant) and side.value is None)]
        base, optional, many = _annotation(real[0])
        return base, optional or len(real) < len(sides), many
    if isinstance(node, ast.Subscript):
        outer, inner = _annotation(node.value)[0], node.slice
        first = inner.elts[0] if isinstance(inner, ast.Tuple) and inner.elts else inner
        base, optional, many = _annotation(first)
        return base, optional or outer == "Optional", many or outer in _SEQUENCES
    if isinstance(node, ast.Attribute):
        return node.attr, False, False
    return (node.id if isinstance(node, ast.Name) else ast.unparse(node)), False, False


def _value(node: ast.expr | None, name: str, where: str) -> AttrValue:
    if node is None:
        return None
    try:
        value = ast.literal_eval(node)
    except ValueError:
        raise SourceError(f"the default of '{name}' is not a literal", where=where, help="write a number, True, False, a string, a list of them or None") from None
    return tuple(value) if isinstance(value, list | tuple) else value


def _outputs(function: ast.FunctionDef, taken: set[str]) -> tuple[ParamDecl, ...]:
    """One output for each returned value, with its variable's name where it has one of its own."""
    returned = [node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None]
    last = returned[-1] if returned else None
    values = last.elts if isinstance(last, ast.Tuple) else [last]
    names: list[str] = []
    for index, value in enumerate(values):
        plain = "y" if len(values) == 1 else f"y{index}"
        own = value.id if isinstance(value, ast.Name) else plain
        names.append(own if own not in taken and own not in names and own.islower() else plain)
    return tuple(ParamDecl(name) for name in names)
