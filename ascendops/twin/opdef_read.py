"""Reads what a host library says of its operators into `OpDef`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ascendops.spec.dtypes import BY_GE, BY_GE_CODE
from ascendops.twin.opdef import ATTR_TYPES, AttrValue, OpAttr, OpDef, OpParam, TemplateKey, TilingField, TilingStruct

_ZEROS: Mapping[str, AttrValue] = {"b": False, "i": 0, "f": 0.0, "s": ""}
_TEMPLATE_ID = 0  # TplParam::ID: the code of a data type
_TEMPLATE_TYPE = 1  # TplParam::TYPE of tiling/template_argument.h
_FOLLOW_DTYPE, _FOLLOW_FORMAT, _FOLLOW_SHAPE = {0, 1}, {0, 2}, {0, 3}


def parse_op(raw: Mapping[str, Any], problems: list[str]) -> OpDef:
    """An OpDef from its JSON description; what op_build would refuse is appended to `problems`."""
    inputs, outputs = _columns(raw["type"], raw["inputs"], raw["outputs"], problems)
    overrides = {
        unit: _columns(raw["type"], _merged(raw["inputs"], config["inputs"]), _merged(raw["outputs"], config["outputs"]), problems)
        for unit, config in raw["units"].items()
        if config["inputs"] or config["outputs"]
    }
    layouts = {key: _struct(layout) for key, layout in raw["tilings"].items()}
    names = [param["name"] for param in raw["inputs"]]
    return OpDef(
        op_type=raw["type"],
        inputs=inputs,
        outputs=outputs,
        attrs=tuple(_attr(attr) for attr in raw["attrs"]),
        units=tuple(sorted(raw["units"])),
        has_infershape=raw["has_infershape"],
        has_inferdtype=raw["has_inferdtype"],
        has_tiling=raw["has_tiling"],
        tiling_struct=layouts.pop("", None),
        keyed_tilings=layouts,
        unit_columns=overrides,
        shape_depends=_named(names, raw["shape_depends"]),
        tiling_depends=_named(names, raw["tiling_depends"]),
        unit_info={unit: config["info"] for unit, config in raw["units"].items()},
        templates=tuple(TemplateKey(t["key"], tuple(_template_arg(*arg) for arg in t["args"]), any(_is_bf16(*arg) for arg in t["args"])) for t in raw["templates"]),
    )


def _template_arg(_: str, kind: int, value: int) -> str:
    dtype = BY_GE_CODE.get(value) if kind == _TEMPLATE_TYPE else None
    return dtype.cpp if dtype is not None else str(value)


def _is_bf16(_: str, kind: int, value: int) -> bool:
    dtype = BY_GE_CODE.get(value) if kind in {_TEMPLATE_ID, _TEMPLATE_TYPE} else None
    return dtype is not None and dtype.name == "bfloat16"


def _named(names: Sequence[str], indexes: Sequence[int]) -> frozenset[str]:
    return frozenset(names[index] for index in indexes if 0 <= index < len(names))


def _merged(base: Sequence[Mapping[str, Any]], overrides: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The base parameters with those of an OpAICoreConfig applied: lists that it gives, and its parameter type."""
    by_name = {override["name"]: override for override in overrides}
    merged = []
    for param in base:
        result = dict(param)
        override = by_name.pop(param["name"], None)
        if override is not None:
            result.update({key: value for key, value in override.items() if value not in ([], "", False)})
            for kind in ("dtype", "format"):
                if override[f"{kind}s"]:
                    result[f"{kind}_list"] = override[f"{kind}_list"]
        merged.append(result)
    return merged + [dict(override) for override in by_name.values()]


def _columns(
    op_type: str, raw_inputs: Sequence[Mapping[str, Any]], raw_outputs: Sequence[Mapping[str, Any]], problems: list[str]
) -> tuple[tuple[OpParam, ...], tuple[OpParam, ...]]:
    """Inputs and outputs with their dtype and format columns: Follow resolved, *List combined with every column."""
    params = [dict(param) for param in (*raw_inputs, *raw_outputs)]
    _follow(params, len(raw_inputs))
    for param in params:
        if not param["formats"]:
            param["formats"], param["format_list"] = ["ND"], True
    lengths = {len(p[f"{kind}s"]) for p in params for kind in ("dtype", "format") if not p[f"{kind}_list"] and p[f"{kind}s"]}
    if len(lengths) > 1:
        sizes = ", ".join(f"{p['name']} {len(p['dtypes'])} dtypes and {len(p['formats'])} formats" for p in params)
        problems.append(f"{op_type}: the DataType and Format lists have different lengths ({sizes})")
    combined = [tuple(_combinations(params, column)) for column in range(min(lengths, default=1))]
    rows = [row for column in combined for row in column]
    made = [_param(param, [row[i] for row in rows]) for i, param in enumerate(params)]
    return tuple(made[: len(raw_inputs)]), tuple(made[len(raw_inputs) :])


