"""The findings as CSV."""

from __future__ import annotations

import csv
import io

from ascendops.migrate.model import Report

COLUMNS = (
    "file",
    "cell",
    "line",
    "construct",
    "status",
    "status_950",
    "rule",
    "todo",
    "replacement",
    "shim",
    "effort",
    "effort_why",
    "evidence",
    "versions",
    "command",
    "weight",
    "fingerprint",
)


def rows(report: Report) -> str:
    """One row per finding, with a header."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, extrasaction="ignore", restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({**finding.to_dict(), "fingerprint": finding.fingerprint()} for finding in report.findings)
    return out.getvalue().rstrip("\n")
