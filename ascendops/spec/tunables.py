"""The [tune.NAME] tables of op.toml: numbers of the sources that `ascendops tune` may change."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ascendops.errors import BadValue
from ascendops.spec.table import Table

KEYS = ("values", "best", "why")
_MACRO = re.compile(r"[A-Z][A-Z0-9_]*")


@dataclass(frozen=True)
class Tunable:
    """A whole number of op_host or op_kernel that the build may set: a macro with a default in the source.

    Attributes:
        name: The macro.
        values: The values worth trying.
        best: The value that every build sets, or None where the default of the source counts.
        why: What the number decides.
    """

    name: str
    values: tuple[int, ...]
    best: int | None = None
    why: str = ""


def read(top: Table) -> tuple[Tunable, ...]:
    """The tunables of a declaration.

    Raises:
        BadValue: A name is no macro, or a value no whole number.
    """
    outer = top.table("tune")
    return tuple(_tunable(outer, name) for name in outer.data)


def _tunable(outer: Table, name: str) -> Tunable:
    if not _MACRO.fullmatch(name):
        raise BadValue(f"'{name}' cannot be the name of a tunable", where=outer.where(name), help="it is a macro: upper-case letters, digits and '_'")
    table = outer.table(name, KEYS)
    values = table.get("values", list, "[2048, 4096, 8192]")
    if not values or not all(type(value) is int for value in values) or len(set(values)) != len(values):
        raise BadValue(f"values of {name} cannot be {values!r}", where=table.where("values"), help="write different whole numbers, such as [2048, 4096]")
    best = table.get("best", int, str(values[0]), None)
    if best is not None and best not in values:
        raise BadValue(f"best of {name} cannot be {best}", where=table.where("best"), help=f"use one of its values: {', '.join(map(str, values))}")
    return Tunable(name, tuple(values), best, table.text("why", '"less than this is not worth another core"', ""))
