"""The two sides of a project: op_host/ and op_kernel/, or one folder whose CMake builds a kernel library from the sources beside it."""

from __future__ import annotations

import re
from pathlib import Path

_KERNEL_LIBRARY = re.compile(r"^[ \t]*npu_op_kernel_sources[ \t]*\(", re.MULTILINE)


def is_flat(folder: Path) -> bool:
    """Whether the folder has host code and kernels side by side, and a CMakeLists.txt with `npu_op_kernel_sources`."""
    lists = folder / "CMakeLists.txt"
    inner = (folder / "op_host").is_dir() or (folder / "op_kernel").is_dir()
    return not inner and lists.is_file() and _KERNEL_LIBRARY.search(lists.read_text(errors="replace")) is not None


def host_folder(root: Path) -> Path:
    """The folder of the host sources."""
    return root if is_flat(root) else root / "op_host"


def kernel_folder(root: Path) -> Path:
    """The folder of the kernels."""
    return root if is_flat(root) else root / "op_kernel"


def kernel_sources(root: Path) -> list[Path]:
    """The .cpp files of the kernels; in a flat project those of the host are among them."""
    return sorted(root.glob("*.cpp") if is_flat(root) else (root / "op_kernel").rglob("*.cpp"))
