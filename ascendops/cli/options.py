"""The flag vocabulary: each option is written once, so that it means and reads the same in every command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from ascendops import progress
from ascendops.cli.output import Output
from ascendops.errors import AscendOpsError, NothingSelected, did_you_mean
from ascendops.spec.socs import DEFAULT_SOC

Command = TypeVar("Command", bound=Callable[..., Any])

BACKENDS = ("auto", "twin", "cann")
_FOLDER = click.Path(file_okay=False, path_type=Path)
_FILE = click.Path(dir_okay=False, path_type=Path)

paths_argument = click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH]...")
project_option = click.option("-C", "--project", type=_FOLDER, metavar="DIR", help="Act as if started in DIR.")
op_option = click.option("--op", "ops", multiple=True, metavar="NAME", help="Only this operator (repeatable).")
backend_option = click.option(
    "--backend", type=click.Choice(BACKENDS), default="auto", envvar="ASCENDOPS_BACKEND",
    help="auto: cann where the toolkit is, else twin.",
)  # fmt: skip
soc_option = click.option(
    "--soc", default=DEFAULT_SOC, metavar="SOC", help=f"SoC, such as 910B3 [{DEFAULT_SOC}]."
)
jobs_option = click.option(
    "-j", "--jobs", type=click.IntRange(min=1), envvar="ASCENDOPS_JOBS", metavar="N", help="Parallel compilations [one per core]."
)
force_option = click.option("--force", is_flag=True, help="Replace files that exist.")
dry_run_option = click.option("--dry-run", is_flag=True, help="Show what would be written; write nothing.")
diff_option = click.option("--diff", is_flag=True, help="Show the difference to what is on disk; write nothing.")
seed_option = click.option("--seed", type=click.IntRange(min=0), default=0, metavar="N", help="Seed of the input values [0].")
out_file_option = click.option("--out", type=_FILE, metavar="FILE", help="Write the result to FILE.")


def output_options(function: Command) -> Command:
    """Adds --json, -q and -v; the command receives one `output`."""
    import functools

    @click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
    @click.option("-q", "--quiet", is_flag=True, help="Print results and errors only.")
    @click.option("-v", "--verbose", is_flag=True, help="Print commands, paths and tracebacks too.")
    @functools.wraps(function)
    def wrapper(*args: Any, as_json: bool, quiet: bool, verbose: bool, **kwargs: Any) -> Any:
        output = Output(json=as_json, quiet=quiet, verbose=verbose)
        progress.listener = output.say
        return function(*args, output=output, **kwargs)

    return wrapper  # type: ignore[return-value]  # click reads the wrapper's options, callers its behaviour


def select_projects(paths: tuple[Path, ...], project: Path | None, ops: tuple[str, ...]) -> list[Path]:
    """The project folders that PATHs, -C and --op select.

    Raises:
        NotAProject: A PATH does not exist.
        NothingSelected: No project lies here, or --op names none of them.
    """
    from ascendops.build import select

    start = project or Path()
    roots = select([start / path for path in paths] or [start])
    if not ops:
        return roots
    names = {op_name(root): root for root in roots}
    unknown = next((op for op in ops if op not in names), None)
    if unknown:
        raise NothingSelected(f"no operator here is called '{unknown}'", help=did_you_mean(unknown, names))
    return [names[op] for op in ops]


def op_name(root: Path) -> str:
    """The operator's name: op.toml's, or the folder's where there is no valid op.toml (the build will say why)."""
    from ascendops.build import open_project

    try:
        return open_project(root).name
    except AscendOpsError:
        return root.name
