"""The one expression language over axes and attributes: parsed with an allow-list, evaluated, and emitted as Python and C++."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn, cast

from ascendops.errors import ExprError
from ascendops.spec import emit
from ascendops.spec.evaluate import Env, evaluate

FUNCTIONS = {"ceil_div": 2, "align": 2, "min": 2, "max": 2, "prod": 1, "numel": 1, "nbytes": 1}
_BINARY = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
_COMPARE = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_ALLOWED = "allowed: whole numbers, names, + - * // % == != < <= > >=, `a if c else b`, " + ", ".join(sorted(FUNCTIONS))


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
    def functions(self) -> frozenset[str]:
        """Functions that are called."""
        calls = (node for node in ast.walk(self.tree) if isinstance(node, ast.Call))
        return frozenset(cast(ast.Name, call.func).id for call in calls)

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
        return evaluate(self, env)

    def python(self) -> str:
        """The expression as Python source; ceil_div and align are spelled out with `//`."""
        return emit.python(self.text)

    def cpp(self, name: Callable[[str], str] = "axis_{}".format, tensor: Callable[[str], str] = "in_{}".format) -> str:
        """The expression as C++11 over `ascendops::Num` (int64 or unknown).

        `name` gives the C++ variable of an axis or attribute, `tensor` that of a tensor's shape (a pointer) inside numel.

        Raises:
            ExprError: The expression has nbytes, which no C++ needs.
        """
        return emit.cpp(self.tree, name, tensor)


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
        case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _BINARY):
            _check(left, source, where)
            _check(right, source, where)
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
            _check(operand, source, where)
        case ast.Compare(left=left, ops=[op], comparators=[right]) if isinstance(op, _COMPARE):
            _check(left, source, where)
            _check(right, source, where)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            for part in (test, body, orelse):
                _check(part, source, where)
        case ast.Subscript(value=ast.Name(), slice=index):
            number = index.operand if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub) else index
            if not (isinstance(number, ast.Constant) and type(number.value) is int):
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
