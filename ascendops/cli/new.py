"""`ascendops new op`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ascendops.cli.options import diff_option, dry_run_option, force_option, output_options
from ascendops.cli.output import Output, plural, table

if TYPE_CHECKING:
    from ascendops.interchange import Declaration
    from ascendops.render import NewProject


@click.group("new")
def command() -> None:
    """Create an operator project from a template.

    \b
    Examples:
      ascendops new op softmax
      ascendops new op my_swish --like silu
    """


def _list(dialect: str, only: str | None) -> str:
    """The families of a dialect, or one of them, with their operators."""
    from ascendops.render import all_families
    from ascendops.render.families import family

    chosen = [family(only, dialect)] if only else all_families(dialect)
    return "\n".join(f"{one.name}: {one.doc}\n{table([[name, str(preset['doc'])] for name, preset in one.presets.items()])}" for one in chosen)


@command.command("op")
@click.argument("name", required=False)
@click.option("--list", "listing", is_flag=True, help="List families and their operators.")
@click.option("--family", metavar="F", help="Template family, when the name alone does not decide.")
@click.option("--like", metavar="PRESET", help="Start from this operator of the family, such as gelu.")
@click.option("--from", "source", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE", help="msopgen JSON, golden.py, or a CUDA or Triton file with the kernel to port.")
@click.option("--schema", metavar="S", help='PyTorch schema, such as "scale(Tensor x, float s) -> Tensor y".')
@click.option("--dialect", type=click.Choice(["ascendc", "tbe"]), default="ascendc", show_default=True, help="tbe: the TBE DSL, for CANN up to 8.x.")
@click.option("--soc", "socs", multiple=True, metavar="SOC", help="SoC or compute unit to support (repeatable).")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), metavar="DIR", help="Project folder [./NAME].")
@dry_run_option
@diff_option
@force_option
@output_options
def op(
    name: str | None, listing: bool, family: str | None, like: str | None, source: Path | None, schema: str | None, dialect: str, socs: tuple[str, ...], out: Path | None,
    dry_run: bool, diff: bool, force: bool, output: Output,
) -> None:  # fmt: skip
    """Create the project of operator NAME (snake_case) in ./NAME.

    \b
    Examples:
      ascendops new op softmax
      ascendops new op fast_gelu --like gelu --soc Ascend910B3 --dry-run

    NAME picks the template: `softmax`, `add`, `sum`, ... An unknown name needs --family or --like; the error lists
    both. All files are written or none. A folder that has files is refused; --force keeps what it replaces as NAME.orig.
    """
    from ascendops import render

    if listing:
        output.result(_list(dialect, family))
        return
    if name is None:
        raise click.UsageError("Missing argument 'NAME'.")
    if source is not None and schema is not None:
        raise click.UsageError("--from and --schema both say what the operator's arguments are: give one of them")
    declared = _from(name, source, output)
    project = render.new_project(
        name, out or Path(name), family=family, like=like, schema=schema, units=_units(socs), source=declared, dialect=dialect, dry_run=dry_run or diff, force=force
    )
    output.emit(_payload(project, dry_run or diff))
    if not output.json:
        output.result(project.diff.rstrip() if diff else _render(project, dry_run))


def _from(name: str, source: Path | None, output: Output) -> Declaration | None:
    """The interface that the file of --from declares."""
    if source is None:
        return None
    from ascendops.interchange import read

    declared = read(source, name)
    for note in declared.notes:
        output.say(f"  {note}")
    return declared


def _units(socs: tuple[str, ...]) -> list[str] | None:
    from ascendops.spec.socs import resolve

    return list(dict.fromkeys(resolve(soc).unit for soc in socs)) or None


def _payload(project: NewProject, dry: bool) -> dict[str, object]:
    files = [{"path": path, "note": note} for path, note in project.files]
    return {
        "name": project.spec.name, "family": project.family, "preset": project.preset, "root": str(project.root), "written": not dry,
        "note": project.note, "files": files,
    }  # fmt: skip


def _render(project: NewProject, dry_run: bool) -> str:
    verb = "would create" if dry_run else "created"
    mine = [(path, note) for path, note in project.files if not path.startswith("gen/")]
    rows = [[verb, str(project.root / path), click.style(note, dim=True)] for path, note in mine]
    derived = len(project.files) - len(mine)
    rows.append([verb, f"{project.root / 'gen'}/", click.style(f"{plural(derived, 'file')} rendered by every build", dim=True)])
    head = f"  template  {project.family}, preset {project.preset}" + (f" ({project.note})" if project.note else "")
    where = "" if project.root.resolve() == Path.cwd() else f"cd {project.root} && "
    tail = "nothing written." if dry_run else f"next: {where}ascendops build && ascendops test"
    return "\n".join([head, table(rows), f"  {tail}"])
