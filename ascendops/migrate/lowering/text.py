"""Verdicts for people."""

from __future__ import annotations

from collections.abc import Iterator

from ascendops.migrate.lowering.verdict import FAILS, LOWERS, Attempt, Verdict
from ascendops.toolchain.private import Installed

_MARKS = {LOWERS: "ok   ", FAILS: "FAILS", "not_checked": "?    "}


def page(verdicts: list[Verdict], toolchain: Installed, *, verbose: bool) -> str:
    """One block for each kernel; configurations that lower are one line unless `verbose`."""
    lines: list[str] = []
    for verdict in verdicts:
        lines += [*_block(verdict, verbose), ""]
    count = {status: sum(verdict.status == status for verdict in verdicts) for status in (LOWERS, FAILS, "not_checked")}
    lines.append(
        f"{verdicts[0].target}, {toolchain.name} {toolchain.version}: {count[LOWERS]} lower, {count[FAILS]} fail, {count['not_checked']} not checked. "
        "The last step (hivmc, part of CANN) was not run."
    )
    return "\n".join(lines)


def _block(verdict: Verdict, verbose: bool) -> Iterator[str]:
    yield f"{_MARKS[verdict.status]} {verdict.kernel}  {verdict.file}:{verdict.line}"
    if verdict.configurations * len({attempt.dtype for attempt in verdict.attempts}) > len(verdict.attempts):
        tried = len({str(attempt.config) for attempt in verdict.attempts})
        yield f"      {tried} of {verdict.configurations} configurations tried"
    good = [attempt for attempt in verdict.attempts if attempt.status == LOWERS]
    for attempt in good if verbose else _representatives(good):
        yield f"      {attempt.dtype}: {_plan(attempt)}"
        if attempt.fits:
            yield f"        lowers {attempt.fits}"
    seen: set[tuple[str, int, str]] = set()
    for attempt in verdict.attempts:
        if attempt.status != LOWERS and (verbose or (attempt.kind, attempt.line, attempt.message) not in seen):
            seen.add((attempt.kind, attempt.line, attempt.message))
            yield from _failure(attempt)
    if verbose:
        yield f"      arguments: {', '.join(f'{name}: {kind}' for name, kind in verdict.signature.items())}"
    for note in verdict.notes:
        yield f"      {note.level} {note.id}: {note.file}:{note.line}: {note.message}. Help: {note.help}"


def _representatives(good: list[Attempt]) -> list[Attempt]:
    """For each dtype, the configuration that needs the most memory."""
    best: dict[tuple[str, bool], Attempt] = {}
    for attempt in good:
        key = attempt.dtype, bool(attempt.ones)
        if key not in best or _share(attempt) > _share(best[key]):
            best[key] = attempt
    return list(best.values())


def _share(attempt: Attempt) -> float:
    plan = attempt.plan
    return max((plan.used.get(name, 0) / size for name, size in plan.available.items() if size), default=0.0) if plan else 0.0


def _plan(attempt: Attempt) -> str:
    plan = attempt.plan
    if plan is None:
        return "lowers"
    memory = ", ".join(f"{name} {plan.used[name] / 8192:.1f} of {plan.available[name] / 8192:.0f} KiB" for name in plan.available if plan.used.get(name))
    syncs = sum(plan.syncs.values())
    config = ", ".join(f"{name}={_word(value)}{' (assumed)' if name in attempt.assumed else ''}" for name, value in attempt.config.items())
    sizes = ", ".join(f"{name}={value}" for name, value in attempt.assumed.items() if name not in attempt.config)
    ones = f"; {', '.join(attempt.ones)} = 1" if attempt.ones else ""
    workspace = f", workspace {plan.workspace_bytes} bytes per program" if plan.workspace_bytes else ""
    return f"{plan.core} ({plan.cores} cores), {memory}, {syncs} syncs{workspace}; {config}{ones}" + (f"; assumed {sizes}" if sizes else "")


def _failure(attempt: Attempt) -> Iterator[str]:
    config = ", ".join(f"{name}={_word(value)}{' (assumed)' if name in attempt.assumed else ''}" for name, value in attempt.config.items())
    place = f"{attempt.file}:{attempt.line}: " if attempt.line else ""
    yield f"      {attempt.dtype}: {attempt.status.replace('_', ' ')} at {attempt.stage} ({attempt.kind}); {config}"
    yield f"        {place}{attempt.message}"
    for memory, needed in attempt.needs.items():
        yield f"        {memory}: needs {needed / 8192:.1f} KiB, available {attempt.available[memory] / 8192:.0f} KiB" + (f"; lowers {attempt.fits}" if attempt.fits else "")
    if attempt.help:
        yield f"        help: {attempt.help}"


def _word(value: object) -> object:
    return f"tl.{value['dtype']}" if isinstance(value, dict) else value
