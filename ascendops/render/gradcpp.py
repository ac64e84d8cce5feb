"""Gradient formulas of op.toml as C++ over at::Tensor: the counterpart of torchlib/formula.py."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import cast

from ascendops.spec.formula import Formula

TENSOR, NUMBER, LIST = "tensor", "number", "list"
Typed = tuple[str, str]  # C++ text and its kind

_OPERATORS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_COMPARE: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("==", "eq"), ast.NotEq: ("!=", "ne"), ast.Lt: ("<", "lt"), ast.LtE: ("<=", "le"), ast.Gt: (">", "gt"), ast.GtE: (">=", "ge"),
}  # fmt: skip
_METHODS = {"size": "size", "numel": "numel", "expand_as": "expand_as", "reshape_as": "reshape_as", "unsqueeze": "unsqueeze", "transpose": "transpose"}
_OWN = {"unreduce": "Unreduce", "unpermute": "Unpermute", "cast_as": "CastAs"}  # of gen/torch/autograd.h
_NUMBERS = ("size", "numel")


def cpp(formula: Formula, kinds: Mapping[str, str]) -> str:
    """A checked formula as C++; `kinds` says for each name that it reads whether it is a tensor, a number or a list.

    The result is a tensor or a number; `Fit` of gen/torch/autograd.h takes both.
    """
    return _node(formula.tree, kinds)[0]


def _node(node: ast.expr, kinds: Mapping[str, str]) -> Typed:
    match node:
        case ast.Constant(value=bool() as value):
            return ("true" if value else "false"), NUMBER
        case ast.Constant():
            return repr(node.value), NUMBER
        case ast.Name():
            return node.id, kinds[node.id]
        case ast.BinOp():
            return _binary(node.op, _node(node.left, kinds), _node(node.right, kinds))
        case ast.UnaryOp(op=ast.Not()):
            return f"!({_node(node.operand, kinds)[0]})", NUMBER
        case ast.UnaryOp():
            text, kind = _node(node.operand, kinds)
            return (f"-{text}" if text.isidentifier() or text.replace(".", "").isdigit() else f"-({text})"), kind
        case ast.Compare():
            left, right = _node(node.left, kinds), _node(node.comparators[0], kinds)
            sign, function = _COMPARE[type(node.ops[0])]
            if TENSOR not in (left[1], right[1]):
                return f"({left[0]} {sign} {right[0]})", NUMBER
            return f"at::{function}({_tensor(left, right)}, {right[0]})", TENSOR
        case ast.IfExp():
            test, body, other = (_node(each, kinds) for each in (node.test, node.body, node.orelse))
            kind = TENSOR if TENSOR in (body[1], other[1]) else body[1]
            return f"({test[0]} ? {_as(kind, body)} : {_as(kind, other)})", kind
        case ast.List():
            return "{" + ", ".join(_node(item, kinds)[0] for item in node.elts) + "}", LIST
        case ast.Call():
            return _call(cast(ast.Name, node.func).id, [_node(arg, kinds) for arg in node.args])
    raise AssertionError(f"unchecked node {ast.dump(node)}")


def _as(kind: str, value: Typed) -> str:
    return f"at::scalar_tensor({value[0]})" if kind == TENSOR and value[1] == NUMBER else value[0]


def _tensor(value: Typed, like: Typed) -> str:
    """The left side of a comparison; at::eq and its like begin with a tensor."""
    return value[0] if value[1] == TENSOR else f"at::full_like({like[0]}, {value[0]})"


def _binary(op: ast.operator, left: Typed, right: Typed) -> Typed:
    kind = TENSOR if TENSOR in (left[1], right[1]) else NUMBER
    if isinstance(op, ast.Pow):
        return (f"at::pow({left[0]}, {right[0]})" if kind == TENSOR else f"std::pow({left[0]}, {right[0]})"), kind
    first = f"static_cast<double>({left[0]})" if isinstance(op, ast.Div) and kind == NUMBER else left[0]
    return f"({first} {_OPERATORS[type(op)]} {right[0]})", kind


def _call(name: str, args: list[Typed]) -> Typed:
    texts = [text for text, _ in args]
    kind = NUMBER if name in _NUMBERS else TENSOR
    if name in _METHODS:
        return f"{texts[0]}.{_METHODS[name]}({', '.join(texts[1:])})", kind
    if name in _OWN:
        if name == "unpermute":
            return f"Unpermute({texts[0]}, {_dims(args[1])})", kind
        keep = [_dims(args[2]), *(texts[3:] or ["false"])] if name == "unreduce" else []
        return f"{_OWN[name]}({', '.join([*texts[:2], *keep])})", kind
    dims, keepdim = _dims(args[1]) if len(args) > 1 else "{}", texts[2] if len(args) > 2 else "false"
    reduction = f"at::{name}({texts[0]}, EveryDim({texts[0]}, {dims}), {keepdim})"
    special: Mapping[str, Callable[[], str]] = {
        **dict.fromkeys(("sum", "mean", "amax", "amin"), lambda: reduction),
        **dict.fromkeys(("gather", "scatter", "scatter_add"), lambda: f"at::{name}({', '.join([*texts[:2], f'{texts[2]}.to(at::kLong)', *texts[3:]])})"),
        "conv2d_grad_x": lambda: _convolution_backward(texts, 0),
        "conv2d_grad_weight": lambda: _convolution_backward(texts, 1),
        "flip": lambda: f"at::flip({texts[0]}, {_dims(args[1])})",
        "clamp": lambda: f"at::clamp({texts[0]}, at::Scalar({texts[1]}), at::Scalar({texts[2]}))",
        "where": lambda: f"at::where({texts[0]}, {', '.join(text if kind == TENSOR else f'at::Scalar({text})' for text, kind in args[1:])})",
    }  # fmt: skip
    return (special[name]() if name in special else f"at::{name}({', '.join(texts)})"), kind


def _convolution_backward(texts: list[str], place: int) -> str:
    wanted = ", ".join("true" if place == i else "false" for i in range(3))
    grad, x, weight, *window, groups = texts
    return f"std::get<{place}>(at::convolution_backward({grad}, {x}, {weight}, at::OptionalIntArrayRef(), {', '.join(window)}, false, {{0, 0}}, {groups}, {{{wanted}}}))"


def _dims(value: Typed) -> str:
    """One dim or several, as a list."""
    return value[0] if value[1] == LIST else f"{{{value[0]}}}"
