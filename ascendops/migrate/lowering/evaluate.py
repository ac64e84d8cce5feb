"""The value of host expressions and small host functions, without running them: what a launch would give to a kernel.

Sizes that only a run knows count as an assumed number, and the result says so. Nothing outside of arithmetic is evaluated.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ascendops.migrate.scanners.python_tree import Tree

_STEPS = 200
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.LShift: operator.lshift, ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_,
}  # fmt: skip
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
_MEANS_DEVICE = {"is_cuda": True, "is_npu": True, "requires_grad": True}


class Unknown(Exception):
    """The expression has no value that could be found without running code."""


@dataclass
class Host:
    """Evaluates expressions of one file.

    Attributes:
        tree: The file.
        assumed_size: What an unknown size counts as.
        assumed: Filled with the unknown names that were given it.
    """

    tree: Tree
    assumed_size: int
    assumed: dict[str, int] = field(default_factory=dict)
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    _steps: int = 0

    def value(self, node: ast.expr, names: Mapping[str, Any]) -> Any:
        """The value of an expression, with `names` for its variables.

        Raises:
            Unknown: It cannot be found.
        """
        self._steps += 1
        if self._steps > _STEPS * 20:
            raise Unknown("too long")
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise Unknown(ast.unparse(node))
        try:
            return method(node, names)
        except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as error:
            raise Unknown(str(error)) from error

    def number(self, node: ast.expr, names: Mapping[str, Any]) -> Any:
        """The value, or the assumed size where only a run knows it."""
        try:
            return self.value(node, names)
        except Unknown:
            return self._assume(node)

    def _assume(self, node: ast.expr) -> int:
        text = ast.unparse(node)
        size = 64 if any(word in text.lower() for word in ("head", "dim", "d_model", "hdim")) and "dims" not in text.lower() else self.assumed_size
        size = size * size if text.endswith("numel()") else size
        self.assumed[text[:60]] = size
        return size

    def _constant(self, node: ast.Constant, _names: Mapping[str, Any]) -> Any:
        return node.value

    def _name(self, node: ast.Name, names: Mapping[str, Any]) -> Any:
        if node.id in names:
            value = names[node.id]
            if isinstance(value, ast.expr):  # an assignment of the function around, evaluated when it is needed
                return self.value(value, {key: item for key, item in names.items() if key != node.id})
            return value
        raise Unknown(node.id)

    def _attribute(self, node: ast.Attribute, _names: Mapping[str, Any]) -> Any:
        if node.attr in _MEANS_DEVICE:
            return _MEANS_DEVICE[node.attr]
        name = self.tree.dotted(node)
        if name.startswith("triton.language.") and name.count(".") == 2:
            return {"dtype": node.attr}
        if name.startswith("torch.") and node.attr in ("float16", "bfloat16", "float32", "int32", "int64", "bool"):
            return name
        raise Unknown(ast.unparse(node))

    def _tuple(self, node: ast.Tuple, names: Mapping[str, Any]) -> Any:
        return tuple(self.number(item, names) for item in node.elts)

    def _list(self, node: ast.List, names: Mapping[str, Any]) -> Any:
        return [self.number(item, names) for item in node.elts]

    def _dict(self, node: ast.Dict, names: Mapping[str, Any]) -> Any:
        if any(key is None for key in node.keys):
            raise Unknown("**")
        return {self.value(key, names): self.number(item, names) for key, item in zip(node.keys, node.values, strict=True) if key}

    def _unaryop(self, node: ast.UnaryOp, names: Mapping[str, Any]) -> Any:
        value = self.number(node.operand, names)
        return not value if isinstance(node.op, ast.Not) else -value if isinstance(node.op, ast.USub) else +value

    def _binop(self, node: ast.BinOp, names: Mapping[str, Any]) -> Any:
        left, right = self.number(node.left, names), self.number(node.right, names)
        if not isinstance(left, (int, float)) or not isinstance(right, (int, float)):
            raise Unknown(ast.unparse(node))
        if isinstance(node.op, (ast.Pow, ast.LShift)) and abs(right) > 64:
            raise Unknown("a large power")
        if isinstance(node.op, ast.Pow):
            return left**right
        if type(node.op) not in _BINARY:
            raise Unknown(ast.unparse(node))
        return _BINARY[type(node.op)](left, right)

    def _boolop(self, node: ast.BoolOp, names: Mapping[str, Any]) -> Any:
        value: Any = None
        for part in node.values:
            value = self.number(part, names)
            if bool(value) is isinstance(node.op, ast.Or):
                break
        return value

    def _compare(self, node: ast.Compare, names: Mapping[str, Any]) -> Any:
        left = node.left
        for test, right in zip(node.ops, node.comparators, strict=True):
            if isinstance(right, ast.Constant) and right.value is None:
                try:
                    absent = self.value(left, names) is None
                except Unknown:
                    absent = False  # an optional tensor counts as given
                same = absent if isinstance(test, (ast.Is, ast.Eq)) else not absent
            elif type(test) in _COMPARE:
                words = any(isinstance(side, ast.Constant) and isinstance(side.value, str) for side in (left, right))
                read = self.value if words else self.number
                same = _COMPARE[type(test)](read(left, names), read(right, names))
            else:
                raise Unknown(ast.unparse(node))
            if not same:
                return False
            left = right
        return True

    def _ifexp(self, node: ast.IfExp, names: Mapping[str, Any]) -> Any:
        try:
            return self.value(node.body if self.value(node.test, names) else node.orelse, names)
        except Unknown:
            return self.value(node.body, names)

    def _subscript(self, node: ast.Subscript, names: Mapping[str, Any]) -> Any:
        return self.value(node.value, names)[self.value(node.slice, names)]

    def _call(self, node: ast.Call, names: Mapping[str, Any]) -> Any:
        name = self.tree.dotted(node.func)
        leaf = name.rsplit(".", 1)[-1]
        if leaf == "next_power_of_2":
            return 1 << max(0, int(self.number(node.args[0], names)) - 1).bit_length()
        if leaf == "cdiv":
            return -(-self.number(node.args[0], names) // self.number(node.args[1], names))
        if name in ("min", "max") and len(node.args) > 1:
            return (min if name == "min" else max)(self.number(part, names) for part in node.args)
        if name in ("int", "bool", "float", "triton.language.constexpr") and len(node.args) == 1:
            value = self.value(node.args[0], names)
            return {"int": int, "bool": bool, "float": float}.get(name, lambda it: it)(value)
        if name in self.functions:
            return self._function(self.functions[name], node, names)
        raise Unknown(ast.unparse(node))

    def _function(self, function: ast.FunctionDef, call: ast.Call, names: Mapping[str, Any]) -> Any:
        """The value that a small function of the project returns: assignments, tests and a return."""
        order = [argument.arg for argument in function.args.args]
        own: dict[str, Any] = dict(zip(reversed(order), reversed(function.args.defaults), strict=False))
        given = [*zip(order, call.args, strict=False), *((item.arg, item.value) for item in call.keywords if item.arg)]
        for argument, value in given:
            own[argument] = self.number(value, names)
        found = self._block(function.body, own)
        if found is None:
            raise Unknown(function.name)
        return found[0]

    def _block(self, body: list[ast.stmt], own: dict[str, Any]) -> tuple[Any] | None:
        for node in body:
            self._steps += 1
            if isinstance(node, ast.Return) and node.value is not None:
                return (self.value(node.value, own),)
            if isinstance(node, ast.If):
                try:
                    test = self.value(node.test, own)
                except Unknown:
                    test = False
                found = self._block(node.body if test else node.orelse, own)
                if found is not None:
                    return found
            elif isinstance(node, ast.Assign):
                self._assign(node, own)
            elif isinstance(node, ast.Raise):
                raise Unknown("it raises")
            elif not isinstance(node, (ast.Expr, ast.Pass, ast.Assert)):
                raise Unknown(type(node).__name__)
        return None

    def _assign(self, node: ast.Assign, own: dict[str, Any]) -> None:
        target = node.targets[0]
        if isinstance(target, ast.Name):
            own[target.id] = self.number(node.value, own)
        elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            values = [self.number(item, own) for item in node.value.elts]
            own.update({part.id: value for part, value in zip(target.elts, values, strict=False) if isinstance(part, ast.Name)})
