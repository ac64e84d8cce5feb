"""Macros that a project's CMake sets for its kernels: `add_ops_compile_options(ALL OPTIONS -DNAME=VALUE)`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

_COMMENT = re.compile(r"#[^\n]*")
_COMMAND = re.compile(r"\b(?P<name>if|endif|add_ops_compile_options|npu_op_kernel_options)\s*\((?P<arguments>(?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)")
_WORD = re.compile(r'[^\s;"]+')
_MACRO = re.compile(r"-D(?P<name>[A-Za-z_]\w*)(?:=(?P<value>[^$]*))?")


def kernel_macros(root: Path, op_type: str, unit: str) -> dict[str, str]:
    """Macros by name for the kernel of an operator and a compute unit.

    Options inside `if()` and values with CMake variables are left out: what they are depends on how CMake is called.
    """
    lists = [path for path in (root / "CMakeLists.txt", root / "op_kernel" / "CMakeLists.txt") if path.is_file()]
    found: dict[str, str] = {}
    for head, options in (call for path in lists for call in _calls(path.read_text(errors="replace"))):
        units = head[_position(head, "COMPUTE_UNIT", "COMPUTE_UNITS") + 1 :]
        if not {"ALL", op_type}.intersection(head) or (units and unit not in units):
            continue
        macros = (_MACRO.fullmatch(option) for option in options)
        found.update({macro["name"]: "1" if macro["value"] is None else macro["value"] for macro in macros if macro})
    return found


def _calls(text: str) -> Iterator[tuple[list[str], list[str]]]:
    """The words before and after OPTIONS of every call that no if() surrounds."""
    depth = 0
    for command in _COMMAND.finditer(_COMMENT.sub("", text)):
        if command["name"] in ("if", "endif"):
            depth += 1 if command["name"] == "if" else -1
        elif depth == 0:
            words = _WORD.findall(command["arguments"])
            at = _position(words, "OPTIONS")
            yield words[:at], words[at + 1 :]


def _position(words: list[str], *wanted: str) -> int:
    return next((i for i, word in enumerate(words) if word in wanted), len(words))
