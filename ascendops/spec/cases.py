"""The [[case]] tables of op.toml, validated against the rest of the declaration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ascendops.errors import CaseError, SpecError, did_you_mean
from ascendops.spec.attrs import complete
from ascendops.spec.cost import cost
from ascendops.spec.model import Case, TensorSpec
from ascendops.spec.table import Table

if TYPE_CHECKING:
    from ascendops.spec.model import OpSpec

KEYS = ("name", "shapes", "attrs", "tiling_key", "layout", "values", "dtype")
BENCH_KEYS = ("name", "shapes", "attrs", "values", "dtype")
LAYOUTS = ("contiguous", "transposed", "sliced", "expanded", "offset")
VALUES = ("random", "exact", "special", "tail", "negative", "positive", "wide", "coded", "small", "outlier", "first", "ramp", "cancel", "equal", "onehot")


def read(tables: Sequence[Table], benches: Sequence[Table], spec: OpSpec) -> OpSpec:
    """`spec` with the cases of the [[case]] and of the [[bench]] tables.

    Raises:
        CaseError: A case does not fit the operator.
    """
    return replace(spec, cases=_named(tables, spec), benches=_named(benches, spec))


def _named(tables: Sequence[Table], spec: OpSpec) -> tuple[Case, ...]:
    cases: list[Case] = []
    for table in tables:
        case = _case(table, spec)
        if any(case.name == other.name for other in cases):
            raise CaseError(f"two cases are called '{case.name}'", where=table.where("name"), help="give every case its own name")
        cases.append(case)
    return tuple(cases)


def _case(table: Table, spec: OpSpec) -> Case:
    name = table.text("name", '"tail"')
    if not name.replace("_", "").replace("-", "").isalnum():
        raise CaseError(f"a case cannot be called '{name}'", where=table.where("name"), help="use letters, digits, '_' and '-'")
    shapes = _shapes(table, spec)
    attrs = {key: tuple(value) if isinstance(value, list) else value for key, value in table.table("attrs").data.items()}
    try:
        complete(spec.attrs, attrs)
        cost(spec, shapes, attrs, 0)
    except SpecError as error:
        raise CaseError(f"case '{name}': {error.what.removeprefix(f'{spec.name}: ')}", where=table.where("shapes"), why=error.why, help=error.help) from None
    return Case(
        name,
        shapes,
        attrs,
        dtypes=_dtypes(table, spec),
        tiling_key=_tiling_key(table, spec),
        layout=table.word("layout", LAYOUTS, "contiguous"),
        values=table.word("values", VALUES, "random"),
    )


def _shapes(table: Table, spec: OpSpec) -> dict[str, tuple[Any, ...]]:
    written = table.get("shapes", dict, "{ x = [3, 1023] }")
    inputs = {tensor.name: tensor for tensor in spec.inputs}
    shapes: dict[str, tuple[Any, ...]] = {}
    for key, value in written.items():
        if key not in inputs:
            raise CaseError(f"shapes has '{key}', which is not an input", where=table.where("shapes"), help=did_you_mean(key, inputs))
        shapes[key] = _shape(inputs[key], value, table)
    return shapes


def _shape(tensor: TensorSpec, value: Any, table: Table) -> tuple[Any, ...]:
    if tensor.variadic and isinstance(value, list):
        return tuple(_sizes(tensor, item, table) for item in value)
    return _sizes(tensor, value, table)


def _sizes(tensor: TensorSpec, value: Any, table: Table) -> tuple[int, ...]:
    good = isinstance(value, list) and all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in value)
    if not good:
        example = "[[3, 4], [3, 4]]" if tensor.variadic else "[3, 1023]"
        raise CaseError(f"{tensor.name} cannot have the shape {value!r}", where=table.where("shapes"), help=f"write for example {example}")
    return tuple(value)


def _tiling_key(table: Table, spec: OpSpec) -> str | None:
    name = table.text("tiling_key", '"full_load"', None)
    names = [key.name for key in spec.tiling_keys]
    if name is not None and name not in names:
        hint = did_you_mean(name, names) if names else "declare it with [[tiling_key]]"
        raise CaseError(f"there is no tiling key '{name}'", where=table.where("tiling_key"), help=hint)
    return None if name is None else str(name)


def _dtypes(table: Table, spec: OpSpec) -> tuple[str, ...] | None:
    dtypes: tuple[str, ...] | None = table.words("dtype", '["float16"]', None)
    columns = set((*spec.inputs, *spec.outputs)[0].dtypes)
    for one in dtypes or ():
        if one not in columns:
            raise CaseError(f"dtype '{one}' is not a column of the operator", where=table.where("dtype"), help=did_you_mean(one, columns))
    return dtypes
