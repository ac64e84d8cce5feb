"""op.toml and template families -> files in memory -> written all or nothing."""

from __future__ import annotations

from ascendops.render.families import Family, all_families
from ascendops.render.fileset import File, FileSet
from ascendops.render.gen import gen, origin
from ascendops.render.project import NewProject, new_project

__all__ = ["Family", "File", "FileSet", "NewProject", "all_families", "gen", "new_project", "origin"]
