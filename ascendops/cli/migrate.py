"""`ascendops migrate`."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ascendops.cli.options import output_options
from ascendops.cli.output import Output, plural
from ascendops.errors import ExitCode, NothingSelected
from ascendops.spec.socs import DEFAULT_SOC

if TYPE_CHECKING:
    from ascendops.migrate.apply import Plan
    from ascendops.migrate.baseline import Change
    from ascendops.migrate.model import Report

_FILE = click.Path(dir_okay=False, path_type=Path)
_READ = click.Path(dir_okay=False, exists=True, path_type=Path)
_FORMATS = ("text", "md", "html", "json", "csv", "sarif")


def _version(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    if value and not value.split("+")[0].replace(".", "").isdigit():
        raise click.BadParameter(f"'{value}' is not a version, such as 2.10")
    return value


@click.command("migrate")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH]...")
@click.option(
    "--soc",
    default=DEFAULT_SOC,
    show_default=True,
    metavar="SOC",
    help="Target; Ascend 950 has other answers than A2/A3.",
)
@click.option(
    "--torch",
    metavar="VERSION",
    default="",
    callback=_version,
    help="torch version on the target, such as 2.10 [the newest known].",
)
@click.option(
    "--format", "form", type=click.Choice(_FORMATS), default="text", show_default=True, help="Form of the checklist."
)
@click.option("--out", type=_FILE, metavar="FILE", help="Write the checklist to FILE.")
@click.option("--profile", type=_READ, metavar="TRACE", help="Rank by the time in a torch.profiler trace from the GPU.")
@click.option(
    "--threshold",
    type=click.FloatRange(0, 100),
    default=20.0,
    show_default=True,
    metavar="PERCENT",
    help="Below this share of time, no custom op.",
)
@click.option("--baseline", type=_READ, metavar="FILE", help="Show what changed since this JSON report.")
@click.option(
    "--check", is_flag=True, help="Exit 1 for findings that the baseline has not, or that a newer version made easier."
)
@click.option("--apply", "apply", is_flag=True, help="Perform the certain renames; shows a diff unless --write.")
@click.option("--write", is_flag=True, help="With --apply: write files and an undo patch.")
@click.option("--model", metavar="MODULE:FACTORY", help="Import a factory in a worker; check its model's ATen ops.")
@click.option("--inputs", metavar="MODULE:FACTORY", help="With --model: what returns the tuple of example inputs.")
@click.option("--compile-triton", is_flag=True, help="Compile each Triton kernel found.")
@output_options
def command(paths: tuple[Path, ...], output: Output, form: str, out: Path | None, **options: Any) -> int:
    """List what a CUDA code base needs before it runs on CANN.

    \b
    Examples:
      ascendops migrate repo --format md --out MIGRATION.md
      ascendops migrate repo --profile trace.json

    Reads Python, notebooks, CUDA C++, Triton, build and environment files, and ONNX models. Nothing that it
    reads is run; only --model imports code. Exit code: 0 also with findings; 1 with --check for new ones.
    """
    from ascendops import migrate
    from ascendops.migrate.target import aim
    from ascendops.spec.socs import resolve

    if not paths and not options["model"]:
        raise click.UsageError("Name a folder, a file, a notebook or a model, such as: ascendops migrate .")
    if options["write"] and not options["apply"]:
        raise click.UsageError("--write needs --apply.")
    if options["check"] and not options["baseline"]:
        raise click.UsageError("--check needs --baseline: the JSON report of an earlier run.")
    soc = resolve(options["soc"])
    report = migrate.scan(list(paths), soc=soc.name, torch=options["torch"])
    if options["model"]:
        from ascendops.migrate.capture.aten import capture

        capture(report, options["model"], options["inputs"])
    aim(report, soc.unit, options["torch"])
    _triton(report, list(paths), soc.name, options["compile_triton"], output)
    if not report.files and not options["model"]:
        raise NothingSelected("no file of a kind that is scanned lies there", help="docs/migrate.md lists the kinds")
    if options["profile"]:
        from ascendops.migrate.profile import join, trace

        join.join(report, trace.read(options["profile"]), options["threshold"])
    change = _change(report, options["baseline"])
    if options["apply"]:
        return _apply(report, options["write"], output)
    _show(report, change, "json" if output.json and form == "text" else form, out, output)
    if options["check"] and change and (change.new or change.easier):
        return ExitCode.MISMATCH
    return ExitCode.OK


def _triton(report: Report, paths: list[Path], soc: str, compile_them: bool, output: Output) -> None:
    from ascendops.migrate.lowering import join
    from ascendops.toolchain.private import find, require

    if compile_them:
        join.join(report, paths, require("triton-ascend"), soc, output.say)
    else:
        join.note(report, find("triton-ascend") is not None)


def _change(report: Report, baseline: Path | None) -> Change | None:
    from ascendops.migrate.baseline import compare, load

    return compare(report, load(baseline)) if baseline else None


def _show(report: Report, change: Change | None, form: str, out: Path | None, output: Output) -> None:
    from ascendops.migrate import checklist

    done = frozenset(change.done) if change else frozenset()
    if form == "text":
        from ascendops.migrate.checklist.text import page

        text = page(report, change, full=output.verbose)
    else:
        text = checklist.render(report, form, done)
    if out:
        out.write_text(text + "\n", encoding="utf-8")
        output.say(f"wrote {out}: {plural(len(report.findings), 'finding')} in {plural(report.files, 'file')}")
    if output.json:
        output.emit(report.to_dict())
    elif not out:
        output.result(text)
    if report.skipped:
        output.say(f"{plural(len(report.skipped), 'file')} not read, or read in part (listed in the report)")


def _first_call(plan: dict[str, Plan], output: Output) -> None:
    if any(edit.new.startswith("aclrt") for item in plan.values() for _, edit in item.edits):
        output.say("AscendCL starts with aclInit(nullptr) and aclrtSetDevice, before any other of its calls, and ends with aclFinalize()")


def _apply(report: Report, write: bool, output: Output) -> int:
    from ascendops.migrate import apply

    plan = apply.plan(report.findings)
    diff = apply.diff(plan)
    left = apply.left(report.findings)
    if output.json:
        output.emit({"diff": diff, "files": sorted(plan), "written": write, "left": [dataclasses.asdict(one) for one in left]})
    else:
        output.result(diff or "nothing that is certain enough to rename")
    if write and plan:
        undo = apply.write(plan)
        how = f"git apply {undo} (or patch -p1 < {undo})" if apply.below(plan) else f"patch -p1 -d / < {undo}"
        output.say(f"{plural(len(plan), 'file')} written; undo with: {how}")
    elif plan:
        output.say(
            f"{plural(sum(bool(e.end > e.start) for p in plan.values() for _, e in p.edits), 'rename')} in {plural(len(plan), 'file')}; --write performs them"
        )
    for file in dict.fromkeys(one.file for one in left):
        output.say(f"to do by hand in {file}:")
        for line in apply.told(one for one in left if one.file == file):
            output.say(f"  {line}")
    _first_call(plan, output)
    return ExitCode.OK
