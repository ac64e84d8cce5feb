"""`ascendops test --record`: what it selects and prints."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import dataclass
from pathlib import Path

from ascendops.cli.output import Output
from ascendops.errors import ExitCode, NothingSelected


@dataclass(frozen=True)
class Plan:
    """Where a bundle goes and what is in it.

    Attributes:
        folder: Of the bundle, or of one bundle per operator.
        tier: Which cases.
        keyword: pytest's -k expression over test ids, or None for all.
        distribute: Record on the hosts of a Ray cluster that offer `gpu`.
    """

    folder: Path
    reference: str
    seed: int
    tier: str
    keyword: str | None
    distribute: bool


def record_command(roots: list[Path], plan: Plan, output: Output) -> int:
    """Records the operators of these projects.

    Raises:
        NothingSelected: No operator declares cases, or the reference ran on none.
        FarmMissing: No host can record.
    """
    from ascendops import spec
    from ascendops.testing.farm import RECORDERS, Farm
    from ascendops.testing.record import record_all

    specs = [op for root in roots if (root / "op.toml").is_file() for op in spec.load(root / "op.toml").operators if op.cases]
    if not specs:
        raise NothingSelected("no operator here declares cases", help="declare [[case]] tables in op.toml")
    with contextlib.ExitStack() as stack:
        farm = None
        if plan.distribute:
            stack.enter_context(contextlib.redirect_stdout(sys.stderr))  # Ray prints news of the cluster
            farm = stack.enter_context(contextlib.closing(Farm(RECORDERS)))
        made = record_all(specs, plan.folder, plan.reference, plan.seed, plan.tier, farm, plan.keyword)
    for one in made:
        left = f", {len(one.left_out)} left out" if one.left_out else ""
        output.result(f"  record  {one.op}   {one.cases} cases{left}   {one.how}   {one.bytes >> 10} KiB   {one.id[:16]}")
        for reason in dict.fromkeys(one.left_out.values()):
            output.say(f"    left out: {reason}")
    output.emit({"bundles": [{**vars(one), "folder": str(one.folder)} for one in made]})
    return int(ExitCode.OK)
