"""op.toml -> OpSpec, strictly: an unknown key, a wrong type or a misfit is refused with its line."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

from ascendops.errors import (
    BadOpName,
    BadValue,
    DimsError,
    EditionError,
    SpecNotFound,
    TilingKeyError,
    TomlError,
    UnitError,
    did_you_mean,
)
from ascendops.spec import autograd, cases, policy, random, tensors, tunables
from ascendops.spec.digest import digest
from ascendops.spec.lines import Lines
from ascendops.spec.model import AxisRule, OpSpec, TilingKey
from ascendops.spec.names import check_op_name, pascal
from ascendops.spec.schema import FunctionSchema
from ascendops.spec.table import Table
from ascendops.spec.units import UNITS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

EDITION = 1
OPERATOR_KEYS = ("schema", "doc", "tensor", "cost", "tiling_key", "case", "bench", "reference", "autograd", "torch", "mutate", "axes", "relations", "compute", "random")
KEYS = ("edition", "name", "family", "dialect", "units", "operators", "tune", *OPERATOR_KEYS)
DIALECTS = ("ascendc", "tbe")
TBE_UNITS = ("ascend310", "ascend310p", "ascend310b", "ascend910", "ascend910b", "ascend910_93")
REFERENCES = ("triton", "cuda")
COMPUTE = ("float32", "tf32", "hf32")
RELATIONS = ("shift", "scale", "odd", "permute", "rows", "idempotent", "involution", "additive")
SCHEMA = FunctionSchema("", "", (), ())


def load(path: str | Path) -> OpSpec:
    """Read an op.toml; `path` is the file or its folder.

    Raises:
        SpecNotFound: There is no such file.
        SpecError: The file does not declare a valid operator (a subclass says which mistake, with `op.toml:line`).
    """
    file = Path(path)
    file = file / "op.toml" if file.is_dir() else file
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise TomlError(f"op.toml is not UTF-8 text: {error.reason} at byte {error.start}", where=str(file)) from None
    except OSError as error:
        raise SpecNotFound(f"cannot read {file}: {error.strerror}", where=str(file), help="make one: ascendops new op NAME") from None
    return parse(text, file)


def check_references(spec: OpSpec) -> None:
    """Refuses a reference that is not there: it would silently be one witness less.

    Raises:
        BadValue: A file that [reference] names does not exist in the project.
    """
    lines = Lines(spec.path.read_text(encoding="utf-8"), str(spec.path))
    for op in spec.operators:
        table = () if op is spec else ("operators", op.name)
        for key, target in op.reference.items():
            name = target.partition(":")[0]
            if not (spec.root / name).is_file():
                raise BadValue(
                    f"the {key} reference {name} does not exist", where=lines.where(*table, "reference", key),
                    help=f"put the file into {spec.root}, or remove the line",
                )  # fmt: skip


def parse(text: str, path: Path) -> OpSpec:
    """The declaration written in `text`; `path` names the file in messages and becomes `OpSpec.path`.

    Raises:
        SpecError: See `load`.
    """
    lines = Lines(text, str(path))
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"line (\d+)", str(error))
        where = f"{path}:{at.group(1) if at else max(1, len(text.splitlines()))}"
        what = re.sub(r"\s*\(at [^)]*\)", "", str(error))
        raise TomlError(f"op.toml is not valid TOML: {what}", where=where, help="strings need quotes and arrays need commas") from None
    _check_edition(Table(data, lines))
    return _read(Table(data, lines, allowed=KEYS), path, digest(data))


def _check_edition(top: Table) -> None:
    edition = top.data.get("edition")
    if edition != EDITION or isinstance(edition, bool):
        what = "op.toml has no edition" if edition is None else f"edition {edition!r} is not known"
        raise EditionError(what, where=top.where("edition"), help=f"write edition = {EDITION} as the first line")


def _read(top: Table, path: Path, whole: str) -> OpSpec:
    name = check_op_name(top.text("name", '"softmax"'), where=top.where("name"))
    common = OpSpec(
        edition=EDITION, name=name, op_type=pascal(name), family=top.text("family", '"elementwise"', None), schema=SCHEMA, doc="",
        units=_units(top), inputs=(), outputs=(), attrs=(), tiling_keys=(), flops=None, bytes=None, cases=(), reference={}, path=path,
        digest=whole, project=name, dialect=top.word("dialect", DIALECTS, "ascendc"),
    )  # fmt: skip
    _check_dialect(top, common)
    spec = replace(_operator(top, common), tunables=tunables.read(top))
    outer = top.table("operators")
    further = [_further(outer, key, common) for key in outer.data]
    spec = replace(spec, further=tuple(further))
    for op in further:
        object.__setattr__(op, "first", spec)  # the one cycle of the model: made here, before anybody has seen the objects
    autograd.check(spec)
    return spec


def _check_dialect(top: Table, spec: OpSpec) -> None:
    """TBE operators exist for the units that CANN compiles TBE for, and have no tiling keys of their own."""
    if spec.dialect != "tbe":
        return
    for unit in spec.units:
        if unit not in TBE_UNITS:
            raise UnitError(
                f"TBE operators cannot be built for {unit}", where=top.where("units", text=unit),
                why="CANN has no TBE operators for it (its built-in operators are Ascend C only), and TBE is not developed any further",
                help=f"write the operator in Ascend C, or keep to: {', '.join(TBE_UNITS)}",
            )  # fmt: skip
    if top.data.get("tiling_key"):
        raise TilingKeyError("a TBE operator has no tiling keys", where=top.where("tiling_key"), help="the DSL makes the tiling: remove [[tiling_key]]")


def _further(outer: Table, name: str, common: OpSpec) -> OpSpec:
    """One operator of [operators.NAME]; units, family and path are the project's."""
    check_op_name(name, where=outer.where(name))
    if name == common.name:
        raise BadOpName(f"two operators are called '{name}'", where=outer.where(name), help="the operator at the top level has that name already")
    return _operator(outer.table(name, OPERATOR_KEYS), replace(common, name=name, op_type=pascal(name)))


