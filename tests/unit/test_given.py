"""Cases of other tools: TTK's CSV, msprobe dumps, TritonBench exports; and the way to TTK."""

from __future__ import annotations

import csv
import json
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from test_testing import project, run

from ascendops import spec
from ascendops.cli import main
from ascendops.errors import CasesUnreadable, NothingSelected
from ascendops.interchange import ttk as ttk_export
from ascendops.testing import given
from ascendops.testing.reference import golden_of

HEAD = "testcase_name,op_name,input_shapes,input_dtypes,output_shapes,output_dtypes,attributes,input_data_ranges,is_enabled"


def rows(path: Path, *lines: str) -> Path:
    path.write_text("\n".join([HEAD, *lines]) + "\n")
    return path


@pytest.fixture
def twice(tmp_path: Path) -> Path:
    return project(tmp_path)


def test_rows_of_the_test_kit_run(twice: Path, tmp_path: Path) -> None:
    cases = rows(
        tmp_path / "c.csv",
        '''small,twice,"((3,33),)","('float16',)","((3,33),)","('float16',)",{'scale': 0.5},"((-1, 1),)",True''',
        '''off,twice,"((3,33),)","('float16',)","((3,33),)","('float16',)",{},,False''',
        '''wrong,twice,"((3,33),)","('int8',)","((3,33),)","('int8',)",{},,True''',
        '''odd,twice,"((3,33),)","('float32',)","((3,33),)","('float32',)",{'eps': 1},,True''',
        '''broken,twice,"((3,",float32,,,,,''',
        '''flat,twice,"(3,33)","('float32',)",,,{},,True''',
        '''vast,twice,"((200000,300000),)","('float32',)",,,{},,True''',
        '''other,add,"((3,33),(3,33))","('float32',)","((3,33),)","('float32',)",{},,True''',
    )
    result, out = run(twice, cases=cases)
    assert result.exit_code == 0, out
    assert [case.id for case in result.report.cases if case.kind == "case"] == ["twice[float16-small-3x33]"]
    notes = "\n".join(result.report.notes)
    assert "off is left out: is_enabled is False" in notes
    assert "wrong is left out: no dtype column of twice has x int8" in notes
    assert "odd is left out" in notes and "eps" in notes
    assert "broken is left out: input_shapes is no Python literal" in notes and "c.csv:6" in notes
    assert "flat is left out" in notes and "vast is left out: its inputs have 60000000000 elements" in notes
    found = given.read(spec.load(twice / "op.toml"), cases)
    first = found.cases[0].values(0)
    assert first["scale"] == 0.5 and first["x"].abs().max() <= 1 and first["x"].std() > 0.4
    assert torch.equal(first["x"], found.cases[0].values(0)["x"]) and not torch.equal(first["x"], found.cases[0].values(1)["x"])


def test_inputs_of_a_row_may_come_from_files(twice: Path, tmp_path: Path) -> None:
    x = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    np.save(tmp_path / "x.npy", x.numpy())
    (tmp_path / "x.bin").write_bytes(x.numpy().tobytes())
    torch.save(x, tmp_path / "x.pt")
    for name in ("x.npy", "x.bin", "x.pt"):
        path = tmp_path / "c.csv"
        path.write_text(f'''testcase_name,op_name,input_shapes,input_dtypes,manual_input_binaries\na,twice,"((2,3),)","('float32',)","('{name}',)"\n''')
        assert torch.equal(given.read(spec.load(twice / "op.toml"), path).cases[0].values(0)["x"], x)
    (tmp_path / "x.bin").write_bytes(b"1234")
    path.write_text(path.read_text().replace("x.pt", "x.bin"))
    with pytest.raises(CasesUnreadable, match=r"x\.bin does not hold a float32 tensor of shape \(2, 3\)"):
        given.read(spec.load(twice / "op.toml"), path).cases[0].values(0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "no column op_name"),
        ("", "the CSV has no rows"),
    ],
)
def test_a_bad_csv_is_named(twice: Path, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "c.csv").write_text(text)
    with pytest.raises(CasesUnreadable, match=message):
        run(twice, cases=tmp_path / "c.csv")


