"""Joins compiler verdicts to the findings about Triton kernels; says so where no compiler was asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ascendops.migrate.lowering.files import check_paths
from ascendops.migrate.lowering.plan import Options
from ascendops.migrate.lowering.verdict import FAILS, LOWERS, Verdict
from ascendops.migrate.model import Finding, Report
from ascendops.toolchain.private import Installed

RULE = "MIG-TRITON-KERNEL"


def kernels(report: Report) -> int:
    """How many Triton kernels the scan found."""
    return sum(finding.rule == RULE for finding in report.findings)


def note(report: Report, installed: bool) -> None:
    """Records that the kernels were judged by an estimate, and how to ask the compiler."""
    count = kernels(report)
    if count:
        how = "--compile-triton asks the compiler" + ("" if installed else ", after: ascendops toolchain install triton-ascend")
        report.triton = {"kernels": count, "compiled": 0, "note": f"{count} Triton {'kernel is' if count == 1 else 'kernels are'} judged by an estimate, not compiled: {how}"}


def join(report: Report, paths: list[Path], toolchain: Installed, soc: str, say: Callable[[str], None]) -> None:
    """Compiles every kernel below the paths (one dtype, three configurations) and writes the verdicts into the findings.

    Raises:
        ToolchainError: The toolchain does not compile for this SoC.
    """
    if not kernels(report):
        return
    verdicts, skipped = check_paths(paths, toolchain, Options("", ("fp16",), 3, flags=False), soc, say, limits=False)
    by_place = {(verdict.file.partition("#")[0], verdict.kernel): verdict for verdict in verdicts}
    done = 0
    findings: list[Finding] = []
    for finding in report.findings:
        verdict = by_place.get((finding.file, finding.construct.rsplit(" ", 1)[-1])) if finding.rule == RULE else None
        done += verdict is not None
        findings.append(_judged(finding, verdict, toolchain) if verdict else finding)
    report.findings = findings
    count = {status: sum(verdict.status == status for verdict in verdicts) for status in (LOWERS, FAILS, "not_checked")}
    report.triton = {
        "kernels": kernels(report),
        "compiled": done,
        "note": f"Triton: {count[LOWERS]} of {len(verdicts)} kernels lower with {toolchain.name} {toolchain.version} for {verdicts[0].target if verdicts else soc}, "
        f"{count[FAILS]} fail, {count['not_checked']} could not be checked; helpers are compiled with their callers",
        "verdicts": [verdict.to_dict() for verdict in verdicts],
        "skipped": [list(pair) for pair in skipped],
    }


def _judged(finding: Finding, verdict: Verdict, toolchain: Installed) -> Finding:
    evidence = f"compiled with {toolchain.name} {toolchain.version} for {verdict.target}, up to HIVM; {finding.evidence}"
    warnings = "; ".join(f"line {note.line}: {note.message}" for note in verdict.notes if note.level == "warning")
    more = f"; but {warnings}" if warnings else ""
    if verdict.status == LOWERS:
        plan = next((attempt.plan for attempt in verdict.attempts if attempt.plan), None)
        used = ", ".join(f"{name} {plan.used[name] / 8192:.0f} of {size / 8192:.0f} KiB" for name, size in plan.available.items() if plan.used.get(name)) if plan else ""
        todo = f"it compiles for {verdict.target} as it is ({plan.core if plan else ''}, {used}): run it on the device{more}"
        return replace(finding, todo=todo, evidence=evidence, effort="minutes" if not warnings else finding.effort, effort_why="it compiles")
    attempt = next((attempt for attempt in verdict.attempts if attempt.status == verdict.status), verdict.attempts[0])
    if verdict.status == FAILS:
        fits = f"; it lowers {attempt.fits}" if attempt.fits else ""
        todo = f"it does not compile ({attempt.kind}, line {attempt.line or verdict.line}): {attempt.message}. {attempt.help}{fits}{more}"
        return replace(finding, todo=todo, evidence=evidence, effort_why=attempt.help)
    return replace(finding, todo=f"{finding.todo}. Not compiled: {attempt.message}{more}")
