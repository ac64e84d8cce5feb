"""The pages of docs/families/: op_templates/FAMILY/page.md with tables from the presets, and a drawing of each tiling strategy."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ascendops.render import Family, all_families, new_project
from ascendops.spec.names import suggestion
from tools import drawing

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
TEMPLATES = ROOT / "op_templates"


def pages(note: str) -> Iterator[tuple[Path, str]]:
    """Path and text of every page and drawing; only families that have a page.md have a page."""
    for family in all_families():
        source = TEMPLATES / family.name / "page.md"
        if not source.is_file():
            continue
        folder = ROOT / "docs" / "families"
        panels = tomllib.loads((source.parent / "drawing.toml").read_text(encoding="utf-8"))["panel"]
        strategies = dict(_strategies(family))
        yield folder / f"{family.name}.svg", drawing.svg(f"Tiling strategies of the family {family.name}", panels)
        text = source.read_text(encoding="utf-8")
        yield folder / f"{family.name}.md", _filled(text, family, strategies, note)


def _filled(text: str, family: Family, strategies: Mapping[str, tuple[str, list[str]]], note: str) -> str:
    head, _, rest = text.partition("\n\n")
    formulas = [f"| `{name}` | `{_cell(preset['doc'])}` |" for name, preset in family.presets.items()]
    keys = [f"| `{key}` | {why} | {', '.join(f'`{op}`' for op in ops)} |" for key, (why, ops) in strategies.items()]
    return f"{head}\n\n{note}\n{rest}".format(
        formulas="\n".join(["| operator | computes |", "|---|---|", *formulas]),
        strategies="\n".join(["| tiling key | when | operators |", "|---|---|---|", *keys]),
        drawing=f"![Tiling strategies]({family.name}.svg)",
    )


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _strategies(family: Family) -> Iterator[tuple[str, tuple[str, list[str]]]]:
    """Each tiling key of the family: when it is chosen, and by which operators."""
    found: dict[tuple[str, str], list[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for preset in family.presets:
            spec = new_project(suggestion(preset), Path(folder) / preset, family=family.name, like=preset, dry_run=True).spec
            for key in spec.tiling_keys:
                found.setdefault((key.name, key.why), []).append(preset)
    names: dict[str, Any] = {}
    for (name, why), presets in found.items():
        names[name if name not in names else f"{name} ({presets[0]})"] = (why, presets)
    yield from names.items()
