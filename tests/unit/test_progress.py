"""News of long work: logged in a program, printed on stderr by the command line."""

from __future__ import annotations

import logging

import pytest

from ascendops import progress
from ascendops.cli.app import main


def test_a_program_has_it_in_its_log_and_nowhere_else(caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "listener", None)
    with caplog.at_level(logging.INFO, "ascendops"):
        progress.tell("compiling")
    assert [record.getMessage() for record in caplog.records] == ["compiling"] and capsys.readouterr() == ("", "")


def test_the_command_line_prints_it_unless_quiet(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "listener", None)
    for flags, said in (([], "compiling\n"), (["--json"], "compiling\n"), (["-q"], "")):
        assert main(["explain", "ASC111", *flags]) == 0
        capsys.readouterr()
        progress.tell("compiling")
        assert capsys.readouterr() == ("", said)


def test_the_compiled_registration_is_announced_once_per_pytorch(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    torch = pytest.importorskip("torch")
    from ascendops.errors import CompileError
    from ascendops.toolchain import compiler as cxx
    from ascendops.torchlib import native

    told: list[str] = []
    monkeypatch.setenv("ASCENDOPS_CACHE", str(tmp_path))
    monkeypatch.setattr(progress, "listener", told.append)

    def run(command, *args, **kwargs):
        assert told == [f"compiling the torch registration, once for torch {torch.__version__}: about 20 s"], "before it starts"
        return cxx.Outcome(tuple(command), 1, "")

    monkeypatch.setattr(native.cxx, "run", run)
    with pytest.raises(CompileError):
        native._compiled()
    assert len(told) == 1
