"""Gradient formulas of [autograd]: torch expressions parsed with an allow-list, never evaluated by Python's `eval`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn

from ascendops.errors import AutogradError, did_you_mean

# Function of the language -> (fewest, most) arguments. The torch function has the same name, except for those in torchlib/formula.py.
FUNCTIONS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("abs", "cos", "erf", "exp", "expm1", "log", "log1p", "neg", "reciprocal", "relu", "rsqrt", "sigmoid"), (1, 1)),
    **dict.fromkeys(("sign", "silu", "sin", "softplus", "sqrt", "square", "tan", "tanh", "zeros_like", "ones_like", "numel", "rows"), (1, 1)),
    **dict.fromkeys(("sum", "mean", "amax", "amin"), (1, 3)),
    **dict.fromkeys(("softmax", "log_softmax", "cumsum", "unsqueeze", "size"), (2, 2)),
    **dict.fromkeys(("silu_backward", "gelu_backward", "maximum", "minimum", "matmul", "expand_as", "reshape_as", "cast_as"), (2, 2)),
    **dict.fromkeys(("where", "clamp", "transpose"), (3, 3)),
    **dict.fromkeys(("flip", "unpermute"), (2, 2)),  # unpermute(t, dims): undoes a permute by `dims`
    "gather": (3, 3),  # gather(t, dim, index), as torch.gather
    "scatter_add": (4, 4),  # as scatter, but added
    "scatter": (4, 4),  # scatter(t, dim, index, source), as torch.scatter: places of t that `index` names take values of `source`
    # of torch.conv2d(x, weight, None, stride, padding, dilation, groups): conv2d_grad_x(grad_y, x, weight, stride, padding, dilation, groups)
    **dict.fromkeys(("conv2d_grad_x", "conv2d_grad_weight"), (7, 7)),
    "unreduce": (3, 4),  # unreduce(t, like, dim, keepdim): puts the dims back that a reduction removed, and expands to `like`
}  # fmt: skip
_BINARY = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
_COMPARE = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_ALLOWED = "allowed: numbers, names, lists of numbers, + - * / **, comparisons, `a if c else b`, " + ", ".join(sorted(FUNCTIONS))


@dataclass(frozen=True)
class Formula:
    """One parsed formula; build it with `parse`."""

    text: str
    tree: ast.expr = field(repr=False, compare=False)
    where: str | None = field(default=None, compare=False)

    @property
    def names(self) -> frozenset[str]:
        """The tensors and attributes that it reads."""
        return frozenset(_names(self.tree))


def parse(text: str, *, where: str | None = None) -> Formula:
    """Parse a formula.

    Raises:
        AutogradError: The text is not in the language; a caret shows where.
    """
    source = text.strip()
    if len(source) > 2000:
        _fail("the formula is longer than 2000 characters", source[:60], 0, where)
    try:
        tree = ast.parse(source, mode="eval").body
    except SyntaxError as error:
        _fail(f"'{source}' is not an expression", source, max(0, (error.offset or 1) - 1), where)
    except (ValueError, RecursionError, MemoryError):
        _fail("the formula is not readable", source[:60], 0, where)
    _check(tree, source, where)
    return Formula(source, tree, where)


def _fail(what: str, source: str, column: int, where: str | None, help: str = _ALLOWED) -> NoReturn:
    raise AutogradError(what, where=where, why=f"{source}\n{' ' * column}^", help=help)


def _check(node: ast.expr, source: str, where: str | None) -> None:
    def fail(what: str, help: str = _ALLOWED) -> NoReturn:
        _fail(what, source, node.col_offset, where, help)

    match node:
        case ast.Constant(value=value) if isinstance(value, bool | int | float):
            return
        case ast.Name():
            if node.id in FUNCTIONS:
                fail(f"'{node.id}' is a function: call it")
        case ast.BinOp(op=op) if isinstance(op, _BINARY):
            pass
        case ast.UnaryOp(op=ast.USub() | ast.Not()):
            pass
        case ast.Compare(ops=[op]) if isinstance(op, _COMPARE):
            pass
        case ast.IfExp() | ast.List():
            pass
        case ast.Call(func=ast.Name(id=function), args=args, keywords=[]):
            if function not in FUNCTIONS:
                fail(f"'{function}' is not a function of formulas", help=did_you_mean(function, FUNCTIONS))
            fewest, most = FUNCTIONS[function]
            if not fewest <= len(args) <= most:
                fail(f"{function} takes {fewest}{f' to {most}' if most != fewest else ''} argument(s), not {len(args)}")
        case _:
            fail(f"`{ast.unparse(node)}` is not allowed here")
    for child in _children(node):
        _check(child, source, where)


def _children(node: ast.expr) -> Iterator[ast.expr]:
    """The operands of a node, without the name of a called function."""
    if isinstance(node, ast.Call):
        yield from node.args
    else:
        yield from (child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))


def _names(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield node.id
    for child in _children(node):
        yield from _names(child)
