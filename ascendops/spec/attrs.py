"""Attribute values: checked against the schema's types, and as OpDef has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from ascendops.errors import AttrError, did_you_mean

if TYPE_CHECKING:
    from ascendops.spec.model import AttrSpec, AttrValue

OP_DEF_TYPES = {
    "int": "Int",
    "float": "Float",
    "bool": "Bool",
    "str": "String",
    "int[]": "ListInt",
    "float[]": "ListFloat",
    "bool[]": "ListBool",
}


def _matches(value: Any, base: str) -> bool:
    if base == "bool":
        return isinstance(value, bool)
    if base == "str":
        return isinstance(value, str)
    if isinstance(value, bool):
        return False
    symbolic = type(value).__name__ in ("SymInt", "SymFloat")
    return symbolic or isinstance(value, int) or (base == "float" and isinstance(value, float))


def check_value(attr: AttrSpec, value: Any, *, where: str | None = None) -> AttrValue:
    """`value` as the attribute's type: lists become tuples, a number for `int[2]` is repeated, ints become floats for `float`.

    Raises:
        AttrError: The value is not of that type.
    """
    optional = attr.type.endswith("?")
    kind = attr.type.removesuffix("?")
    base = kind.removesuffix("[]")
    problem = AttrError(
        f"attribute '{attr.name}' cannot be {value!r}", where=where, help=f"its type is {attr.type}" + f" of length {attr.length}" * bool(attr.length)
    )
    if value is None:
        if optional:
            return None
        raise problem
    if not kind.endswith("[]"):
        if not _matches(value, base):
            raise problem
        return float(value) if base == "float" and isinstance(value, int) else value
    if attr.length and _matches(value, base):
        value = (value,) * attr.length
    if isinstance(value, str) or not isinstance(value, Sequence) or not all(_matches(item, base) for item in value):
        raise problem
    if attr.length and len(value) != attr.length:
        raise problem
    return tuple(float(item) if base == "float" else item for item in value)


def complete(attrs: Sequence[AttrSpec], values: Mapping[str, Any], *, where: str | None = None) -> dict[str, AttrValue]:
    """Every attribute by name in the schema's order: the given values, else the defaults.

    Raises:
        AttrError: A value has the wrong type, a name is unknown, or a required one is missing.
    """
    known = {attr.name for attr in attrs}
    for name in values:
        if name not in known:
            hint = did_you_mean(name, known) if known else "the operator has no attributes"
            raise AttrError(f"there is no attribute '{name}'", where=where, help=hint)
    out: dict[str, AttrValue] = {}
    for attr in attrs:
        if attr.name in values:
            out[attr.name] = check_value(attr, values[attr.name], where=where)
        elif attr.required:
            raise AttrError(f"attribute '{attr.name}' is missing", where=where, help=f"give it as {attr.type}; it has no default")
        else:
            out[attr.name] = attr.default
    return out


def op_def_type(attr: AttrSpec) -> str:
    """The OpAttrDef method of the attribute's type, e.g. `ListInt`.

    OpDef has no optional values: `int?`, `float?` and `bool?` are lists of no or one item there, `int[]?` an empty list, `str?` an empty string.
    """
    kind = attr.type.removesuffix("?")
    if attr.type.endswith("?") and kind in ("int", "float", "bool"):
        kind += "[]"
    return OP_DEF_TYPES[kind]


def op_def_value(attr: AttrSpec, value: AttrValue) -> AttrValue:
    """`value` (already checked) as op_host sees it: see `op_def_type` for what None becomes."""
    if not attr.type.endswith("?"):
        return value
    if attr.type == "str?":
        return "" if value is None else value
    if value is None:
        return ()
    return value if isinstance(value, tuple) else cast("AttrValue", (value,))
