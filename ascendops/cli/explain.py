"""`ascendops explain`."""

from __future__ import annotations

from typing import Any

import click

from ascendops.cli.options import output_options
from ascendops.cli.output import Output, table
from ascendops.errors import did_you_mean
from ascendops.explain import Page, pages


@click.command("explain")
@click.argument("id", required=False, metavar="[ID]")
@click.option("--list", "listing", is_flag=True, help="List every id with its title.")
@output_options
def command(id: str | None, listing: bool, output: Output) -> None:
    """Explain an error, a finding of the CPU twin or a label of a parity verdict.

    \b
    Examples:
      ascendops explain UB-BOUNDS
      ascendops explain --list

    Ids stand in brackets in messages, such as error[ASC101] and warning[UB-ALIGN]; case does not matter.
    """
    known = pages()
    if listing or id is None:
        output.emit({"pages": [page.to_dict() for page in known.values()]})
        if not output.json:
            output.result(_list(known))
        return
    page = known.get(id.upper())
    if page is None:
        raise click.UsageError(f"No error, finding or label has the id '{id}'. {_suggest(id, known)}")
    output.emit(page.to_dict())
    if not output.json:
        output.result(_render(page))


def _suggest(id: str, known: dict[str, Any]) -> str:
    hint, _, _ = did_you_mean(id.upper(), known).partition("use one of: ")
    return f"{hint[:1].upper()}{hint[1:]}List them: ascendops explain --list"


def _list(known: dict[str, Page]) -> str:
    lines: list[str] = []
    for kind in dict.fromkeys(page.kind for page in known.values()):
        rows = [[page.id, page.title] for page in known.values() if page.kind == kind]
        lines += ["", click.style(kind, bold=True), table(rows)]
    return "\n".join(lines[1:])


def _render(page: Page) -> str:
    about = f"{page.kind}{f', {page.severity}' if page.severity else ''}"
    return "\n".join([click.style(f"{page.id}: {page.title}", bold=True), f"({about})", "", page.text]).rstrip()
