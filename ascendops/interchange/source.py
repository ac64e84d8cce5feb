"""Which format a file has, and what it declares."""

from __future__ import annotations

import ast
from pathlib import Path

from ascendops.errors import SourceError
from ascendops.interchange import golden_file, kernel_file, msopgen
from ascendops.interchange.declaration import Declaration

KERNEL_SUFFIXES = frozenset({".cu", ".cuh", ".cpp", ".cc", ".h", ".hpp"})


def read(path: Path, name: str) -> Declaration:
    """The interface of operator `name` from msopgen's JSON, a golden function, or a CUDA or Triton kernel.

    Raises:
        SourceError: The file has none of these formats, or declares what op.toml cannot.
    """
    if path.suffix == ".json":
        return msopgen.read(path, name)
    if path.suffix in KERNEL_SUFFIXES:
        return kernel_file.read(path, name)
    if path.suffix != ".py":
        raise SourceError(f"a {path.suffix or 'file without suffix'} is no source of an operator", where=str(path), help="give a .json, .py, .cu or .cuh file")
    try:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
    except (OSError, UnicodeDecodeError, SyntaxError, ValueError) as error:
        raise SourceError(f"{path.name} cannot be parsed: {error}", where=str(path)) from None
    if kernel_file.has_triton(tree):
        return kernel_file.read(path, name)
    return golden_file.read(path, text, tree, name)
