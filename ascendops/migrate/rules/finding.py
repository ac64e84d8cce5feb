"""From a hit (where, what, which fact) to a finding (what to do, how much work, the next command)."""

from __future__ import annotations

import re

from ascendops.migrate.facts.tables import Fact
from ascendops.migrate.model import Edit, Finding
from ascendops.migrate.rules.catalogue import RULES
from ascendops.migrate.sources.text import Source

_EFFORT = {
    "works_as_is": ("minutes", "nothing to change; run it once"),
    "rename": ("minutes", "a name changes"),
    "restricted": ("hours", "limits and semantics differ"),
    "custom_op": ("days", "an operator or kernel is written"),
    "no_equivalent": ("hours", "remove, guard or redesign"),
}
_WORDS = {
    "works_as_is": "keep it",
    "rename": "rename it",
    "restricted": "adapt it",
    "custom_op": "write an operator for it",
    "no_equivalent": "remove, guard or redesign it",
}


def make(
    source: Source,
    line: int,
    construct: str,
    rule: str,
    fact: Fact,
    *,
    line_end: int = 0,
    todo: str = "",
    replacement: str | None = None,
    features: tuple[str, ...] = (),
    command: str = "",
    effort: tuple[str, str] | None = None,
    edit: Edit | None = None,
) -> Finding:
    """A finding of `rule` at `line` of `source` (1-based, in the source's own lines), decided by `fact`."""
    entry = RULES[rule]
    own = (entry.effort, entry.effort_why) if entry.effort and fact.status in ("restricted", "custom_op") else None
    hours, why = effort or own or _EFFORT[fact.status]
    target = fact.target if replacement is None else replacement
    return Finding(
        file=source.file,
        line=source.first + line - 1 if line else 0,
        line_end=source.first + line_end - 1 if line_end > line else 0,
        cell=source.cell,
        construct=construct,
        status=fact.status,
        status_950=fact.status_950 or fact.status,
        rule=rule,
        todo=todo or _todo(fact, target),
        replacement=target,
        shim=fact.shim,
        effort=hours,
        effort_why=why,
        evidence=fact.evidence,
        versions=fact.versions,
        command=command,
        features=features,
        snippet=source.line(line),
        edits=(edit,) if edit else (),
    )


def _todo(fact: Fact, target: str) -> str:
    head = f"use {target}" if target and target != "none" else _WORDS[fact.status]
    return f"{head}: {fact.note}" if fact.note else head


def snake(kernel: str) -> str:
    """The operator's name for a kernel: snake_case, without a leading underscore and without endings such as `_kernel`."""
    words = re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", kernel).lower().strip("_")
    return re.sub(r"_(?:kernel\d*|cuda|gpu|k)$", "", words) or words


def new_op(name: str, file: str) -> str:
    """The command that starts an operator project for a CUDA or Triton kernel."""
    return f"ascendops new op {snake(name)} --from {file}"
