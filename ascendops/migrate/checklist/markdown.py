"""The checklist as Markdown with boxes: a living document for the repository that is migrated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ascendops.migrate.checklist import choice
from ascendops.migrate.model import STATUSES, Finding, Report, effort_total
from ascendops.words import plural

TITLES = {
    "no_equivalent": "Nothing on Ascend: remove, guard or redesign",
    "custom_op": "Write an operator or a kernel",
    "restricted": "Works after a change",
    "rename": "Rename",
    "works_as_is": "Works as it is",
}


def page(report: Report, done: frozenset[str] = frozenset()) -> str:
    """The whole document; `done` are descriptions of findings that a baseline had and this scan has not."""
    lines = ["# Migration checklist: CUDA to CANN", "", summary(report), ""]
    lines += [report.triton["note"] + ".", ""] if report.triton else []
    lines += list(_profile(report))
    for status in STATUSES:
        found = [finding for finding in report.findings if finding.status == status]
        if found:
            lines += [f"## {TITLES[status]} ({len(found)})", "", *_groups(found), ""]
    if done:
        lines += [f"## Done since the baseline ({len(done)})", "", *(f"- [x] {text}" for text in sorted(done)), ""]
    lines += [*choice.section(report), *_rest(report)]
    return "\n".join(lines).rstrip()


def summary(report: Report) -> str:
    """Files, findings per status and effort, in two sentences."""
    counts = ", ".join(f"{number} {status}" for status, number in report.counts().items() if number) or "no findings"
    effort = ", ".join(f"{number} take{'s' if number == 1 else ''} {unit}" for unit, number in effort_total(report.findings).items() if number)
    target = f" Target: {report.soc}." if report.soc else ""
    return (
        f"{plural(report.files, 'file')} read, {plural(len(report.findings), 'finding')}: {counts}."
        + (f" Effort: {effort}." if effort else "")
        + target
    )


def _profile(report: Report) -> Iterator[str]:
    if report.profile:
        from ascendops.migrate.profile.advice import lines

        yield from lines(report)


def _groups(found: list[Finding]) -> Iterator[str]:
    """Findings of one status by what is to be done; many places of one construct become one box with its places."""
    groups: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in found:
        groups.setdefault((finding.rule, finding.construct, finding.todo), []).append(finding)
    order = sorted(groups.values(), key=lambda group: (-(group[0].weight or 0), rank(group[0]), group[0].where))
    for group in order:
        yield from _box(group)


def rank(finding: Finding) -> tuple[int, str]:
    """Kernels first, then what takes days, then the rest by rule."""
    kernels = ("MIG-KERNEL", "MIG-PY-KERNEL", "MIG-TRITON-KERNEL", "MIG-EXTENSION")
    if finding.rule in kernels:
        return kernels.index(finding.rule), finding.rule
    return len(kernels) + ("days", "hours", "minutes").index(finding.effort), finding.rule


def _box(group: list[Finding]) -> Iterator[str]:
    head = group[0]
    weight = f" **{head.weight:.1f} % of the profiled time.**" if head.weight else ""
    differs = f" On Ascend 950: {head.status_950}." if head.status_950 != head.status else ""
    shim = {True: " The shim handles it.", False: " The shim does not handle it.", None: ""}[head.shim]
    yield f"- [ ] `{head.construct}`: {head.todo}.{weight}{differs}{shim} *{head.effort}: {head.effort_why}* ({head.rule})"
    places = [finding.where for finding in group]
    shown = ", ".join(f"`{place}`" for place in places[:12])
    yield f"  - {shown}" + (f" and {len(places) - 12} more" if len(places) > 12 else "")
    if head.evidence:
        yield f"  - fact: {head.evidence}" + (f"; {head.versions}" if head.versions else "")
    if head.command:
        yield f"  - `{head.command}`"


def _rest(report: Report) -> Iterator[str]:
    if report.unknown:
        names = Counter(name.name for name in report.unknown)
        first = {name.name: f"{name.file}:{name.line}" for name in reversed(report.unknown)}
        yield f"## Names that no rule knows ({len(names)})"
        yield ""
        yield from (f"- [ ] `{name}`: {plural(count, 'place')}, first `{first[name]}`" for name, count in names.most_common())
        yield ""
    if report.skipped:
        yield f"## Not read, or read in part ({len(report.skipped)})"
        yield ""
        yield from (f"- `{skip.file}`: {skip.reason}" for skip in report.skipped)
