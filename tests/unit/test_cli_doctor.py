"""The doctor on machines that are not this one: fake programs on PATH, fake distributions, fake toolkits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ascendops.cli import main
from ascendops.doctor import Grade, devices, environment, python, tools
from ascendops.doctor.checks import Package, run
from ascendops.doctor.tools import number
from ascendops.errors import ExitCode
from ascendops.toolchain import cann


@pytest.fixture(autouse=True)
def bare_machine(tmp_path, monkeypatch):
    """No program on PATH, no CANN, no variable set."""
    for name in (*environment.VARIABLES, *cann.VARIABLES):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(cann, "DEFAULT_HOMES", ())
    monkeypatch.setattr(devices, "DEFAULT_HOMES", ())
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("ASCENDOPS_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def program(tmp_path):
    """Puts a program on PATH that prints a text."""

    def make(name, text="", status=0, folder=None):
        path = Path(folder or tmp_path / "bin") / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n/bin/cat <<'END'\n{text}\nEND\nexit {status}\n")
        path.chmod(0o755)
        return path

    return make


@pytest.fixture
def toolkit(tmp_path):
    """A CANN 8.1 toolkit folder."""
    root = tmp_path / "Ascend" / "latest"
    (root / "compiler").mkdir(parents=True)
    (root / "compiler" / "version.info").write_text("Version=7.7.0.1.238\nversion_dir=8.1.RC1\ntimestamp=20250428_203017761\n")
    (root.parent / "set_env.sh").write_text("")
    return root


def distribution(folder, name, version, monkeypatch):
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    monkeypatch.syspath_prepend(folder)
    return info


def only(checks, name):
    found = [check for check in checks if check.name == name]
    assert len(found) == 1, found
    return found[0]


def test_no_compiler_is_missing_and_says_what_to_install(capsys):
    check = only(tools.check_compiler(needed=True), "compiler")
    assert check.grade is Grade.MISSING
    assert "g++, clang++, c++" in check.note
    assert "apt-get install g++" in check.fix
    assert main(["doctor", "--backend", "twin"]) == ExitCode.TOOLCHAIN
    captured = capsys.readouterr()
    assert "The twin backend cannot work here" in captured.out


def test_a_compiler_without_cxx17_is_missing(program):
    path = program("g++", "error: unrecognized command line option '-std=c++17'", status=1)
    check = only(tools.check_compiler(needed=True), "g++")
    assert (check.grade, check.path) == (Grade.MISSING, str(path))
    assert "unrecognized command line option" in check.note


def test_a_working_compiler_has_version_and_path(program):
    path = program("g++", "g++ (Debian 12.2.0-14) 12.2.0")
    other = program("clang++", "Debian clang version 14.0.6")
    checks = list(tools.check_compiler(needed=True))
    assert (only(checks, "g++").version, only(checks, "g++").path) == ("12.2.0", str(path))
    assert (only(checks, "clang++").version, only(checks, "clang++").path) == ("14.0.6", str(other))
    assert {check.grade for check in checks} == {Grade.OK}


@pytest.mark.parametrize(("version", "grade"), [("3.10.2", Grade.MISSING), ("3.16.0", Grade.OK), ("4.0.1", Grade.OK)])
def test_cmake_needs_two_digit_minor_versions_compared_as_numbers(version, grade, program):
    program("cmake", f"cmake version {version}")
    assert only(tools.check_build_tools(needed=True), "cmake").grade is grade


def test_what_the_twin_does_not_need_is_not_a_problem():
    assert only(tools.check_build_tools(needed=False), "cmake").grade is Grade.UNNEEDED
    for check in (*devices.check_cann(needed=False), *devices.check_npu(needed=False), *devices.check_gpu()):
        assert check.grade is Grade.UNNEEDED
        assert check.fix is None


def test_cann_backend_without_cann_exits_3(program, capsys):
    program("g++", "g++ 12.2.0")
    assert main(["doctor", "--backend", "cann", "--json"]) == ExitCode.TOOLCHAIN
    result = json.loads(capsys.readouterr().out)
    assert (result["backend"], result["ready"]) == ("cann", False)
    missing = {check["name"]: check for check in result["checks"] if check["grade"] == "missing"}
    assert set(missing) >= {"toolkit", "cmake"}
    assert "set_env.sh" in missing["toolkit"]["fix"]


def test_a_sourced_toolkit_shows_release_and_tools(toolkit, program, monkeypatch):
    monkeypatch.setenv("ASCEND_HOME_PATH", str(toolkit))
    bisheng = program("bisheng", "clang version 15", folder=toolkit / "compiler/ccec_compiler/bin")
    checks = list(devices.check_cann(needed=True))
    found = only(checks, "toolkit")
    assert (found.grade, found.version, found.path) == (Grade.OK, "8.1.RC1", str(toolkit))
    assert (only(checks, "bisheng").grade, only(checks, "bisheng").path) == (Grade.OK, str(bisheng))


def test_a_toolkit_in_a_default_place_is_found_and_must_be_sourced(toolkit, monkeypatch):
    monkeypatch.setattr(cann, "DEFAULT_HOMES", (str(toolkit),))
    check = only(devices.check_cann(needed=True), "toolkit")
    assert check.grade is Grade.WARN
    assert check.fix == f"source {toolkit.parent / 'set_env.sh'}"
    assert only(devices.check_cann(needed=True), "bisheng").grade is Grade.MISSING


def test_a_variable_that_names_no_toolkit_is_a_warning(tmp_path, monkeypatch):
    monkeypatch.setenv("ASCEND_HOME_PATH", str(tmp_path / "gone"))
    check = only(devices.check_cann(needed=False), "ASCEND_HOME_PATH")
    assert (check.grade, check.path) == (Grade.WARN, str(tmp_path / "gone"))
    assert check.fix.startswith("unset ASCEND_HOME_PATH")


@pytest.mark.parametrize(
    ("file", "text", "version"),
    [
        ("compiler/version.info", "Version=7.7.0.1.238\nversion_dir=8.1.RC1\n", "8.1.RC1"),
        ("compiler/version.info", "Version=9.0.0\n", "9.0.0"),
        ("aarch64-linux/include/version/cann_version.h", '#define CANN_VERSION_STR "10.2.0"\n', "10.2.0"),
        ("compiler/version.info", "nothing\n", None),
    ],
)
def test_toolkit_versions(tmp_path, file, text, version):
    (tmp_path / file).parent.mkdir(parents=True)
    (tmp_path / file).write_text(text)
    assert cann.read_version(tmp_path) == version


def test_npu_smi_lists_chips(program):
    program(
        "npu-smi",
        "| npu-smi 24.1.rc1                 Version: 24.1.rc1                         |\n"
        "| NPU   Name                | Health        | Power(W)                      |\n"
        "| 0     910B3               | OK            | 93.5        |\n"
        "| 0                         | 0000:C1:00.0  | 0           |\n"
        "| 1     910B3               | OK            | 90.1        |",
    )
    check = only(devices.check_npu(needed=True), "npu-smi")
    assert (check.grade, check.version, check.note) == (Grade.OK, "24.1.rc1", "2 x Ascend910B3")


def test_npu_smi_that_fails_is_a_warning_with_its_message(program):
    program("npu-smi", "dcmi module initialize failed. ret is -8005", status=1)
    check = only(devices.check_npu(needed=True), "npu-smi")
    assert check.grade is Grade.WARN
    assert "-8005" in check.note
    assert "container" in check.fix


def test_nvidia_smi(program):
    program("nvidia-smi", "NVIDIA H200, 570.86.15")
    check = only(devices.check_gpu(), "nvidia-smi")
    assert (check.version, check.note) == ("570.86.15", "NVIDIA H200")
    program("nvidia-smi", "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", status=9)
    assert only(devices.check_gpu(), "nvidia-smi").grade is Grade.UNNEEDED


def test_torch_npu_without_cann_names_the_trap(tmp_path, monkeypatch):
    distribution(tmp_path / "site", "torch_npu", "2.13.0", monkeypatch)
    check = only(python.check_torch_npu(needed=False), "torch_npu")
    assert (check.grade, check.version) == (Grade.WARN, "2.13.0")
    assert "breaks import torch" in check.note
    assert "TORCH_DEVICE_BACKEND_AUTOLOAD=0" in check.fix
    monkeypatch.setenv("TORCH_DEVICE_BACKEND_AUTOLOAD", "0")
    assert only(python.check_torch_npu(needed=False), "torch_npu").grade is Grade.OK


def test_torch_that_the_trap_broke_is_missing_with_the_fix(tmp_path, monkeypatch):
    """A torch_npu that cannot load its libraries, as on a machine without CANN, really breaks `import torch`."""
    info = distribution(tmp_path / "site", "torch_npu", "2.13.0", monkeypatch)
    (info / "entry_points.txt").write_text("[torch.backends]\ntorch_npu = torch_npu:_autoload\n")
    module = tmp_path / "site" / "torch_npu.py"
    module.write_text("raise ImportError('libhccl.so: cannot open shared object file')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    check = only(python.check_torch(), "torch")
    assert check.grade is Grade.MISSING
    assert "import torch fails" in check.note
    assert check.fix == "torch_npu without CANN breaks import torch: export TORCH_DEVICE_BACKEND_AUTOLOAD=0, or pip uninstall torch_npu"
    monkeypatch.setenv("TORCH_DEVICE_BACKEND_AUTOLOAD", "0")
    assert only(python.check_torch(), "torch").grade is Grade.OK


@pytest.mark.parametrize(("triton", "numpy", "grade"), [("3.6.0", "2.4.1", Grade.WARN), ("3.6.0", "2.3.5", Grade.OK), ("3.10.0", "2.4.6", Grade.OK)])
def test_old_triton_with_new_numpy_is_a_warning(triton, numpy, grade, monkeypatch):
    versions = {"triton": triton, "numpy": numpy}
    monkeypatch.setattr(python, "package", lambda name: Package(versions[name], "/site"))
    assert only(python.check_triton(), "triton").grade is grade


def test_no_triton_is_only_a_warning(monkeypatch):
    monkeypatch.setattr(python, "package", lambda name: None)
    check = only(python.check_triton(), "triton")
    assert check.grade is Grade.WARN
    assert check.fix


@pytest.mark.parametrize(("name", "value"), [("ASCENDOPS_BACKEND", "gpu"), ("ASCENDOPS_JOBS", "0"), ("ASCENDOPS_JOBS", "many"), ("ASCENDOPS_TWIN_OPTIMIZE", "fast")])
def test_variables_that_cannot_work_are_warnings(name, value, monkeypatch):
    monkeypatch.setenv(name, value)
    check = only(environment.check_environment(), name)
    assert check.grade is Grade.WARN
    assert value in check.note


def test_every_variable_is_shown_set_or_not(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    checks = {check.name: check for check in environment.check_environment()}
    assert set(checks) == set(environment.VARIABLES)
    assert checks["NO_COLOR"].grade is Grade.OK
    assert checks["ASCENDOPS_JOBS"].note.startswith("not set")


def test_a_cache_that_is_a_file_is_missing(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ASCENDOPS_CACHE", str(tmp_path / "file"))
    check = only(environment.check_environment(), "ASCENDOPS_CACHE")
    assert (check.grade, check.fix) == (Grade.MISSING, "set ASCENDOPS_CACHE to a folder that you may write")


def test_every_problem_has_a_fix(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("ASCEND_HOME_PATH", str(tmp_path / "gone"))
    main(["doctor", "--backend", "cann", "--json"])
    checks = json.loads(capsys.readouterr().out)["checks"]
    poor = [check for check in checks if check["grade"] in ("warn", "missing")]
    assert len(poor) >= 4
    assert all(check["fix"] for check in poor)
    assert not any(check["fix"] for check in checks if check["grade"] in ("ok", "not needed"))


def test_the_text_lists_fixes_last(capsys):
    main(["doctor", "--backend", "twin"])
    text = capsys.readouterr().out
    assert text.index("What to do") > text.index("Environment")
    assert "compiler: install a C++17 compiler" in text


def test_output_without_utf8_still_prints():
    env = {**os.environ, "PYTHONIOENCODING": "ascii", "ASCENDOPS_CACHE": os.environ["ASCENDOPS_CACHE"]}
    done = subprocess.run([sys.executable, "-m", "ascendops", "doctor"], capture_output=True, text=True, env=env)
    assert "  x compiler" in done.stdout
    assert done.returncode == ExitCode.TOOLCHAIN


def test_a_probe_that_hangs_or_is_absent_is_not_an_exception(program, tmp_path):
    path = tmp_path / "bin" / "slow"
    path.write_text("#!/bin/sh\nexec /bin/sleep 5\n")
    path.chmod(0o755)
    assert run([str(path)], timeout_s=0.2).text == "no answer within 0 s"
    assert not run([str(tmp_path / "none")]).ok


@pytest.mark.parametrize(
    ("text", "version"), [("g++ (Debian 12.2.0-14) 12.2.0", "12.2.0"), ("Debian clang version 14.0.6", "14.0.6"), ("1.11.1", "1.11.1"), ("none", None)]
)
def test_version_numbers(text, version):
    assert number(text) == version


def test_the_variables_of_the_laptop_device_are_checked(monkeypatch):
    def fixes():
        return {check.name: check.fix for check in environment.check_environment() if check.name.startswith("ASCENDOPS_NPU")}

    assert fixes() == {"ASCENDOPS_NPU": None, "ASCENDOPS_NPU_COUNT": None}
    monkeypatch.setenv("ASCENDOPS_NPU", "twin")
    monkeypatch.setenv("ASCENDOPS_NPU_COUNT", "16")
    assert fixes() == {"ASCENDOPS_NPU": None, "ASCENDOPS_NPU_COUNT": None}
    monkeypatch.setenv("ASCENDOPS_NPU", "twn")
    for wrong in ("0", "17", "two"):
        monkeypatch.setenv("ASCENDOPS_NPU_COUNT", wrong)
        assert fixes() == {
            "ASCENDOPS_NPU": "set it to one of auto, real, twin, off, or unset it",
            "ASCENDOPS_NPU_COUNT": "set it to a number from 1 to 16, or unset it",
        }
