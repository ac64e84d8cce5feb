"""Comparing a scan with an earlier one: what is done, what is new, which workaround can go."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ascendops.errors.migrate import BaselineError
from ascendops.migrate.model import Finding, Report


@dataclass(frozen=True)
class Change:
    """The difference to a baseline.

    Attributes:
        new: Findings that the baseline has not.
        done: Descriptions of baseline findings that are gone.
        easier: Findings whose status became easier, as (finding, old status): a newer fact table supports them, so a noted workaround can go.
    """

    new: tuple[Finding, ...]
    done: tuple[str, ...]
    easier: tuple[tuple[Finding, str], ...]


def load(path: Path) -> list[dict[str, Any]]:
    """The findings of an earlier JSON report.

    Raises:
        BaselineError: The file cannot be read, or is not such a report.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        findings: list[dict[str, Any]] = [dict(row) for row in data["findings"]]
        for row in findings:
            _ = row["file"], row["construct"], row["status"], row["fingerprint"]
    except OSError as error:
        raise BaselineError(f"the baseline cannot be read: {error.strerror}", where=str(path)) from error
    except (ValueError, KeyError, TypeError) as error:
        raise BaselineError(
            "the baseline is not a JSON report of ascendops migrate", where=str(path), why=repr(error)
        ) from error
    return findings


def compare(report: Report, old: list[dict[str, Any]]) -> Change:
    """Compares by fingerprint (file, rule, construct, text of the line), so that moved lines stay the same; equal lines are counted."""
    before = Counter(row["fingerprint"] for row in old)
    status = {row["fingerprint"]: row["status"] for row in old}
    left, new, easier = Counter(before), [], []
    order = ("no_equivalent", "custom_op", "restricted", "rename", "works_as_is")
    for finding in report.findings:
        key = finding.fingerprint()
        if left[key] > 0:
            left[key] -= 1
            if order.index(finding.status) > order.index(status[key]):
                easier.append((finding, status[key]))
        elif finding.status != "works_as_is":
            new.append(finding)
    gone = []
    for row in old:
        if left[row["fingerprint"]] > 0:
            left[row["fingerprint"]] -= 1
            gone.append(f"`{row['construct']}` in `{row['file']}`")
    return Change(tuple(new), tuple(gone), tuple(easier))
