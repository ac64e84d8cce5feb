"""`ascendops export`."""

from __future__ import annotations

from pathlib import Path

import click

from ascendops.cli.options import output_options, soc_option
from ascendops.cli.output import Output


@click.command("export")
@click.argument("path", type=click.Path(path_type=Path), default=".")
@click.option("--format", "form", type=click.Choice(["msopgen"]), default="msopgen", show_default=True, help="msopgen: the IR JSON of `msopgen gen -i`.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write it there instead of printing it.")
@click.option("--onnx", "onnx_dir", type=click.Path(file_okay=False, path_type=Path), metavar="DIR", help="Write ONNX models, the plug-in for ATC and its command lines.")
@soc_option
@output_options
def command(path: Path, form: str, out: Path | None, onnx_dir: Path | None, soc: str, output: Output) -> None:
    """Write the operators of the project PATH in another tool's format.

    \b
    Examples:
      ascendops export my_ops --out ir.json && msopgen gen -i ir.json -c ai_core-ascend910b -lan cpp -out my_ops_cann
      ascendops export softmax --onnx softmax_onnx

    Works on kit projects and on any folder with op_host/ and op_kernel/: the registration code is compiled and run.
    `ascendops new op NAME --from FILE.json` is the way back.
    """
    from ascendops.build import open_project
    from ascendops.build.twin import host_library
    from ascendops.interchange import msopgen
    from ascendops.spec import socs

    if onnx_dir is not None:
        _onnx(path, onnx_dir, soc, output)
        return
    host, _ = host_library(open_project(path))
    unit = socs.resolve(soc).unit
    ops = [op.for_unit(unit) for op in host.ops.values()]
    text = msopgen.write(ops)
    if out is not None:
        out.write_text(text, encoding="utf-8")
    output.emit({"format": form, "operators": [op.op_type for op in ops], "file": None if out is None else str(out), "text": text})
    if not output.json:
        output.result(text.rstrip("\n") if out is None else f"  wrote {out}: {', '.join(op.op_type for op in ops)}")



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
