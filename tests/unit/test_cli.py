"""The command line itself: start-up, help, typos, exit codes, and where it prints."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import click
import pytest

from ascendops.cli import main
from ascendops.cli.app import COMMANDS, app
from ascendops.cli.output import Output, render_error, table, wants_colour
from ascendops.errors import CompileError, ExitCode, SpecError

HEAVY = ("torch", "numpy", "triton", "pytest", "jinja2")
PATHS = [["--help"], *([name, "--help"] for name in COMMANDS), ["new", "op", "--help"], ["explain", "--list"], ["explain", "ASC101"]]


@pytest.mark.parametrize("args", PATHS, ids=" ".join)
def test_a_command_that_needs_no_torch_imports_none(args):
    code = f"import sys; from ascendops.cli import main; main({args!r}); print([m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.strip() == "[]"
    assert "Usage: ascendops" in done.stdout or "ASC101" in done.stdout


@pytest.mark.parametrize("path", [[name] for name in COMMANDS] + [["new", "op"]], ids=" ".join)
def test_each_help_starts_with_two_examples_and_fits_a_screen(path, capsys):
    assert main([*path, "--help"]) == 0
    text = capsys.readouterr().out
    examples = text.split("Examples:")[1].split("\n\n")[0].strip().splitlines()
    assert len(examples) == 2
    assert all(line.strip().startswith("ascendops ") for line in examples)
    assert len(text.splitlines()) <= 40


def test_help_lists_exactly_the_commands_that_exist(capsys):
    main(["--help"])
    text = capsys.readouterr().out
    for name in COMMANDS:
        assert isinstance(app.get_command(click.Context(app), name), click.Command)
        assert f"\n  {name}" in text
    listed = {line.split()[0] for line in text.split("Commands:")[1].splitlines() if line[:3].strip() and line.startswith("  ")}
    assert listed == set(COMMANDS)


@pytest.mark.parametrize(
    ("args", "hint"),
    [(["biuld"], "Did you mean 'build'?"), (["docter"], "'doctor'"), (["build", "--jbos", "2"], "--jobs"), (["new", "opp", "x"], "'op'")],
)
def test_typos_are_answered(args, hint, capsys):
    assert main(args) == ExitCode.USAGE
    captured = capsys.readouterr()
    assert hint in captured.err
    assert captured.out == ""


@pytest.mark.parametrize("value", ["gpu", "TWIN2"])
def test_an_unknown_backend_lists_the_known_ones(value, capsys, tmp_path):
    assert main(["build", str(tmp_path), "--backend", value]) == ExitCode.USAGE
    text = capsys.readouterr().err
    assert all(f"'{name}'" in text for name in ("auto", "twin", "cann"))


def test_version(capsys):
    import ascendops

    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"ascendops {ascendops.__version__}\n"


@pytest.mark.parametrize(
    ("error", "code"),
    [(SpecError("dtype 'fp16' is not known", where="op.toml:14", help="use float16"), 2), (CompileError("does not compile"), 4)],
)
def test_an_error_is_printed_once_with_its_exit_code(error, code, capsys, monkeypatch):
    def fail(*_args, **_kwargs):
        raise error

    monkeypatch.setattr(app, "main", fail)
    assert main(["build", "--json"]) == code
    captured = capsys.readouterr()
    assert captured.err.count(error.what) == 1
    assert f"error[{error.id}]" in captured.err
    assert json.loads(captured.out)["error"] == {**error.to_dict(), "exit_code": code}


def test_an_error_shows_where_why_and_help_in_order():
    error = SpecError("dtype 'fp16' is not known", where="op.toml:14", why="line one\nline two", help="use float16")
    assert click.unstyle(render_error(error)).splitlines() == [
        "error[ASC101]: dtype 'fp16' is not known",
        "  --> op.toml:14",
        "   = line one",
        "   = line two",
        "   = help: use float16",
        "   = more: ascendops explain ASC101",
    ]


def test_a_fault_of_ascendops_is_70_and_says_how_to_report_it(capsys, monkeypatch):
    def fail(*_args, **_kwargs):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(app, "main", fail)
    assert main(["build"]) == ExitCode.INTERNAL
    text = capsys.readouterr().err
    assert "internal error: ZeroDivisionError: division by zero" in text
    assert "ascendops doctor --json" in text
    assert "Traceback" not in text
    assert main(["build", "-v"]) == ExitCode.INTERNAL
    assert "Traceback" in capsys.readouterr().err


def test_ctrl_c_is_130(capsys, monkeypatch):
    def fail(*_args, **_kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(app, "main", fail)
    assert main(["test"]) == ExitCode.INTERRUPTED
    assert capsys.readouterr().err == "interrupted\n"


class _Stream:
    def __init__(self, tty):
        self.tty = tty

    def isatty(self):
        return self.tty


@pytest.mark.parametrize(("tty", "no_color", "wanted"), [(True, None, True), (True, "", True), (True, "1", False), (False, None, False)])
def test_colours_need_a_terminal_and_respect_no_color(tty, no_color, wanted, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    if no_color is not None:
        monkeypatch.setenv("NO_COLOR", no_color)
    assert wants_colour(_Stream(tty)) is wanted


def test_a_pipe_gets_no_escape_codes():
    done = subprocess.run([sys.executable, "-m", "ascendops", "doctor"], capture_output=True, text=True, env={**os.environ, "TERM": "xterm"})
    assert "\x1b" not in done.stdout + done.stderr


def test_results_go_to_stdout_and_talk_to_stderr(capsys):
    Output().result("result")
    Output().say("talk")
    Output(quiet=True).say("hidden")
    Output().detail("hidden")
    Output(verbose=True).detail("detail")
    Output(json=True).result("table")
    captured = capsys.readouterr()
    assert captured.out == "result\n"
    assert captured.err == "talk\ndetail\ntable\n"


def test_json_is_one_object_with_a_schema_version(capsys):
    Output().emit({"a": 1})
    assert capsys.readouterr().out == ""
    Output(json=True).emit({"a": 1})
    assert json.loads(capsys.readouterr().out) == {"schema_version": 1, "a": 1}


def test_columns_align_by_what_is_seen():
    text = table([["a", "bb", "c"], [click.style("long", fg="red"), "b", ""]])
    assert click.unstyle(text).splitlines() == ["  a     bb  c", "  long  b"]
    assert "\x1b[31mlong" in text


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_completion_is_available(shell):
    env = {**os.environ, "_ASCENDOPS_COMPLETE": f"{shell}_source"}
    done = subprocess.run([sys.executable, "-c", "from ascendops.cli import main; main([])"], capture_output=True, text=True, env=env)
    assert "_ASCENDOPS_COMPLETE" in done.stdout