def test_nothing_for_the_operator_says_what_there_is(twice: Path, tmp_path: Path) -> None:
    cases = rows(tmp_path / "c.csv", '''o,add,"((3,),(3,))","('float32',)",,,{},,True''')
    with pytest.raises(NothingSelected) as told:
        run(twice, cases=cases)
    assert "entries of: add" in str(told.value)


def dump(folder: Path, y: torch.Tensor, x: torch.Tensor, task: str = "tensor") -> Path:
    """A dump as the documentation of msprobe describes it."""
    rank = folder / "step0" / "rank0"
    (rank / "dump_tensor_data").mkdir(parents=True)

    def entry(tensor: torch.Tensor, name: str) -> dict[str, Any]:
        torch.save(tensor, rank / "dump_tensor_data" / name)
        return {"type": "torch.Tensor", "dtype": str(tensor.dtype), "shape": list(tensor.shape), "data_name": name}

    call = {
        "input_args": [entry(x, "NPU.npu_twice.0.forward.input.0.pt")],
        "input_kwargs": {"scale": {"type": "float", "value": 0.75}},
        "output": [entry(y, "NPU.npu_twice.0.forward.output.0.pt")],
    }
    data = {"task": task, "level": "L1", "dump_data_dir": "/elsewhere", "data": {"NPU.npu_twice.0.forward": call, "Torch.relu.0.forward": call}}
    (rank / "dump.json").write_text(json.dumps(data))
    return folder


def test_a_dump_of_msprobe_brings_inputs_and_reference(twice: Path, tmp_path: Path) -> None:
    x = torch.randn(4, 50)
    folder = dump(tmp_path / "dump", torch.exp(x) * 0.75, x)
    result, out = run(twice, cases=folder)
    assert result.exit_code == 0, out
    case = result.report.cases[0]
    assert case.id == "twice[float32-step0/rank0/NPU.npu_twice.0.forward-4x50]"
    assert case.reference["status"] == "agrees" and case.reference["how"] == "recorded: msprobe dump"
    assert f"--cases {folder}" in case.repro


def test_a_dumped_output_that_is_wrong_is_told(twice: Path, tmp_path: Path) -> None:
    x = torch.randn(4, 50)
    result, _ = run(twice, cases=dump(tmp_path / "dump", torch.exp(x), x))
    assert result.report.cases[0].reference["status"] == "differs"


def test_a_dump_without_tensors_is_named(twice: Path, tmp_path: Path) -> None:
    with pytest.raises(CasesUnreadable, match="task 'statistics'"):
        run(twice, cases=dump(tmp_path / "dump", torch.zeros(2), torch.zeros(2), task="statistics"))
    folder = dump(tmp_path / "other", torch.zeros(2), torch.zeros(2))
    next(folder.rglob("*.input.0.pt")).write_bytes(b"no tensor")
    with pytest.raises(CasesUnreadable, match="the tensor cannot be read"):
        run(twice, cases=folder)
    next(folder.rglob("*.input.0.pt")).unlink()
    with pytest.raises(NothingSelected, match="no case"):
        run(twice, cases=folder)


def test_an_export_of_tritonbench_brings_inputs_and_output(twice: Path, tmp_path: Path) -> None:
    x = torch.randn(8, 40, dtype=torch.bfloat16)
    (tmp_path / "export").mkdir()
    (tmp_path / "export" / "x_40-input.pkl").write_bytes(pickle.dumps((torch.nn.Parameter(x), 0.5)))
    (tmp_path / "export" / "x_40-triton_twice-fwd-output.pkl").write_bytes(pickle.dumps((torch.exp(x.float()) * 0.5).bfloat16()))
    result, out = run(twice, cases=tmp_path / "export")
    assert result.exit_code == 0, out
    assert result.report.cases[0].reference["status"] == "agrees"
    found = given.read(spec.load(twice / "op.toml"), tmp_path / "export").cases[0]
    assert torch.equal(found.values(0)["x"], x) and found.attrs == {"scale": 0.5} and found.how == "TritonBench triton_twice"


