"""A test run as Markdown for a pull request: a table per run, the failures, what published standards say."""

from __future__ import annotations

from ascendops.report import text
from ascendops.report.model import CaseReport, OpReport, RunReport

_FAILURES = 20


def render(run: RunReport) -> str:
    """The page."""
    total, env = run.totals, run.environment
    head = "all cases pass" if not total["failed"] else f"**{total['failed']} of {len(run.cases)} checks fail**"
    lines = [f"### ascendops test: {head}", ""]
    lines += ["| op | " + " | ".join(_dtypes(run)) + " | tiling keys | worst |", "|---|" + "---|" * len(_dtypes(run)) + "---|---|"]
    lines += [_row(run, op) for op in run.ops]
    bad = [case for case in run.cases if not case.passed]
    for case in bad[:_FAILURES]:
        lines += ["", *_failure(case)]
    if len(bad) > _FAILURES:
        lines += ["", f"and {len(bad) - _FAILURES} more."]
    lines += ["", f"{env.get('device', '?')}, {env.get('soc', '?')}; {env.get('rules', '')}, level {env.get('level', '')}, seed {env.get('seed', 0)}, tier {env.get('tier', 'declared')}."]
    lines += [f"Reference: {line}." for line in text.reference_lines(run)]
    lines += [f"Faults planted: {line}." for line in text.mutant_lines(run)]
    standards = text.standard_lines(run)
    lines += [f"{line}." for line in standards] + ([f"Standards are {text.STANDARDS_NOTE}."] if standards else [])
    return "\n".join(lines) + "\n"


def _dtypes(run: RunReport) -> list[str]:
    return list(dict.fromkeys(case.dtype for case in run.of_kind("case")))


def _row(run: RunReport, op: OpReport) -> str:
    cells = []
    for dtype in _dtypes(run):
        cases = [case for case in run.of(op.name) if case.dtype == dtype]
        good = sum(case.passed for case in cases)
        cells.append("" if not cases else (f"{good}" if good == len(cases) else f"**{good} of {len(cases)}**"))
    worst = max((case.worst["ulp"] for case in run.of(op.name) if case.worst and isinstance(case.worst["ulp"], (int, float))), default=None)
    keys = f"{op.reached} of {len(op.tiling_keys)}" if op.tiling_keys else ""
    return f"| {op.name} | {' | '.join(cells)} | {keys} | {'' if worst is None else f'{worst:.3g} ulp'} |"


def _failure(case: CaseReport) -> list[str]:
    labels = " ".join(f"`{label}`" for label in case.labels)
    lines = [f"<details><summary>{labels} {_escape(case.id)}: {_escape(case.what)}</summary>", "", "```"]
    lines += [line.replace("```", "'''") for line in text.failure(case)]
    return [*lines, "```", "</details>"]


def _escape(words: str) -> str:
    return words.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")
