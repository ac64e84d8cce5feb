"""Lint, types, templates and the project's own rules: `python tools/check.py [--fix]`. Never writes without --fix."""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE_LIMIT = 400
FUNCTION_LIMIT = 60
_MACHINE = re.compile(r"(/wor[k]/|/far[m]/|/roo[t]/\.)|\b(?:files\.pythonhoste[d]|registry\.npmj[s]|deb\.debia[n]|pyp[i])\.org")


def tracked(*patterns: str) -> list[Path]:
    """Files that git tracks, or would track, below the root."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [ROOT / name for name in sorted(set(names)) if (ROOT / name).is_file()]


def tool(*command: str) -> Iterator[str]:
    """Runs a tool; its output is the findings when it fails."""
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        yield (done.stdout + done.stderr).strip()


def rules() -> Iterator[str]:
    """What ruff has no rule for: sizes, docstrings of public functions, machine paths."""
    for path in tracked("ascendops/*.py", "tools/*.py"):
        where = path.relative_to(ROOT)
        lines = path.read_text(encoding="utf-8").splitlines()
        if len(lines) > FILE_LIMIT:
            yield f"{where}: {len(lines)} lines (limit {FILE_LIMIT}): split it by responsibility"
        tree = ast.parse("\n".join(lines))
        public = set() if "/cli/" in f"/{where}" else set(_public(tree))
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield from _function(node, f"{where}:{node.lineno}", needs_doc=node in public)
    for path in tracked():
        yield from _machine_paths(path)


def _public(scope: ast.Module | ast.ClassDef) -> Iterator[ast.AST]:
    """Functions that others may call: not nested in a function, not in a private class."""
    for node in scope.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from _public(node)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not node.name.startswith("_"):
            yield node


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef, where: str, *, needs_doc: bool) -> Iterator[str]:
    first = node.body[0]
    documented = ast.get_docstring(node) is not None
    size = (node.end_lineno or node.lineno) - node.lineno + 1 - (((first.end_lineno or 0) - first.lineno + 1) if documented else 0)
    if size > FUNCTION_LIMIT:
        yield f"{where}: {node.name} has {size} lines of code (limit {FUNCTION_LIMIT})"
    if needs_doc and not ast.get_docstring(node):
        yield f"{where}: {node.name} is public and has no docstring"


def _machine_paths(path: Path) -> Iterator[str]:
    if path.name in ("LICENSE", "check.py"):
        return
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return
    for number, line in enumerate(text.splitlines(), 1):
        if _MACHINE.search(line):
            yield f"{path.relative_to(ROOT)}:{number}: names a path or host of one machine"


def templates() -> Iterator[str]:
    """The brace trap and undefined names, in every template."""
    sys.path.insert(0, str(ROOT))
    from ascendops.render.lint import lint_templates

    for problem in lint_templates(ROOT / "op_templates"):
        yield str(problem)


def checks(fix: bool = False) -> dict[str, Callable[[], Iterator[str]]]:
    """Every check by name; each yields what it finds. `fix` lets ruff repair what it can."""
    return {
        "ruff": lambda: tool("ruff", "check", "--quiet", *(["--fix"] if fix else []), "."),
        "mypy": lambda: tool("mypy", "--no-error-summary"),
        "templates": templates,
        "rules": rules,
        "docs": lambda: tool("tools.gen_docs", "--check"),
    }


def main() -> int:
    """Runs every check, prints one line for each, and returns 1 if any found something."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fix", action="store_true", help="let ruff repair what it can")
    failed = 0
    for name, check in checks(parser.parse_args().fix).items():
        start = time.perf_counter()
        found = list(check())
        failed += bool(found)
        print(f"check   {name:<10} {time.perf_counter() - start:5.1f} s   {'ok' if not found else 'FAILED'}", flush=True)
        print("\n".join(f"  {line}" for text in found for line in text.splitlines()), end="\n" if found else "")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
