"""msopgen's operator prototype (IR) JSON, read and written.

Keys and values: public repository Ascend/msopgen, its user guide and msopgen/config/transform.json.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendops.errors import SourceError, did_you_mean
from ascendops.interchange.declaration import AttrDecl, Declaration, ParamDecl
from ascendops.spec.dtypes import BY_GE, BY_NAME
from ascendops.spec.names import snake
from ascendops.spec.tensors import FORMATS

if TYPE_CHECKING:
    from ascendops.spec.model import AttrValue
    from ascendops.twin.opdef import OpDef

ATTR_TYPES = {
    "int": "int", "float": "float", "bool": "bool", "string": "str", "str": "str",
    "list_int": "int[]", "list_float": "float[]", "list_bool": "bool[]",
}  # fmt: skip
_SHORT = {"fp16": "float16", "half": "float16", "bf16": "bfloat16", "fp32": "float32", "float": "float32", "double": "float64"}
_NUMBERS = ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_COLLECTIONS = {"realnumbertype": _NUMBERS, "IndexNumberType": ("int32", "int64")}
_ZEROS: Mapping[str, AttrValue] = {"int": 0, "float": 0.0, "bool": False, "str": ""}
_KINDS = ("required", "optional", "dynamic")


def read(path: Path, name: str | None = None) -> Declaration:
    """The operator called `name` (its op type or snake_case name) in an IR JSON, or the only one there.

    Raises:
        SourceError: The file is not such a JSON, has several operators and none of that name, or declares what op.toml cannot.
    """
    where = str(path)
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise SourceError(f"{path.name} is not a JSON file: {error}", where=where) from None
    entries = [entry for entry in (data if isinstance(data, list) else [data]) if isinstance(entry, dict) and isinstance(entry.get("op"), str)]
    if not entries:
        raise SourceError(f"{path.name} declares no operator", where=where, help='an entry is {"op": "AddCustom", "input_desc": [...], "output_desc": [...]}')
    chosen = [entry for entry in entries if name in (entry["op"], snake(entry["op"]))] or (entries if len(entries) == 1 else [])
    if not chosen:
        known = [snake(entry["op"]) for entry in entries]
        raise SourceError(f"{path.name} declares {len(entries)} operators, none of them '{name}'", where=where, help=did_you_mean(str(name), known))
    return _declaration(chosen[-1], where)


def _declaration(entry: Mapping[str, Any], where: str) -> Declaration:
    notes: list[str] = []
    inputs = [_param(item, where) for item in _items(entry, "input_desc", where)]
    outputs = [_param(item, where) for item in _items(entry, "output_desc", where)]
    if not outputs:
        raise SourceError(f"{entry['op']} has no output_desc", where=where, help="declare at least one output")
    for out in outputs:
        if out[1] == "dynamic":
            raise SourceError(f"output '{out[0]}' of {entry['op']} is dynamic, which op.toml cannot declare", where=where, help="declare its outputs one by one")
    params = _columns([*inputs, *outputs], where, notes)
    attrs = tuple(_attr(item, where) for item in _items(entry, "attr", where))
    count = len(inputs)
    return Declaration(snake(str(entry["op"])), tuple(params[:count]), tuple(params[count:]), attrs, where, tuple(notes))


def _items(entry: Mapping[str, Any], key: str, where: str) -> list[Mapping[str, Any]]:
    items = entry.get(key) or []
    if not isinstance(items, list) or not all(isinstance(item, dict) and isinstance(item.get("name"), str) for item in items):
        raise SourceError(f"'{key}' of {entry['op']} is not a list of objects with a name", where=where)
    return items


_Column = tuple[str, str]
_Raw = tuple[str, str, list[_Column]]


def _param(item: Mapping[str, Any], where: str) -> _Raw:
    """(name, kind, [(dtype, format)]) of one input_desc or output_desc."""
    name, kind = item["name"].strip(), item.get("param_type", "required")
    if kind not in _KINDS:
        raise SourceError(f"param_type of '{name}' cannot be {kind!r}", where=where, help=did_you_mean(str(kind), _KINDS))
    types, formats = _words(item, "type", where), _words(item, "format", where) or ["ND"]
    if len(types) != len(formats) and 1 not in (len(types), len(formats)):
        raise SourceError(f"'{name}' has {len(types)} types and {len(formats)} formats", where=where, help="item i of both is one combination")
    size = max(len(types), len(formats))
    pairs = zip(types * (size // len(types)), formats * (size // len(formats)), strict=True)
    return name, kind, [(dtype, fmt) for word, fmt in pairs for dtype in _dtypes(word, name, where)]


def _words(item: Mapping[str, Any], key: str, where: str) -> list[str]:
    value = item.get(key, [])
    words = [value] if isinstance(value, str) else value
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words) or (key == "type" and not words):
        raise SourceError(f"'{key}' of '{item['name']}' is not a list of words", where=where)
    return [word.strip() for word in words]


def _dtypes(word: str, name: str, where: str) -> tuple[str, ...]:
    if word in _COLLECTIONS:
        return _COLLECTIONS[word]
    found = _SHORT.get(word, word)
    found = BY_GE[word].name if word in BY_GE else found
    if found not in BY_NAME:
        raise SourceError(f"type '{word}' of '{name}' has no PyTorch dtype", where=where, help=did_you_mean(word, [*_SHORT, *BY_NAME, *_COLLECTIONS]))
    return (found,)


def _columns(raw: Sequence[_Raw], where: str, notes: list[str]) -> list[ParamDecl]:
    """The parameters with parallel dtype columns; columns that differ by format only are one, since op.toml has one format for a tensor."""
    size = max(len(pairs) for _, _, pairs in raw)
    for name, _, pairs in raw:
        if len(pairs) not in (1, size):
            raise SourceError(f"'{name}' has {len(pairs)} types but another tensor {size}", where=where, help="give all tensors lists of one length")
    full = [(name, kind, pairs * (size // len(pairs))) for name, kind, pairs in raw]
    formats = [next((fmt for _, fmt in pairs if fmt in FORMATS), "ND") for _, _, pairs in full]
    kept: list[int] = []
    for column in range(size):
        same = [k for k in kept if all(pairs[k][0] == pairs[column][0] for _, _, pairs in full)]
        if not same:
            kept.append(column)
    other = sorted({fmt for (_, _, pairs), first in zip(full, formats, strict=True) for _, fmt in pairs if fmt != first})
    if other:
        notes.append(f"formats {', '.join(other)} were left out: op.toml has one format for each tensor")
    return [ParamDecl(name, kind, tuple(pairs[k][0] for k in kept), fmt) for (name, kind, pairs), fmt in zip(full, formats, strict=True)]


def _attr(item: Mapping[str, Any], where: str) -> AttrDecl:
    name, word = item["name"].strip(), str(item.get("type", "")).strip()
    if word not in ATTR_TYPES:
        raise SourceError(f"attribute '{name}' has the type '{word}'", where=where, help=f"types that a PyTorch schema has are: {', '.join(ATTR_TYPES)}")
    kind = ATTR_TYPES[word]
    required = item.get("param_type", "optional" if "default_value" in item else "required") == "required"
    return AttrDecl(name, kind, required, None if required else _default(item, kind, where))


def _default(item: Mapping[str, Any], kind: str, where: str) -> AttrValue:
    value = item.get("default_value")
    base = kind.removesuffix("[]")
    if value in (None, ""):
        return () if kind.endswith("[]") else _ZEROS[base]
    if isinstance(value, str) and base != "str":
        try:
            value = json.loads(value)
        except ValueError:
            value = item["default_value"]
    read = {"int": int, "float": float, "bool": bool, "str": str}[base]
    items = value if isinstance(value, list) else [value]
    good = all(isinstance(one, read) or (base == "float" and isinstance(one, int)) for one in items)
    if not good or isinstance(value, list) != kind.endswith("[]"):
        raise SourceError(f"the default of attribute '{item['name']}' cannot be {item['default_value']!r}", where=where, help=f"its type is {item['type']}")
    return tuple(read(one) for one in items) if kind.endswith("[]") else read(value)


def write(ops: Sequence[OpDef]) -> str:
    """The IR JSON of operators, with every dtype column and format.

    Raises:
        SourceError: An attribute has a type that the JSON cannot say.
    """
    return json.dumps([_entry(op) for op in ops], indent=2, ensure_ascii=False) + "\n"


def _entry(op: OpDef) -> dict[str, Any]:
    def params(side: Sequence[Any]) -> list[dict[str, Any]]:
        return [
            {"name": p.name, "param_type": p.param_type, "format": list(p.formats), "type": [_word(dtype) for dtype in p.dtypes]}
            for p in side
        ]  # fmt: skip

    entry: dict[str, Any] = {"op": op.op_type, "language": "cpp", "input_desc": params(op.inputs), "output_desc": params(op.outputs)}
    if op.attrs:
        entry["attr"] = [_write_attr(attr, op.op_type) for attr in op.attrs]
    return entry


def _word(dtype: str) -> str:
    return {"float32": "float", "float64": "double"}.get(dtype, dtype)


def _write_attr(attr: Any, op_type: str) -> dict[str, Any]:
    words = {kind: word for word, kind in ATTR_TYPES.items() if word != "str"} | {"int[][]": "list_list_int"}
    if attr.type not in words:
        raise SourceError(f"attribute '{attr.name}' of {op_type} is '{attr.type}', which the JSON cannot say", help=f"it knows: {', '.join(words)}")
    entry = {"name": attr.name, "param_type": "required" if attr.required else "optional", "type": words[attr.type]}
    if not attr.required:
        entry["default_value"] = attr.default
    return entry