def _operator(table: Table, common: OpSpec) -> OpSpec:
    """The tables that every operator has, at the top level or in [operators.NAME]."""
    declared = tensors.read(table, common.name)
    spec = replace(
        common,
        schema=declared.schema,
        doc=table.text("doc", '"y = x + 1"', ""),
        inputs=declared.inputs,
        outputs=declared.outputs,
        attrs=declared.attrs,
        tiling_keys=_tiling_keys(table),
        flops=tensors.cost_expr(table, "flops", declared),
        bytes=tensors.cost_expr(table, "bytes", declared),
        reference=_reference(table),
        axes=_axes(table, declared),
        autograd=autograd.read(table),
        torch=policy.read(table),
        equivalent=_equivalent(table),
        relations=_relations(table, declared),
        compute=table.word("compute", COMPUTE, "float32"),
        random=random.read(table),
    )
    policy.check(spec, table)
    random.check(spec, table)
    return cases.read(list(table.tables("case", cases.KEYS)), list(table.tables("bench", cases.BENCH_KEYS)), spec)


def _units(top: Table) -> tuple[str, ...]:
    units: tuple[str, ...] = top.words("units", '["ascend910b"]')
    for unit in units:
        if unit not in UNITS:
            raise UnitError(f"'{unit}' is not a compute unit", where=top.where("units", text=unit), help=did_you_mean(unit, UNITS))
    if not units or len(set(units)) != len(units):
        raise UnitError(f"units cannot be {list(units)}", where=top.where("units"), help="name at least one compute unit, each once")
    return units


def _tiling_keys(top: Table) -> tuple[TilingKey, ...]:
    found: list[TilingKey] = []
    for table in top.tables("tiling_key", ("key", "name", "why")):
        key = TilingKey(table.get("key", int, "1"), table.text("name", '"full_load"'), table.text("why", '"a row fits UB"', ""))
        if key.key < 0:
            raise TilingKeyError(f"a tiling key cannot be {key.key}", where=table.where("key"), help="it is an unsigned 64-bit number")
        for other in found:
            if other.key == key.key or other.name == key.name:
                same = f"the key {key.key}" if other.key == key.key else f"the name '{key.name}'"
                raise TilingKeyError(f"two tiling keys have {same}", where=table.where("key"), help="keys and names must differ")
        found.append(key)
    return tuple(found)


def _equivalent(top: Table) -> dict[str, str]:
    """[mutate]: faults that change nothing for this operator, with the reason."""
    table = top.table("mutate")
    return {key: table.text(key, '"the output is one row"') for key in table.data}


def _relations(top: Table, declared: tensors.Declared) -> dict[str, tuple[str, ...]]:
    """[relations]: kinds of relations between results, with the inputs that change together."""
    table, inputs = top.table("relations", RELATIONS), [tensor.name for tensor in declared.inputs if not tensor.variadic]
    found = {}
    for kind in table.data:
        names = table.words(kind, f'["{inputs[0] if inputs else "x"}"]')
        unknown = next((name for name in names if name not in inputs), None)
        if unknown is not None or not names:
            raise BadValue(f"'{unknown or ''}' is no input that a relation can change", where=table.where(kind), help=did_you_mean(unknown or "", inputs))
        found[kind] = names
    return found


def _axes(top: Table, declared: tensors.Declared) -> dict[str, AxisRule]:
    """[axes.NAME]: what the sizes of an axis must be."""
    known = frozenset[str]().union(*(tensor.shape.binds for tensor in declared.inputs))
    units = known | {attr.name for attr in declared.attrs if attr.type == "int"}
    outer = top.table("axes")
    found = {}
    for name in outer.data:
        if name not in known:
            raise DimsError(f"no input has the axis '{name}'", where=outer.where(name), help=did_you_mean(name, known))
        found[name] = _axis(outer.table(name, ("multiple", "minimum", "maximum")), outer.where(name), name, units)
    return found


def _axis(table: Table, where: str | None, name: str, known: frozenset[str]) -> AxisRule:
    rule = AxisRule(table.get("multiple", (int, str), "2", 1), table.get("minimum", int, "1", 0), table.get("maximum", int, "512", 0))
    if isinstance(rule.multiple, str):
        if rule.multiple not in known - {name}:
            raise DimsError(f"no other axis or int attribute is called '{rule.multiple}'", where=where, help=did_you_mean(rule.multiple, known - {name}))
    elif rule.multiple < 1:
        raise BadValue(f"sizes of '{name}' cannot be {rule.rule}", where=where, help="multiple is 1 or more, or the name of an axis or an int attribute")
    if rule.minimum < 0 or rule.maximum < 0 or 0 < rule.maximum < rule.minimum:
        raise BadValue(f"sizes of '{name}' cannot be {rule.rule}", where=where, help="minimum is 0 or more, maximum no less than it")
    return rule


def _reference(top: Table) -> dict[str, str]:
    table = top.table("reference", REFERENCES)
    return {key: table.text(key, '"reference/triton_softmax.py:softmax"') for key in table.data}
