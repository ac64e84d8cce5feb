"""The checklist in the forms that people and programs read: Markdown, HTML, JSON, CSV, SARIF."""

from __future__ import annotations

from ascendops.migrate.model import Report

FORMATS = ("md", "html", "json", "csv", "sarif")


def render(report: Report, form: str, done: frozenset[str] = frozenset()) -> str:
    """The report as text; `done` are baseline findings that are gone (Markdown shows them ticked)."""
    import json

    if form == "json":
        return json.dumps(report.to_dict(), indent=2)
    if form == "md":
        from ascendops.migrate.checklist.markdown import page

        return page(report, done)
    if form == "html":
        from ascendops.migrate.checklist.html import page as html

        return html(report)
    if form == "sarif":
        from ascendops.migrate.checklist.sarif import document

        return json.dumps(document(report), indent=2)
    from ascendops.migrate.checklist.table import rows

    return rows(report)
