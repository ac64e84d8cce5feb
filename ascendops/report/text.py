"""A test run as plain text: a line per operator, the failures, and what ran where."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from ascendops.parity.verdict import OutputResult, counts as outputs_text
from ascendops.report.model import CaseReport, OpReport, RunReport
from ascendops.words import plural


def render(run: RunReport) -> str:
    """The whole run: operators, failures, summary."""
    lines = [op_line(op, run.of(op.name), str(run.environment.get("backend", ""))) for op in run.ops]
    told: Counter[tuple[str, ...]] = Counter()
    for case in run.cases:
        told[error_key(case)] += case.status == "error"
        if not case.passed and (case.status != "error" or told[error_key(case)] == 1):
            lines += ["", *failure(case)]
    lines += [f"   {repeated(key[1], count - 1)}" for key, count in told.items() if count > 1]
    return "\n".join([*lines, "", *summary(run)]) + "\n"


def op_line(op: OpReport, cases: list[CaseReport], backend: str) -> str:
    """`test  softmax  twin  24 cases  2 of 2 tiling keys reached  72 of 72 wrong candidates rejected`."""
    wrong = [entry for case in cases for entry in case.wrong if not entry["equivalent"]]
    parts = [f"  test    {op.name}", backend, plural(len(cases), "case")]
    if op.tiling_keys:
        parts.append(f"{op.reached} of {plural(len(op.tiling_keys), 'tiling key')} reached")
    if wrong:
        parts.append(f"{sum(entry['rejected'] for entry in wrong)} of {len(wrong)} wrong candidates rejected")
    return "   ".join(parts)


def error_key(case: CaseReport) -> tuple[str, ...]:
    """What errors of the harness, of a golden or a reference have in common if they are one: operator, message, place, cause."""
    return (case.op, case.what, case.where, *case.story)


def repeated(error: str, count: int) -> str:
    """The line for `count` cases that ended with an error which was printed before."""
    return f"the same error stopped {plural(count, 'more case')}: {error}"


def failure(case: CaseReport) -> list[str]:
    """The story of one failing case."""
    label = f"  [{' '.join(case.labels)}]" if case.labels else ""
    error_id = next((note for note in case.notes if note.startswith("error[")), "error[ASC304]")
    lines = [f"{error_id}: {case.what}{label}", f"  --> {place(case)}"]
    lines += [f"   = at {case.where}"] if case.status == "error" and case.where and case.kind == "case" else []
    lines += [f"   = {line}" for line in case.story]
    lines += [f"   = help: {case.help}"] if case.help else []
    lines += [f"   = rerun: {case.repro}"] if case.repro else []
    return lines


def counts(case: CaseReport) -> list[str]:
    """How many elements fail and where, a line per output; of a report that does not tell outputs apart, one line."""
    if not case.outputs:
        return [f"{case.failing} of {case.elements} elements fail" + (f": {case.where}" if case.where else "")]
    return outputs_text([OutputResult(**out) for out in case.outputs])


def place(case: CaseReport) -> str:
    """Where the case is and what ran: id, tiling key, blocks, seed."""
    parts = []
    if case.block_dim:
        key = f"tiling key {case.tiling_key}" + (f" ({case.tiling_name})" if case.tiling_name else "")
        parts += [key, plural(case.block_dim, "block")]
    if case.kind == "case":
        parts.append(f"seed {case.seed}")
    return f"{case.id}  {', '.join(parts)}".rstrip() if case.kind != "build" else case.where or case.id


def summary(run: RunReport) -> list[str]:
    """Totals, where the kernels ran, references used and skipped, wrong candidates."""
    total, env = run.totals, run.environment
    verdict = ", ".join(
        part
        for part in (
            f"{total['failed']} failed" if total["failed"] else "",
            f"{total['passed']} passed" if total["passed"] or not total["failed"] else "",
            f"{total['by_reference']} of them by reference only" if total["by_reference"] else "",
        )
        if part
    )
    lines = [f"  {verdict} in {run.seconds:.1f} s"]
    soc, backend = env.get("soc", "?"), env.get("backend", "?")
    where = (
        f"CPU twin, modelling {soc}; its times are not those of a device"
        if backend == "twin"
        else f"{backend} on {soc}"
    )
    where += ", without the compiler's --cce-auto-sync" if env.get("auto_sync") is False else ""
    lines.append(f"  kernels      {where}")
    lines.append(f"  rules        {env.get('rules', '')}, level {env.get('level', '')}, seed {env.get('seed', 0)}")
    lines += [f"  reference    {line}" for line in reference_lines(run)]
    lines += [f"  warning      {line}" for line in warning_lines(run)]
    if total["wrong"]:
        text = f"{total['wrong_rejected']} of {total['wrong']} results made wrong on purpose are rejected"
        equal = (
            f"; {total['wrong_equivalent']} more planted changes left the result as it was" if total["wrong_equivalent"] else ""
        )
        lines.append(f"  wrong ones   {text}{equal}")
    lines += [f"  standards    {line}" for line in standard_lines(run)]
    lines += [f"               {STANDARDS_NOTE}"] if standard_lines(run) else []
    lines += [f"  faults       {line}" for line in mutant_lines(run)]
    return lines + [f"  note         {note}" for note in run.notes]


def mutant_lines(run: RunReport) -> list[str]:
    """Per operator: how many planted faults its cases noticed."""
    lines = []
    for check in (case for case in run.cases if case.kind == "check" and case.mutants):
        counted = [row for row in check.mutants if row["status"] != "equivalent"]
        killed = sum(row["status"] == "killed" for row in counted)
        equal = len(check.mutants) - len(counted)
        alive = ", ".join(row["name"] for row in counted if row["status"] == "alive")
        lines.append(f"{check.op}: {killed} of {len(counted)} noticed" + (f" ({equal} more change nothing)" if equal else "") + (f"; not {alive}" if alive else ""))
    return lines


STANDARDS_NOTE = "for information: the verdict is by our rules; each case's report says why, docs/parity.md what these standards are"


def standard_lines(run: RunReport) -> list[str]:
    """Where published standards and our verdict differ, counted over the cases: who accepts what fails, who rejects what passes."""
    lines = []
    cases = [case for case in run.cases if case.kind == "case" and case.standards]
    for name in dict.fromkeys(name for case in cases for name in case.standards):
        loose = sum(case.standards.get(name) == "pass" and case.failing > 0 and not case.passed for case in cases)
        strict = sum(case.standards.get(name) == "fail" and case.passed for case in cases)
        words = [f"would accept {plural(loose, 'case')} that {_verb(loose, 'fail')} here" if loose else "", f"would reject {plural(strict, 'case')} that {_verb(strict, 'pass')} here" if strict else ""]
        if loose or strict:
            lines.append(f"{name} {' and '.join(filter(None, words))}")
    return lines


def warning_lines(run: RunReport, shown: int = 3) -> list[str]:
    """The twin's findings that fail no case: id, place, and in how many cases."""
    found = Counter(
        (finding["id"], _at(finding))
        for case in run.cases
        for finding in case.findings
        if finding.get("severity") == "warning"
    )
    lines = [f"{name} at {at} in {plural(count, 'case')}: ascendops explain {name}" for (name, at), count in found.most_common(shown)]
    return lines + ([f"and {len(found) - shown} more: see the report"] if len(found) > shown else [])


def _at(finding: dict[str, Any]) -> str:
    callers = ", ".join(Path(place).name for place, _ in finding.get("callers", ()))
    return f"{finding.get('file') or '?'}:{finding.get('line') or 0}" + (f", called from {callers}," if callers else "")


def reference_lines(run: RunReport) -> list[str]:
    """What the references did: how many cases they ran on, where they differ, and why they were skipped."""
    cases = [case for case in run.cases if case.kind == "case" and case.reference]
    ran = Counter(case.reference.get("how", "") for case in cases if case.reference["status"] in ("agrees", "differs"))
    lines = [f"{how}: {plural(count, 'case')}" for how, count in ran.items()]
    differs = [case for case in cases if case.reference["status"] == "differs"]
    if differs:
        lines.append(f"differs from the golden in {plural(len(differs), 'case')}, first {differs[0].id}")
    skipped = Counter(case.reference["detail"] for case in cases if case.reference["status"] == "skipped")
    lines += [f"skipped in {plural(count, 'case')}: {reason}" for reason, count in skipped.items()]
    if cases and not lines:
        lines.append("none (--reference none)")
    return lines


def _verb(number: int, word: str) -> str:
    return word if number != 1 else f"{word}es" if word.endswith("s") else f"{word}s"
