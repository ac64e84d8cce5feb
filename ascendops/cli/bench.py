"""`ascendops bench`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ascendops.cli.options import (
    backend_option,
    op_option,
    output_options,
    paths_argument,
    project_option,
    seed_option,
    select_projects,
    soc_option,
)
from ascendops.cli.output import Output, plural, table
from ascendops.errors import ExitCode

if TYPE_CHECKING:
    from ascendops.perf.baseline import Comparison
    from ascendops.perf.rows import Bench, Row

_FILE = click.Path(dir_okay=False, path_type=Path)
_HEAD = ["operator", "call", "dtype", "µs", "key", "blocks", "bound", "roof", "of roof"]


@click.command("bench")
@paths_argument
@project_option
@op_option
@backend_option
@soc_option
@click.option("--against", type=_FILE, metavar="BASELINE", help="Compare with the times in this file.")
@click.option("--fail-above", type=click.FloatRange(min=0), default=5.0, show_default=True, metavar="PCT", help="How much slower is a regression.")
@click.option("--save", type=_FILE, metavar="FILE", help="Keep the times as a baseline.")
@click.option("--repeats", type=click.IntRange(min=1), default=20, show_default=True, metavar="N", help="Launches on a device.")
@seed_option
@output_options
def command(
    paths: tuple[Path, ...], project: Path | None, ops: tuple[str, ...], backend: str, soc: str, against: Path | None, fail_above: float, save: Path | None,
    repeats: int, seed: int, output: Output,
) -> int:  # fmt: skip
    """Time operators and compare with the chip's roof and with a baseline.

    \b
    Examples:
      ascendops bench softmax --soc 910B3 --save softmax.bench.json
      ascendops bench softmax --soc 910B3 --against softmax.bench.json --fail-above 3

    Each call is first compared with its fp64 golden; a wrong result has no time. On the twin the time is that of its cycle model, on an Ascend host the
    median of N launches. The calls are the [[bench]] tables of op.toml, else the largest case of each tiling key. Exits with 1 on a wrong result
    or a regression.
    """
    from ascendops.build import resolve_backend
    from ascendops.perf import baseline
    from ascendops.perf.bench import Options, bench

    before = baseline.load(against) if against else None
    chosen = resolve_backend(backend)
    roots = select_projects(paths, project, ops)
    done = bench(roots, Options(chosen, soc, repeats, seed), lambda row: output.say(f"  timed {' '.join(row.id)}"))
    output.result(table([_HEAD, *map(_cells, done.rows)]))
    _wrong(done, output)
    env = done.environment
    output.result(f"  {env['soc']}, {env['what']}")
    compared = baseline.compare(done, before, against) if before is not None and against else None
    slower = _compared(compared, fail_above, output) if compared else 0
    if save:
        baseline.save(save, done)
        output.say(f"  wrote {save}")
    output.emit({**done.to_dict(), **({"against": _against(compared, fail_above)} if compared else {})})
    return ExitCode.MISMATCH if slower or any(row.wrong for row in done.rows) else ExitCode.OK


def _cells(row: Row) -> list[str]:
    call = f"{row.case} {row.shapes}"
    if row.wrong:
        return [row.op, call, row.dtype, click.style("wrong", fg="red")]
    spread = f" ±{row.spread / 2:.0%}" if row.spread else ""
    share = f"{row.busy_us[row.bound] / row.us:.0%} " if row.busy_us and row.us else ""
    key = row.tiling_name or str(row.tiling_key)
    return [row.op, call, row.dtype, f"{row.us:.2f}{spread}", key, str(row.block_dim), f"{share}{row.bound}", f"{row.roof_us:.2f} {row.roof}", f"{row.fraction:.0%}"]


def _wrong(done: Bench, output: Output) -> None:
    for row in done.rows:
        if row.wrong:
            output.result(f"  {' '.join(row.id)}: {row.wrong}\n    look: ascendops test --op {row.op} --tier default")


def _compared(compared: Comparison, percent: float, output: Output) -> int:
    slower = compared.slower(percent)
    faster = [change for change in compared.changes if change.percent < -percent]
    for note in compared.notes:
        output.say(f"  note: {note}")
    for change, colour in [*((one, "red") for one in slower), *((one, "green") for one in faster)]:
        text = f"{change.percent:+.1f} %: {change.before:.2f} -> {change.row.us:.2f} µs"
        output.result(f"  {' '.join(change.row.id)}  {click.style(text, fg=colour)}")
    for row in compared.new:
        output.result(f"  {' '.join(row.id)}  is not in the baseline")
    for name in compared.missing:
        output.result(f"  {name}  is in the baseline only")
    same = len(compared.changes) - len(slower) - len(faster)
    output.result(f"  {plural(len(slower), 'call')} slower by more than {percent:g} %, {len(faster)} faster, {same} within it")
    return len(slower)


def _against(compared: Comparison, percent: float) -> dict[str, object]:
    return {
        "fail_above": percent, "slower": [" ".join(one.row.id) for one in compared.slower(percent)], "missing": list(compared.missing),
        "new": [" ".join(row.id) for row in compared.new], "notes": list(compared.notes),
        "changes": [{"call": " ".join(one.row.id), "before_us": one.before, "us": one.row.us, "percent": one.percent} for one in compared.changes],
    }  # fmt: skip
