"""The answer for one target: a SoC generation and a torch version."""

from __future__ import annotations

import re
from dataclasses import replace

from ascendops.migrate.model import Finding, Report


def aim(report: Report, unit: str, torch: str) -> None:
    """Puts the answers of compute unit `unit` first, and marks names that torch_npu for `torch` does not have."""
    if "950" in unit:
        report.findings = [_on_950(finding) for finding in report.findings]
    if torch:
        report.findings = [_version(finding, torch) for finding in report.findings]


def _on_950(finding: Finding) -> Finding:
    return replace(
        finding, status=finding.status_950 or finding.status, todo=finding.todo_950 or finding.todo,
        replacement=finding.replacement_950 or finding.replacement, todo_950="", replacement_950="",
    )  # fmt: skip


def _version(finding: Finding, torch: str) -> Finding:
    match = re.search(r"torch_npu ([\d.]+)\.\.([\d.]+)", finding.versions)
    if not match or finding.status in ("no_equivalent", "custom_op"):
        return finding
    first, last, wanted = (_key(text) for text in (match[1], match[2], torch))
    if first <= wanted <= last:
        return finding
    todo = f"torch_npu {torch} does not have it, versions {match[1]} to {match[2]} do: guard it, or use one of these and {finding.todo}"
    return replace(finding, status="no_equivalent", status_950="no_equivalent", todo=todo, edits=())


def _key(version: str) -> tuple[int, int]:
    numbers = [int(part) for part in re.findall(r"\d+", version)[:2]]
    return numbers[0], numbers[1] if len(numbers) > 1 else 0
