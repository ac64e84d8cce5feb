"""The template families: op_templates/families.toml and each family's family.toml."""

from __future__ import annotations

import functools
import posixpath
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ascendops import resources
from ascendops.errors import AscendOpsError, FamilyError, UnknownFamily, UnknownPreset, did_you_mean
from ascendops.spec.lines import Lines
from ascendops.spec.table import Table

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_FILE_KEYS = ("template", "target", "owner", "note", "executable", "per", "presets")
_SUFFIX = "_custom"


@dataclass(frozen=True)
class TemplateFile:
    """One file of a family: the template (below op_templates) and where it goes (a Jinja string).

    `per` is `project`, `operator` for a file of gen/ that every operator of op.toml gets, or `kernel` for one that each kernel of a direct launch gets; `presets` are those that have the file (empty: all).
    """

    template: str
    target: str
    owner: str = "user"
    note: str = ""
    executable: bool = False
    per: str = "project"
    presets: tuple[str, ...] = ()


@dataclass(frozen=True)
class Family:
    """One family: its files, and its presets by name (tables that templates read as `p`)."""

    name: str
    doc: str
    default: str
    files: tuple[TemplateFile, ...]
    presets: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Choice:
    """The family and preset chosen for a name; `note` says so when it was not the name that chose them."""

    family: Family
    preset: str
    note: str = ""

    @property
    def values(self) -> Mapping[str, Any]:
        """The preset's table."""
        return self.family.presets[self.preset]


def _toml(path: Path) -> Table:
    try:
        text = path.read_text(encoding="utf-8")
        return Table(tomllib.loads(text), Lines(text, str(path)))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise FamilyError(f"{path.name} cannot be read: {error}", where=str(path)) from None


def _files(table: Table, key: str, folder: str) -> tuple[TemplateFile, ...]:
    root = resources.op_templates()
    found = []
    for entry in table.tables(key, _FILE_KEYS):
        template = entry.text("template", '"op.toml.j2"')
        local = posixpath.normpath(f"{folder}/{template}")
        inside = local if folder and (root / local).is_file() else template
        if not (root / inside).is_file():
            raise FamilyError(f"there is no template {inside}", where=entry.where("template"))
        owner = entry.word("owner", ("user", "generated"), "user")
        executable = entry.get("executable", bool, "true", False)
        per = entry.word("per", ("project", "operator", "kernel"), "project")
        presets = tuple(entry.words("presets", '["sum"]', ()))
        note = entry.text("note", '"..."', "")
        found.append(TemplateFile(inside, entry.text("target", '"op.toml"'), owner, note, executable, per, presets))
    return tuple(found)


def generated_files(dialect: str = "ascendc") -> tuple[TemplateFile, ...]:
    """The files of gen/, the same for every family of a dialect.

    Raises:
        FamilyError: gen.toml is not valid.
    """
    return _generated(resources.op_templates(), "gen.toml" if dialect == "ascendc" else f"{dialect}.toml")


def direct_files() -> tuple[TemplateFile, ...]:
    """The files of a kernel direct launch project.

    Raises:
        FamilyError: direct.toml is not valid.
    """
    return _files(_toml(resources.op_templates() / "_direct" / "direct.toml"), "file", "")


@functools.cache
def _generated(root: Path, name: str) -> tuple[TemplateFile, ...]:
    return _files(_toml(root / "_gen" / name), "generated", "")


def all_families(dialect: str = "ascendc") -> Sequence[Family]:
    """Every family of a dialect that is there, in the order of families.toml.

    Raises:
        FamilyError: A family.toml is not valid.
    """
    return _families(resources.op_templates(), "" if dialect == "ascendc" else f"{dialect}/")


@functools.cache
def _families(root: Path, folder: str) -> tuple[Family, ...]:
    order = _toml(root / folder / "families.toml").words("order", '["elementwise"]')
    return tuple(_family(root, name, folder) for name in order if (root / folder / name / "family.toml").is_file())


def _family(root: Path, name: str, folder: str) -> Family:
    raw = _toml(root / folder / name / "family.toml")
    table = Table(raw.data, raw.lines, allowed=("name", "doc", "default", "file", "preset"))
    presets = table.table("preset").data
    if table.text("name", f'"{name}"') != name:
        raise FamilyError(f"the family in {name}/ is called '{table.data['name']}'", where=table.where("name"))
    default = table.text("default", '"relu"')
    if default not in presets:
        raise FamilyError(f"the default preset '{default}' does not exist", where=table.where("default"), help=did_you_mean(default, presets))
    for preset, values in presets.items():
        for key in ("doc", "schema"):
            if not isinstance(values, dict) or not isinstance(values.get(key), str):
                raise FamilyError(f"preset '{preset}' lacks '{key}'", where=table.where("preset", preset))
    files = _files(table, "file", f"{folder}{name}")
    for preset in {preset for file in files for preset in file.presets} - presets.keys():
        raise FamilyError(f"a file is for the preset '{preset}', which does not exist", where=table.where("file"), help=did_you_mean(preset, presets))
    return Family(name, table.text("doc", '"..."'), default, files, presets)


def family(name: str, dialect: str = "ascendc") -> Family:
    """The family of a dialect called `name`.

    Raises:
        UnknownFamily: There is none.
    """
    for one in all_families(dialect):
        if one.name == name:
            return one
    kind = "" if dialect == "ascendc" else f" for {dialect}"
    raise UnknownFamily(f"there is no template family '{name}'{kind}", help=_listing(name, [one.name for one in all_families(dialect)]))


def _listing(word: str, names: Sequence[str]) -> str:
    return did_you_mean(word, names) if names else "no family is installed"


def choose(name: str, *, family_name: str | None = None, like: str | None = None, dialect: str = "ascendc") -> Choice:
    """The family and preset for a new operator.

    `like` names the preset; else the operator's name does, with or without `_custom`; else the family's default preset is taken.

    Raises:
        UnknownFamily: `family_name` does not exist.
        UnknownPreset: `like` does not exist, or nothing says which preset to take.
    """
    candidates = [family(family_name, dialect)] if family_name else list(all_families(dialect))
    wanted = [like] if like else [name, name.removesuffix(_SUFFIX)]
    for preset in wanted:
        for one in candidates:
            if preset in one.presets:
                return Choice(one, preset)
    if like or not family_name:
        raise _unknown(like or name, candidates, given=like is not None)
    default = candidates[0].default
    return Choice(candidates[0], default, f"'{name}' is not a preset of {family_name}, so its default '{default}' was taken")


def _unknown(word: str, candidates: Sequence[Family], *, given: bool) -> AscendOpsError:
    names = [preset for one in candidates for preset in one.presets]
    lists = "\n".join(f"{one.name}: {', '.join(one.presets)}" for one in candidates)
    close, found, _ = did_you_mean(word, names).partition("? ")
    hint = f"{close}? " if found else ""
    return UnknownPreset(
        f"{'there is no preset' if given else 'no template has an operator'} '{word}'",
        why=lists,
        help=f"{hint}start from one of these with --like PRESET, take a family's default with --family FAMILY, or any schema with --family custom",
    )
