"""Emission of checked expressions: as plain Python, and as C++11 over `ascendops::Num` of gen/op_host/infer_math.h."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import cast

from ascendops.errors import ExprError

_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "Add",
    ast.Sub: "Sub",
    ast.Mult: "Mul",
    ast.FloorDiv: "FloorDiv",
    ast.Mod: "FloorMod",
}
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "Eq",
    ast.NotEq: "Ne",
    ast.Lt: "Lt",
    ast.LtE: "Le",
    ast.Gt: "Gt",
    ast.GtE: "Ge",
}


def python(text: str) -> str:
    """A checked expression as Python source; ceil_div and align are spelled out with `//`."""
    return ast.unparse(ast.fix_missing_locations(_Plain().visit(ast.parse(text, mode="eval").body)))


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


def cpp(node: ast.expr, name: Callable[[str], str], tensor: Callable[[str], str]) -> str:
    """One node as C++; `name` and `tensor` give the variables of axes and attributes, and of shapes."""

    def sub(child: ast.expr) -> str:
        return cpp(child, name, tensor)

    match node:
        case ast.Constant():
            return f"Num({int(cast(int, node.value))})"
        case ast.Name():
            return name(node.id)
        case ast.BinOp():
            return f"{_BINARY[type(node.op)]}({sub(node.left)}, {sub(node.right)})"
        case ast.UnaryOp(op=ast.Not()):
            return f"Eq({sub(node.operand)}, Num(0))"
        case ast.UnaryOp():
            return f"Sub(Num(0), {sub(node.operand)})"
        case ast.Compare():
            return f"{_COMPARE[type(node.ops[0])]}({sub(node.left)}, {sub(node.comparators[0])})"
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
