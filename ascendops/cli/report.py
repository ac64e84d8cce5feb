"""`ascendops report`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ascendops.cli.options import output_options, project_option
from ascendops.cli.output import Output
from ascendops.errors import ExitCode, NothingSelected, ReportError

if TYPE_CHECKING:
    from ascendops.report import RunReport

_FORMATS = ("html", "text", "junit", "markdown", "json", "jsonl")


@click.command("report")
@click.argument("run", required=False, type=click.Path(dir_okay=False, path_type=Path), metavar="[RUN.json]")
@project_option
@click.option("--format", "kind", type=click.Choice(_FORMATS), default="html", show_default=True, help="What to write.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Where [html: report.html; else stdout].")
@click.option("--against", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="EARLIER.json", help="Compare with an earlier run; exit with 1 if a case broke.")
@output_options
def command(run: Path | None, project: Path | None, kind: str, out: Path | None, against: Path | None, output: Output) -> int:
    """Turn the result of a test run into one offline HTML file, text, Markdown or JUnit XML, or compare two runs.

    \b
    Examples:
      ascendops report
      ascendops report run.json --format html --out softmax.html

    RUN.json is what `ascendops test --out RUN.json` wrote; without it, the last run of the project here is taken.
    """
    from ascendops import report

    if run is not None and not run.is_file():
        raise ReportError(f"{run} is not there", where=str(run), help="write one: ascendops test --out run.json")
    source = run or (project or Path()) / ".ascendops" / "last-run.json"
    if not source.is_file():
        raise NothingSelected("no test run to report", where=str(source), help="run one: ascendops test --out run.json")
    result = report.load(source)
    if against is not None:
        return _compare(report.load(against), result, out, output)
    kind = "json" if output.json else kind
    text = report.render(result, kind)
    target = out or (Path("report.html") if kind == "html" else None)
    if target is None:
        click.echo(text, nl=not text.endswith("\n"))
        return int(ExitCode.OK)
    target.write_text(text, encoding="utf-8")
    output.result(f"  wrote  {target}")
    return int(ExitCode.OK)


def _compare(before: RunReport, after: RunReport, out: Path | None, output: Output) -> int:
    from ascendops.report.compare import compare

    found = compare(before, after)
    if out is not None:
        out.write_text(found.text(), encoding="utf-8")
    output.result(found.text().rstrip("\n"))
    output.emit(found.to_dict())
    return int(ExitCode.MISMATCH if found.broken else ExitCode.OK)