def _follow(params: list[dict[str, Any]], inputs: int) -> None:
    """Fills dtypes and formats of parameters that follow an input; `dtype_head` is the index of a followed list."""
    places = {param["name"]: i for i, param in enumerate(params[:inputs])}
    for _ in params:  # a chain y -> x2 -> x1 needs as many rounds as it has links
        for param in params:
            place = places.get(param["follow"])
            if place is None or params[place] is param:
                continue
            source = params[place]
            for kind, types in (("dtype", _FOLLOW_DTYPE), ("format", _FOLLOW_FORMAT)):
                if param["follow_type"] in types and source[f"{kind}s"]:
                    param[f"{kind}s"], param[f"{kind}_list"] = source[f"{kind}s"], source[f"{kind}_list"]
                    param[f"{kind}_head"] = source.get(f"{kind}_head", place)


def _combinations(params: Sequence[Mapping[str, Any]], column: int) -> Iterator[list[tuple[str, str]]]:
    """Every choice from the *List parameters (the last one varies fastest) for one column of the others."""
    slots = [(i, kind) for i in range(len(params)) for kind in ("dtype", "format")]
    copied: dict[tuple[int, str], tuple[int, str]] = {}
    choices: list[list[str]] = []
    for i, kind in slots:
        values, is_list, head = params[i][f"{kind}s"] or [""], params[i][f"{kind}_list"], params[i].get(f"{kind}_head")
        if is_list and head is not None:
            copied[i, kind] = (head, kind)
        choices.append([""] if (i, kind) in copied else values if is_list else [values[min(column, len(values) - 1)]])
    for picked in itertools.product(*choices):
        chosen = dict(zip(slots, picked, strict=True))
        chosen.update({slot: chosen[head] for slot, head in copied.items()})
        yield [(chosen[i, "dtype"], chosen[i, "format"]) for i in range(len(params))]


def _param(raw: Mapping[str, Any], rows: Sequence[tuple[str, str]]) -> OpParam:
    follow, kind = raw["follow"], raw["follow_type"]
    return OpParam(
        name=raw["name"],
        param_type=raw["param_type"],
        dtypes=tuple(dtype_name(row[0]) for row in rows),
        formats=tuple(row[1] for row in rows),
        value_depend=raw["value_depend"],
        tiling_only=raw["depend_on_tiling_only"],
        shape_like=follow if follow and kind in _FOLLOW_SHAPE else "",
        dtype_like=follow if follow and kind in _FOLLOW_DTYPE else "",
        scalar=raw["scalar"],
        auto_contiguous=raw["auto_contiguous"],
        init_value=tuple(raw["init_value"]),
        shape_depends_on_compute=raw["shape_depends_on_compute"],
    )


def dtype_name(ge: str) -> str:
    """torch's name of a ge::DataType enumerator; lower case without DT_ where torch has no such type."""
    known = BY_GE.get(ge)
    return known.name if known is not None else ge.removeprefix("DT_").lower()


def _attr(raw: Mapping[str, Any]) -> OpAttr:
    default = raw["default"]
    if isinstance(default, list):
        cast = float if raw["kind"] == "F" else None
        default = tuple(tuple(item) if isinstance(item, list) else cast(item) if cast else item for item in default)
    elif raw["kind"] == "f" and default is not None:
        default = float(default)
    if default is None and not raw["required"]:
        default = _ZEROS.get(raw["kind"], ())
    return OpAttr(raw["name"], ATTR_TYPES.get(raw["kind"], "int"), raw["required"], default, raw["kind"])


def _struct(raw: Mapping[str, Any]) -> TilingStruct:
    fields = tuple(
        TilingField(f["name"], f["type"], f["offset"], f["size"], f["length"], None if f["struct"] is None else _struct(f["struct"]))
        for f in raw["fields"]
    )
    return TilingStruct(raw["name"], raw["size"], fields)
