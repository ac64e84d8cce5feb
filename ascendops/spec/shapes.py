"""Shapes over named axes: declared once, bound to the shapes of a call, inferred for the outputs."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ascendops.errors import DimsError, ExprError, ShapeMismatch, did_you_mean
from ascendops.spec.attrs import complete
from ascendops.spec.expr import Env, Expr, parse as parse_expr
from ascendops.spec.rules import broadcast, matmul, reduce

if TYPE_CHECKING:
    from ascendops.spec.model import OpSpec, TensorSpec

RULES = {
    "same": "same(x)",
    "broadcast": "broadcast(x1, x2)",
    "reduce": "reduce(x, dim=dim, keepdim=keepdim)",
    "matmul": "matmul(a, b)",
}
_OPTIONS = {"reduce": ("dim", "keepdim"), "matmul": ("transpose_a", "transpose_b")}
Size = tuple[Any, ...]


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
    few, many = {"same": (1, 1), "broadcast": (2, 16), "reduce": (1, 1), "matmul": (2, 2)}[rule]
    if len(tensors) != len(call.args) or not few <= len(tensors) <= many:
        raise DimsError(f"'{source}' does not name the tensors as this rule needs", where=where, help=f"write {RULES[rule]}")
    options = {}
    for keyword in call.keywords:
        if keyword.arg is None or keyword.arg not in _OPTIONS.get(rule, ()):
            raise DimsError(f"the rule '{rule}' has no option '{keyword.arg}'", where=where, help=f"write {RULES[rule]}")
        options[keyword.arg] = _parse_option(keyword.value, source, where)
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


class Binding:
    """The axes of one call: `values` has their sizes and the attributes; `owner` says which tensor fixed an axis."""

    def __init__(self, attrs: Mapping[str, Any]) -> None:
        self.values: dict[str, Any] = dict(attrs)
        self.owner: dict[str, str] = {}
        self.shapes: dict[str, Any] = {}

    def copy(self) -> Binding:
        """A binding that can be extended without changing this one."""
        other = Binding(self.values)
        other.owner, other.shapes = dict(self.owner), self.shapes
        return other

    def set(self, axis: str, size: Any, tensor: str) -> None:
        """Fix an axis; a second, different size is a ShapeMismatch."""
        if axis not in self.owner:
            self.values[axis], self.owner[axis] = size, tensor
        elif self.values[axis] != size:
            raise ShapeMismatch(
                f"axis '{axis}' is {_text(self.values[axis])} in {self.owner[axis]} but {_text(size)} in {tensor}",
                why="one axis name means one size in all tensors of a call",
            )

    def match(self, tensor: str, shape: Shape, sizes: Size) -> None:
        """Bind the axes of one input; expressions are left to `check`."""
        for dim, size in _pairs(tensor, shape, sizes):
            if dim.expr.axis is not None:
                self.set(dim.expr.axis, size, tensor)
            elif dim.expr.constant is not None and dim.expr.constant != size:
                raise ShapeMismatch(f"{tensor} has {_text(size)} where {shape} needs {dim.expr.text}", where=dim.expr.where)

    def check(self, tensor: str, shape: Shape, sizes: Size) -> None:
        """Compare the expressions in an input's dims with its sizes."""
        for dim, size in _pairs(tensor, shape, sizes):
            if dim.expr.axis is None:
                want = self.evaluate(dim.expr)
                if want != size:
                    raise ShapeMismatch(f"{tensor} has {_text(size)} where {dim.expr.text} is {_text(want)}", why=f"{tensor} is {shape}")

    def evaluate(self, expr: Expr) -> Any:
        """The value of an expression over these axes, attributes and shapes."""
        return expr.evaluate(Env(self.values, self.shapes))


def _text(size: Any) -> str:
    return str(tuple(size)) if isinstance(size, tuple | list) else str(size)


def _pairs(tensor: str, shape: Shape, sizes: Size) -> list[tuple[Dim, Any]]:
    """Each entry of the dims with its size; a variadic one gets a tuple."""
    count, variadic = len(shape.dims), shape.variadic
    fits = len(sizes) == count if variadic is None else len(sizes) >= count - 1
    if not fits:
        need = f"{count}" if variadic is None else f"at least {count - 1}"
        raise ShapeMismatch(f"{tensor} has {len(sizes)} dim(s), but {shape} needs {need}", why=f"{tensor} has the shape {_text(sizes)}")
    if variadic is None:
        return list(zip(shape.dims, sizes, strict=True))
    extra = len(sizes) - count + 1
    grouped = (*sizes[:variadic], tuple(sizes[variadic : variadic + extra]), *sizes[variadic + extra :])
    return list(zip(shape.dims, grouped, strict=True))


