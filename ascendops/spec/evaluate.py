"""Evaluation of expressions: on ints, and on SymInts without branching on them."""

from __future__ import annotations

import ast
import operator
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, cast

from ascendops.errors import ExprError

if TYPE_CHECKING:
    from ascendops.spec.expr import Expr

_COMPARE: dict[type[ast.cmpop], Any] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


@dataclass(frozen=True)
class Env:
    """What the names of an expression stand for in one call.

    Attributes:
        values: Axis sizes and attributes: ints, SymInts, or tuples of them.
        shapes: Shape of each tensor, for numel and nbytes; a list of shapes for Tensor[], None for an absent one.
        itemsizes: Bytes per element of each tensor, for nbytes.
    """

    values: Mapping[str, Any]
    shapes: Mapping[str, Any] = field(default_factory=dict)
    itemsizes: Mapping[str, int] = field(default_factory=dict)


def _extreme(which: str, values: Sequence[Any]) -> Any:
    """Minimum or maximum that does not branch on SymInts."""
    out = values[0]
    for value in values[1:]:
        if isinstance(out, int) and isinstance(value, int):
            out = min(out, value) if which == "min" else max(out, value)
        else:
            out = getattr(sys.modules["torch"], f"sym_{which}")(out, value)
    return out


def product(values: Sequence[Any]) -> Any:
    """The product of sizes (1 for none)."""
    out: Any = 1
    for value in values:
        out = out * value
    return out


def evaluate(expr: Expr, env: Env) -> Any:
    """The value of a checked expression for these axes and attributes: an int, a bool, or a SymInt when one is in `env`.

    Raises:
        ExprError: A name has no value, or a division by zero.
    """
    return _Evaluator(expr, env).value(expr.tree)


class _Evaluator:
    """Walks a checked tree; `env` says what its names stand for."""

    def __init__(self, expr: Expr, env: Env) -> None:
        self.expr, self.env = expr, env

    def fail(self, what: str, help: str | None = None) -> NoReturn:
        raise ExprError(f"{what} in '{self.expr.text}'", where=self.expr.where, help=help)

    def value(self, node: ast.expr) -> Any:
        """The value of one node."""
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return self.scalar(node.id)
            case ast.BinOp():
                return self.binary(node)
            case ast.UnaryOp(op=ast.Not()):
                return not self.value(node.operand)
            case ast.UnaryOp():
                return -self.value(node.operand)
            case ast.Compare():
                return self.compare(node)
            case ast.IfExp():
                return self.value(node.body) if self.value(node.test) else self.value(node.orelse)
            case ast.Subscript():
                return self.item(node)
            case ast.Call():
                return self.call(node)
        raise AssertionError(f"unchecked node {ast.dump(node)}")

    def lookup(self, name: str) -> Any:
        if name not in self.env.values:
            self.fail(f"'{name}' has no value", help=f"names with a value: {', '.join(sorted(self.env.values))}")
        return self.env.values[name]

    def scalar(self, name: str) -> Any:
        value = self.lookup(name)
        if isinstance(value, tuple | list | float | str) or value is None:
            self.fail(f"'{name}' is {value!r}, not a whole number", help="use prod(name) or name[0] for a list")
        return value

    def binary(self, node: ast.BinOp) -> Any:
        left, right = self.value(node.left), self.value(node.right)
        match node.op:
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.Mult():
                return left * right
        return self.divide(left, right, remainder=isinstance(node.op, ast.Mod))

    def divide(self, left: Any, right: Any, *, remainder: bool = False) -> Any:
        if isinstance(right, int) and right == 0:
            self.fail("division by zero")
        return left % right if remainder else left // right

    def compare(self, node: ast.Compare) -> Any:
        left, right = self.value(node.left), self.value(node.comparators[0])
        return _COMPARE[type(node.ops[0])](left, right)

    def item(self, node: ast.Subscript) -> Any:
        name, index = cast(ast.Name, node.value).id, int(ast.literal_eval(node.slice))
        values = self.lookup(name)
        if not isinstance(values, tuple | list):
            self.fail(f"'{name}' is not a list")
        if not -len(values) <= index < len(values):
            self.fail(f"{name}[{index}] is out of range: it has {len(values)} item(s)")
        return values[index]

    def call(self, node: ast.Call) -> Any:
        function = cast(ast.Name, node.func).id
        if function in ("numel", "nbytes"):
            return self.size(function, cast(ast.Name, node.args[0]).id)
        if function == "prod":
            name = cast(ast.Name, node.args[0]).id
            values = self.lookup(name)
            return product(values) if isinstance(values, tuple | list) else self.fail(f"'{name}' is not a list")
        args = [self.value(arg) for arg in node.args]
        if function in ("min", "max"):
            return _extreme(function, args)
        quotient = self.divide(args[0] + args[1] - 1, args[1])
        return quotient if function == "ceil_div" else quotient * args[1]

    def size(self, function: str, tensor: str) -> Any:
        if tensor not in self.env.shapes:
            self.fail(f"'{tensor}' is not a tensor", help=f"tensors: {', '.join(sorted(self.env.shapes))}")
        shape = self.env.shapes[tensor]
        if shape is None:
            return 0
        count = sum(product(item) for item in shape) if isinstance(shape, list) else product(shape)
        return count * self.env.itemsizes[tensor] if function == "nbytes" else count
