"""The files of a project that registration reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ascendops.build.project import Project


def sources(project: Project) -> Iterator[tuple[str, Path]]:
    """What registration reads of a project with an op.toml: the declaration, golden.py and the references."""
    if project.spec is None:
        return
    for path in (project.root / "op.toml", project.root / "golden.py"):
        if path.is_file():
            yield path.name, path
    for path in sorted((project.root / "reference").rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield str(path.relative_to(project.root)), path
