"""What a template change does to every rendered file: the projects of all presets, rendered by two commits and compared.

    python -m tools.render_diff [OLD [NEW]] [--only softmax] [--full] [--stat]

OLD is HEAD and NEW the working tree unless given. Each commit renders with its own code and templates. A change that many projects share is
printed once, with the number of projects that have it; --full prints each. Exits with 1 if anything differs.
"""

from __future__ import annotations

import argparse
import difflib
import io
import re
import subprocess
import sys
import tarfile
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_RENDER = """
import sys
from pathlib import Path
from ascendops.render import all_families, new_project
from ascendops.spec.names import suggestion

for family in all_families():
    for preset in family.presets:
        if not sys.argv[2:] or preset in sys.argv[2:] or family.name in sys.argv[2:]:
            new_project(suggestion(preset), Path(sys.argv[1]) / family.name / preset, family=family.name, like=preset)
"""


@dataclass(frozen=True)
class Change:
    """One changed file of one project: its place in the project, and the lines of its diff without their numbers."""

    project: str
    path: str
    lines: tuple[str, ...]


def main(argv: list[str] | None = None) -> int:
    """Print the differences; 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", nargs="?", default="HEAD", help="commit to compare with [HEAD]")
    parser.add_argument("new", nargs="?", default="", help="commit that is compared [the working tree]")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="only this family or preset (repeatable)")
    parser.add_argument("--full", action="store_true", help="print every project's diff, not each different one once")
    parser.add_argument("--stat", action="store_true", help="print the changed files and their numbers of lines only")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="render_diff_") as folder:
        trees = [_render(commit, Path(folder) / side, args.only) for side, commit in (("old", args.old), ("new", args.new))]
        changes = list(_changes(*trees))
    for line in _stat(changes) if args.stat else _report(changes, full=args.full):
        print(line)
    return int(bool(changes))


def _render(commit: str, folder: Path, only: list[str]) -> Path:
    """The rendered projects of a commit, or of the working tree for an empty name."""
    code = ROOT
    if commit:
        code = folder / "code"
        done = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=False)
        if done.returncode:
            sys.exit(f"git archive {commit}: {done.stderr.decode().strip()}")
        with tarfile.open(fileobj=io.BytesIO(done.stdout)) as tar:
            tar.extractall(code, filter="data")
    out = folder / "projects"
    out.mkdir(parents=True)
    command = [sys.executable, "-c", _RENDER, str(out), *only]
    done = subprocess.run(command, cwd=code, env={"PYTHONPATH": str(code), "PATH": ""}, capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"rendering {commit or 'the working tree'} failed:\n{done.stderr.decode().strip()}")
    return out


def _changes(old: Path, new: Path) -> Iterator[Change]:
    """Every file that differs, in the order of projects and paths."""
    files = {path.relative_to(tree) for tree in (old, new) for path in tree.rglob("*") if path.is_file()}
    for path in sorted(files):
        before, after = (_lines(tree / path) for tree in (old, new))
        if before != after:
            diff = difflib.unified_diff(before or [], after or [], n=2, lineterm="")
            kept = tuple("@@" if line.startswith("@@") else line for line in list(diff)[2:])
            state = ("(new file)",) if before is None else ("(deleted)",) if after is None else ()
            yield Change("/".join(path.parts[:2]), "/".join(path.parts[2:]), (*state, *kept))


def _lines(path: Path) -> list[str] | None:
    return path.read_text(encoding="utf-8").splitlines() if path.is_file() else None


def _report(changes: list[Change], *, full: bool) -> Iterator[str]:
    """Each different diff once, under the projects that have it; the operator's own name does not make a diff different."""
    groups: dict[tuple[str, ...], list[Change]] = defaultdict(list)
    for change in changes:
        key = (change.project, change.path) if full else _anonymous(change)
        groups[key].append(change)
    for group in groups.values():
        first = group[0]
        others = f" and {len(group) - 1} more: {', '.join(change.project for change in group[1:6])}{', ...' * (len(group) > 6)}"
        yield f"== {first.project}/{first.path}{others * (len(group) > 1)}"
        yield from (f"   {line}" for line in first.lines)
    yield f"{len(changes)} changed files in {len({change.project for change in changes})} projects, {len(groups)} different changes"


def _anonymous(change: Change) -> tuple[str, ...]:
    name = change.project.rpartition("/")[2]
    words = {name, f"{name}_custom", name.replace("_", ""), name.upper(), "".join(part.capitalize() for part in name.split("_"))}
    pattern = re.compile("|".join(sorted((re.escape(word) for word in words), key=len, reverse=True)))
    return tuple(re.sub(r"[0-9a-f]{12,}", "#", pattern.sub("NAME", text)) for text in (change.path, *change.lines))


def _stat(changes: list[Change]) -> Iterator[str]:
    for change in changes:
        added, removed = (sum(line.startswith(sign) for line in change.lines) for sign in "+-")
        yield f"{change.project}/{change.path}  +{added} -{removed}"
    yield f"{len(changes)} changed files in {len({change.project for change in changes})} projects"


if __name__ == "__main__":
    sys.exit(main())
