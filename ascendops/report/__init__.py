"""Reports of test runs: one result model (JSON), rendered as text, JUnit XML or one offline HTML file."""

from __future__ import annotations

import json

from ascendops.report.model import CaseReport, OpReport, RunReport, load, save

__all__ = ["CaseReport", "OpReport", "RunReport", "load", "render", "save"]


def render(run: RunReport, kind: str) -> str:
    """The run as `html`, `text`, `junit`, `markdown`, `json`, or `jsonl` (one case per line)."""
    from ascendops.report import html, junit, markdown, text

    if kind == "json":
        return json.dumps(run.to_dict(), indent=1) + "\n"
    if kind == "jsonl":
        return "".join(json.dumps(case) + "\n" for case in run.to_dict()["cases"])
    return {"markdown": markdown.render, "html": html.render, "text": text.render, "junit": junit.render}[kind](run)
