"""`ascendops new op NAME`: a whole project from a template family, written all or nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendops import resources
from ascendops.errors import FileExistsRefused, SchemaMisfit, UnknownPreset
from ascendops.render import compose, env, families
from ascendops.render.columns import kept, restrict
from ascendops.render.families import Choice
from ascendops.render.fileset import FileSet
from ascendops.render.free import Free, free
from ascendops.render.gen import gen
from ascendops.render.gradients import gradients, with_relations
from ascendops.render.signature import fitting, own as own_signature
from ascendops.spec import names, schema as schemas
from ascendops.spec.load import parse as parse_spec
from ascendops.spec.schema import FunctionSchema

if TYPE_CHECKING:
    from ascendops.interchange import Declaration
    from ascendops.spec.model import OpSpec

CUSTOM = "custom"
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
    """What templates of a family read as `op`. `own` is the preset's schema: with --schema, tensors have other names in `signature`."""

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
    own: FunctionSchema
    reference: str | None
    doc: str = ""
    origin: str = ""
    constructs: tuple[tuple[str, str], ...] = ()
    gradients: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class FreeContext(OpContext, Free):
    """What templates of a family for any schema read as `op`."""


def new_project(
    name: str,
    dest: Path,
    *,
    family: str | None = None,
    like: str | None = None,
    schema: str | None = None,
    units: Sequence[str] | None = None,
    source: Declaration | None = None,
    dialect: str = "ascendc",
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
        source: The interface that a file declares (`ascendops.interchange.read`). Without `family` and `like`, the preset of this name
            is taken if its kernel fits, else the family `custom`.
        dialect: `ascendc`, or `tbe` for a project of the TBE DSL.
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
    if schema is not None:
        schemas.parse(schema, where="--schema")  # a mistake in it is named before one about the family
    text = schema or (source.schema(name) if source else None)
    choice = _choose(name, family, like, text, dialect, free_form=source is not None and dialect == "ascendc")
    made = _make(name, choice, text, tuple(units or DEFAULT_UNITS), source, dest)
    if made is None and (family or like):
        raise SchemaMisfit(
            f"{choice.preset} of {choice.family.name} has not the dtypes that {Path(source.where).name if source else ''} declares",
            where=source.where if source else "--from", help="take --family custom, whose kernel is yours to write, or change the dtypes",
        )  # fmt: skip
    if made is None:
        choice = _free("the template of this name has other dtypes")
        made = _make(name, choice, text, tuple(units or DEFAULT_UNITS), source, dest)
    assert made is not None
    files, spec = made
    files.update(gen(spec))
    if not dry_run and not force:
        _refuse_existing(dest)
    listing = [(file.path, file.note or _note(file.owner)) for file in files]
    project = NewProject(spec, choice.family.name, choice.preset, dest, listing, files.diff(dest), files.tree(), choice.note)
    if not dry_run:
        files.write(dest, overwrite=force)
    return project


def _refuse_existing(dest: Path) -> None:
    if dest.is_dir() and any(dest.iterdir()):
        raise FileExistsRefused(
            f"the folder {dest} exists and is not empty, so nothing was written", where=str(dest),
            help="choose another name or folder; --force writes into it and keeps replaced files as NAME.orig",
        )  # fmt: skip


def _choose(name: str, family: str | None, like: str | None, schema: str | None, dialect: str, *, free_form: bool) -> Choice:
    """The preset for a name; with a schema from a file, one whose kernel does not fit it gives way to the family `custom`."""
    if family or like or not free_form:
        return families.choose(name, family_name=family, like=like, dialect=dialect)
    try:
        choice = families.choose(name)
        fitting(name, choice, schema)
    except (UnknownPreset, SchemaMisfit):
        return _free("no template has this interface")
    return choice


def _free(why: str) -> Choice:
    return Choice(families.family(CUSTOM), CUSTOM, f"{why}, so the kernel's arithmetic is yours to write")


def _make(
    name: str, choice: Choice, schema: str | None, units: tuple[str, ...], source: Declaration | None, dest: Path
) -> tuple[FileSet, OpSpec] | None:  # fmt: skip
    """The user's files and the declaration; None if the template has not the dtypes of `source`."""
    files = _operator(name, choice, fitting(name, choice, schema), units, source)
    spec = parse_spec(files["op.toml"], dest / "op.toml")
    if source is None or choice.values.get("any_schema"):
        return files, spec
    columns = kept(spec, source)
    if columns is None:
        return None
    if columns != list(range(spec.columns)):
        files.replace("op.toml", restrict(files["op.toml"], spec, columns))
        spec = parse_spec(files["op.toml"], dest / "op.toml")
    return files, spec


def _note(owner: str) -> str:
    return "yours to edit" if owner == "user" else "rendered by every build"


def _operator(
    name: str, choice: Choice, signature: FunctionSchema, units: tuple[str, ...], source: Declaration | None
) -> FileSet:  # fmt: skip
    """The user's files, those of the backward operator included if the preset names one and nothing but a name or a schema was given."""
    own = own_signature(name, choice)
    files = _render(choice, _context(name, choice, signature, own, units, source), source)
    if "backward" not in choice.values or source is not None:
        return files
    renamed = compose.renames(own, signature)
    second = families.choose(choice.values["backward"], like=choice.values["backward"])
    theirs = own_signature(f"{name}_backward", second)
    text = re.sub(r"\w+", lambda word: renamed.get(word[0], word[0]), theirs.text)
    context = _context(theirs.name, second, schemas.parse(text, where=f"preset {second.preset}"), theirs, units, None)
    grads = {renamed.get(key, key): renamed.get(value, value) for key, value in choice.values["grads"].items()}
    compose.add_backward(files, _render(second, context, None), theirs.name, grads)
    return files


def _context(
    name: str, choice: Choice, signature: FunctionSchema, own: FunctionSchema, units: tuple[str, ...], source: Declaration | None
) -> OpContext:  # fmt: skip
    reference = _reference(choice.preset)
    plain = OpContext(
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
        own=own,
        reference=f"reference/{reference.name}:{choice.preset}" if reference else None,
        doc=str(choice.values["doc"]),
        origin=Path(source.where).name if source else "",
        constructs=source.constructs if source else (),
        gradients=gradients(choice.values, name, signature),
    )
    if not choice.values.get("any_schema"):
        return plain
    return FreeContext(**{**vars(plain), **vars(free(signature, source))})


def _reference(preset: str) -> Path | None:
    path = resources.cuda_reference() / preset / f"triton_{preset}.py"
    return path if path.is_file() else None


def _render(choice: Choice, op: OpContext, source: Declaration | None) -> FileSet:
    own = dict(source.files) if source else {}
    context: Mapping[str, Any] = {"op": op, "p": with_relations(choice.values, op.name, op.signature)}
    files = FileSet()
    for entry in choice.family.files:
        if entry.presets and choice.preset not in entry.presets:
            continue
        target = env.render_text(entry.target, context, where=f"{choice.family.name}/family.toml")
        text = env.render(entry.template, context)
        files.add(target, own.pop(target, text), owner=entry.owner, note=entry.note, executable=entry.executable)
    reference = _reference(op.preset)
    if reference is not None and f"reference/{reference.name}" not in files.files:
        files.add(f"reference/{reference.name}", reference.read_text(encoding="utf-8"), note="Triton reference")
    files.add(".clang-format", env.render("_shared/clang-format", context), note="style of the C++ sources")
    for path, text in own.items():
        files.add(path, text, note="where the operator comes from")
    return files