class Evil:
    def __reduce__(self) -> Any:
        return os.mkdir, ("owned",)


def test_a_pickle_cannot_run_anything(twice: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "export").mkdir()
    (tmp_path / "export" / "x_1-input.pkl").write_bytes(pickle.dumps((Evil(),)))
    with pytest.raises(CasesUnreadable, match=r"mkdir, which is no tensor"):
        given.read(spec.load(twice / "op.toml"), tmp_path / "export")
    assert not (tmp_path / "owned").exists()


def test_the_way_to_the_test_kit_and_back(twice: Path, tmp_path: Path) -> None:
    folder = tmp_path / "kit"
    (made,) = ttk_export.write([spec.load(twice / "op.toml")], folder)
    assert made.cases == 11 and list(made.left_out.values()) == ["the test kit's kernel mode has no views, and the case's inputs are transposed"] * 3
    with (folder / "cases.csv").open(newline="") as file:
        first = next(csv.DictReader(file))
    data = folder / "data" / first["testcase_name"]
    names = sorted(path.name for path in data.iterdir())
    assert names == ["golden_0_float32__shape_3x33.bin", "input_0_float32.bin"]
    x, y = (np.frombuffer((data / name).read_bytes(), np.float32) for name in reversed(names))
    np.testing.assert_allclose(y, 2 * np.exp(x.astype(np.float64)), rtol=1e-7)
    result, out = run(twice, cases=folder / "cases.csv")
    assert result.exit_code == 0 and len([case for case in result.report.cases if case.kind == "case"]) == 11, out


def test_a_golden_of_the_test_kit_serves_as_golden(twice: Path, tmp_path: Path) -> None:
    declared = spec.load(twice / "op.toml")
    ttk_export.write([declared], tmp_path / "kit")
    for file in ("golden.py", "twice_reference.py"):
        (twice / file).write_text((tmp_path / "kit" / file).read_text())
    plugin = golden_of(declared)
    x = torch.randn(3, 4, dtype=torch.float64)
    np.testing.assert_allclose(plugin(x, scale=3.0)[0], 3 * np.exp(x.numpy()))
    (twice / "golden.py").write_text(
        "import numpy as np\n\n__spec__ = {'twice': 'Spec'}\n\nclass Spec:\n    @staticmethod\n    def golden(x, scale=2.0, **kwargs):\n        return scale * np.exp(x)\n"
    )
    result, out = run(twice, "-k", "tail")
    assert result.exit_code == 0, out


def test_the_commands(twice: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(twice), "--format", "ttk"]) == 2
    assert "give --out DIR" in capsys.readouterr().err
    assert main(["export", str(twice), "--format", "ttk", "--out", str(tmp_path / "kit"), "--onnx", str(tmp_path / "onnx")]) == 2
    assert "two exports" in capsys.readouterr().err and not (tmp_path / "kit").exists()
    assert main(["export", str(twice), "--format", "ttk", "--out", str(tmp_path / "kit")]) == 0
    assert "11 cases, 3 left out" in capsys.readouterr().out
    assert main(["export", str(twice), "--format", "ttk", "--out", str(tmp_path / "kit"), "--seed", "5"]) == 2
    assert "exist and differ, so nothing was written" in capsys.readouterr().err
    cases = (tmp_path / "kit" / "cases.csv").read_text()
    assert main(["export", str(twice), "--format", "ttk", "--out", str(tmp_path / "kit"), "--seed", "5", "--force"]) == 0
    assert (tmp_path / "kit" / "cases.csv.orig").read_text() == cases != (tmp_path / "kit" / "cases.csv").read_text()
    assert main(["export", str(twice), "--format", "ttk", "--out", str(tmp_path / "kit"), "--force"]) == 0, "back to the first seed"
    capsys.readouterr()
    assert main(["test", str(twice), "--cases", str(tmp_path / "kit" / "cases.csv"), "--tier", "full"]) == 2
    assert "--cases does not go together with --tier" in capsys.readouterr().err
    assert main(["test", str(twice), "--cases", str(tmp_path / "nothing")]) == 2
    assert "there is no such file or folder" in capsys.readouterr().err
