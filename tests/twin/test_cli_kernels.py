"""The main job on the command line, with a good kernel and with bad ones: what is said, and the exit code."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from xml.etree import ElementTree as ET

import interruptible
import pytest

from ascendops.errors import ExitCode
from ascendops.testing.runs import LINES

pytestmark = pytest.mark.twin

ONE_CASE = ["-k", "float32 and tail_7", "--reference", "none"]


def ascendops(folder, *args):
    return subprocess.run([sys.executable, "-m", "ascendops", *args], cwd=folder, capture_output=True, text=True)


@pytest.fixture(scope="module")
def scaffolded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli")
    assert ascendops(folder, "new", "op", "relu").returncode == 0
    shutil.copytree(folder / "relu", folder / "pristine")
    return folder


@pytest.fixture
def relu(scaffolded):
    """The project as `new` wrote it, always in the same place: what a test does not edit comes from the build cache."""
    shutil.rmtree(scaffolded / "relu")
    return shutil.copytree(scaffolded / "pristine", scaffolded / "relu")


def edit(relu, old, new, file="op_kernel/relu.cpp"):
    text = (relu / file).read_text()
    assert text.count(old) >= 1, f"{file} no longer has {old!r}"
    (relu / file).write_text(text.replace(old, new, 1))


def test_build_then_up_to_date(relu):
    first = json.loads(ascendops(relu, "build", "--json").stdout)["builds"][0]
    assert (first["name"], first["ops"], first["backend"], first["soc"]) == ("relu", ["relu"], "twin", "Ascend910B1")
    second = ascendops(relu, "build")
    assert second.returncode == 0
    assert "up to date" in second.stdout
    assert "CANN not found" in second.stderr
    again = json.loads(ascendops(relu, "build", "--json").stdout)["builds"][0]
    assert again["compiled"] == 0


def test_test_passes_and_writes_what_was_asked_for(relu):
    done = ascendops(relu, "test", *ONE_CASE, "--out", "run.json", "--html", "report.html", "--junitxml", "junit.xml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
    run = json.loads((relu / "run.json").read_text())
    assert run["schema_version"] == 1
    assert [case["op"] for case in run["cases"]] == ["relu"]
    page = (relu / "report.html").read_text()
    assert "<svg" in page and "http" not in page.replace("http://www.w3.org/", "")
    assert ET.parse(relu / "junit.xml").getroot().find(".//testcase") is not None


def test_json_on_stdout_is_one_object_and_report_reads_it_again(relu):
    done = ascendops(relu, "test", *ONE_CASE, "--json")
    assert done.returncode == 0
    result = json.loads(done.stdout)
    assert result["exit_code"] == 0
    assert len(result["cases"]) == 1
    assert ascendops(relu, "report", "--format", "text").returncode == 0
    junit = ascendops(relu, "report", "--format", "junit")
    assert ET.fromstring(junit.stdout) is not None
    assert ascendops(relu, "report").returncode == 0
    assert (relu / "report.html").stat().st_size < 1_000_000


def test_pytest_options_pass_through(relu):
    done = ascendops(relu, "test", "--reference", "none", "--", "-k", "float32 and tail_7", "--collect-only", "-q")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_nothing_selected_is_exit_5(relu):
    done = ascendops(relu, "test", "-k", "no_such_case")
    assert done.returncode == ExitCode.NOTHING, done.stdout + done.stderr
    assert "error[ASC406]: no case was selected" in done.stderr
    assert "-k 'no_such_case'" in done.stderr


def test_a_kernel_that_does_not_compile_is_exit_4_with_the_users_line(relu):
    edit(relu, "PipeBarrier<PIPE_V>();", "PipeBarier<PIPE_V>();")
    line = next(n for n, text in enumerate((relu / "op_kernel/relu.cpp").read_text().splitlines(), 1) if "PipeBarier" in text)
    for command in ("build", "test"):
        done = ascendops(relu, command)
        assert done.returncode == ExitCode.COMPILE
        said = done.stderr if command == "build" else done.stdout  # of a test, it is the result
        for text in ("error[ASC401]", f"op_kernel/relu.cpp:{line}", "PipeBarier", "command: ", "full log: "):
            assert text in said


def test_a_tiling_function_of_another_name_is_exit_4(relu):
    edit(relu, "ReluTiling(gert::TilingContext", "ReluTilin(gert::TilingContext", "op_host/relu_tiling.cpp")
    done = ascendops(relu, "build")
    assert done.returncode == ExitCode.COMPILE
    assert "optiling::ReluTiling(gert::TilingContext*), but no source defines it" in done.stderr


def test_wrong_values_are_exit_1_and_tell_the_story(relu):
    edit(relu, "Relu(y, x, n);", "Adds(y, x, 1.0f, n);")
    done = ascendops(relu, "test", *ONE_CASE, "--seed", "3")
    assert done.returncode == ExitCode.MISMATCH
    for text in ("error[ASC304]", "relu[float32-tail_7", "seed 3", "rerun: ascendops test", "worst"):
        assert text in done.stdout, done.stdout


def test_a_finding_is_exit_1_with_id_and_line(relu):
    edit(relu, "DataCopyPad(yGm_[offset], y, copy);", "DataCopy(yGm_[offset], y, n);")
    line = next(n for n, text in enumerate((relu / "op_kernel/relu.cpp").read_text().splitlines(), 1) if "DataCopy(yGm_" in text)
    done = ascendops(relu, "test", *ONE_CASE)
    assert done.returncode == ExitCode.MISMATCH
    assert "COPY-TRUNCATED" in done.stdout
    assert f"relu.cpp:{line}" in done.stdout


def test_a_crash_is_a_verdict_of_its_case(relu):
    edit(relu, "Relu(y, x, n);", "Relu(y, x, n); *reinterpret_cast<volatile int *>(8) = n;")
    done = ascendops(relu, "test", *ONE_CASE)
    assert done.returncode == ExitCode.MISMATCH, done.stdout + done.stderr
    assert "CRASH" in done.stdout
    assert "SIGSEGV" in done.stdout
    assert "relu.cpp:" in done.stdout


def test_a_hang_is_ended_and_is_a_verdict(relu):
    edit(relu, "Relu(y, x, n);", "Relu(y, x, n); for (volatile int forever = 1; forever == 1;) {}")
    done = ascendops(relu, "test", *ONE_CASE, "--", "--ascendops-timeout=2")
    assert done.returncode == ExitCode.MISMATCH, done.stdout + done.stderr
    assert "HANG" in done.stdout


def test_a_tiling_function_that_refuses_is_exit_1(relu):
    edit(relu, "return ge::GRAPH_SUCCESS;", "return ge::GRAPH_FAILED;", "op_host/relu_tiling.cpp")
    done = ascendops(relu, "test", *ONE_CASE)
    assert done.returncode == ExitCode.MISMATCH
    assert "the tiling function of Relu returned a failure" in done.stdout


def test_a_broken_golden_is_not_the_kernels_fault(relu):
    (relu / "golden.py").write_text("def golden(x):\n    return x.nonsense()\n")
    done = ascendops(relu, "test", *ONE_CASE)
    assert done.returncode == ExitCode.MISMATCH
    assert "ASC303" in done.stdout + done.stderr
    assert "golden.py" in done.stdout + done.stderr


def test_ctrl_c_is_130_and_leaves_no_half_written_file(relu):
    import signal
    import time

    (relu / LINES).unlink(missing_ok=True)
    process = subprocess.Popen(
        [*interruptible.PYTHON, "-m", "ascendops", "test", "--out", "run.json"], cwd=relu, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )
    lines, end = relu / LINES, time.monotonic() + 120
    while not (lines.exists() and lines.stat().st_size) and process.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == ExitCode.INTERRUPTED, out + err
    assert not list(relu.rglob("*.tmp*"))
    assert not (relu / "run.json").exists() or json.loads((relu / "run.json").read_text())
