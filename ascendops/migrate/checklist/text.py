"""The checklist for a terminal: the summary, the hard findings, and where the rest is."""

from __future__ import annotations

from collections import Counter

from ascendops.migrate.baseline import Change
from ascendops.migrate.checklist.markdown import TITLES, rank, summary
from ascendops.migrate.model import STATUSES, Finding, Report

_SHOWN = 12


def page(report: Report, change: Change | None, *, full: bool = False) -> str:
    """The text; `full` lists every finding, otherwise the first of each status."""
    lines = [summary(report)]
    for status in STATUSES:
        found = [finding for finding in report.findings if finding.status == status]
        found.sort(key=lambda finding: (-(finding.weight or 0), rank(finding)))
        if found and (status != "works_as_is" or full):
            lines += ["", f"{TITLES[status]} ({len(found)})"]
            lines += [_line(finding) for finding in (found if full else found[:_SHOWN])]
            if not full and len(found) > _SHOWN:
                lines.append(f"  ... and {len(found) - _SHOWN} more")
    if report.unknown:
        names = Counter(name.name for name in report.unknown)
        lines += [
            "",
            f"Names that no rule knows ({len(names)})",
            "  " + ", ".join(f"{name} ({count})" for name, count in names.most_common(_SHOWN)),
        ]
    if change:
        lines += [
            "",
            f"Since the baseline: {len(change.done)} done, {len(change.new)} new, {len(change.easier)} easier now",
        ]
        lines += [f"  new     {finding.where}  {finding.construct}" for finding in change.new[:_SHOWN]]
        lines += [
            f"  easier  {finding.where}  {finding.construct}: {old} -> {finding.status}"
            for finding, old in change.easier[:_SHOWN]
        ]
    if report.triton:
        lines += ["", report.triton["note"]]
    if not full and report.findings:
        lines += ["", "The whole list: --format md|html|json|csv|sarif, or -v. Each rule: ascendops explain MIG-..."]
    return "\n".join(lines)


def _line(finding: Finding) -> str:
    weight = f"  {finding.weight:.1f} %" if finding.weight else ""
    lines = [f"  {finding.where}  {finding.construct}{weight}", f"      {finding.todo} [{finding.effort}, {finding.rule}]"]
    return "\n".join([*lines, f"      next: {finding.command}"] if finding.command else lines)
