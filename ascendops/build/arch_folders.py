"""Projects with sources for several architectures: folders like op_host/arch22, and kernel sources that CMake names for a compute unit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ascendops.spec.socs import Soc

_FOLDERS = {2201: "arch22", 2002: "arch20", 3510: "arch35"}
_ARCH = re.compile(r"arch\d\d")
_KERNEL_SOURCES = re.compile(r"^[ \t]*add_kernel_sources\s*\(\s*KERNEL_SRC\s+(?P<source>[\w./]+)(?P<rest>[^)]*)\)", re.MULTILINE)
_UNITS = re.compile(r"\bCOMPUTE_UNITS?\s+(?P<units>(?:[a-z0-9_]+\s*)+)")


def selections(sources: Sequence[Path], op_host: Path, soc: Soc) -> list[list[Path]]:
    """The op_host sources to compile for a SoC, in the order in which to try.

    Without those of other architectures first, where the project has a folder for this one (both register the same operator), else last:
    there the common sources may call functions of any folder.
    """
    every = list(sources)
    arch = {path: _arch_of(path, op_host) for path in every}
    own = _FOLDERS.get(soc.npu_arch)
    kept = [path for path in every if arch[path] in (None, own)]
    if len(kept) == len(every) or not kept:
        return [every]
    return [kept, every] if own in arch.values() else [every, kept]


def _arch_of(path: Path, op_host: Path) -> str | None:
    return next((part for part in path.relative_to(op_host).parts[:-1] if _ARCH.fullmatch(part)), None) if path.is_relative_to(op_host) else None


def kernel_for_unit(root: Path, unit: str) -> Path | None:
    """The kernel source that the project's CMake names for a compute unit (`add_kernel_sources(KERNEL_SRC f COMPUTE_UNITS u ...)`), if any."""
    lists = [path for path in (root / "CMakeLists.txt", root / "op_kernel" / "CMakeLists.txt") if path.is_file()]
    for match in (match for path in lists for match in _KERNEL_SOURCES.finditer(path.read_text(errors="replace"))):
        units = _UNITS.search(match["rest"])
        source = root / "op_kernel" / match["source"]
        if units and unit in units["units"].split() and source.is_file():
            return source
    return None
