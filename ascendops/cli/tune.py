"""`ascendops tune`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ascendops.cli.options import backend_option, output_options, seed_option, soc_option
from ascendops.cli.output import Output, plural, table
from ascendops.errors import ExitCode

if TYPE_CHECKING:
    from ascendops.perf.tune import Step, Trial


@click.command("tune")
@click.argument("path", type=click.Path(path_type=Path), metavar="PATH")
@backend_option
@soc_option
@click.option("--trials", type=click.IntRange(min=1), default=32, show_default=True, metavar="N", help="All combinations of values if there are at most N, else one tunable after the other.")
@click.option("--repeats", type=click.IntRange(min=1), default=20, show_default=True, metavar="N", help="Launches on a device.")
@click.option("--apply", "write", is_flag=True, help="Write the fastest values into op.toml.")
@seed_option
@output_options
def command(path: Path, backend: str, soc: str, trials: int, repeats: int, write: bool, seed: int, output: Output) -> int:
    """Try the values of an operator's tunables ([tune.NAME] in op.toml) and show which are fastest.

    \b
    Examples:
      ascendops tune gelu --soc 910B3
      ascendops tune gelu --soc 910B3 --apply

    Each set of values is built, compared with the fp64 golden and timed like `ascendops bench`; sets with which the operator is wrong are listed with
    the reason and do not count. Where there are more than --trials combinations, the values of the first tunable are tried, then those of the next with
    the best of the first, and so on: as many sets as there are values. On the twin the times are those of its cycle model. --apply keeps everything else in op.toml as it is.
    """
    from ascendops.build import open_project, resolve_backend
    from ascendops.perf.bench import Options
    from ascendops.perf.tune import apply, tune

    project = open_project(path)
    options = Options(resolve_backend(backend), soc, repeats, seed)
    output.say(f"  timing {project.name} as it is")
    done = tune(project, options, trials, lambda step: output.say(_told(step)))
    output.result(table([["of now", "values"], *map(_cells, done.trials)]))
    env, best = done.environment, done.best
    output.result(f"  {env['soc']}, {env['what']}; {plural(len(done.now.rows), 'call')} each")
    if not best.values:
        output.result("  nothing is faster than the sources as they are")
    elif write and project.spec is not None:
        apply(project.spec.path, best.values)
        output.result(f"  wrote {_text(best)} into {project.spec.path.name}: {1 / best.ratio:.3f} times as fast")
    else:
        output.result(f"  fastest: {_text(best)}, {1 / best.ratio:.3f} times as fast; --apply writes it into op.toml")
    if options.backend == "cann":
        open_project(path).build("cann", soc)  # gen/ and the installed package are those of op.toml again
    output.emit({**done.to_dict(), "applied": write and bool(best.values)})
    return ExitCode.OK


def _told(step: Step) -> str:
    if not step.number:
        return f"  {plural(len(step.trial.rows), 'call')} timed; {plural(step.total, 'set')} of values to try"
    outcome = "wrong" if step.trial.wrong else f"{step.trial.ratio:.3f} of now"
    best = f"{_text(step.best)}, {step.best.ratio:.3f}" if step.best.values else "as it is"
    return f"  {step.number} of {step.total}  {_text(step.trial)}: {outcome}; best so far: {best}"


def _text(trial: Trial) -> str:
    return " ".join(f"{name}={value}" for name, value in trial.values)


def _cells(trial: Trial) -> list[str]:
    return [click.style("wrong", fg="red") if trial.wrong else f"{trial.ratio:.3f}", _text(trial), *([trial.wrong] if trial.wrong else [])]
