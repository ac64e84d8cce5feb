"""Sources in the shared folders of a repository that define what the op_host code of one of its projects calls.

A repository of many operators keeps helpers in a folder beside them: the headers are found by their includes
(`ascendops.twin.includes`), the sources only by the functions that are missing without them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from ascendops.errors import CompileError
from ascendops.twin import includes

SUFFIXES = frozenset({".cpp", ".cc", ".cxx"})
_MISSING = re.compile(r"op_host uses (?P<loaded>.+?), but no source defines it|undefined reference to [`'‘](?P<linked>.+?)['’](?:\s|$)")
_CLASS = re.compile(r"(?:vtable|typeinfo|VTT) for (?P<name>.+)")


def undefined(error: CompileError) -> list[str]:
    """The functions, by their full names, that a linker or loader did not find; those of classes for a missing virtual table."""
    return list(dict.fromkeys(match["loaded"] or match["linked"] for match in _MISSING.finditer(str(error))))


def defining(root: Path, functions: Iterable[str]) -> list[Path]:
    """The nearest source in the shared folders around the project `root` that defines each of the functions, where there is one."""
    patterns = [_definition(function) for function in functions]
    found: list[Path] = []
    for path in includes.shared_files(root, SUFFIXES) if patterns else ():
        text = path.read_text(errors="replace")
        rest = [pattern for pattern in patterns if not pattern.search(text)]
        if len(rest) < len(patterns):
            found.append(path)
            patterns = rest
        if not patterns:
            break
    return found


def _definition(function: str) -> re.Pattern[str]:
    of_class = _CLASS.fullmatch(function)
    if of_class:
        return re.compile(rf"\b{re.escape(of_class['name'].rpartition('::')[2])}::~?\w+\s*\(")
    plain = re.sub(r"<[^()]*>|\[abi:\w+\]", "", function.partition("(")[0]).rpartition("::")[2].split()[-1]
    return re.compile(rf"\b{re.escape(plain)}\s*\([^;{{}}]*\)[\w\s]*\{{")
