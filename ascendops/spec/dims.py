"""Declared shapes: dims over named axes, or a rule over other tensors; parsed, not yet bound to sizes."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ascendops.errors import DimsError, did_you_mean
from ascendops.spec.expr import Expr, parse as parse_expr

RULES = {
    "same": "same(x)",
    "broadcast": "broadcast(x1, x2)",
    "reduce": "reduce(x, dim=dim, keepdim=keepdim)",
    "matmul": "matmul(a, b)",
    "permute": "permute(x, dims=dims)",
}
_OPTIONS = {"reduce": ("dim", "keepdim"), "matmul": ("transpose_a", "transpose_b"), "permute": ("dims",)}


@dataclass(frozen=True)
class Dim:
    """One entry of a dims list: an expression over axes, or `*name` for any number of axes."""

    expr: Expr
    variadic: bool = False


@dataclass(frozen=True)
class Option:
    """An option of a rule: the attribute that holds it, or a literal value."""

    attr: str | None
    value: Any = None

    def get(self, attrs: Mapping[str, Any]) -> Any:
        """Its value in a call."""
        return self.value if self.attr is None else attrs[self.attr]


@dataclass(frozen=True)
class Shape:
    """The declared shape of a tensor: either `dims`, or a `rule` over other `tensors` with `options`."""

    source: str | tuple[str, ...]
    dims: tuple[Dim, ...] = ()
    rule: str | None = None
    tensors: tuple[str, ...] = ()
    options: Mapping[str, Option] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.source if isinstance(self.source, str) else f"[{', '.join(self.source)}]"

    @property
    def variadic(self) -> int | None:
        """Position of the variadic axis in dims, or None."""
        return next((i for i, dim in enumerate(self.dims) if dim.variadic), None)

    @property
    def binds(self) -> frozenset[str]:
        """The axes whose sizes an input of this shape fixes."""
        return frozenset(dim.expr.axis for dim in self.dims if dim.expr.axis is not None)


def parse(source: object, *, where: str | None = None) -> Shape:
    """Parse the `dims` of a tensor: a list of axis expressions, or a rule string.

    Raises:
        DimsError: It is neither, or a rule is not written as documented.
        ExprError: An expression is not valid.
    """
    if isinstance(source, str):
        return _parse_rule(source, where)
    if not isinstance(source, list | tuple):
        raise DimsError(f"dims cannot be {source!r}", where=where, help=f'write a list such as ["*batch", "n"], or {_rules()}')
    dims = tuple(_parse_dim(item, where) for item in source)
    if sum(dim.variadic for dim in dims) > 1:
        raise DimsError("dims has two variadic axes", where=where, help="at most one axis may be written with '*'")
    return Shape(tuple(str(item) for item in source), dims)


def _rules() -> str:
    return f"a rule: {', '.join(RULES.values())}"


def _parse_dim(item: object, where: str | None) -> Dim:
    if isinstance(item, bool) or not isinstance(item, str | int):
        raise DimsError(f"{item!r} is not an axis", where=where, help='an axis is "n", "*batch", a number, or an expression such as "n // 2"')
    text = str(item).strip()
    variadic = text.startswith("*")
    expr = parse_expr(text.removeprefix("*"), where=where)
    if variadic and expr.axis is None:
        raise DimsError(f"'{text}' is not a variadic axis", where=where, help="write '*' and a name, as in '*batch'")
    if expr.constant is not None and expr.constant < 0:
        raise DimsError(f"an axis cannot have the size {expr.constant}", where=where)
    return Dim(expr, variadic)


def _parse_rule(source: str, where: str | None) -> Shape:
    try:
        call = ast.parse(source.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        call = None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise DimsError(f"'{source}' is not a rule", where=where, help=f"use {_rules()}; or a list of axes")
    rule = call.func.id
    if rule not in RULES:
        raise DimsError(f"there is no rule '{rule}'", where=where, help=did_you_mean(rule, RULES))
    tensors = tuple(arg.id for arg in call.args if isinstance(arg, ast.Name))
    few, many = {"same": (1, 1), "broadcast": (2, 16), "reduce": (1, 1), "matmul": (2, 2), "permute": (1, 1)}[rule]
    if len(tensors) != len(call.args) or not few <= len(tensors) <= many:
        raise DimsError(f"'{source}' does not name the tensors as this rule needs", where=where, help=f"write {RULES[rule]}")
    options = {}
    for keyword in call.keywords:
        if keyword.arg is None or keyword.arg not in _OPTIONS.get(rule, ()):
            raise DimsError(f"the rule '{rule}' has no option '{keyword.arg}'", where=where, help=f"write {RULES[rule]}")
        options[keyword.arg] = _parse_option(keyword.value, source, where)
    if rule == "permute" and not options:
        raise DimsError(f"'{source}' does not say which dims", where=where, help=f"write {RULES[rule]}")
    return Shape(source.strip(), rule=rule, tensors=tensors, options=options)


def _parse_option(node: ast.expr, source: str, where: str | None) -> Option:
    if isinstance(node, ast.Name):
        literals = {"true": True, "false": False}
        return Option(None, literals[node.id]) if node.id in literals else Option(node.id)
    try:
        value = ast.literal_eval(node)
    except ValueError:
        value = ...
    if isinstance(value, list):
        value = tuple(value)
    items = value if isinstance(value, tuple) else (value,)
    if value is not None and not all(isinstance(item, int) for item in items):
        raise DimsError(f"an option in '{source}' is not an attribute or a number", where=where, help="write dim=dim, dim=-1 or dim=[0, 1]")
    return Option(None, value)
