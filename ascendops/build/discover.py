"""Finding operator projects."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from ascendops.build import sides
from ascendops.errors import NotAProject, NothingSelected

_DEPTH = 3
_SKIPPED = frozenset({"gen", "build", "build_out", "node_modules", "__pycache__", "op_templates"})


def is_project(folder: Path) -> bool:
    """Whether the folder is an operator project: an op.toml, op_host/ and op_kernel/ side by side, or the sources of both beside their CMakeLists.txt."""
    return (folder / "op.toml").is_file() or ((folder / "op_host").is_dir() and (folder / "op_kernel").is_dir()) or sides.is_flat(folder)


def find_projects(start: Path) -> list[Path]:
    """The project that `start` lies in, else the projects up to three levels below it, sorted by path.

    Raises:
        NotAProject: `start` does not exist.
        NothingSelected: There is none.
    """
    start = start.absolute()
    if not start.exists():
        raise NotAProject(f"{start} does not exist", help="give the folder of an operator project, or make one: ascendops new op NAME")
    start = start.parent if start.is_file() else start
    above = next((folder for folder in (start, *start.parents) if is_project(folder)), None)
    if above:
        return [above]
    found = sorted(_below(start, _DEPTH))
    if not found:
        raise NothingSelected(
            f"no operator project in {start}, above it or up to {_DEPTH} levels below",
            help="make one with: ascendops new op softmax",
        )
    return found


def select(paths: Sequence[Path]) -> list[Path]:
    """The projects that the paths of a command line name; the current folder when there are none."""
    found = [project for path in (paths or [Path.cwd()]) for project in find_projects(path)]
    return list(dict.fromkeys(found))


def _below(folder: Path, depth: int) -> Iterator[Path]:
    try:
        entries = [Path(entry.path) for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)]
    except PermissionError:
        return
    for child in entries:
        if child.name.startswith(".") or child.name in _SKIPPED:
            continue
        if is_project(child):
            yield child
        elif depth > 1:
            yield from _below(child, depth - 1)
