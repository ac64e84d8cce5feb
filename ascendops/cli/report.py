"""`ascendops report`."""

from __future__ import annotations

from pathlib import Path

import click

from ascendops.cli.options import output_options, project_option
from ascendops.cli.output import Output
from ascendops.errors import NothingSelected

_FORMATS = ("html", "text", "junit", "json")


@click.command("report")
@click.argument("run", required=False, type=click.Path(dir_okay=False, path_type=Path), metavar="[RUN.json]")
@project_option
@click.option("--format", "kind", type=click.Choice(_FORMATS), default="html", show_default=True, help="What to write.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Where [html: report.html; else stdout].")
@output_options
def command(run: Path | None, project: Path | None, kind: str, out: Path | None, output: Output) -> None:
    """Turn the result of a test run into one offline HTML file, text or JUnit XML.

    \b
    Examples:
      ascendops report
      ascendops report run.json --format html --out softmax.html

    RUN.json is what `ascendops test --out RUN.json` wrote; without it, the last run of the project here is taken.
    """
    from ascendops import report

    source = run or (project or Path()) / ".ascendops" / "last-run.json"
    if not source.is_file():
        raise NothingSelected("no test run to report", where=str(source), help="run one: ascendops test --out run.json")
    result = report.load(source)
    kind = "json" if output.json else kind
    text = report.render(result, kind)
    target = out or (Path("report.html") if kind == "html" else None)
    if target is None:
        click.echo(text, nl=not text.endswith("\n"))
        return
    target.write_text(text, encoding="utf-8")
    output.result(f"  wrote  {target}")
