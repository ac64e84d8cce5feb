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
_SENTENCE = re.compile(r"(?:none|no|not|same|ignored|partly|restricted|creation|listed)\b")
"""How a target begins that says something instead of naming it."""
_NOTHING = re.compile(r"^none\b(?: found| listed| needed| official)?[\s:;,]*")
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
    edits: tuple[Edit, ...] = (),
    todo_950: str = "",
) -> Finding:
    """A finding of `rule` at `line` of `source` (1-based, in the source's own lines), decided by `fact`."""
    entry = RULES[rule]
    own = (entry.effort, entry.effort_why) if entry.effort and fact.status in ("restricted", "custom_op") else None
    hours, why = effort or own or _EFFORT[fact.status]
    target = fact.target if replacement is None else replacement
    there = fact.on_950()
    target_950 = there.target if replacement is None else replacement
    here = todo or _todo(fact, target)
    on_950 = todo_950 or todo or _todo(there, target_950)
    return Finding(
        file=source.file,
        line=source.first + line - 1 if line else 0,
        line_end=source.first + line_end - 1 if line_end > line else 0,
        cell=source.cell,
        construct=construct,
        status=fact.status,
        status_950=fact.status_950 or fact.status,
        rule=rule,
        todo=here,
        todo_950=on_950 if on_950 != here else "",
        replacement=target,
        replacement_950=target_950 if target_950 != target else "",
        shim=fact.shim,
        effort=hours,
        effort_why=why,
        evidence=fact.evidence,
        versions=fact.versions,
        command=command,
        features=features,
        snippet=source.line(line),
        edits=edits or ((edit,) if edit else ()),
    )


def _todo(fact: Fact, target: str) -> str:
    if target and not _SENTENCE.match(target):
        return ": ".join(filter(None, [f"use {target}", fact.note]))
    rest = _NOTHING.sub("", target).strip("() ")
    return ": ".join(filter(None, [_WORDS[fact.status], "; ".join(filter(None, [rest, fact.note]))]))


def snake(kernel: str) -> str:
    """The operator's name for a kernel: snake_case, without a leading underscore and without endings such as `_kernel`."""
    words = re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", kernel).lower().strip("_")
    return re.sub(r"_(?:kernel\d*|cuda|gpu|k)$", "", words) or words


def new_op(name: str, file: str) -> str:
    """The command that starts an operator project for a CUDA or Triton kernel."""
    return f"ascendops new op {snake(name)} --from {file}"
