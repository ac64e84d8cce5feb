"""bench and tune on real kernels: times of the cycle model, wrong results without a time, values that do not fit."""

from __future__ import annotations

import json
import shutil

import pytest

from ascendops.cli.app import main
from ascendops.render import new_project

pytestmark = [pytest.mark.twin, pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")]

CALLS = """[[bench]]
name   = "small"
shapes = { x = [64, 256] }
dtype  = ["float16"]

"""


@pytest.fixture
def relu(tmp_path, monkeypatch):
    """A small operator with one bench call and one tunable with three values."""
    monkeypatch.chdir(tmp_path)
    new_project("relu", tmp_path / "relu", family="elementwise")
    path = tmp_path / "relu" / "op.toml"
    text = path.read_text()
    start, end = text.index("[[bench]]"), text.index("[autograd.formula]") if "[autograd.formula]" in text else text.index("[[tiling_key]]")
    text = (text[:start] + CALLS + text[end:]).replace('dtype = ["float32", "float16", "bfloat16"]', 'dtype = ["float16"]')
    path.write_text(text)
    return tmp_path / "relu"


def command(capsys, *args):
    code = main([*args, "--json"])
    return code, json.loads(capsys.readouterr().out)


def declare(relu, name, values):
    path = relu / "op.toml"
    text = path.read_text()
    path.write_text(text.replace("[[tiling_key]]", f"[tune.{name}]\nvalues = {values}\n\n[[tiling_key]]", 1))


def test_bench_times_and_compares_and_a_slower_kernel_fails(relu, capsys):
    code, done = command(capsys, "bench", "relu", "--save", "base.json")
    (row,) = done["rows"]
    assert code == 0 and row["us"] > 0 and row["tiling_name"] == "contiguous" and row["roof_us"] == pytest.approx(64 * 256 * 2 * 2 / 1.6e6)
    assert 0 < row["fraction"] < 1 and row["bound"] in row["busy_us"] and "not measured on a device" in done["environment"]["what"]
    code, done = command(capsys, "bench", "relu", "--against", "base.json", "--fail-above", "0")
    assert code == 0 and done["against"]["changes"][0]["percent"] == 0, "the model gives the same time every time"
    tiling = relu / "op_host" / "relu_tiling.cpp"
    tiling.write_text(tiling.read_text().replace("std::min(coreNum, useful)", "std::min<int64_t>(1, useful)"))
    code, done = command(capsys, "bench", "relu", "--against", "base.json", "--fail-above", "5")
    assert code == 1 and done["against"]["slower"] == ["relu small 64x256 float16"] and done["rows"][0]["block_dim"] == 1


def test_a_wrong_result_has_no_time(relu, capsys):
    kernel = relu / "op_kernel" / "relu.cpp"
    kernel.write_text(kernel.read_text().replace("Process()\n    {", "Process()\n    {\n        length_ -= 16;", 1))
    code, done = command(capsys, "bench", "relu")
    (row,) = done["rows"]
    assert code == 1 and row["us"] is None and row["fraction"] is None and row["wrong"].startswith("UNWRITTEN"), row
    code, done = command(capsys, "bench", "relu", "--save", "base.json")
    assert code == 2 and done["error"]["id"] == "ASC333" and not (relu.parent / "base.json").exists()


def test_tune_finds_the_fastest_right_values_and_writes_them(relu, capsys):
    declare(relu, "MIN_CORE_BYTES", [1024, 32768])
    tiling = relu / "op_host" / "relu_tiling.cpp"
    text = tiling.read_text().replace("constexpr int64_t BUFFERS = 2;", "#ifndef QUEUES\n#define QUEUES 2\n#endif\nconstexpr int64_t BUFFERS = QUEUES;")
    tiling.write_text(text)  # less than 2 promises the kernel more UB than there is
    declare(relu, "QUEUES", [2, 0])
    before = (relu / "op.toml").read_text()
    code, done = command(capsys, "tune", "relu")
    wrong = [trial for trial in done["trials"] if trial["wrong"]]
    assert code == 0 and len(done["trials"]) == 4 and {trial["values"]["QUEUES"] for trial in wrong} == {0} and len(wrong) == 2
    assert done["best"] == {"MIN_CORE_BYTES": 1024, "QUEUES": 2} and done["trials"][0]["ratio"] < 1 < done["trials"][1]["ratio"]
    assert (relu / "op.toml").read_text() == before and not done["applied"]
    assert main(["tune", "relu", "--apply", "--trials", "1"]) == 0
    out, said = capsys.readouterr()
    told = said.splitlines()
    assert told[:2] == ["  timing relu as it is", "  1 call timed; 4 sets of values to try"] and len(told) == 6
    assert [line[:8] for line in told[2:]] == [f"  {i} of 4" for i in range(1, 5)] and told[2].startswith("  1 of 4  MIN_CORE_BYTES=1024: 0.")
    assert all("; best so far: MIN_CORE_BYTES=1024" in line for line in told[2:]) and sum(": wrong; " in line for line in told) == 1
    assert "MIN_CORE_BYTES=1024" in out and "best = 1024\n" in (relu / "op.toml").read_text()
    code, done = command(capsys, "bench", "relu")
    assert done["rows"][0]["block_dim"] > 8, "every build sets what was written"


def test_what_cannot_be_tuned_is_refused(relu, capsys):
    code, done = command(capsys, "tune", "relu")
    assert code == 2 and done["error"]["id"] == "ASC334" and "declares no tunables" in done["error"]["what"]
    declare(relu, "ROWS", [1, 2])
    code, done = command(capsys, "tune", "relu")
    assert code == 2 and "no source leaves ROWS to the build" in done["error"]["what"]


def test_a_tbe_operator_has_no_cycle_model(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    new_project("relu", tmp_path / "relu", family="elementwise", dialect="tbe")
    code, done = command(capsys, "bench", "relu")
    assert code == 2 and done["error"]["id"] == "ASC332"
