"""Shapes of one call: input shapes bound to the declared axes, output shapes inferred."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ascendops.errors import AttrError, ExprError, ShapeMismatch, did_you_mean
from ascendops.spec.attrs import complete
from ascendops.spec.dims import Dim, Shape
from ascendops.spec.evaluate import Env
from ascendops.spec.expr import Expr
from ascendops.spec.rules import broadcast, matmul, permute, reduce

if TYPE_CHECKING:
    from ascendops.spec.model import OpSpec, TensorSpec

Size = tuple[Any, ...]


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
        """Bind the axes of one input; expressions are left to `check`.

        Raises:
            ShapeMismatch: The rank does not fit, or an axis or a constant has another size.
        """
        for dim, size in _pairs(tensor, shape, sizes):
            if dim.expr.axis is not None:
                self.set(dim.expr.axis, size, tensor)
            elif dim.expr.constant is not None and dim.expr.constant != size:
                raise ShapeMismatch(f"{tensor} has {_text(size)} where {shape} needs {dim.expr.text}", where=dim.expr.where)

    def check(self, tensor: str, shape: Shape, sizes: Size) -> None:
        """Compare the expressions in an input's dims with its sizes.

        Raises:
            ShapeMismatch: The rank does not fit, or a size is not that of its expression.
        """
        for dim, size in _pairs(tensor, shape, sizes):
            if dim.expr.axis is None:
                want = self.evaluate(dim.expr)
                if want != size:
                    raise ShapeMismatch(f"{tensor} has {_text(size)} where {dim.expr.text} is {_text(want)}", why=f"{tensor} is {shape}")

    def evaluate(self, expr: Expr) -> Any:
        """The value of an expression over these axes, attributes and shapes.

        Raises:
            ExprError: A name in it has no value here.
        """
        return expr.evaluate(Env(self.values, self.shapes))


def _text(size: Any) -> str:
    return str(tuple(size)) if isinstance(size, tuple | list) else str(size)


def _pairs(tensor: str, shape: Shape, sizes: Size) -> list[tuple[Dim, Any]]:
    """Each entry of the dims with its size; a variadic one gets a tuple."""
    count, variadic = len(shape.dims), shape.variadic
    fits = len(sizes) == count if variadic is None else len(sizes) >= count - 1
    if not fits:
        need = f"{count}" if variadic is None else f"at least {count - 1}"
        raise ShapeMismatch(f"{tensor} has {len(sizes)} dim{'' if len(sizes) == 1 else 's'}, but {shape} needs {need}", why=f"{tensor} has the shape {_text(sizes)}")
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
    with _named(spec):
        return _bound(spec, shapes, attrs)


@contextlib.contextmanager
def _named(spec: OpSpec) -> Iterator[None]:
    """Says of which operator an error is."""
    try:
        yield
    except (AttrError, ShapeMismatch) as error:
        error.what = f"{spec.name}: {error.what}"
        error.where = error.where or spec.schema.text
        raise


def _bound(spec: OpSpec, shapes: Mapping[str, Any], attrs: Mapping[str, Any]) -> Binding:
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
    _check_rules(spec, binding)
    return binding


def _check_rules(spec: OpSpec, binding: Binding) -> None:
    """[axes.NAME] of op.toml; a size that is a symbol is not known yet."""
    for name, rule in spec.axes.items():
        value = binding.values.get(name)
        for size in value if isinstance(value, tuple) else (value,):
            if isinstance(size, int) and not rule.allows(size, binding.values):
                owner = binding.owner.get(name, "an input")
                raise ShapeMismatch(f"the axis '{name}' is {size} in '{owner}', but must be {rule.rule}", help=f"op.toml says so in [axes.{name}]")


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
            case "permute":
                return permute(sources[0], options["dims"])
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
            sizes = {each: binding.values[each] for each in sorted(dim.expr.names) if each in binding.values}
            known = ", ".join(f"{each} = {_text(size)}" + (f" of {binding.owner[each]}" if each in binding.owner else "") for each, size in sizes.items())
            raise ShapeMismatch(f"{name} would have a negative size: '{dim.expr.text}' is {value}", why=f"here {known}", help="change one of these")
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
    """Output shapes in order for an existing binding, which gets them too.

    Raises:
        ShapeMismatch: A rule does not allow the inputs' shapes, or a size would be negative.
    """
    out = []
    with _named(spec):
        for tensor in spec.outputs:
            in_place = tensor.mutated and binding.shapes.get(tensor.name) is not None
            sizes = binding.shapes[tensor.name] if in_place else output_shape(tensor, binding)
            binding.shapes[tensor.name] = sizes
            out.append(sizes)
    return out
