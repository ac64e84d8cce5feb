"""`ascendops estimate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ascendops.cli.options import output_options
from ascendops.cli.output import Output, plural
from ascendops.errors import ExitCode

if TYPE_CHECKING:
    from ascendops.perf import Estimate


@click.command("estimate")
@click.option("--table", required=True, type=click.Path(dir_okay=False, path_type=Path), metavar="CONFIGS.csv", help="The calls, one per row.")
@click.option("--out", required=True, type=click.Path(dir_okay=False, path_type=Path), metavar="PRED.csv", help="Where the predictions go.")
@click.option("--soc", metavar="SOC", help="The chip of the rows that name none, such as 910B3.")
@output_options
def command(table: Path, out: Path, soc: str | None, output: Output) -> int:
    """Predict from shapes how long operator calls take on a chip: a model, not a measurement.

    \b
    Examples:
      ascendops estimate --table calls.csv --out predicted.csv
      ascendops estimate --table calls.csv --out predicted.csv --soc 910B3 --json

    CONFIGS.csv needs the columns row_id, op, input_shapes and output_shapes ([[8,128],[128]]), input_dtypes and output_dtypes (bf16;bf16) and,
    without --soc, chip. The columns category, kernel, core and block_dim are used where they are there. PRED.csv gets row_id, predicted_us, the
    bound pipe, each pipe's µs, what the number rests on, and notes: what had to be assumed. docs/perf.md says how far off the numbers are.
    Exits with 1 if a row describes no call; the others keep their predictions.
    """
    from ascendops import perf
    from ascendops.perf.report import write
    from ascendops.spec import socs

    if soc is not None:
        socs.resolve(soc)
    if out.exists() and table.exists() and out.samefile(table):
        raise click.UsageError("--out names the table itself, which would be lost: give another file")
    done = list(perf.estimate_table(perf.read_table(table, soc=soc), soc=soc))
    write(out, done)
    failed = [row for row in done if row.failed]
    noted = [row for row in done if row.notes and not row.failed]
    for row in (*failed, *noted):
        output.say(f"  {row.row_id}: {'; '.join(row.notes)}")
    output.result(_summary(done, failed, noted, out))
    output.emit({
        "file": str(out), "rows": len(done), "failed": len(failed), "noted": len(noted), "model": "estimate, not a measurement",
        "estimates": [_row(row) for row in done],
    })  # fmt: skip
    return ExitCode.MISMATCH if failed else ExitCode.OK


def _summary(done: list[Estimate], failed: list[Estimate], noted: list[Estimate], out: Path) -> str:
    text = f"  wrote {out}: {plural(len(done) - len(failed), 'estimate')}, by a model"
    text += f", {plural(len(noted), 'row')} with assumptions" if noted else ""
    return text + (f", {plural(len(failed), 'row')} without a number" if failed else "")


def _row(row: Estimate) -> dict[str, object]:
    return {
        "row_id": row.row_id, "predicted_us": row.predicted_us, "bound": row.bound, "pipes_us": row.pipes_us, "soc": row.soc,
        "basis": row.basis, "notes": list(row.notes),
    }  # fmt: skip
