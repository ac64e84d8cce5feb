"""`ascendops export`."""

from __future__ import annotations

from pathlib import Path

import click

from ascendops.cli.options import output_options, seed_option, soc_option
from ascendops.cli.output import Output


@click.command("export")
@click.argument("path", type=click.Path(path_type=Path), default=".")
@click.option(
    "--format", "form", type=click.Choice(["msopgen", "ttk"]), default="msopgen", show_default=True,
    help="msopgen: the IR JSON of `msopgen gen -i`. ttk: cases, golden and data of the operator test kit.",
)
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write it there instead of printing it; for ttk, a folder.")
@click.option("--tier", type=click.Choice(["smoke", "declared", "default", "full"]), default="declared", metavar="T", help="ttk: which cases [declared].")
@seed_option
@click.option("--onnx", "onnx_dir", type=click.Path(file_okay=False, path_type=Path), metavar="DIR", help="Write ONNX models, the plug-in for ATC and its command lines.")
@soc_option
@output_options
def command(path: Path, form: str, out: Path | None, tier: str, seed: int, onnx_dir: Path | None, soc: str, output: Output) -> None:
    """Write the operators of the project PATH in another tool's format.

    \b
    Examples:
      ascendops export my_ops --out ir.json && msopgen gen -i ir.json -c ai_core-ascend910b -lan cpp -out my_ops_cann
      ascendops export softmax --format ttk --out ttk_softmax

    Works on kit projects and on any folder with op_host/ and op_kernel/: the registration code is compiled and run.
    `ascendops new op NAME --from FILE.json` is the way back.
    """
    from ascendops.build import open_project
    from ascendops.build.twin import host_library
    from ascendops.interchange import msopgen
    from ascendops.spec import socs

    if form == "ttk" and onnx_dir is not None:
        raise click.UsageError("--format ttk and --onnx are two exports: run one after the other")
    if form == "ttk":
        _ttk(path, out, tier, seed, output)
        return
    if onnx_dir is not None:
        _onnx(path, onnx_dir, soc, output)
        return
    chosen = socs.resolve(soc)
    host, _ = host_library(open_project(path), chosen)
    ops = [op.for_unit(chosen.unit) for op in host.ops.values()]
    text = msopgen.write(ops)
    if out is not None:
        out.write_text(text, encoding="utf-8")
    output.emit({"format": form, "operators": [op.op_type for op in ops], "file": None if out is None else str(out), "text": text})
    if not output.json:
        output.result(text.rstrip("\n") if out is None else f"  wrote {out}: {', '.join(op.op_type for op in ops)}")


def _ttk(path: Path, out: Path | None, tier: str, seed: int, output: Output) -> None:
    from ascendops import spec
    from ascendops.errors import NotAProject
    from ascendops.interchange import ttk

    if out is None:
        raise click.UsageError("--format ttk writes a folder: give --out DIR")
    if not (path / "op.toml").is_file():
        raise NotAProject(f"{path} has no op.toml, so it has no cases", where=str(path), help="ascendops new op NAME makes a project")
    operators = spec.load(path / "op.toml").operators
    made = [ttk.write(op, out if len(operators) == 1 else out / op.name, tier, seed) for op in operators]
    output.emit({"format": "ttk", "folders": [{"folder": str(one.folder), "cases": one.cases, "left_out": one.left_out} for one in made]})
    for one in made if not output.json else ():
        output.result(f"  wrote {one.folder}   {one.cases} cases, {len(one.left_out)} left out")
        for reason in dict.fromkeys(one.left_out.values()):
            output.say(f"    left out: {reason}")
        output.result(f"  python3 -m ttk kernel -i {one.folder}/{ttk.CSV} --plugin {one.folder}/{ttk.GOLDEN} --manual-data-dirs {one.folder}/{ttk.DATA}")
    output.say("note: the test kit itself was not run here")


def _onnx(path: Path, target: Path, soc: str, output: Output) -> None:
    from ascendops.build import open_project
    from ascendops.torchlib import atc

    made = atc.export(open_project(path), target, soc)
    rows = [{"operator": one.operator, "model": str(one.model), "plugin": [str(file) for file in one.plugin], "command": one.command} for one in made]
    output.emit({"format": "onnx", "operators": rows})
    if not output.json:
        for one in made:
            output.result(f"  wrote {one.model} and {', '.join(str(file) for file in one.plugin)}\n  {one.command}")
        output.say("note: build the plug-in with the operator package (gen/README.md) and install it before ATC; ATC itself was not run here")
