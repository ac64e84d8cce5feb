"""Wrong input on the command line: each kind is one clear error with its exit code, and nothing is left on disk."""

from __future__ import annotations

import json
import os

import pytest

from ascendops.cli import main
from ascendops.errors import ExitCode


@pytest.fixture(autouse=True)
def in_tmp(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("ASCENDOPS_BACKEND", "ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def softmax(in_tmp, capsys):
    assert main(["new", "op", "softmax", "-q"]) == 0
    capsys.readouterr()
    return in_tmp / "softmax"


def fails(capsys, args, code, *texts):
    """Runs the command; it must exit with `code` and say each text, once as text and once as JSON."""
    assert main(args) == code
    said = capsys.readouterr()
    for text in texts:
        assert text in said.err
    assert said.out == ""
    assert main([*args, "--json"]) == code
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["exit_code"] == code
    return error


@pytest.mark.parametrize(
    ("name", "why", "hint"),
    [
        ("while", "it is a C++ keyword", "while_custom"),
        ("exp", "it is a function of the C library", "exp_custom"),
        ("round", "it is a function of the C library", "round_custom"),
        ("half", "it is a name of the Ascend C compiler", "half_custom"),
        ("lambda", "it is a Python keyword", "lambda_custom"),
        ("LayerNorm", "lower-case letters", "layer_norm"),
        ("2d_conv", "starts with a letter", "d_conv"),
        ("a/b", "lower-case letters", "ab"),
    ],
)
def test_names_that_no_operator_can_have(name, why, hint, capsys, in_tmp):
    error = fails(capsys, ["new", "op", name], ExitCode.USAGE, "error[ASC112]", f"'{name}'", why, f"= help: use for example '{hint}'")
    assert error["id"] == "ASC112"
    assert list(in_tmp.iterdir()) == []


def test_an_unknown_name_lists_families_and_suggests(capsys, in_tmp):
    fails(capsys, ["new", "op", "sofmax"], ExitCode.USAGE, "error[ASC205]", "did you mean 'softmax'?", "elementwise: ", "--like")
    fails(capsys, ["new", "op", "x1", "--family", "elementwize"], ExitCode.USAGE, "error[ASC204]", "did you mean 'elementwise'?")
    assert list(in_tmp.iterdir()) == []


def test_a_folder_with_files_is_left_alone(softmax, capsys):
    before = {path: path.read_bytes() for path in softmax.rglob("*") if path.is_file()}
    (softmax / "op.toml").write_text("mine")
    before[softmax / "op.toml"] = b"mine"
    fails(capsys, ["new", "op", "softmax"], ExitCode.USAGE, "error[ASC206]", "nothing was written", "--force")
    assert {path: path.read_bytes() for path in softmax.rglob("*") if path.is_file()} == before


def test_a_place_that_cannot_be_written(capsys, in_tmp):
    (in_tmp / "file").write_text("")
    error = fails(capsys, ["new", "op", "softmax", "--out", "file/softmax"], ExitCode.USAGE, "error[ASC207]")
    assert "file" in error["what"]
    assert (in_tmp / "file").read_text() == ""


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a file system that nobody can write, such as /proc")
def test_a_read_only_file_system(capsys):
    fails(capsys, ["new", "op", "softmax", "--out", "/proc/softmax"], ExitCode.USAGE, "error[ASC207]", "/proc")


def test_dry_run_and_diff_write_nothing(capsys, in_tmp):
    assert main(["new", "op", "softmax", "--dry-run"]) == 0
    assert "would create" in capsys.readouterr().out
    assert main(["new", "op", "softmax", "--diff"]) == 0
    assert "+++ " in capsys.readouterr().out
    assert list(in_tmp.iterdir()) == []


def test_new_as_json_names_every_file(capsys, in_tmp):
    assert main(["new", "op", "softmax", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["name"], result["written"]) == ("softmax", True)
    on_disk = {str(path.relative_to(in_tmp / "softmax")) for path in (in_tmp / "softmax").rglob("*") if path.is_file()}
    assert {file["path"] for file in result["files"]} == on_disk
    assert {"op.toml", "golden.py", "op_kernel/softmax.cpp", "op_host/softmax_tiling.cpp"} <= on_disk


@pytest.mark.parametrize("command", ["build", "test"])
@pytest.mark.parametrize(
    ("old", "new", "id", "line", "hint"),
    [
        ('"float16"', '"fp16"', "ASC116", "dtype", "use 'float16'"),
        ("family", "famly", "ASC104", "famly", "did you mean 'family'?"),
        ("edition = 1", "edition = 9", "ASC103", "edition", "edition = 1"),
        ("(Tensor x)", "(Tensr x)", "ASC107", "schema", "Tensor"),
        ("units", 'units = ["ascend910x"] #', "ASC115", "units", "ascend910b"),
        ("[tensor.x]", "[tensor.x", "ASC102", "tensor", ""),
    ],
)
def test_a_broken_declaration_is_answered_with_its_line(command, old, new, id, line, hint, softmax, capsys):
    path = softmax / "op.toml"
    path.write_text(path.read_text().replace(old, new, 1))
    error = fails(capsys, [command, "softmax"], ExitCode.USAGE, f"error[{id}]", "op.toml:", hint)
    number = int(error["where"].rpartition(":")[2])
    assert line in path.read_text().splitlines()[number - 1]


def test_nothing_here_is_exit_5(capsys):
    fails(capsys, ["build"], ExitCode.NOTHING, "error[ASC406]", "ascendops new op softmax")
    fails(capsys, ["test"], ExitCode.NOTHING, "error[ASC406]")


def test_a_folder_that_does_not_exist_is_exit_2(capsys):
    fails(capsys, ["build", "nowhere"], ExitCode.USAGE, "error[ASC405]", "nowhere")


def test_an_unknown_op_is_exit_5_with_a_suggestion(softmax, capsys):
    fails(capsys, ["build", "--op", "sofmax"], ExitCode.NOTHING, "error[ASC406]", "did you mean 'softmax'?")


def test_a_cache_that_cannot_be_written_is_exit_2(softmax, capsys, monkeypatch):
    monkeypatch.setenv("ASCENDOPS_CACHE", "/proc/nothing/here")
    fails(capsys, ["build", str(softmax)], ExitCode.USAGE, "ASC408", "/proc/nothing", "ASCENDOPS_CACHE")


def test_no_compiler_is_exit_3(softmax, capsys, monkeypatch, tmp_path):
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setenv("ASCENDOPS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CXX", raising=False)
    fails(capsys, ["build", "softmax"], ExitCode.TOOLCHAIN, "error[ASC402]", "g++, clang++, c++", "apt-get install g++")


def test_no_cann_is_exit_3(softmax, capsys, monkeypatch):
    monkeypatch.setattr("ascendops.toolchain.cann.DEFAULT_HOMES", ())
    fails(capsys, ["build", "softmax", "--backend", "cann"], ExitCode.TOOLCHAIN, "error[ASC403]", "--backend twin")


@pytest.mark.parametrize(("soc", "hint"), [("Ascend910C1", "Ascend910B1"), ("910B", "Ascend910B1")])
def test_an_unknown_soc_is_exit_2(soc, hint, softmax, capsys):
    fails(capsys, ["build", "softmax", "--soc", soc], ExitCode.USAGE, hint)


def test_a_soc_the_operator_is_not_declared_for_is_exit_2(softmax, capsys):
    fails(capsys, ["build", "softmax", "--soc", "310P3"], ExitCode.USAGE, "ascend310p", "units")


def test_a_command_finds_the_project_above(softmax, capsys, monkeypatch):
    monkeypatch.chdir(softmax / "op_kernel")
    text = (softmax / "op.toml").read_text()
    (softmax / "op.toml").write_text("edition = 2\n")
    fails(capsys, ["build"], ExitCode.USAGE, str(softmax / "op.toml"))
    (softmax / "op.toml").write_text(text)
    monkeypatch.chdir("/")
    (softmax / "op.toml").write_text("edition = 2\n")
    fails(capsys, ["build", "-C", str(softmax)], ExitCode.USAGE, str(softmax / "op.toml"))


def test_a_report_of_nothing_is_exit_5(capsys):
    fails(capsys, ["report"], ExitCode.NOTHING, "ascendops test --out run.json")


def test_two_sources_of_an_interface_are_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "golden.py").write_text("def golden(x):\n    return x\n")
    assert main(["new", "op", "foo", "--from", "golden.py", "--schema", "foo(Tensor x) -> Tensor"]) == 2
    assert "--from and --schema both say" in capsys.readouterr().err and not (tmp_path / "foo").exists()
    assert main(["new", "op", "foo", "--schema", "foo(Tensor x) -> Tensor"]) == 2
    assert "any schema with --family custom" in capsys.readouterr().err
    assert main(["new", "op"]) == 2
    assert "Missing argument 'NAME'" in capsys.readouterr().err


def test_the_list_is_of_the_dialect_and_the_family(capsys):
    assert main(["new", "op", "--list", "--dialect", "tbe"]) == 0
    tbe = capsys.readouterr().out
    assert "to_float16" in tbe and "flash_attention" not in tbe
    assert main(["new", "op", "--list", "--family", "scan"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["scan:", "cumsum"]
    assert main(["new", "op", "--list", "--family", "scam"]) == 2


def test_a_report_that_is_not_there_is_wrong_usage(capsys):
    assert main(["report", "nosuch.json"]) == 2
    assert "nosuch.json is not there" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--tier", "full"], "--tier means nothing for --format msopgen; it is read by: ttk"),
        (["--seed", "3"], "--seed means nothing for --format msopgen"),
        (["--format", "ttk", "--out", "d", "--soc", "310P3"], "--soc means nothing for --format ttk; it is read by: msopgen, direct, onnx"),
        (["--onnx", "d", "--out", "e"], "--out means nothing for --onnx"),
        (["--onnx", "d", "--format", "msopgen"], "--format msopgen and --onnx are two exports"),
    ],
)
def test_an_option_that_an_export_would_not_read_is_refused(tmp_path, monkeypatch, capsys, args, message):
    monkeypatch.chdir(tmp_path)
    assert main(["export", "nothing", *args]) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
