"""`ascendops doctor`."""

from __future__ import annotations

import sys

import click

from ascendops.cli.options import backend_option, output_options
from ascendops.cli.output import Output, plural, table
from ascendops.doctor import Check, Examination, Grade, examine
from ascendops.errors import ExitCode

_STYLE = {Grade.OK: ("✓", "+", "green"), Grade.WARN: ("!", "!", "yellow"), Grade.MISSING: ("✗", "x", "red"), Grade.UNNEEDED: ("–", "-", None)}


@click.command("doctor")
@backend_option
@output_options
def command(backend: str, output: Output) -> int:
    """Show what this machine can do, with a fix for each problem.

    \b
    Examples:
      ascendops doctor
      ascendops doctor --backend cann --json

    Reads only. Each line is graded for the chosen backend: ok, warning, missing, or not needed. Exits with 3 only
    if the backend cannot work here.
    """
    from ascendops.build import resolve_backend

    chosen = resolve_backend(backend)
    result = examine(chosen)
    output.emit(result.to_dict())
    if not output.json:
        output.result(_render(result, auto=backend == "auto"))
    return ExitCode.OK if result.ready else ExitCode.TOOLCHAIN


def _render(result: Examination, *, auto: bool) -> str:
    lines = [f"backend: {result.backend}" + (" (chosen because CANN was not found)" if auto and result.backend == "twin" else "")]
    for group in dict.fromkeys(check.group for check in result.checks):
        lines += ["", click.style(group, bold=True), table([_row(check) for check in result.checks if check.group == group])]
    fixes = [check for check in result.checks if check.fix]
    if fixes:
        lines += ["", click.style("What to do", bold=True)]
        lines += [f"  {_mark(check)} {check.name}: {check.fix}" for check in fixes]
    poor = sum(check.grade is Grade.WARN for check in result.checks)
    verdict = f"The {result.backend} backend works here" if result.ready else f"The {result.backend} backend cannot work here"
    return "\n".join([*lines, "", verdict + (f"; {plural(poor, 'warning')}." if poor else ".")])


def _row(check: Check) -> list[str]:
    absent = not (check.version or check.path) and check.group != "Environment"
    about = [check.path or "", check.note]
    return [f"{_mark(check)} {check.name}", check.version or ("not found" if absent else ""), "  ".join(filter(None, about))]


def _mark(check: Check) -> str:
    symbol, plain, colour = _STYLE[check.grade]
    encodable = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    return click.style(symbol if encodable else plain, fg=colour)
