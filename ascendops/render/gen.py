"""spec -> gen/: everything of a project that is derived from op.toml."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendops.render import env, families
from ascendops.render.families import TemplateFile
from ascendops.render.fileset import GENERATED, MARKER, FileSet
from ascendops.render.opview import OpView, views

if TYPE_CHECKING:
    from ascendops.spec.model import OpSpec

FOLDER = "gen"


def header(template: str, digest: str) -> str:
    """The first line of a generated file, without the comment sign."""
    return f"{MARKER} from op.toml; edits are lost (template {template}, spec {digest})"


def _context(op: OpView, entry: TemplateFile) -> dict[str, Any]:
    digest = op.digest if entry.per == "operator" else op.project_digest
    return {"op": op, "header": header(entry.template, digest)}


def _target(entry: TemplateFile, op: OpView) -> str:
    return env.render_text(entry.target, {"op": op}, where=f"gen/ of {op.name}")


def _entries(spec: OpSpec) -> Iterator[tuple[TemplateFile, OpView]]:
    """Every generated file with the operator that it is about; files of the project are about its first operator."""
    first, *others = views(spec)
    for entry in families.generated_files(spec.dialect):
        yield entry, first
        if entry.per == "operator":
            yield from ((entry, op) for op in others)


def gen(spec: OpSpec) -> FileSet:
    """Render gen/ for a declaration: op_host registration and InferShape, CMake front ends, torch binding.

    Raises:
        TemplateError: A template is faulty.
    """
    files = FileSet(prune=FOLDER)
    for entry, op in _entries(spec):
        text = env.render(entry.template, _context(op, entry))
        files.add(_target(entry, op), text, owner=GENERATED, note=entry.note, executable=entry.executable)
    return files


def origin(spec: OpSpec, path: Path, line: int) -> str | None:
    """Where line `line` of the generated file `path` came from, as `op_templates/...:LINE`; None when that is not known."""
    try:
        inside = path.resolve().relative_to(spec.root.resolve()).as_posix()
    except ValueError:
        return None
    for entry, op in _entries(spec):
        if _target(entry, op) == inside:
            lines = env.line_map(entry.template, _context(op, entry))
            found = lines[line - 1] if 0 < line <= len(lines) else None
            return f"op_templates/{found[0]}:{found[1]}" if found else None
    return None
