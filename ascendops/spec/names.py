"""Names of operators, tensors and attributes: conversions and what may not be used."""

from __future__ import annotations

import keyword
import re

from ascendops.errors import BadOpName, SpecError
from ascendops.spec.reserved import ASCENDC, C_LIBRARY_NAMES, CPP_KEYWORDS, NAMESPACES, PARAMETERS

__all__ = ["C_LIBRARY_NAMES", "CPP_KEYWORDS", "check_argument", "check_op_name", "pascal", "snake", "suggestion"]

_SNAKE = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def pascal(name: str) -> str:
    """The op type of a snake_case name: `add_layer_norm_v2` -> `AddLayerNormV2`."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def snake(op_type: str) -> str:
    """Kernel file and entry name of an op type, as CANN derives it: `Conv2DCustom` -> `conv2_d_custom`, `GRUCell` -> `gru_cell`.

    An underscore goes before an upper-case letter whose predecessor is not upper-case (a digit counts as not upper-case), or whose
    predecessor is upper-case and whose successor is lower-case.
    """
    out: list[str] = []
    for i, letter in enumerate(op_type):
        if letter.isupper() and i > 0:
            before, after = op_type[i - 1], op_type[i + 1 : i + 2]
            if not before.isupper() or after.islower():
                out.append("_")
        out.append(letter.lower())
    return "".join(out).replace("__", "_")


def suggestion(name: str) -> str:
    """A valid name near `name`: snake_case, with `_custom` when the plain name is taken."""
    words = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")
    words = words if words.islower() else snake(words)
    words = re.sub(r"^\d+_*", "", words) or "my_op"
    words = snake(pascal(words))
    return words if _problem(words) is None else f"{words}_custom"


def _problem(name: str) -> str | None:
    if not _SNAKE.fullmatch(name):
        return "a name has lower-case letters, digits and single underscores, and starts with a letter"
    taken = (
        (CPP_KEYWORDS, "it is a C++ keyword"),
        (frozenset(keyword.kwlist), "it is a Python keyword"),
        (C_LIBRARY_NAMES, "it is a function of the C library, so the kernel's entry would clash with it"),
        (ASCENDC, "it is a name of the Ascend C compiler or its headers"),
        (NAMESPACES, "it is a C++ namespace that operator sources use"),
    )
    for names, why in taken:
        if name in names:
            return why
    if snake(pascal(name)) != name:
        return f"its op type {pascal(name)} converts back to '{snake(pascal(name))}', so CANN would look for another kernel"
    return None


def check_op_name(name: str, *, where: str | None = None) -> str:
    """Return `name` if an operator can have it.

    Raises:
        BadOpName: It cannot; the message says why and suggests a name.
    """
    why = _problem(name)
    if why is not None:
        raise BadOpName(f"an operator cannot be called '{name}'", where=where, why=why, help=f"use for example '{suggestion(name)}'")
    return name


def check_argument(name: str, what: str, *, where: str | None = None) -> str:
    """Return `name` if a tensor or attribute (`what`) of the schema can have it.

    Raises:
        SpecError: It is a keyword, or a parameter that every kernel has.
    """
    why = None
    if not _IDENTIFIER.fullmatch(name) or "__" in name:
        why = "a name has letters, digits and single underscores, and starts with a letter"
    elif name in CPP_KEYWORDS or keyword.iskeyword(name):
        why = "it is a keyword of C++ or Python"
    elif name in PARAMETERS:
        why = "every kernel already has a parameter of that name"
    if why is not None:
        raise SpecError(f"{what} cannot be called '{name}'", where=where, why=why, help=f"use for example '{name.strip('_') or 'x'}_in'")
    return name