def bind(spec: OpSpec, shapes: Mapping[str, Any], attrs: Mapping[str, Any]) -> Binding:
    """Bind the input shapes of a call (by name; a list of shapes for Tensor[], None or missing for an absent optional).

    Raises:
        ShapeMismatch: A tensor is missing or unknown, a rank or a size does not fit.
        AttrError: An attribute is missing, unknown or of the wrong type.
    """
    binding = Binding(complete(spec.attrs, attrs))
    known = {tensor.name for tensor in spec.inputs}
    for name in shapes:
        if name not in known:
            raise ShapeMismatch(f"there is no input '{name}'", help=did_you_mean(name, known))
    for tensor in spec.inputs:
        sizes = shapes.get(tensor.name)
        if sizes is None and not tensor.optional:
            raise ShapeMismatch(f"input '{tensor.name}' has no shape", help=f"it is {tensor.shape}")
        many = sizes is not None and tensor.variadic
        binding.shapes[tensor.name] = [tuple(item) for item in sizes] if many else None if sizes is None else tuple(sizes)  # type: ignore[union-attr]
    present = [(t, binding.shapes[t.name]) for t in spec.inputs if binding.shapes[t.name] is not None]
    single = [(t, sizes) for t, sizes in present if not t.variadic]
    for tensor, sizes in single:
        if tensor.shape.rule is None:
            binding.match(tensor.name, tensor.shape, sizes)
    for tensor, sizes in single:
        _check(tensor, sizes, binding)
    for tensor, items in ((t, sizes) for t, sizes in present if t.variadic):
        for index, sizes in enumerate(items):
            local = binding.copy()
            local.match(f"{tensor.name}[{index}]", tensor.shape, sizes)
            local.check(f"{tensor.name}[{index}]", tensor.shape, sizes)
    return binding


def _check(tensor: TensorSpec, sizes: Size, binding: Binding) -> None:
    if tensor.shape.rule is None:
        binding.check(tensor.name, tensor.shape, sizes)
        return
    want = output_shape(tensor, binding)
    if want != sizes:
        raise ShapeMismatch(f"{tensor.name} has the shape {_text(sizes)}, but {tensor.shape} is {_text(want)}")


def output_shape(tensor: TensorSpec, binding: Binding) -> Size:
    """The shape of one tensor by its declaration.

    Raises:
        ShapeMismatch: The rule does not allow these shapes, an axis has no size, or a size is negative.
    """
    shape = tensor.shape
    if shape.rule is None:
        return _dims(tensor.name, shape, binding)
    sources = []
    for name in shape.tensors:
        if binding.shapes[name] is None:
            raise ShapeMismatch(f"the shape of {tensor.name} is {shape}, but '{name}' is absent", help=f"give '{name}'")
        sources.append(binding.shapes[name])
    options = {key: option.get(binding.values) for key, option in shape.options.items()}
    try:
        match shape.rule:
            case "same":
                return tuple(sources[0])
            case "broadcast":
                return broadcast(*sources)
            case "reduce":
                return reduce(sources[0], options.get("dim"), bool(options.get("keepdim", False)))
        return matmul(sources[0], sources[1], bool(options.get("transpose_a", False)), bool(options.get("transpose_b", False)))
    except ValueError as error:
        shown = ", ".join(f"{name} {_text(size)}" for name, size in zip(shape.tensors, sources, strict=True))
        raise ShapeMismatch(f"{shape} does not allow {shown}: {error}") from None


def _dims(name: str, shape: Shape, binding: Binding) -> Size:
    out: list[Any] = []
    for dim in shape.dims:
        try:
            value = binding.values[dim.expr.text] if dim.variadic else binding.evaluate(dim.expr)
        except (ExprError, KeyError) as error:
            what = error.what if isinstance(error, ExprError) else f"axis '{dim.expr.text}' has no size"
            raise ShapeMismatch(f"the shape of {name} is {shape}: {what}", help="give the input that has this axis") from None
        if not dim.variadic and isinstance(value, int) and value < 0:
            raise ShapeMismatch(f"the dim '{dim.expr.text}' of {name} is {value}", why="a size cannot be negative")
        out.extend(value if dim.variadic else (value,))
    return tuple(out)


def infer(spec: OpSpec, shapes: Mapping[str, Any], attrs: Mapping[str, Any]) -> list[Size]:
    """Output shapes in order, for the input shapes of a call. Sizes may be ints or SymInts.

    Raises:
        ShapeMismatch: The inputs do not fit the declared axes, or a rule does not allow them.
        AttrError: An attribute is missing, unknown or of the wrong type.
    """
    return infer_bound(spec, bind(spec, shapes, attrs))


def infer_bound(spec: OpSpec, binding: Binding) -> list[Size]:
    """Output shapes in order for an existing binding, which gets them too."""
    out = []
    for tensor in spec.outputs:
        in_place = tensor.mutated and binding.shapes.get(tensor.name) is not None
        sizes = binding.shapes[tensor.name] if in_place else output_shape(tensor, binding)
        binding.shapes[tensor.name] = sizes
        out.append(sizes)
    return out
