"""The one expression language over axes and attributes: parsed with an allow-list, evaluated, and emitted as Python and C++."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, cast

from ascendops.errors import ExprError

FUNCTIONS = {"ceil_div": 2, "align": 2, "min": 2, "max": 2, "prod": 1, "numel": 1, "nbytes": 1}
_BINARY: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "Add"),
    ast.Sub: ("-", "Sub"),
    ast.Mult: ("*", "Mul"),
    ast.FloorDiv: ("//", "FloorDiv"),
    ast.Mod: ("%", "FloorMod"),
}
_COMPARE: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("==", "Eq"),
    ast.NotEq: ("!=", "Ne"),
    ast.Lt: ("<", "Lt"),
    ast.LtE: ("<=", "Le"),
    ast.Gt: (">", "Gt"),
    ast.GtE: (">=", "Ge"),
}
_ALLOWED = "allowed: whole numbers, names, + - * // % == != < <= > >=, `a if c else b`, " + ", ".join(sorted(FUNCTIONS))


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


@dataclass(frozen=True)
class Expr:
    """One parsed expression. Build it with `parse`; `text` is the source, normalised by `python()`."""

    text: str
    tree: ast.expr = field(repr=False, compare=False)
    where: str | None = field(default=None, compare=False)

    @property
    def names(self) -> frozenset[str]:
        """Names of axes and attributes that are read (not the tensors inside numel and nbytes)."""
        return frozenset(_names(self.tree, tensors=False))

    @property
    def tensors(self) -> frozenset[str]:
        """Tensors named in numel(...) and nbytes(...)."""
        return frozenset(_names(self.tree, tensors=True))

    @property
    def axis(self) -> str | None:
        """The name, if the expression is a single name."""
        return self.tree.id if isinstance(self.tree, ast.Name) else None

    @property
    def constant(self) -> int | None:
        """The number, if the expression is a single number."""
        return self.tree.value if isinstance(self.tree, ast.Constant) and type(self.tree.value) is int else None

    def evaluate(self, env: Env) -> Any:
        """The value for these axes and attributes: an int, a bool, or a SymInt when one is in `env`.

        Raises:
            ExprError: A name has no value, or a division by zero.
        """
        return _Evaluator(self, env).value(self.tree)

    def python(self) -> str:
        """The expression as Python source; ceil_div and align are spelled out with `//`."""
        return ast.unparse(ast.fix_missing_locations(_Plain().visit(ast.parse(self.text, mode="eval").body)))

    def cpp(self, name: Callable[[str], str] = "axis_{}".format, tensor: Callable[[str], str] = "in_{}".format) -> str:
        """The expression as C++11 over `ascendops::Num` (int64 or unknown).

        `name` gives the C++ variable of an axis or attribute, `tensor` that of a tensor's shape (a pointer) inside numel.

        Raises:
            ExprError: The expression has nbytes, which no C++ needs.
        """
        return _cpp(self.tree, name, tensor)


def parse(text: str, *, where: str | None = None) -> Expr:
    """Parse an expression; nothing is evaluated and only the documented grammar is accepted.

    Raises:
        ExprError: The text is not in the grammar; a caret shows where.
    """
    source = text.strip()
    try:
        tree = ast.parse(source, mode="eval").body
    except SyntaxError as error:
        _fail(f"'{source}' is not an expression", source, max(0, (error.offset or 1) - 1), where)
    except (ValueError, RecursionError, MemoryError):
        _fail("the expression is not readable", source[:60], 0, where)
    if len(source) > 500:
        _fail("the expression is longer than 500 characters", source[:60], 0, where)
    _check(tree, source, where)
    return Expr(source, tree, where)


def _fail(what: str, source: str, column: int, where: str | None, help: str = _ALLOWED) -> NoReturn:
    raise ExprError(what, where=where, why=f"{source}\n{' ' * column}^", help=help)


def _check(node: ast.expr, source: str, where: str | None) -> None:
    def fail(what: str, help: str = _ALLOWED) -> NoReturn:
        _fail(what, source, node.col_offset, where, help)

    match node:
        case ast.Constant(value=value) if type(value) is int or type(value) is bool:
            if abs(value) >= 2**62:
                fail("the number does not fit 64 bits")
        case ast.Constant():
            fail(f"{ast.unparse(node)} is not a whole number")
        case ast.Name():
            if node.id in FUNCTIONS:
                fail(f"'{node.id}' is a function: call it with {FUNCTIONS[node.id]} argument(s)")
        case ast.BinOp(op=ast.Div()):
            fail("`/` is not allowed, because sizes are whole numbers", help="use `//` (rounds down) or ceil_div(a, b) (rounds up)")
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            _check(left, source, where)
            _check(right, source, where)
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
            _check(operand, source, where)
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARE:
            _check(left, source, where)
            _check(right, source, where)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            for part in (test, body, orelse):
                _check(part, source, where)
        case ast.Subscript(value=ast.Name(), slice=index):
            if not (isinstance(index, ast.Constant) and type(index.value) is int):
                fail("an index must be a number, as in kernel[0]")
        case ast.Call(func=ast.Name(id=function), args=args, keywords=[]) if function in FUNCTIONS:
            _check_call(function, args, source, where, fail)
        case ast.Call(func=ast.Name(id=function)):
            fail(f"'{function}' is not a function of this language")
        case _:
            fail(f"`{ast.unparse(node)}` is not allowed here")


def _check_call(function: str, args: list[ast.expr], source: str, where: str | None, fail: Callable[[str], NoReturn]) -> None:
    wanted = FUNCTIONS[function]
    if len(args) < wanted or (len(args) > wanted and function not in ("min", "max")):
        fail(f"{function} takes {wanted} argument(s), not {len(args)}")
    if function in ("numel", "nbytes", "prod") and not isinstance(args[0], ast.Name):
        fail(f"{function} takes the name of a {'list' if function == 'prod' else 'tensor'}")
    for arg in args:
        _check(arg, source, where)


def _names(node: ast.expr, *, tensors: bool) -> Iterator[str]:
    if isinstance(node, ast.Name):
        if not tensors:
            yield node.id
    elif isinstance(node, ast.Call):
        function = cast(ast.Name, node.func).id
        if function in ("numel", "nbytes"):
            if tensors:
                yield cast(ast.Name, node.args[0]).id
            return
        for arg in node.args:
            yield from _names(arg, tensors=tensors)
    else:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from _names(child, tensors=tensors)


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


class _Evaluator:
    def __init__(self, expr: Expr, env: Env) -> None:
        self.expr, self.env = expr, env

    def fail(self, what: str, help: str | None = None) -> NoReturn:
        raise ExprError(f"{what} in '{self.expr.text}'", where=self.expr.where, help=help)

    def value(self, node: ast.expr) -> Any:
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
        import operator

        left, right = self.value(node.left), self.value(node.comparators[0])
        return getattr(operator, _COMPARE[type(node.ops[0])][1].lower())(left, right)

    def item(self, node: ast.Subscript) -> Any:
        name, index = cast(ast.Name, node.value).id, cast(int, cast(ast.Constant, node.slice).value)
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
        many = len(shape) > 0 and isinstance(shape[0], tuple | list)
        count = sum(product(item) for item in shape) if many else product(shape)
        return count * self.env.itemsizes[tensor] if function == "nbytes" else count


class _Plain(ast.NodeTransformer):
    """Spells ceil_div and align with operators that Python has."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        function = cast(ast.Name, node.func).id
        if function not in ("ceil_div", "align"):
            return node
        a, b = node.args
        rounded = ast.BinOp(ast.BinOp(a, ast.Add(), ast.BinOp(b, ast.Sub(), ast.Constant(1))), ast.FloorDiv(), b)
        return rounded if function == "ceil_div" else ast.BinOp(rounded, ast.Mult(), b)


