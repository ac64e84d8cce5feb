"""A test run as one HTML file: no network, no server, light and dark."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ascendops import __version__
from ascendops.report import svg, text
from ascendops.report.model import CaseReport, OpReport, RunReport

_DETAILS = 120  # of each kind: more keep their cell in the matrix but have no detail block, so that the file stays small


@dataclass
class Row:
    """One line of an operator's matrix: a declared case, or all cases that were made along one axis, with the reports by dtype."""

    name: str
    about: str
    made: bool = False
    cells: dict[str, list[CaseReport]] = field(default_factory=dict)


def render(run: RunReport) -> str:
    """The page."""
    env = Environment(
        loader=PackageLoader("ascendops", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.filters.update(heat=lambda rows: Markup(svg.heat(rows)), histogram=_histogram, anchor=anchor, status=_status)
    env.globals.update(meter=lambda part, whole, enough=1.0: Markup(svg.meter(part, whole, enough)), number=_number)
    detailed = _detailed(run)
    faults = [(case.op, case.mutants) for case in run.cases if case.kind == "check" and case.mutants]
    return env.get_template("report.html.j2").render(
        run=run,
        env=run.environment,
        totals=run.totals,
        ops=[(op, _rows(run, op), _dtypes(run, op), _total_histogram(run, op), run.of(op.name)) for op in run.ops],
        broken=[case for case in run.cases if case.kind != "case" and not case.passed],
        detailed=detailed,
        shown={case.id for case in detailed},
        references=text.reference_lines(run),
        standards=text.standard_lines(run),
        standards_note=text.STANDARDS_NOTE,
        faults=faults,
        noticed=[row["status"] for _, rows in faults for row in rows if row["status"] != "equivalent"],
        place=text.place,
        counts=text.counts,
        version=__version__,
    )


def anchor(case_id: str) -> str:
    """The id of a case's block in the page."""
    return "c-" + "".join(c if c.isalnum() else "-" for c in case_id)


def _detailed(run: RunReport) -> list[CaseReport]:
    cases = [case for case in run.cases if case.kind == "case"]
    bad = [case for case in cases if not case.passed]
    amber = [case for case in cases if case.status == "pass_by_reference"]
    good = [case for case in cases if case.status == "pass"]
    return [*bad[:_DETAILS], *amber[:_DETAILS], *good[:_DETAILS]]


def _rows(run: RunReport, op: OpReport) -> list[Row]:
    rows: dict[str, Row] = {}
    for case in run.of(op.name):
        name = f"made: {case.case.split('_')[0]}" if case.made else case.case
        about = "" if case.made else ", ".join(filter(None, [case.layout, case.values]))
        rows.setdefault(name, Row(name, about, case.made)).cells.setdefault(case.dtype, []).append(case)
    return sorted(rows.values(), key=lambda row: row.made)


def _dtypes(run: RunReport, op: OpReport) -> list[str]:
    return list(dict.fromkeys([*op.dtypes, *(case.dtype for case in run.of(op.name))]))


def _total_histogram(run: RunReport, op: OpReport) -> dict[str, int]:
    total: dict[str, int] = {}
    for case in run.of(op.name):
        for name, count in case.histogram.items():
            total[name] = total.get(name, 0) + count
    return total


def _histogram(counts: dict[str, int]) -> Markup:
    return Markup(svg.histogram(counts))


def _status(case: CaseReport) -> str:
    return {"pass": "pass", "pass_by_reference": "by reference"}.get(case.status, case.status)


def _number(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)
