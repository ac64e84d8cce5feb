"""`ascendops export`."""

from __future__ import annotations

from pathlib import Path

import click

from ascendops.cli.options import force_option, output_options, seed_option, soc_option
from ascendops.cli.output import Output, plural

_TAKES = {  # options beside PATH and those of the output that a form reads
    "msopgen": {"out", "soc", "force"},
    "ttk": {"out", "tier", "seed", "force"},
    "direct": {"out", "tier", "seed", "soc", "force"},
    "onnx": {"onnx_dir", "soc", "force"},
}


@click.command("export")
@click.argument("path", type=click.Path(path_type=Path), default=".")
@click.option(
    "--format", "form", type=click.Choice(["msopgen", "ttk", "direct"]), default="msopgen", show_default=True,
    help="msopgen: the IR JSON of `msopgen gen -i`. ttk: cases, golden and data of the operator test kit. direct: a program that launches the kernels.",
)
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write it there instead of printing it; for ttk and direct, a folder.")
@click.option("--tier", type=click.Choice(["smoke", "declared", "default", "full"]), default="declared", metavar="T", help="ttk, direct: which cases [declared].")
@seed_option
@click.option("--onnx", "onnx_dir", type=click.Path(file_okay=False, path_type=Path), metavar="DIR", help="Write ONNX models, the plug-in for ATC and its command lines.")
@soc_option
@force_option
@output_options
@click.pass_context
def command(
    ctx: click.Context, path: Path, form: str, out: Path | None, tier: str, seed: int, onnx_dir: Path | None, soc: str, force: bool, output: Output
) -> None:
    """Write the operators of the project PATH as msopgen's JSON, test kit cases, ONNX, or a direct launch.

    \b
    Examples:
      ascendops export my_ops --out ir.json && msopgen gen -i ir.json -c ai_core-ascend910b -lan cpp -out my_ops_cann
      ascendops export softmax --format direct --soc 910B3 --out softmax_direct

    Works on kit projects and on any folder with op_host/ and op_kernel/: the registration code is compiled and run.
    Files that are there and differ are refused; --force keeps what it replaces as NAME.orig.
    `ascendops new op NAME --from FILE.json` is the way back.
    """
    _check_options(ctx, "onnx" if onnx_dir is not None else form)
    if onnx_dir is not None:
        _onnx(path, onnx_dir, soc, force, output)
    elif form == "ttk":
        _ttk(path, out, tier, seed, force, output)
    elif form == "direct":
        _direct(path, out, soc, tier, seed, force, output)
    else:
        _msopgen(path, out, soc, force, output)


def _check_options(ctx: click.Context, form: str) -> None:
    """Refuses options that were given and that the form would not read."""
    given = {name for name in ctx.params if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE}
    if form == "onnx" and "form" in given:
        raise click.UsageError(f"--format {ctx.params['form']} and --onnx are two exports: run one after the other")
    unread = given & set().union(*_TAKES.values()) - _TAKES[form]
    for param in ctx.command.params:
        if param.name in unread:
            takers = ", ".join(other for other, takes in _TAKES.items() if param.name in takes)
            what = "--onnx" if form == "onnx" else f"--format {form}"
            raise click.UsageError(f"{param.opts[0]} means nothing for {what}; it is read by: {takers}")


def _msopgen(path: Path, out: Path | None, soc: str, force: bool, output: Output) -> None:
    from ascendops.build import open_project
    from ascendops.build.twin import host_library
    from ascendops.interchange import msopgen
    from ascendops.render import FileSet
    from ascendops.spec import socs

    chosen = socs.resolve(soc)
    host, _ = host_library(open_project(path), chosen)
    ops = [op.for_unit(chosen.unit) for op in host.ops.values()]
    text = msopgen.write(ops)
    if out is not None:
        files = FileSet()
        files.add(out.name, text)
        files.write(out.parent, overwrite=force)
    output.emit({"format": "msopgen", "operators": [op.op_type for op in ops], "file": None if out is None else str(out), "text": text})
    if not output.json:
        output.result(text.rstrip("\n") if out is None else f"  wrote {out}: {', '.join(op.op_type for op in ops)}")


def _ttk(path: Path, out: Path | None, tier: str, seed: int, force: bool, output: Output) -> None:
    from ascendops import spec
    from ascendops.errors import NotAProject
    from ascendops.interchange import ttk

    if out is None:
        raise click.UsageError("--format ttk writes a folder: give --out DIR")
    if not (path / "op.toml").is_file():
        raise NotAProject(f"{path} has no op.toml, so it has no cases", where=str(path), help="ascendops new op NAME makes a project")
    made = ttk.write(spec.load(path / "op.toml").operators, out, tier, seed, force=force)
    output.emit({"format": "ttk", "folders": [{"folder": str(one.folder), "cases": one.cases, "left_out": one.left_out} for one in made]})
    for one in made if not output.json else ():
        output.result(f"  wrote {one.folder}   {one.cases} cases, {len(one.left_out)} left out")
        for reason in dict.fromkeys(one.left_out.values()):
            output.say(f"    left out: {reason}")
        output.result(f"  python3 -m ttk kernel -i {one.folder}/{ttk.CSV} --plugin {one.folder}/{ttk.GOLDEN} --manual-data-dirs {one.folder}/{ttk.DATA}")
    output.say("note: the test kit itself was not run here")


def _direct(path: Path, out: Path | None, soc: str, tier: str, seed: int, force: bool, output: Output) -> None:
    from ascendops.build import open_project
    from ascendops.interchange import direct

    if out is None:
        raise click.UsageError("--format direct writes a folder: give --out DIR")
    made = direct.write(open_project(path), out, soc, tier, seed, force=force)
    rows = [
        {"operator": one.operator, "folder": str(one.folder), "kernels": [kernel.name for kernel in one.kernels.values()], "cases": one.cases, "left_out": one.left_out}
        for one in made
    ]  # fmt: skip
    output.emit({"format": "direct", "projects": rows})
    for one in made if not output.json else ():
        output.result(f"  wrote {one.folder}   {one.cases} cases, {len(one.left_out)} left out, {plural(len(one.kernels), 'kernel')}")
        for reason in dict.fromkeys(one.left_out.values()):
            output.say(f"    left out: {reason}")
        output.result(f"  bash {one.folder}/run.sh")
    output.say("note: tiling data are for these cases and this SoC; the project itself was not run here")


def _onnx(path: Path, target: Path, soc: str, force: bool, output: Output) -> None:
    from ascendops.build import open_project
    from ascendops.torchlib import atc

    made = atc.export(open_project(path), target, soc, force=force)
    rows = [{"operator": one.operator, "model": str(one.model), "plugin": [str(file) for file in one.plugin], "command": one.command} for one in made]
    output.emit({"format": "onnx", "operators": rows})
    if not output.json:
        for one in made:
            output.result(f"  wrote {one.model} and {', '.join(str(file) for file in one.plugin)}\n  {one.command}")
        output.say("note: build the plug-in with the operator package (gen/README.md) and install it before ATC; ATC itself was not run here")
