"""`made_by = "saved"` of inputs that the forward operator saved: a function of golden.py makes them for tests from the other inputs."""

from __future__ import annotations

from ascendops.errors import BadValue
from ascendops.spec.table import Table


def read(table: Table, *, is_input: bool, variadic: bool) -> str | None:
    """The function that a [tensor.NAME] table names; None without one.

    Raises:
        BadValue: It is no name of a function, or the tensor is an output, a list or has a range.
    """
    found: str | None = table.text("made_by", '"saved"', None)
    if found is None:
        return None
    where = table.where("made_by")
    if not found.isidentifier():
        raise BadValue(f"made_by cannot be {found!r}", where=where, help='write the name of a function of golden.py: made_by = "saved"')
    if not is_input or variadic or "range" in table:
        why = "the operator itself makes it" if not is_input else "it is a list" if variadic else "it has a range"
        raise BadValue("this tensor cannot be made by golden.py", where=where, why=why, help="made_by is of single inputs without a range")
    return found
