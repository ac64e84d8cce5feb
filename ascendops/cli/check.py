"""`ascendops check`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ascendops.cli.options import output_options
from ascendops.cli.output import Output, plural
from ascendops.errors import ExitCode, NothingSelected
from ascendops.spec.socs import DEFAULT_SOC

if TYPE_CHECKING:
    from ascendops.migrate.lowering.verdict import Verdict

_DTYPES = ("fp32", "fp16", "bf16")


def _pairs(_context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for value in values:
        name, equals, text = value.partition("=")
        if not equals or not name.isidentifier():
            raise click.BadParameter(f"'{value}' is not NAME=VALUE", param=parameter)
        found[name] = text
    return found


@click.command("check")
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path), metavar="PATH...")
@click.option("-k", "--kernel", "kernels", multiple=True, metavar="NAME", help="Only this kernel (repeatable).")
@click.option("--soc", default=DEFAULT_SOC, show_default=True, metavar="SOC", help="Target: Ascend 910B, 910_93 or 950.")
@click.option("--dtype", "dtypes", multiple=True, type=click.Choice(_DTYPES), help="Dtype of the data (repeatable) [all three].")
@click.option("--constexpr", "constants", multiple=True, callback=_pairs, metavar="NAME=VALUE", help="A compile-time value, such as BLOCK=4096 (repeatable).")
@click.option("--arg", "types", multiple=True, callback=_pairs, metavar="NAME=TYPE", help="An argument's type, such as ids=*i32 or n=i64 (repeatable).")
@click.option("--configs", type=click.IntRange(1, 64), default=8, show_default=True, metavar="N", help="Configurations of an autotuned kernel to try.")
@output_options
def command(paths: tuple[Path, ...], output: Output, **options: Any) -> int:
    """Does this Triton kernel compile for Ascend? Asks the real compiler, without CANN or an NPU.

    \b
    Examples:
      ascendops check kernel.py
      ascendops check kernel.py --dtype fp16 --constexpr BLOCK=4096

    The files are not run: kernels, helpers and constants are taken out and compiled, with the values that launches, autotune
    and heuristics give. Needs `ascendops toolchain install triton-ascend`. It ends before CANN's last step (hivmc).
    Exit code: 0 if every kernel lowers, 1 if one has a finding, 3 without the toolchain.
    """
    from ascendops.migrate.lowering.files import check_paths
    from ascendops.migrate.lowering.plan import Options
    from ascendops.migrate.lowering.text import page
    from ascendops.toolchain.private import require

    toolchain = require("triton-ascend")
    chosen = Options(
        "", tuple(options["dtypes"]) or _DTYPES, options["configs"],
        {name: _value(text) for name, text in options["constants"].items()}, options["types"], frozenset(options["kernels"]),
    )  # fmt: skip
    verdicts, skipped = check_paths(list(paths), toolchain, chosen, options["soc"], output.say)
    if not verdicts:
        names = f" called {', '.join(sorted(options['kernels']))}" if options["kernels"] else ""
        why = "\n".join(f"{file}: {reason}" for file, reason in skipped) or None
        raise NothingSelected(f"there is no @triton.jit kernel{names} in {', '.join(map(str, paths))}", why=why)
    for file, reason in skipped:
        output.say(f"{file}: {reason}")
    output.result(page(verdicts, toolchain, verbose=output.verbose))
    output.emit(_result(verdicts, toolchain, skipped))
    found = [verdict for verdict in verdicts if verdict.open]
    if found:
        output.say(f"{plural(len(found), 'kernel')} of {len(verdicts)} with a finding")
    return ExitCode.MISMATCH if found or skipped else ExitCode.OK


def _value(text: str) -> Any:
    """A value from the command line: number, True, False, None, a dtype such as tl.float16, else text."""
    import ast

    if text.startswith("tl."):
        return {"dtype": text.removeprefix("tl.")}
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return value if isinstance(value, (int, float, bool, str, type(None))) else text


def _result(verdicts: list[Verdict], toolchain: Any, skipped: list[tuple[str, str]]) -> dict[str, Any]:
    return {
        "toolchain": {"name": toolchain.name, "version": toolchain.version},
        "kernels": [verdict.to_dict() for verdict in verdicts],
        "skipped": [{"file": file, "reason": reason} for file, reason in skipped],
    }
