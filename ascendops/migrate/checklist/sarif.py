"""The findings as SARIF 2.1.0, which code hosts show beside the lines."""

from __future__ import annotations

from typing import Any

from ascendops import __version__
from ascendops.migrate.model import Finding, Report
from ascendops.migrate.rules.catalogue import RULES

_LEVELS = {
    "no_equivalent": "error",
    "custom_op": "error",
    "restricted": "warning",
    "rename": "note",
    "works_as_is": "none",
}


def document(report: Report) -> dict[str, Any]:
    """The SARIF log as a JSON-ready object."""
    used = sorted({finding.rule for finding in report.findings})
    driver = {
        "name": "ascendops migrate",
        "version": __version__,
        "rules": [
            {"id": rule, "shortDescription": {"text": RULES[rule].title}, "fullDescription": {"text": RULES[rule].page}}
            for rule in used
        ],
    }
    notes = [{"level": "warning", "message": {"text": f"{skip.file}: {skip.reason}"}} for skip in report.skipped]
    run = {
        "tool": {"driver": driver},
        "results": [_result(finding) for finding in report.findings],
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notes}],
    }
    return {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}


def _result(finding: Finding) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": finding.file}}
    if finding.line and finding.cell is None:
        place["region"] = {"startLine": finding.line}
    cell = f" (cell {finding.cell}, line {finding.line})" if finding.cell is not None else ""
    return {
        "ruleId": finding.rule,
        "level": _LEVELS[finding.status],
        "message": {"text": f"{finding.construct}: {finding.status}{cell}. {finding.todo}"},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"ascendopsFinding/v1": finding.fingerprint()},
        "properties": {"effort": finding.effort, "status950": finding.status_950, "evidence": finding.evidence},
    }
