"""A lint for templates: faults that Jinja does not report, found without rendering."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import jinja2
from jinja2 import meta, nodes

from ascendops import resources
from ascendops.render.env import environment, prefix_of

NAMES = frozenset({"op", "p", "header"})
_OF_FOLDER = {"_direct": frozenset({"soc", "kernels", "kernel"})}  # names beside these
_LITERALS = (nodes.Const, nodes.Tuple, nodes.List, nodes.Dict)


@dataclass(frozen=True)
class Problem:
    """One fault of a template."""

    template: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.template}:{self.line}: {self.message}"


def lint(source: str, template: str) -> list[Problem]:
    """The faults of one template, by line; `template` is its name below op_templates.

    Found are: syntax errors, `{{ ... }}` that holds a literal (C++ braces that Jinja would swallow), names that no template gets,
    control lines with the wrong prefix, imports of other templates, and a missing newline at the end.
    """
    prefix = prefix_of(template)
    env = environment(prefix, resources.op_templates())
    problems = [Problem(template, line, message) for line, message in _text(source, prefix)]
    try:
        tree = env.parse(source, template)
    except jinja2.TemplateSyntaxError as error:
        return sorted([*problems, Problem(template, error.lineno, str(error.message))], key=lambda one: one.line)
    problems += [Problem(template, line, message) for line, message in _tree(tree)]
    known = NAMES | _OF_FOLDER.get(template.split("/")[0], frozenset())
    for name in sorted(meta.find_undeclared_variables(tree) - known):
        line = next((node.lineno for node in tree.find_all(nodes.Name) if node.name == name), 1)
        message = f"'{name}' is not defined: templates get {', '.join(sorted(known))}"
        problems.append(Problem(template, line, message))
    return sorted(problems, key=lambda one: one.line)


def lint_templates(root: Path | None = None) -> list[Problem]:
    """The faults of every `*.j2` below `root` (op_templates)."""
    folder = root or resources.op_templates()
    problems: list[Problem] = []
    for path in sorted(folder.rglob("*.j2")):
        problems += lint(path.read_text(encoding="utf-8"), path.relative_to(folder).as_posix())
    return problems


def _text(source: str, prefix: str) -> Iterator[tuple[int, str]]:
    wrong = "#%" if prefix == "//%" else "//%"
    for number, line in enumerate(source.splitlines(), 1):
        if line.lstrip().startswith(wrong):
            yield number, f"control lines of this file start with {prefix}, not {wrong}"
    if not source.endswith("\n"):
        yield len(source.splitlines()), "no newline at the end of the file"


def _tree(tree: nodes.Template) -> Iterator[tuple[int, str]]:
    for output in tree.find_all(nodes.Output):
        for node in output.nodes:
            if isinstance(node, _LITERALS) and getattr(node, "value", None) != "":  # {{ "" }} keeps a blank line
                yield node.lineno, "{{ ... }} holds a literal: C++ braces next to each other are written { { and } }"
    for statement in tree.find_all((nodes.Import, nodes.FromImport)):
        yield statement.lineno, "templates do not import each other: decide in Python, or use a C++ header"
