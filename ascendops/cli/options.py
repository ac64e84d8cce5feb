"""The flag vocabulary: each option is written once, so that it means and reads the same in every command."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from ascendops.cli.output import Output
from ascendops.errors import AscendOpsError, NotAProject, NothingSelected, did_you_mean

Command = TypeVar("Command", bound=Callable[..., Any])

BACKENDS = ("auto", "twin", "cann")
_FOLDER = click.Path(file_okay=False, path_type=Path)
_FILE = click.Path(dir_okay=False, path_type=Path)

paths_argument = click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH]...")
project_option = click.option("-C", "--project", type=_FOLDER, metavar="DIR", help="Act as if started in DIR.")
op_option = click.option("--op", "ops", multiple=True, metavar="NAME", help="Only this operator (repeatable).")
backend_option = click.option(
    "--backend", type=click.Choice(BACKENDS), default="auto", envvar="ASCENDOPS_BACKEND", show_default=True,
    help="auto: cann where the toolkit is, else twin.",
)  # fmt: skip
soc_option = click.option("--soc", metavar="SOC", help="SoC name such as Ascend910B3 or 910B3.")
jobs_option = click.option(
    "-j", "--jobs", type=click.IntRange(min=1), envvar="ASCENDOPS_JOBS", metavar="N", help="Parallel compilations [one per core]."
)
force_option = click.option("--force", is_flag=True, help="Overwrite files that exist.")
dry_run_option = click.option("--dry-run", is_flag=True, help="Show what would be written; write nothing.")
diff_option = click.option("--diff", is_flag=True, help="Show the difference to what is on disk; write nothing.")
seed_option = click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Seed of the input values.")
out_file_option = click.option("--out", type=_FILE, metavar="FILE", help="Write the result to FILE.")


def output_options(function: Command) -> Command:
    """Adds --json, -q and -v; the command receives one `output`."""
    import functools

    @click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
    @click.option("-q", "--quiet", is_flag=True, help="Print results and errors only.")
    @click.option("-v", "--verbose", is_flag=True, help="Print commands, paths and tracebacks too.")
    @functools.wraps(function)
    def wrapper(*args: Any, as_json: bool, quiet: bool, verbose: bool, **kwargs: Any) -> Any:
        return function(*args, output=Output(json=as_json, quiet=quiet, verbose=verbose), **kwargs)

    return wrapper  # type: ignore[return-value]  # click reads the wrapper's options, callers its behaviour


def resolve_backend(name: str) -> str:
    """`auto` becomes `cann` where ASCEND_HOME_PATH names a toolkit, else `twin`."""
    from ascendops.toolchain.cann import find_toolkit

    if name != "auto":
        return name
    return "cann" if find_toolkit() is not None else "twin"


def select_projects(paths: tuple[Path, ...], project: Path | None, ops: tuple[str, ...]) -> list[Path]:
    """The project folders that PATHs, -C and --op select.

    Raises:
        NotAProject: A PATH does not exist or holds no project.
        NothingSelected: Nothing lies here, or --op leaves nothing.
    """
    from ascendops.build import find_projects

    start = project or Path()
    starts = [start / path for path in paths] or [start]
    found: list[Path] = []
    for place in starts:
        if not place.exists():
            raise NotAProject(f"{place} does not exist", help="give the folder of an operator project")
        found += [root for root in find_projects(place) if root not in found]
    if not found:
        place = os.fspath(starts[0].absolute())
        raise NothingSelected(
            "no operator project here", where=place, help="create one: ascendops new op softmax; or name its folder"
        )
    return _only(found, ops)


def _only(roots: list[Path], ops: tuple[str, ...]) -> list[Path]:
    if not ops:
        return roots
    names = {op_name(root): root for root in roots}
    unknown = [op for op in ops if op not in names]
    if unknown:
        raise NothingSelected(f"no operator is called '{unknown[0]}'", help=did_you_mean(unknown[0], names))
    return [names[op] for op in ops]


def op_name(root: Path) -> str:
    """The operator's name in op.toml; the folder's name where there is no (readable) op.toml."""
    from ascendops.spec import load

    try:
        return load(root / "op.toml").name
    except (AscendOpsError, OSError):
        return root.resolve().name
