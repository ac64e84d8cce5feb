"""What a case's verdict looks like in the report: results, reference, findings, the headline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendops.parity.verdict import CaseResult
from ascendops.report.model import CaseReport
from ascendops.testing.cases import TestCase
from ascendops.testing.reference import Answer, Reference
from ascendops.twin.diagnostics import source_line

if TYPE_CHECKING:
    from ascendops.parity.judge import Judged


def copy_result(report: CaseReport, result: CaseResult) -> None:
    """Copies what the judge found."""
    data = result.to_dict()
    for name in ("status", "elements", "failing", "where", "outputs", "map", "worst", "histogram", "gates", "notes", "standards", "why_standards"):
        setattr(report, name, data[name])
    report.labels = list(result.labels)
    report.story = result.story()


def on_reference(reference: Reference, answer: Answer, judged: Judged) -> dict[str, str]:
    """What the reference says about a case."""
    if reference.kind == "none":
        return {"kind": "none", "status": "none", "detail": ""}
    if answer.samples is not None:
        return on_samples(reference, answer, judged)
    if answer.outputs is None:
        return {"kind": reference.kind, "status": "skipped", "detail": answer.reason}
    differs = judged.result.reference.startswith("the reference differs")
    detail = judged.result.reference if differs else ""
    return {"kind": reference.kind, "status": "differs" if differs else "agrees", "detail": detail, "how": answer.how}


def on_samples(reference: Reference, answer: Answer, judged: Judged) -> dict[str, str]:
    """A sample of the reference's outputs against the golden's bound."""
    from ascendops.parity.gates import measure_sample

    bad = total = 0
    for truth, sample in zip(judged.truths, answer.samples or [], strict=False):
        if truth is not None and sample is not None:
            bad, total = bad + measure_sample(truth, *sample), total + len(sample[0])
    detail = f"the reference differs from the golden in {bad} of {total} recorded elements" if bad else ""
    return {
        "kind": reference.kind,
        "status": "differs" if bad else "agrees",
        "detail": detail,
        "how": f"{answer.how}, {total} elements of large outputs",
    }


def finding(entry: dict[str, Any]) -> dict[str, Any]:
    """A finding of the twin as plain data, with its source line."""
    found: dict[str, Any] = {key: value for key, value in entry.items() if isinstance(value, (str, int, float, bool, type(None)))}
    found["source"] = (source_line(entry.get("file"), entry.get("line") or 0) or "").strip()
    other = entry.get("other")
    if isinstance(other, dict):
        found["other"], found["other_source"] = _quoted(other)
    if entry.get("callers"):
        found["callers"] = [_quoted(frame) for frame in entry["callers"]]
    return found


def _quoted(frame: dict[str, Any]) -> list[str]:
    """`file:line`, and what is written there."""
    return [f"{frame['file']}:{frame['line']}", (source_line(frame["file"], frame["line"]) or "").strip()]


def judge_findings(report: CaseReport) -> None:
    """Fails a case in which the twin found an error."""
    errors = [finding for finding in report.findings if finding.get("severity") == "error"]
    if not errors:
        return
    if report.passed:
        report.status = "fail"
    report.labels = list(dict.fromkeys(["FINDING", *report.labels]))
    lines = []
    unique = {(f.get("id"), f.get("file"), f.get("line")): f for f in reversed(errors)}
    for finding in list(reversed(unique.values()))[:5]:
        place = f"{finding['file']}:{finding['line']}" if finding.get("file") else "no source line"
        lines.append(f"{finding.get('id')} at {place} (block {finding.get('block')}): {finding.get('message')}")
        if finding.get("source"):
            lines.append(f"    {finding['source']}")
        lines += [f"    called from {place}: {quoted}" for place, quoted in finding.get("callers", ())]
        if finding.get("other"):
            lines.append(f"    the other access at {finding['other']}: {finding.get('other_source')}")
    report.story = lines + report.story  # the fault first: wrong values follow from it


def judge_key(report: CaseReport, case: TestCase) -> None:
    """Fails a case that ran another tiling key than it names."""
    wanted = case.case.tiling_key
    if wanted is None or wanted == report.tiling_name or report.status == "crash" or "EXCEPTION" in report.labels:
        return
    reached = f"{report.tiling_key}" + (f" ({report.tiling_name})" if report.tiling_name else "")
    if report.tiling_key is None:
        reached = "none: nothing was launched"
    if report.passed:
        report.status = "fail"
    report.labels.append("TILING_KEY")
    report.story.append(f"the case must reach tiling key {wanted}, but reached {reached}")


def try_wrong(report: CaseReport, judged: Judged) -> None:
    """Fails a case that would also accept a wrong result."""
    from ascendops.parity.wrong import wrong_candidates

    tried = wrong_candidates(judged.run.outputs, judged.truths)
    report.wrong = [{"name": w.name, "rejected": w.rejected, "equivalent": w.equivalent} for w in tried]
    accepted = [w.name for w in tried if not w.rejected and not w.equivalent]
    if accepted:
        report.status = "fail"
        report.labels.append("MUTANT")
        report.story.append(
            f"the case would also accept a wrong result: {', '.join(accepted)}; use other values or a larger shape"
        )


def headline(report: CaseReport, result: CaseResult) -> None:
    """Writes the one line that says what is wrong."""
    if report.passed:
        return
    report.exit_code = 1
    if result.status == "crash":
        report.what = f"the kernel of {report.op} {'hangs' if 'HANG' in result.labels else 'crashes'}"
    elif result.error:
        report.what = f"{report.op} cannot be called"
    elif "FINDING" in report.labels:
        first = next(str(f["id"]) for f in report.findings if f.get("severity") == "error")
        also = (
            f"{_counts(report)} differ" if report.failing else "the values do not show it"
        )
        report.what = f"the kernel of {report.op} has a fault, {first}; {also}"
    elif report.failing and not result.passed:
        report.what = f"{report.op} differs from its golden in {_counts(report)}"
    elif {"RELATION", "GRADIENT"} & set(report.labels):
        gate = next(g for g in report.gates if g["status"] == "fail" and {"RELATION", "GRADIENT"} & set(g["labels"]))
        report.what = f"{report.op} fails: {gate['name']}"
    elif "MUTANT" in report.labels:
        report.what = f"a case of {report.op} cannot tell right from wrong"
    elif "TILING_KEY" in report.labels and result.passed:
        report.what = f"{report.op} ran another tiling key than the case names"
    else:
        broken = [f"{g.name} ({g.gate})" for g in result.gates if g.failed and g.gate != "G3"]
        report.what = f"{report.op} fails gate {', '.join(broken)}" if broken else f"{report.op} fails"
    page = report.labels[0] if report.labels else ""
    if page == "FINDING":
        page = next(str(f["id"]) for f in report.findings if f.get("severity") == "error")
    report.help = f"ascendops explain {page}" if page else ""


def _counts(report: CaseReport) -> str:
    """`37 of 4096 elements`; of several outputs those with failing elements, by name."""
    if len(report.outputs) < 2:
        return f"{report.failing} of {report.elements} elements"
    return " and ".join(f"{out['failing']} of {out['elements']} elements of output {out['name']}" for out in report.outputs if out["failing"])


def shorten(root: Path) -> str:
    """A path as seen from here."""
    try:
        relative = root.relative_to(Path.cwd())
    except ValueError:
        return str(root)
    return str(relative)
