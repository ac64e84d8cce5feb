"""Fitting a template's dtype columns to those that a file declares."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ascendops.render.env import toml_list

if TYPE_CHECKING:
    from ascendops.interchange import Declaration
    from ascendops.spec.model import OpSpec

_TENSOR = re.compile(r"(?ms)^\[tensor\.(?P<name>\w+)\]\n(?P<body>.*?)(?=^\[|\Z)")
_DTYPE = re.compile(r"(?m)^(?P<key>dtype\s*=\s*)\[[^\]]*\]")


def kept(spec: OpSpec, source: Declaration) -> list[int] | None:
    """The columns of `spec` that `source` declares, in its order; every one if it says nothing; None if the template lacks one of them."""
    declared = {param.name: param.dtypes for param in (*source.inputs, *source.outputs) if param.dtypes}
    mine = {tensor.name: tensor.dtypes for tensor in (*spec.inputs, *spec.outputs)}
    size = max(map(len, declared.values()), default=0)
    if size == 0:
        return list(range(spec.columns))
    columns = []
    for wanted in range(size):
        fitting = (k for k in range(spec.columns) if all(mine[name][k] == _at(dtypes, wanted) for name, dtypes in declared.items() if name in mine))
        column = next(fitting, None)
        if column is None:
            return None
        columns.append(column)
    return columns


def _at(dtypes: Sequence[str], column: int) -> str:
    return dtypes[column] if len(dtypes) > 1 else dtypes[0]


def restrict(text: str, spec: OpSpec, columns: Sequence[int]) -> str:
    """op.toml `text` with only these dtype columns in the [tensor.*] tables; the rest stays as it is, letter by letter."""
    dtypes: Mapping[str, str] = {t.name: toml_list([t.dtypes[k] for k in columns]) for t in (*spec.inputs, *spec.outputs)}

    def table(match: re.Match[str]) -> str:
        return f"[tensor.{match['name']}]\n" + _DTYPE.sub(lambda key: f"{key['key']}{dtypes[match['name']]}", match["body"])

    return _TENSOR.sub(table, text)
