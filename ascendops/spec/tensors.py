"""The schema and the [tensor.*] tables of op.toml: inputs, outputs and attributes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ascendops.errors import (
    DimsError,
    DtypeColumnsError,
    ExprError,
    SchemaError,
    TensorTableError,
    UnknownDtype,
    did_you_mean,
)
from ascendops.spec import dims, expr, made, ranges, schema
from ascendops.spec.dims import Option, Shape
from ascendops.spec.dtypes import BY_NAME
from ascendops.spec.model import AttrSpec, TensorSpec
from ascendops.spec.names import check_argument
from ascendops.spec.schema import Argument, FunctionSchema, Return
from ascendops.spec.table import Table

KEYS = ("dims", "dtype", "format", "range", "sorted", "made_by")
FORMATS = ("ND", "NCHW", "NHWC", "NCDHW", "NDHWC", "NC1HWC0", "FRACTAL_NZ", "FRACTAL_Z")
_ALIASES = {"fp16": "float16", "half": "float16", "fp32": "float32", "float": "float32", "bf16": "bfloat16", "double": "float64"}
_ALIASES |= {"fp64": "float64", "int": "int32", "long": "int64", "i8": "int8", "i32": "int32", "i64": "int64", "u8": "uint8"}
_ALIASES |= {dtype.ge: dtype.name for dtype in BY_NAME.values()}


@dataclass(frozen=True)
class Declared:
    """What the schema and the tensor tables declare together."""

    schema: FunctionSchema
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    attrs: tuple[AttrSpec, ...]


def read(top: Table, name: str) -> Declared:
    """Read `schema` and every [tensor.*] table, and check that they fit together.

    Raises:
        SpecError: They do not; a subclass says which mistake.
    """
    where = top.where("schema")
    parsed = schema.parse(top.text("schema", f'"{name}(Tensor x) -> Tensor y"'), where=where)
    if parsed.name != name:
        raise SchemaError(f"the schema is called '{parsed.name}' but the operator '{name}'", where=where, help=f"write schema = \"{name}(...)\"")
    _check_names(parsed, where)
    tables = _tables(top, parsed, where)
    inputs = tuple(_input(arg, tables[arg.name]) for arg in parsed.tensors)
    outputs = _outputs(parsed, inputs, tables)
    declared = Declared(parsed, inputs, outputs, attributes(parsed))
    _check_columns(declared, tables)
    _check_axes(declared, tables)
    return declared


def attributes(parsed: FunctionSchema) -> tuple[AttrSpec, ...]:
    """The attributes of a schema."""
    found = []
    for arg in parsed.attrs:
        word = f"{arg.type.base}{'[]' if arg.type.is_list else ''}{'?' if arg.type.optional else ''}"
        found.append(AttrSpec(arg.name, word, arg.required, arg.default, arg.type.length))
    return tuple(found)


def _check_names(parsed: FunctionSchema, where: str) -> None:
    if not parsed.returns and not any(arg.type.mutated for arg in parsed.tensors):
        raise SchemaError("the schema returns nothing and writes to no input", where=where, help="write for example -> Tensor y")
    for arg in parsed.arguments:
        check_argument(arg.name, "a tensor" if arg.is_tensor else "an attribute", where=where)
        if arg.type.mutated and (arg.type.optional or arg.type.is_list):
            raise SchemaError(f"'{arg.name}' is written to, so it must be a plain Tensor", where=where, help="write Tensor(a!)")
    for position, ret in enumerate(parsed.returns, 1):
        if ret.name is None:
            raise SchemaError(f"output {position} of the schema has no name", where=where, help="write for example -> Tensor y")
        check_argument(ret.name, "an output", where=where)
        _check_alias(ret, parsed, where)
        if ret.type.alias is None and any(ret.name == arg.name for arg in parsed.arguments):
            raise SchemaError(f"'{ret.name}' is an input and an output", where=where, help=f"write Tensor(a!) {ret.name} for both, or rename one")
    upper = [arg.name.upper() for arg in parsed.tensors]
    upper += [str(ret.name).upper() for ret in parsed.returns if ret.type.alias is None]
    for position, word in enumerate(upper):
        if word in upper[:position]:
            raise SchemaError(
                f"two tensors are called '{word.lower()}'", where=where, why=f"the kernel would get the macro DTYPE_{word} twice", help="rename one"
            )


def _check_alias(ret: Return, parsed: FunctionSchema, where: str) -> None:
    if ret.type.alias is None:
        return
    owner = next((arg.name for arg in parsed.tensors if arg.type.alias == ret.type.alias and arg.type.mutated), None)
    if owner is None:
        raise SchemaError(f"output '{ret.name}' aliases '{ret.type.alias}', which no input has", where=where, help="write Tensor(a!) at the input")
    if owner != ret.name:
        raise SchemaError(f"output '{ret.name}' is the input '{owner}' written in place", where=where, help=f"write -> {ret.type} {owner}")


def _tables(top: Table, parsed: FunctionSchema, where: str) -> dict[str, Table]:
    names = [arg.name for arg in parsed.tensors]
    names += [str(ret.name) for ret in parsed.returns if ret.name not in names]
    outer = top.table("tensor")
    for key in outer.data:
        if key not in names:
            raise TensorTableError(f"[{outer.title}.{key}] is not a tensor of the schema", where=outer.where(key), help=did_you_mean(key, names))
    for name in names:
        if name not in outer:
            raise TensorTableError(f"tensor '{name}' of the schema has no table", where=where, help=f"add [{outer.title}.{name}] with dims and dtype")
    return {name: outer.table(name, KEYS) for name in names}


def _tensor(name: str, table: Table, *, optional: bool = False, variadic: bool = False, mutated: bool = False, is_input: bool = True) -> TensorSpec:
    written = table.get("dims", (list, str), '["*batch", "n"]')
    shape = dims.parse(written, where=table.where("dims"))
    if variadic and shape.rule is not None:
        raise DimsError(f"'{name}' is a list of tensors, so its dims cannot be a rule", where=table.where("dims"), help="write a list of axes")
    dtypes = _dtypes(table)
    numbers = ranges.read(table, dtypes)
    layout = table.word("format", FORMATS, "ND")
    return TensorSpec(name, shape, dtypes, optional, variadic, mutated, layout, numbers, ranges.ascending(table, numbers), made.read(table, is_input=is_input, variadic=variadic))


def _dtypes(table: Table) -> tuple[str, ...]:
    dtypes: tuple[str, ...] = table.words("dtype", '["float32", "float16", "bfloat16"]')
    for name in dtypes:
        if name not in BY_NAME:
            hint = f"use '{_ALIASES[name]}'" if name in _ALIASES else did_you_mean(name, BY_NAME)
            raise UnknownDtype(f"dtype '{name}' is not known", where=table.where("dtype", text=f'"{name}"'), help=hint)
    return dtypes


def _input(arg: Argument, table: Table) -> TensorSpec:
    return _tensor(arg.name, table, optional=arg.type.optional, variadic=arg.type.is_list, mutated=arg.type.mutated)


def _outputs(parsed: FunctionSchema, inputs: tuple[TensorSpec, ...], tables: dict[str, Table]) -> tuple[TensorSpec, ...]:
    by_name = {tensor.name: tensor for tensor in inputs}
    if not parsed.returns:
        return tuple(tensor for tensor in inputs if tensor.mutated)
    outputs = []
    for ret in parsed.returns:
        name = str(ret.name)
        outputs.append(by_name[name] if name in by_name else _tensor(name, tables[name], is_input=False))
    return tuple(outputs)


def _check_columns(declared: Declared, tables: dict[str, Table]) -> None:
    first = (*declared.inputs, *declared.outputs)[0]
    for tensor in (*declared.inputs, *declared.outputs):
        where = tables[tensor.name].where("dtype")
        if not tensor.dtypes:
            raise DtypeColumnsError(f"'{tensor.name}' has no dtype", where=where, help='write for example dtype = ["float32"]')
        if len(tensor.dtypes) != len(first.dtypes):
            raise DtypeColumnsError(
                f"'{tensor.name}' has {len(tensor.dtypes)} dtypes but '{first.name}' has {len(first.dtypes)}",
                where=where,
                why="item i of every tensor's list is one supported combination",
                help="give all tensors lists of the same length",
            )
    rows = list(zip(*(tensor.dtypes for tensor in declared.inputs), strict=True))
    for position, row in enumerate(rows):
        if row in rows[:position]:
            where = tables[declared.inputs[0].name].where("dtype")
            raise DtypeColumnsError(f"dtype columns {rows.index(row)} and {position} have the same inputs: {', '.join(row)}", where=where)


def _check_kinds(declared: Declared, tables: dict[str, Table]) -> None:
    """An axis name is variadic everywhere or nowhere; a variadic one is no number by itself."""
    kinds: dict[str, tuple[bool, str]] = {}
    for tensor in (*declared.inputs, *declared.outputs):
        for dim in tensor.shape.dims:
            axis = dim.expr.axis
            variadic, owner = kinds.setdefault(axis, (dim.variadic, tensor.name)) if axis else (dim.variadic, "")
            if variadic != dim.variadic:
                raise DimsError(
                    f"'{axis}' is one axis in '{tensor.name if variadic else owner}' and any number of axes in '{owner if variadic else tensor.name}'",
                    where=tables[tensor.name].where("dims"),
                    help="give them different names",
                )


def _check_axes(declared: Declared, tables: dict[str, Table]) -> None:
    _check_kinds(declared, tables)
    axes = frozenset[str]().union(*(tensor.shape.binds for tensor in declared.inputs))
    attrs = {attr.name: attr for attr in declared.attrs}
    lists = frozenset(tensor.name for tensor in declared.inputs if tensor.variadic)
    before: list[str] = []
    for tensor in declared.inputs:
        _check_tensor(tensor, tables[tensor.name].where("dims"), axes, attrs, before, lists, is_input=True)
        before.append(tensor.name)
    for tensor in declared.outputs:
        if tensor.name not in before:
            _check_tensor(tensor, tables[tensor.name].where("dims"), axes, attrs, before, lists, is_input=False)
            before.append(tensor.name)


def _check_tensor(
    tensor: TensorSpec,
    where: str,
    axes: frozenset[str],
    attrs: dict[str, AttrSpec],
    before: list[str],
    lists: frozenset[str],
    *,
    is_input: bool,
) -> None:
    shape = tensor.shape
    for end in tensor.range or ():
        _check_names_known(end, (*axes, *_usable(attrs.values())), before, where)
    for axis in shape.binds & attrs.keys() if is_input else ():
        raise DimsError(f"'{axis}' is an axis of '{tensor.name}' and an attribute", where=where, help="rename the axis")
    for source in shape.tensors:
        if source not in before:
            hint = did_you_mean(source, before) if before else "rules may only name tensors that come earlier in the schema"
            raise DimsError(f"{shape} names '{source}', which is not an earlier tensor", where=where, help=hint)
    for key, option in shape.options.items():
        _check_option(shape, key, option, attrs, where)
    for dim in shape.dims:
        _check_names_known(dim.expr, (*axes, *_usable(attrs.values())), before, where)
        for name in sorted(dim.expr.tensors & lists):
            raise ExprError(f"'{name}' in the dim '{dim.expr.text}' is a list of tensors", where=where, help="numel takes one tensor in dims")
        if "nbytes" in dim.expr.functions:
            raise ExprError(f"nbytes has no meaning in the dim '{dim.expr.text}'", where=where, help="a shape cannot depend on the dtype")
    _check_variadic(shape, axes, where, is_input=is_input)


def _check_variadic(shape: Shape, axes: frozenset[str], where: str, *, is_input: bool) -> None:
    for dim in shape.dims:
        if dim.variadic and not is_input and dim.expr.text not in axes:
            raise DimsError(f"no input has the axis '*{dim.expr.text}'", where=where, help=did_you_mean(dim.expr.text, axes))


def _check_option(shape: Shape, key: str, option: Option, attrs: dict[str, AttrSpec], where: str) -> None:
    wanted = {"dim": ("int", "int[]", "int?", "int[]?"), "dims": ("int[]",)}.get(key, ("bool",))
    if option.attr is None:
        good = isinstance(option.value, tuple) if key == "dims" else isinstance(option.value, bool) != (key == "dim")
        if not good:
            raise DimsError(f"the option {key} of '{shape}' cannot be {option.value!r}", where=where, help=f"its type is {' or '.join(wanted)}")
    elif option.attr not in attrs:
        hint = did_you_mean(option.attr, attrs) if attrs else "the schema has no attributes"
        raise DimsError(f"'{shape}' names '{option.attr}', which is not an attribute", where=where, help=hint)
    elif attrs[option.attr].type not in wanted:
        raise DimsError(f"attribute '{option.attr}' is {attrs[option.attr].type}, but {key} needs {' or '.join(wanted)}", where=where)


def _usable(attrs: Iterable[AttrSpec]) -> list[str]:
    """The attributes that an expression may name: whole numbers, flags, and lists of whole numbers."""
    return [attr.name for attr in attrs if attr.type in ("int", "bool", "int[]")]


def _check_names_known(found: expr.Expr, names: Iterable[str], tensor_names: Iterable[str], where: str) -> None:
    for name in sorted(found.names):
        if name not in names:
            hint = did_you_mean(name, names) if names else "name an axis of an input"
            raise ExprError(f"'{name}' in '{found.text}' is neither an axis nor an int, bool or int[] attribute", where=where, help=hint)
    for name in sorted(found.tensors):
        if name not in tensor_names:
            raise ExprError(f"'{name}' in '{found.text}' is not a tensor", where=where, help=did_you_mean(name, tensor_names))


def cost_expr(top: Table, key: str, declared: Declared) -> expr.Expr | None:
    """The expression `cost.<key>`, checked to name only axes, attributes and tensors.

    Raises:
        ExprError: It does not parse, or names something else.
    """
    table = top.table("cost", ("flops", "bytes"))
    text = table.text(key, '"5 * numel(x)"', None)
    if text is None:
        return None
    where = table.where(key)
    found = expr.parse(text, where=where)
    axes = frozenset[str]().union(*(tensor.shape.binds for tensor in declared.inputs))
    names = (*axes, *_usable(declared.attrs))
    _check_names_known(found, names, [t.name for t in (*declared.inputs, *declared.outputs)], where)
    return found
