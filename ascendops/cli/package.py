"""`ascendops package`."""

from __future__ import annotations

from pathlib import Path

import click

from ascendops.cli.options import (
    backend_option,
    jobs_option,
    output_options,
    paths_argument,
    project_option,
    select_projects,
    soc_option,
)
from ascendops.cli.output import Output


@click.command("package")
@paths_argument
@project_option
@click.option("--name", required=True, metavar="NAME", help="Name of the wheel; the module has _ in place of - and dots.")
@click.option("--version", default="0.1.0", show_default=True, metavar="VERSION", help="Version of the wheel.")
@click.option("--namespace", default="ascendops", show_default=True, metavar="NS", help="The operators become torch.ops.NS.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default="dist", show_default=True, metavar="DIR", help="Folder of the wheel.")
@click.option(
    "--cpu", type=click.Choice(["portable", "native"]), default="portable", show_default=True,
    help="portable: the twin runs on every CPU of this architecture; native: faster, on CPUs like this one.",
)  # fmt: skip
@backend_option
@soc_option
@jobs_option
@output_options
def command(
    paths: tuple[Path, ...], project: Path | None, name: str, version: str, namespace: str, out: Path, cpu: str, backend: str, soc: str,
    jobs: int | None, output: Output,
) -> None:  # fmt: skip
    """Make one wheel of the operators of projects.

    \b
    Examples:
      ascendops package softmax --name my-softmax
      ascendops package my_ops --name my-ops --version 1.2.0 --namespace my_ops --out dist

    PATH is a project or a folder of projects, as for build. Where the wheel is installed, `import my_ops` registers torch.ops.my_ops.OP:
    nothing is compiled there. That environment needs torch and the same version of ascendops. With the backend twin the wheel holds the
    operator libraries for the CPU twin; with cann the installed package and the extension for torch_npu.
    """
    from ascendops.packages.make import package

    made = package(
        select_projects(paths, project, ()), name, out, version=version, namespace=namespace, backend=backend, soc=soc, cpu=cpu, jobs=jobs
    )
    output.emit({"wheel": str(made.path), "module": made.module, "operators": list(made.operators), "tag": made.tag})
    if not output.json:
        output.result(f"  wrote {made.path} ({made.path.stat().st_size >> 10} KiB): {', '.join(made.operators)}")
        output.say(f"  next: pip install {made.path}, then in Python: import {made.module}")
