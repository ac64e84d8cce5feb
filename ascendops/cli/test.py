"""`ascendops test`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from ascendops.cli.options import (
    backend_option,
    op_option,
    out_file_option,
    output_options,
    paths_argument,
    project_option,
    seed_option,
    select_projects,
    soc_option,
)
from ascendops.cli.output import Output
from ascendops.cli.record import Plan, record_command
from ascendops.errors import ExitCode, NothingSelected

_PYTEST = "ascendops.pytest_args"
_TIERS = ("smoke", "declared", "default", "full", "certify")
_FOLDER = click.Path(file_okay=False, path_type=Path)


class PytestCommand(click.Command):
    """A command that keeps what stands after `--` for pytest, untouched."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Splits at the first `--`; click would mix the two halves into PATHs."""
        cut = args.index("--") if "--" in args else len(args)
        ctx.meta[_PYTEST] = args[cut + 1 :]
        return super().parse_args(ctx, args[:cut])

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Usage with the pytest arguments in it."""
        return [*super().collect_usage_pieces(ctx), "[-- PYTEST OPTIONS]"]


@click.command("test", cls=PytestCommand)
@paths_argument
@project_option
@op_option
@click.option("-k", "keyword", metavar="EXPR", help="Only tests whose id has these, as in pytest.")
@click.option("-x", "exitfirst", is_flag=True, help="Stop at the first failure.")
@click.option("--lf", is_flag=True, help="Only the tests that failed in the last run.")
@backend_option
@soc_option
@click.option("--reference", default="auto", metavar="R", help="auto, triton, cuda, torch, none or a bundle.")
@click.option("--tier", type=click.Choice(_TIERS), default="default", metavar="T", help="smoke, declared, default, full or certify.")
@click.option("--cases", type=click.Path(path_type=Path), metavar="FILE", help="Cases of TTK (CSV), msprobe or TritonBench.")
@click.option("--record", type=_FOLDER, metavar="DIR", help="Only record the reference as a bundle.")
@click.option("--mutate", is_flag=True, help="Plant faults; 95 % must be noticed.")
@click.option("--resume", is_flag=True, help="Go on where the last run ended.")
@click.option("--shrink", is_flag=True, help="Write the smallest failing case as a script.")
@click.option("--verdict", type=_FOLDER, metavar="DIR", help="Write a file for `ascendops verify`.")
@click.option("--distribute", type=click.Choice(["ray"]), metavar="ray", help="Run on the hosts of a Ray cluster.")
@click.option("-n", "processes", type=click.IntRange(min=1), metavar="N", help="Processes (pytest-xdist).")
@click.option("--auto-sync", type=click.Choice(["on", "off"]), metavar="on|off", help="Model the compiler's --cce-auto-sync [on].")
@click.option("--level", type=click.Choice(["L0", "L1", "L2"]), default="L0", show_default=True, help="How strict the verdict is.")
@seed_option
@click.option("--timeout", type=click.FloatRange(min=0.1), metavar="S", help="Time limit of a kernel [60].")
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Where the HTML report goes.")
@click.option("--junitxml", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write JUnit XML too.")
@out_file_option
@output_options
@click.pass_context
def command(
    ctx: click.Context, /, paths: tuple[Path, ...], project: Path | None, ops: tuple[str, ...], backend: str, soc: str, reference: str,
    level: str, html: Path | None, out: Path | None, output: Output, tier: str, record: Path | None, mutate: bool, resume: bool, shrink: bool,
    verdict: Path | None, auto_sync: str | None, distribute: str | None, cases: Path | None, **pytest: Any,
) -> int:  # fmt: skip
    """Compare operators with their fp64 golden and their reference, case by case. It is pytest with a plugin.

    \b
    Examples:
      ascendops test softmax -k "[float16 and tail" --soc 910B3 -- -vv
      ascendops test softmax --record golden/   (then anywhere: --reference golden/)

    Kernels run in workers. Exits with 1 on a mismatch, 5 if nothing ran.
    """
    from ascendops.build import resolve_backend

    chosen = resolve_backend(backend)
    if auto_sync and chosen != "twin":
        raise click.UsageError("--auto-sync is a property of the CPU twin: a real build takes it from the compiler's options")
    if auto_sync == "off":
        _refuse("--auto-sync off", {"--shrink": shrink, "--verdict": verdict, "--record": record})
    roots = select_projects(paths, project, ops)
    tier_given = ctx.get_parameter_source("tier") is click.core.ParameterSource.COMMANDLINE
    if record is not None:
        _refuse("--record", {"-k": pytest["keyword"] and distribute, "--cases": cases, "--mutate": mutate, "--shrink": shrink, "--verdict": verdict})
        plan = Plan(record, reference, pytest["seed"], tier if tier_given else "declared", pytest["keyword"], distribute is not None)
        return record_command(roots, plan, output)
    if cases is not None:
        _refuse("--cases", {"--tier": tier_given, "--shrink": shrink, "--verdict": verdict})
    if distribute:
        _refuse("--distribute", {"-n": pytest["processes"], "--cases": cases, "--shrink": shrink, "--verdict": verdict})
    from ascendops import testing

    run = testing.run(
        roots, cases=cases, backend=chosen, soc=soc, reference=reference, level=level, seed=pytest["seed"], pytest_args=_pytest_args(ctx, pytest, output),
        tier=tier, auto_sync=auto_sync != "off", mutate=mutate, resume=resume, shrink=shrink, verdict=verdict, distribute=distribute, json_path=out, html_path=html, stream=sys.stderr if output.json else sys.stdout,
    )  # fmt: skip
    if run.exit_code == ExitCode.NOTHING:
        chosen_by = f"-k '{pytest['keyword']}'" if pytest["keyword"] else None
        raise NothingSelected("no case was selected", why=chosen_by, help="list the cases: ascendops test -- --collect-only -q")
    output.emit(run.to_dict())
    if backend == "auto" and chosen == "twin":
        output.say("note: CANN not found, so kernels ran on the CPU twin only (ascendops doctor)")
    return int(run.exit_code)


def _refuse(option: str, others: dict[str, Any]) -> None:
    given = [name for name, value in others.items() if value]
    if given:
        raise click.UsageError(f"{option} does not go together with {', '.join(given)}")


def _pytest_args(ctx: click.Context, given: dict[str, Any], output: Output) -> list[str]:
    args = ["-k", given["keyword"]] if given["keyword"] else []
    args += ["-x"] if given["exitfirst"] else []
    args += ["--lf"] if given["lf"] else []
    args += [f"--ascendops-timeout={given['timeout']}"] if given["timeout"] else []
    args += [f"--junitxml={given['junitxml']}"] if given["junitxml"] else []
    args += ["-n", str(given["processes"])] if given["processes"] else []
    args += ["-q"] if output.quiet else []
    args += ["-v"] if output.verbose else []
    return [*args, *ctx.meta[_PYTEST]]
