"""From an operator project to a library that can be called."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ascendops.build.discover import find_projects, is_project, select
    from ascendops.build.library import Library
    from ascendops.build.operator import Operator
    from ascendops.build.project import BuildResult, Project, build_all, open_project, resolve_backend
    from ascendops.build.result import RunResult

__all__ = [
    "BuildResult", "Library", "Operator", "Project", "RunResult", "build_all", "find_projects", "is_project", "open_project",
    "resolve_backend", "select",
]  # fmt: skip

_HOME = {
    **dict.fromkeys(("find_projects", "is_project", "select"), "discover"),
    **dict.fromkeys(("BuildResult", "Project", "build_all", "open_project", "resolve_backend"), "project"),
    "Library": "library",
    "Operator": "operator",
    "RunResult": "result",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f"ascendops.build.{_HOME[name]}"), name)
    raise AttributeError(f"module 'ascendops.build' has no attribute '{name}'")
