"""Runs the kill matrix and prints it as Markdown.

python -m tools.kill_matrix [--only softmax ...] [--out docs/kill-matrix.md] [--verbose]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from ascendops.parity import inputs, verify
from ascendops.parity.standards import NAMES
from tools.kill_matrix.faults import FAULTS, truncating
from tools.kill_matrix.more import SUBJECTS
from tools.kill_matrix.subjects import Subject, wide

DTYPES = (torch.float32, torch.float16, torch.bfloat16)
RECIPES = ("random", "tail", "negative", "coded", "positive")
OURS = "ascendops-parity/1"
PEERS = ("torch-default", "cann-eco-2025", "cann-eco-2026", "cann-commercial-L0", "cann-commercial-L2")


@dataclass
class Row:
    """One implementation: who accepted it."""

    op: str
    dtype: str
    name: str
    honest: bool
    accepted: dict[str, bool]
    text: str = ""


@dataclass
class Matrix:
    """All rows."""

    rows: list[Row] = field(default_factory=list)

    def share(self, rule: str, honest: bool, op: str | None = None) -> tuple[int, int]:
        """(decided rightly, all) over honest or wrong implementations."""
        rows = [r for r in self.rows if r.honest == honest and (op is None or r.op == op)]
        return sum(r.accepted[rule] == honest for r in rows), len(rows)


def cases(subject: Subject, dtype: torch.dtype) -> list[dict[str, Any]]:
    """Two or three shapes with five kinds of values, in turn."""
    made = []
    for number, recipe in enumerate(RECIPES):
        shapes = subject.shapes[number % len(subject.shapes)]
        values: dict[str, Any] = {}
        for i, shape in enumerate(shapes):
            stream = inputs.key(0, subject.name, recipe, i)
            if subject.labels is not None and i == subject.labels[1]:
                classes = shapes[0][-1]
                values[f"x{i}"] = torch.from_numpy((inputs.bits(stream, shape[0]) % classes).astype("int64"))
            else:
                kind = recipe if i == 0 else "random"
                values[f"x{i}"] = inputs.values(shape, dtype, kind, stream)
        made.append(values)
    return made


def implementations(subject: Subject, dtype: torch.dtype) -> Iterator[tuple[str, bool, Callable[..., Any]]]:
    """(name, honest, function) of every implementation of one operator."""
    yield "torch in its dtype", True, subject.golden
    yield "float32, rounded once", True, wide(subject.golden)
    yield (
        "float64, rounded once",
        True,
        lambda *t: subject.golden(*[x.double() if x.is_floating_point() else x for x in t]).to(t[0].dtype),
    )
    for name, function in subject.honest.items():
        yield name, True, function
    for name, function in subject.wrong.items():
        yield name, False, function
    right = wide(subject.golden)
    for name, fault in FAULTS.items():
        yield name, False, lambda *t, fault=fault: fault(right(*t))
    yield (
        "truncating cast",
        False,
        lambda *t: truncating(subject.golden(*[x.float() if x.is_floating_point() else x for x in t]), dtype),
    )


def run(only: list[str], verbose: bool) -> Matrix:
    """Judges every implementation."""
    matrix = Matrix()
    for subject in SUBJECTS:
        if only and subject.name not in only:
            continue
        start = time.process_time()
        for dtype in DTYPES:
            data = cases(subject, dtype)
            right = wide(subject.golden)
            kind = str(dtype).removeprefix("torch.")
            for name, honest, function in implementations(subject, dtype):
                if not honest and all(_same(function(*case.values()), right(*case.values())) for case in data):
                    continue  # these inputs do not reach the fault: it is the right function
                verdict = verify(function, subject.golden, data, repeats=2)
                accepted = {
                    peer: all(case.standards.get(peer, "pass") != "fail" for case in verdict.cases) for peer in NAMES
                }
                accepted[OURS] = verdict.passed
                row = Row(subject.name, kind, name, honest, accepted, str(verdict))
                matrix.rows.append(row)
                if verdict.passed != honest:
                    print(f"{'lost' if honest else 'KEPT'}: {row.op} {kind} {name}", file=sys.stderr)
                    if verbose:
                        print(row.text[:1500], file=sys.stderr)
        print(f"{subject.name}: {time.process_time() - start:.1f} s", file=sys.stderr, flush=True)
    return matrix


def _same(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.shape == b.shape and bool(((a == b) | (torch.isnan(a) & torch.isnan(b))).all())


def markdown(matrix: Matrix) -> str:
    """The matrix as a page."""
    rules = (OURS, *PEERS)
    lines = [
        "# Kill matrix",
        "",
        "Made by `python -m tools.kill_matrix`. Honest implementations should be kept, wrong ones rejected; each cell is right / all,",
        "over float32, float16 and bfloat16, on five cases per operator and dtype (`random`, `tail`, `negative`, `coded`, `positive`).",
        "",
    ]
    lines += ["| rule | honest kept | wrong rejected |", "|---|--:|--:|"]
    for rule in rules:
        (kept, honest), (killed, wrong) = matrix.share(rule, True), matrix.share(rule, False)
        lines.append(
            f"| {rule} | {kept} / {honest} ({kept / honest:.1%}) | {killed} / {wrong} ({killed / wrong:.1%}) |"
        )
    ops = list(dict.fromkeys(row.op for row in matrix.rows))
    for honest, title in ((True, "Honest implementations kept"), (False, "Wrong implementations rejected")):
        lines += ["", f"## {title}", "", "| op | " + " | ".join(rules) + " |", "|---|" + "--:|" * len(rules)]
        for op in ops:
            cells = ["{} / {}".format(*matrix.share(rule, honest, op)) for rule in rules]
            lines.append(f"| {op} | " + " | ".join(cells) + " |")
    misjudged = [row for row in matrix.rows if row.accepted[OURS] != row.honest]
    lines += ["", "## What our rule misjudges", ""]
    lines += [f"- {row.op} {row.dtype}: {row.name} ({'honest' if row.honest else 'wrong'})" for row in misjudged] or [
        "Nothing."
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    text = markdown(run(options.only, options.verbose))
    if options.out:
        options.out.write_text(text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
