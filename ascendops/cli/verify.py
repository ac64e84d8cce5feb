"""`ascendops verify`."""

from __future__ import annotations

from pathlib import Path

import click

from ascendops.cli.options import output_options
from ascendops.cli.output import Output
from ascendops.errors import ExitCode


@click.command("verify")
@click.argument("verdict", type=click.Path(exists=True, path_type=Path), metavar="VERDICT")
@output_options
def command(verdict: Path, output: Output) -> int:
    """Judge the outputs of a verdict again, without the device that produced them.

    \b
    Examples:
      ascendops test softmax --verdict out/
      ascendops verify out/verdict.json

    Makes the inputs again from their recipes, computes the fp64 golden again and compares every gate with what the file claims. It runs
    the golden.py that the file contains: read it first if you do not trust its author. Exits with 1 if anything differs.
    """
    from ascendops.testing import verdicts

    found = verdicts.verify(verdict)
    env = found.environment
    ran = f"{env.get('device', '?')}, {env.get('soc', '?')}, {env.get('rules', '?')}, level {env.get('level', '?')}"
    output.result(f"  verdict  {found.id[:16]}: {found.passed} of {found.cases} cases pass on {ran}")
    for line in found.disagreements:
        output.result(f"  differs  {line}")
    if not found.disagreements:
        output.result(
            "  verified the inputs, the golden and the gates G1, G2 and G4 are as the file says; G0 and G6 need the device"
        )
    output.emit(found.to_dict())
    return int(ExitCode.MISMATCH if found.disagreements else ExitCode.OK)
