"""`ascendops toolchain`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ascendops.cli.options import output_options
from ascendops.cli.output import Output, table
from ascendops.errors import ExitCode

_SOURCE = click.Path(exists=True, path_type=Path)


@click.group("toolchain", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Install, list and remove compilers in a private folder.

    \b
    Examples:
      ascendops toolchain install triton-ascend
      ascendops toolchain remove triton-ascend

    A toolchain lies in the kit's cache folder (ASCENDOPS_CACHE) and on nobody's import path. Versions are exact and every file
    is compared with a hash that ships with the kit.
    """


@command.command("install")
@click.argument("name")
@click.option("--from", "source", type=_SOURCE, metavar="PATH", help="A folder with the wheels (or one of them): no network.")
@click.option("--python", metavar="EXE", help="Interpreter to install for [this one, else one on PATH that has wheels].")
@output_options
def install(name: str, source: Path | None, python: str | None, output: Output) -> int:
    """Fetch a toolchain with pip, verify it, unpack it, try it.

    This is the only command of the kit that uses the network, and only when --from is not given.
    """
    from ascendops.migrate.lowering.trial import trial
    from ascendops.toolchain import private

    made, new = private.install(name, source, python, output.say)
    core = trial(made)
    output.result(f"{made.name} {made.version} {'installed' if new else 'was installed already'}: {made.path}")
    output.say(f"tried: a vector addition compiles for Ascend910B1 and runs on {core}; next: ascendops check KERNEL.py")
    output.emit({**_row(made), "new": new})
    return ExitCode.OK


@command.command("list")
@output_options
def list_(output: Output) -> int:
    """Show what is installed, and what could be."""
    from ascendops.toolchain import private
    from ascendops.toolchain.pins import pins

    here = private.installed()
    rows = [[it.name, it.version, "installed" if it.usable else "its Python has gone", str(it.path)] for it in here]
    names = {it.name for it in here}
    rows += [[pin.name, pin.version, "not installed", f"{pin.what} ({pin.download_mb} MB, {pin.disk_mb} MB on disk)"] for pin in pins().values() if pin.name not in names]
    output.result(table(rows))
    output.emit({"installed": [_row(it) for it in here], "available": sorted(pins())})
    return ExitCode.OK


@command.command("remove")
@click.argument("name")
@output_options
def remove(name: str, output: Output) -> int:
    """Remove a toolchain and give back its disk space."""
    from ascendops.toolchain import private

    gone = private.remove(name)
    for path in gone:
        output.result(f"removed {path}")
    output.emit({"removed": [str(path) for path in gone]})
    return ExitCode.OK


def _row(it: Any) -> dict[str, Any]:
    return {"name": it.name, "version": it.version, "python": it.python, "path": str(it.path), "usable": it.usable, "wheels": it.wheels}