_CPP_CALL = {"ceil_div": "CeilDiv", "align": "Align", "min": "Min", "max": "Max"}


def _cpp(node: ast.expr, name: Callable[[str], str], tensor: Callable[[str], str]) -> str:
    def sub(child: ast.expr) -> str:
        return _cpp(child, name, tensor)

    match node:
        case ast.Constant():
            return f"Num({int(cast(int, node.value))})"
        case ast.Name():
            return name(node.id)
        case ast.BinOp():
            return f"{_BINARY[type(node.op)][1]}({sub(node.left)}, {sub(node.right)})"
        case ast.UnaryOp(op=ast.Not()):
            return f"Eq({sub(node.operand)}, Num(0))"
        case ast.UnaryOp():
            return f"Sub(Num(0), {sub(node.operand)})"
        case ast.Compare():
            return f"{_COMPARE[type(node.ops[0])][1]}({sub(node.left)}, {sub(node.comparators[0])})"
        case ast.IfExp():
            return f"Select({sub(node.test)}, {sub(node.body)}, {sub(node.orelse)})"
        case ast.Subscript():
            return f"Item({sub(node.value)}, {ast.unparse(node.slice)})"
        case ast.Call():
            function = cast(ast.Name, node.func).id
            if function == "nbytes":
                raise ExprError(f"{function} has no meaning in a dim", help="nbytes is for [cost] only")
            if function == "numel":
                return f"Numel({tensor(cast(ast.Name, node.args[0]).id)})"
            out = sub(node.args[0])
            if function == "prod":
                return f"Prod({out})"
            for arg in node.args[1:]:
                out = f"{_CPP_CALL[function]}({out}, {sub(arg)})"
            return out
    raise AssertionError(f"unchecked node {ast.dump(node)}")
