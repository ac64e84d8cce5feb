"""How long `ascendops test` takes for every gallery operator: wall and CPU seconds of build and test, and what did not pass.

    python -m tools.time_gallery [--only softmax ...] [--tier default] [-n 2] [--out TABLE.md] [--keep DIR]

Each operator is rendered into a folder (a gradient into that of its forward operator, if both are asked for) and built, beginning with an empty build
cache. Then each is tested by a command of its own or, with -n, all of them by one `ascendops test -n N FOLDER ...`. CPU seconds are those of the command and everything it started, so that a busy machine
shows in the wall time only.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))


@dataclass(frozen=True)
class Timed:
    """Seconds of one command: wall, CPU of all its processes; exit code."""

    wall: float
    cpu: float
    code: int


@dataclass(frozen=True)
class Row:
    """One folder: its build with an empty cache, its test after that, the number of cases and their status."""

    name: str
    build: Timed
    test: Timed
    cases: int
    passed: int


def timed(command: Sequence[str], folder: Path, cache: Path, log: Path) -> Timed:
    """Runs a command of ascendops in `folder`."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    with log.open("a") as out:
        code = subprocess.call(
            [sys.executable, "-m", "ascendops", *command], cwd=folder, stdout=out, stderr=out, env={**os.environ, "ASCENDOPS_CACHE": str(cache), "PYTHONPATH": path}
        )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Timed(time.perf_counter() - start, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, code)


def rendered(names: Sequence[str], home: Path) -> list[Path]:
    """Renders the operators: their folders, without those whose operators are all in another one too (a gradient beside its forward operator)."""
    from ascendops import spec
    from ascendops.errors import BadOpName
    from ascendops.render import new_project

    found: dict[Path, set[str]] = {}
    for name in names:
        folder = home / name
        try:
            new_project(name, folder)
        except BadOpName:  # a name that clashes with a C function
            new_project(f"{name}_custom", folder)
            folder = folder.rename(folder.with_name(f"{name}_custom"))
        found[folder] = {op.name for op in spec.load(folder / "op.toml").operators}
    return [folder for folder, mine in found.items() if not any(mine < others for others in found.values())]


def built(folder: Path, home: Path) -> Timed:
    """What the build of a folder took."""
    return timed(["build"], folder, home / "cache", home / f"{folder.name}.log")


def one(folder: Path, home: Path, tier: str) -> Row:
    """Builds and tests one folder."""
    build = built(folder, home)
    test = timed(["test", "--tier", tier, "--out", "result.json"], folder, home / "cache", home / f"{folder.name}.log")
    reports = _cases(folder / "result.json")
    return Row(folder.name, build, test, len(reports), _passed(reports))


def together(folders: Sequence[Path], home: Path, tier: str, processes: int) -> tuple[list[Row], Timed]:
    """Builds the folders, then tests all of them with one command: rows whose test time is the sum of their cases', and the command's."""
    from ascendops import spec

    made = {folder: built(folder, home) for folder in folders}
    out = home / "result.json"
    whole = timed(["test", *map(str, folders), "--tier", tier, "-n", str(processes), "--out", str(out)], home, home / "cache", home / "all.log")
    rows, cases = [], _cases(out)
    for folder, build in made.items():
        mine = {op.name for op in spec.load(folder / "op.toml").operators}
        reports = [case for case in cases if case["op"] in mine]
        rows.append(Row(folder.name, build, Timed(sum(case["seconds"] for case in reports), 0.0, 0), len(reports), _passed(reports)))
    return rows, whole


def _cases(result: Path) -> list[dict[str, Any]]:
    found = json.loads(result.read_text())["cases"] if result.is_file() else []
    return [case for case in found if case["kind"] == "case"]


def _passed(reports: Sequence[dict[str, Any]]) -> int:
    return sum(case["status"] in ("pass", "pass_by_reference") for case in reports)


def markdown(rows: Sequence[Row]) -> str:
    """The table, with totals."""
    lines = ["| operator | cases | passed | build wall s | build CPU s | test wall s | test CPU s |", "|---|--:|--:|--:|--:|--:|--:|"]
    lines += [
        f"| {r.name}{'' if r.test.code == 0 else ' (exit ' + str(r.test.code) + ')'} | {r.cases} | {r.passed} | {r.build.wall:.1f} | {r.build.cpu:.1f} | {r.test.wall:.1f} | {r.test.cpu:.1f} |"
        for r in rows
    ]
    totals = [sum(getattr(getattr(r, part), unit) for r in rows) for part in ("build", "test") for unit in ("wall", "cpu")]
    lines.append(f"| all {len(rows)} | {sum(r.cases for r in rows)} | {sum(r.passed for r in rows)} | " + " | ".join(f"{total:.1f}" for total in totals) + " |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Command line."""
    from tools.record_bundles import operators

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--tier", default="default")
    parser.add_argument("-n", type=int, help="test all with one command of so many processes")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--keep", type=Path, help="folder of projects, results and logs; a temporary one without it")
    options = parser.parse_args()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="ascendops-gallery-") as temporary:
        home = options.keep or Path(temporary)
        home.mkdir(parents=True, exist_ok=True)
        folders = rendered(options.only or operators(), home)
        if options.n:
            rows, whole = together(folders, home, options.tier, options.n)
            print(f"{markdown(rows)}\none command: {whole.wall:.1f} s wall, {whole.cpu:.1f} s CPU, exit {whole.code}")
            return int(whole.code != 0 or any(row.passed != row.cases for row in rows))
        for folder in folders:
            rows.append(one(folder, home, options.tier))
            row = rows[-1]
            print(f"{row.name}: {row.passed} of {row.cases} pass, build {row.build.cpu:.1f} s, test {row.test.cpu:.1f} s CPU, {row.test.wall:.1f} s wall", file=sys.stderr, flush=True)
            if options.out:
                options.out.write_text(markdown(rows))
    print(markdown(rows))
    return int(any(row.test.code or row.passed != row.cases for row in rows))


if __name__ == "__main__":
    sys.exit(main())
