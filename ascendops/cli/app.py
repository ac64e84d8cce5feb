"""The command group and `main`: one place where every exception becomes a message and an exit code."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import Any

import click

from ascendops import __version__
from ascendops.cli.output import Output
from ascendops.errors import AscendOpsError, ExitCode, FileProblem

COMMANDS = {
    "new": "Create an operator project from a template.",
    "build": "Compile operators for the CPU twin or for CANN.",
    "test": "Compare operators with their fp64 golden and their reference.",
    "verify": "Judge the outputs of a verdict file again, without the device.",
    "bench": "Time operators and compare with the chip's roof and with a baseline.",
    "tune": "Try the values of an operator's tunables and keep the fastest.",
    "estimate": "Predict from shapes how long operator calls take: a model, not a measurement.",
    "report": "Turn the result of a test run into HTML, text or JUnit.",
    "export": "Write operators as msopgen's JSON, test kit cases, ONNX, or a direct launch.",
    "package": "Make a wheel of operators that other environments install and import.",
    "migrate": "List what a CUDA code base needs before it runs on CANN.",
    "check": "Compile Triton kernels for Ascend with the real compiler, without CANN.",
    "toolchain": "Install, list and remove private compilers.",
    "doctor": "Show what this machine can do, with a fix for each problem.",
    "explain": "Explain an error or finding id.",
}


class LazyGroup(click.Group):
    """A group that imports a command's module only when the command runs; the names are known without importing."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.commands = {name: click.Command(name, short_help=text) for name, text in COMMANDS.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        """The commands in the order in which they are used, not alphabetically."""
        return list(self.commands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  click's signature
        """The real command, imported now; None for an unknown name."""
        if cmd_name not in self.commands:
            return None
        command: click.Command = importlib.import_module(f"ascendops.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Writes the list of commands from the static table, so that --help imports none of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        click.echo(f"ascendops {__version__}")
        ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--version", is_flag=True, callback=_version, expose_value=False, is_eager=True, help="Show the version.")
def app() -> None:
    """Write, build, test and call Ascend NPU operators.

    \b
    Examples:
      ascendops new op softmax && cd softmax && ascendops build && ascendops test
      ascendops doctor

    Without the CANN toolkit, operators run on a CPU twin that compiles the same sources with g++. docs/quickstart.md is a
    first quarter of an hour. Exit codes: 0 ok, 1 mismatch, 2 usage, 3 toolchain missing, 4 compile error, 5 nothing
    selected, 70 internal error, 130 interrupted.
    """


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit code; prints every error. `argv` defaults to sys.argv[1:]."""
    args = list(sys.argv[1:] if argv is None else argv)
    head = args[: args.index("--")] if "--" in args else args
    output = Output(json="--json" in head, verbose="-v" in head or "--verbose" in head)
    try:
        code = app.main(args=args, prog_name="ascendops", standalone_mode=False)
        return int(code) if isinstance(code, int) else ExitCode.OK
    except click.ClickException as error:
        error.show()
        output.emit({"error": {"id": None, "what": error.format_message(), "exit_code": int(ExitCode.USAGE)}})
        return ExitCode.USAGE
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return ExitCode.INTERRUPTED
    except AscendOpsError as error:
        output.error(error)
        return error.exit_code
    except BrokenPipeError:
        sys.stderr.close()  # the reader (head, less) has gone; Python would complain at exit
        return ExitCode.OK
    except OSError as error:
        problem = _file_problem(error)
        if problem is None:
            return _internal(error, output)
        output.error(problem)
        return problem.exit_code
    except Exception as error:  # noqa: BLE001  the last resort: whatever reaches here is a fault of ascendops
        return _internal(error, output)


def _file_problem(error: OSError) -> FileProblem | None:
    """The error that a person can act on: a named file that cannot be read or written."""
    if error.filename is None or error.strerror is None:
        return None
    path = str(error.filename)
    return FileProblem(
        f"{path}: {error.strerror}", where=path,
        help="free the path, or name another one with the option that named it; ASCENDOPS_CACHE names the build cache",
    )  # fmt: skip


def _internal(error: Exception, output: Output) -> int:
    import platform
    import traceback

    frame = traceback.extract_tb(error.__traceback__)[-1]
    what = f"{type(error).__name__}: {error}"
    lines = [
        click.style(f"internal error: {what}", fg="red", bold=True),
        f"  --> {frame.filename}:{frame.lineno} in {frame.name}",
        "   = this is a fault in ascendops, not in your operator",
        "   = help: file an issue with the command, this text, and the output of: ascendops doctor --json",
        f"   = ascendops {__version__}, Python {platform.python_version()}, {platform.platform()}",
    ]
    lines += [] if output.verbose else ["   = -v shows the traceback"]
    click.echo("\n".join(lines), err=True, color=None)
    if output.verbose:
        click.echo("".join(traceback.format_exception(error)), err=True)
    output.emit({"error": {"id": None, "what": what, "exit_code": int(ExitCode.INTERNAL)}})
    return ExitCode.INTERNAL
