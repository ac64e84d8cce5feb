"""`ascendops new op NAME`: a whole project from a template family, written all or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendops import resources
from ascendops.errors import FileExistsRefused, SchemaMisfit
from ascendops.render import env, families
from ascendops.render.families import Choice
from ascendops.render.fileset import FileSet
from ascendops.render.gen import gen
from ascendops.spec import names, schema as schemas
from ascendops.spec.load import parse as parse_spec
from ascendops.spec.schema import FunctionSchema
from ascendops.spec.tensors import attributes

if TYPE_CHECKING:
    from ascendops.spec.model import OpSpec

DEFAULT_UNITS = ("ascend910b", "ascend910_93")


@dataclass(frozen=True)
class NewProject:
    """What `new_project` made.

    Attributes:
        spec: The declaration, as op.toml has it.
        family: Template family.
        preset: Operator of that family.
        root: The project's folder.
        files: (relative path, note) of every file, in reading order.
        diff: Unified diff against what was there before.
        tree: The files as an indented tree.
        note: A sentence when something was decided for the user, else empty.
    """

    spec: OpSpec
    family: str
    preset: str
    root: Path
    files: list[tuple[str, str]]
    diff: str
    tree: str
    note: str = ""


@dataclass(frozen=True)
class OpContext:
    """What templates of a family read as `op`."""

    name: str
    op_type: str
    pascal: str
    schema: str
    units: tuple[str, ...]
    family: str
    preset: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attrs: tuple[str, ...]
    signature: FunctionSchema
    reference: str | None


def new_project(
    name: str,
    dest: Path,
    *,
    family: str | None = None,
    like: str | None = None,
    schema: str | None = None,
    units: Sequence[str] | None = None,
    dry_run: bool = False,
    force: bool = False,
) -> NewProject:
    """Make the project of operator `name` in the folder `dest`.

    Args:
        name: snake_case name; it picks the preset (with or without `_custom`).
        dest: The project's folder; made when missing.
        family: Template family, when the name does not decide.
        like: Preset to start from.
        schema: PyTorch schema that replaces the preset's.
        units: Compute units; the default is Atlas A2 and A3.
        dry_run: Render and check everything, write nothing.
        force: Write into an existing folder; a file that differs is replaced and its old content kept as NAME.orig.

    Raises:
        BadOpName: The name cannot be used.
        UnknownFamily: There is no such family.
        UnknownPreset: Nothing says which preset to take.
        SchemaMisfit: The schema does not fit the family.
        FileExistsRefused: The folder exists and is not empty, and `force` is off.
        NotWritable: The folder cannot be written.
    """
    names.check_op_name(name)
    choice = families.choose(name, family_name=family, like=like)
    signature = _signature(name, choice, schema)
    context = _context(name, choice, signature, tuple(units or DEFAULT_UNITS))
    files = _render(choice, context)
    spec = parse_spec(files["op.toml"], dest / "op.toml")
    files.update(gen(spec))
    if not dry_run and not force and dest.is_dir() and any(dest.iterdir()):
        raise FileExistsRefused(
            f"the folder {dest} exists and is not empty, so nothing was written",
            where=str(dest),
            help="choose another name or folder; --force writes into it and keeps replaced files as NAME.orig",
        )
    listing = [(file.path, file.note or _note(file.owner)) for file in files]
    project = NewProject(spec, choice.family.name, choice.preset, dest, listing, files.diff(dest), files.tree(), choice.note)
    if not dry_run:
        files.write(dest, overwrite=force)
    return project


def _note(owner: str) -> str:
    return "yours to edit" if owner == "user" else "rendered by every build"


def _signature(name: str, choice: Choice, text: str | None) -> FunctionSchema:
    preset = schemas.parse(str(choice.values["schema"]).replace("{name}", name), where=f"preset {choice.preset}")
    if text is None:
        return preset
    given = schemas.parse(text, where="--schema")
    problems = []
    if given.name != name:
        problems.append(f"it is called '{given.name}', but the operator '{name}'")
    for what, mine, theirs in (
        ("input tensors", given.tensors, preset.tensors),
        ("output tensors", given.returns, preset.returns),
    ):
        if len(mine) != len(theirs):
            problems.append(f"it has {len(mine)} {what}, but the kernel {len(theirs)}")
    mine_attrs, preset_attrs = _attrs(given), _attrs(preset)
    if mine_attrs != preset_attrs:
        problems.append(f"its attributes are ({', '.join(mine_attrs)}), but the kernel has ({', '.join(preset_attrs)})")
    if problems:
        need = f"the preset '{choice.preset}' of {choice.family.name} is written for {preset.text}"
        hint = "fit the schema to it, start from another one (--like), or change op.toml and the kernel afterwards"
        raise SchemaMisfit(f"the schema does not fit: {'; '.join(problems)}", where="--schema", why=need, help=hint)
    return given


def _attrs(signature: FunctionSchema) -> list[str]:
    return [f"{attr.type} {attr.name}" for attr in attributes(signature)]


def _context(name: str, choice: Choice, signature: FunctionSchema, units: tuple[str, ...]) -> OpContext:
    reference = _reference(choice.preset)
    return OpContext(
        name=name,
        op_type=names.pascal(name),
        pascal=names.pascal(name),
        schema=signature.text,
        units=units,
        family=choice.family.name,
        preset=choice.preset,
        inputs=tuple(arg.name for arg in signature.tensors),
        outputs=tuple(str(ret.name) for ret in signature.returns),
        attrs=tuple(arg.name for arg in signature.attrs),
        signature=signature,
        reference=f"reference/{reference.name}:{choice.preset}" if reference else None,
    )


def _reference(preset: str) -> Path | None:
    path = resources.cuda_reference() / preset / f"triton_{preset}.py"
    return path if path.is_file() else None


def _render(choice: Choice, op: OpContext) -> FileSet:
    context: Mapping[str, Any] = {"op": op, "p": choice.values}
    files = FileSet()
    for entry in choice.family.files:
        target = env.render_text(entry.target, context, where=f"{choice.family.name}/family.toml")
        text = env.render(entry.template, context)
        files.add(target, text, owner=entry.owner, note=entry.note, executable=entry.executable)
    reference = _reference(op.preset)
    if reference is not None and f"reference/{reference.name}" not in files.files:
        files.add(f"reference/{reference.name}", reference.read_text(encoding="utf-8"), note="Triton reference")
    return files
