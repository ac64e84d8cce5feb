"""`range = ["0", "n"]` of an input: the whole numbers that it may hold, such as indices below the size of an axis."""

from __future__ import annotations

from collections.abc import Iterable

from ascendops.errors import BadValue
from ascendops.spec import expr
from ascendops.spec.dtypes import BY_NAME
from ascendops.spec.expr import Expr
from ascendops.spec.table import Table

Range = tuple[Expr, Expr]
_EXAMPLE = 'write for example range = [0, "n"]: from 0 to n - 1'


def read(table: Table, dtypes: Iterable[str]) -> Range | None:
    """The range of a [tensor.NAME] table, lowest and one past the highest value; None without one.

    Raises:
        BadValue: It is not a list of two, or the tensor does not hold whole numbers.
        ExprError: An expression is not valid.
    """
    ends = table.get("range", list, '[0, "n"]', None)
    if ends is None:
        return None
    where = table.where("range")
    if len(ends) != 2 or not all(isinstance(end, (int, str)) and not isinstance(end, bool) for end in ends):
        raise BadValue(f"a range cannot be {ends!r}", where=where, help=_EXAMPLE)
    if any(BY_NAME[name].kind not in ("int", "uint") for name in dtypes):
        raise BadValue("only a tensor of whole numbers has a range", where=where, help="remove range; `values` of a case chooses numbers")
    low, high = (expr.parse(str(end), where=where) for end in ends)
    return low, high


def ascending(table: Table, numbers: Range | None) -> bool:
    """Whether a [tensor.NAME] table says that the numbers of its range are sorted.

    Raises:
        BadValue: `sorted` is given without a range.
    """
    found = bool(table.get("sorted", bool, "true", False))
    if found and numbers is None:
        raise BadValue("only a tensor with a range is sorted", where=table.where("sorted"), help=_EXAMPLE)
    return found
