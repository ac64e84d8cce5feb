"""`ascendops build`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ascendops.cli.options import (
    backend_option,
    jobs_option,
    op_option,
    output_options,
    paths_argument,
    project_option,
    select_projects,
    soc_option,
)
from ascendops.cli.output import Output, table

if TYPE_CHECKING:
    from ascendops.build import BuildResult


@click.command("build")
@paths_argument
@project_option
@op_option
@backend_option
@soc_option
@jobs_option
@output_options
def command(
    paths: tuple[Path, ...], project: Path | None, ops: tuple[str, ...], backend: str, soc: str, jobs: int | None, output: Output
) -> None:
    """Compile operators: gen/ is rendered, then every source is compiled.

    \b
    Examples:
      ascendops build
      ascendops build softmax layer_norm --soc Ascend910B3 --jobs 4

    PATH is a project or a folder of projects; without one, the project here or above is built, else those below.
    What has not changed is not compiled again. Set ASCENDOPS_CACHE to move the cache.
    """
    from ascendops.build import build_all, resolve_backend

    chosen = resolve_backend(backend)
    roots = select_projects(paths, project, ops)
    rows: list[BuildResult] = []

    def progress(result: BuildResult) -> None:
        rows.append(result)
        if not output.json:
            output.result(table([_row(result)]))

    build_all(roots, backend=chosen, soc=soc, jobs=jobs, progress=progress)
    output.emit({"backend": chosen, "builds": [_payload(result) for result in rows]})
    if backend == "auto" and chosen == "twin":
        output.say("note: CANN not found, so this is the CPU twin (ascendops doctor)")


def _payload(result: BuildResult) -> dict[str, Any]:
    return {
        "name": result.name, "root": str(result.library.root), "ops": sorted(result.library.ops), "backend": result.library.backend,
        "soc": result.library.soc, "seconds": round(result.seconds, 3), "compiled": result.compiled,
    }  # fmt: skip


def _row(result: BuildResult) -> list[str]:
    library = result.library
    state = click.style("ok", fg="green") + f", {result.compiled} compiled" if result.compiled else "up to date"
    return ["build", ", ".join(sorted(library.ops)), library.backend, library.soc, f"{result.seconds:.1f} s", state]
