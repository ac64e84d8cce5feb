"""`ascendops estimate`: the table, the model's behaviour on clear cases, and wrong input."""

from __future__ import annotations

import csv
import itertools
import json
import subprocess
import sys

import pytest

from ascendops import perf
from ascendops.cli import main
from ascendops.errors import ConfigColumns, ConfigTable
from ascendops.perf import chips, fitted
from ascendops.perf.table import BadRow, parse_row

HEADER = "row_id,op,chip,input_shapes,input_dtypes,output_shapes,output_dtypes,block_dim"


def row(op="Add", inputs=((1024, 1024),) * 2, outputs=None, dtype="bf16", chip="910B4-1", **more):
    outputs = outputs or (inputs[0],)
    cells = {
        "row_id": "r", "op": op, "chip": chip, "input_shapes": json.dumps(inputs), "input_dtypes": ";".join([dtype] * len(inputs)),
        "output_shapes": json.dumps(outputs), "output_dtypes": ";".join([dtype] * len(outputs)),
    }  # fmt: skip
    return parse_row({**cells, **more})


def matmul(m, k, n, **more):
    return row("MatMulV2", ((m, k), (n, k)), ((m, n),), **more)


def us(config):
    return perf.estimate(config).predicted_us


CALLS = [
    lambda n: row(inputs=((n, 1024),) * 2),
    lambda n: row("RmsNorm", ((n, 4096), (4096,)), ((n, 4096), (n, 1))),
    lambda n: row("SoftmaxV2", ((n, 512),), dtype="fp32", chip="910B1"),
    lambda n: row("Cast", ((n, 2048),)),
    lambda n: matmul(n, 1024, 4096),
    lambda n: row("SomethingNew", ((n, 2048),)),
    lambda n: row("FusedInferAttentionScore", ((1, n, 128), (1, n, 128), (1, n, 128))),
]


@pytest.mark.parametrize("call", CALLS)
def test_more_rows_are_never_faster(call):
    times = [us(call(2**power)) for power in range(3, 15)]
    assert all(larger > 0.8 * smaller for smaller, larger in itertools.pairwise(times)), times
    assert times[-1] > 3 * times[0]


@pytest.mark.parametrize("call", CALLS)
def test_the_mechanistic_model_alone_is_monotone(call):
    bare = (fitted.Parameters(fitted.shipped()[0].general, {}), None)
    times = [perf.estimate(call(2**power), parameters=bare).predicted_us for power in range(3, 15)]
    assert all(larger >= 0.97 * smaller for smaller, larger in itertools.pairwise(times)), times


@pytest.mark.parametrize(
    ("config", "bounds"),
    [
        (row(inputs=((8192, 8192),) * 2), {"mte2"}),
        (row(inputs=((8,),) * 2), {"launch"}),
        (matmul(8192, 8192, 8192), {"cube"}),
        (matmul(8, 7168, 16160), {"mte2"}),
        (row("FloorDiv", ((11,), ()), ((11,),), dtype="int64", category="aicpu"), {"scalar"}),
    ],
)
def test_bound_of_clear_cases(config, bounds):
    assert perf.estimate(config).bound in bounds


def test_a_large_add_takes_what_the_memory_allows():
    floor_us = 3 * 8192 * 8192 * 2 / (chips.chip("910B1").hbm * 1e3) / 2  # at most half of it can come from L2
    assert floor_us < us(row(inputs=((8192, 8192),) * 2, chip="910B1")) < 4 * floor_us


def test_a_large_product_does_not_beat_the_cube():
    peak_us = 8192**3 / (24 * 4096 * 1850)
    assert peak_us * 0.95 < us(matmul(8192, 8192, 8192, chip="910B1")) < 2 * peak_us


@pytest.mark.parametrize(
    ("config", "macs"),
    [
        (row("FlashAttentionScore", [(1, 8, 8192, 128)] * 3, dtype="fp16", chip="910B3"), 8 * 8192 * 8192 * 128),
        (row("FlashAttentionScore", [(1, 65536, 1024)] * 3, dtype="bf16", chip="910B1"), 65536 * 65536 * 1024),
        (row("Conv2D", [(32, 256, 56, 56), (256, 256, 3, 3)], [(32, 256, 56, 56)], dtype="fp16", chip="910B1"), 32 * 256 * 56 * 56 * 256 * 9),
    ],
)
def test_nothing_is_faster_than_the_cube(config, macs):
    chip = chips.chip(config.chip)
    made = perf.estimate(config)
    assert made.predicted_us >= 0.999 * macs / (4096 * chip.mhz * chip.aic) and made.pipes_us["cube"] <= made.predicted_us * 1.001


def test_the_table_is_not_overwritten(tmp_path, capsys):
    table = tmp_path / "t.csv"
    table.write_text(HEADER + "\n")
    assert main(["estimate", "--table", str(table), "--out", str(table)]) == 2
    assert "names the table itself" in capsys.readouterr().err and table.read_text() == HEADER + "\n"


def test_what_a_number_rests_on():
    assert perf.estimate(row("Add")).basis == "operator"
    assert perf.estimate(row("Tanh")).basis == "category"
    unknown = perf.estimate(row("Frobnicate"))
    assert "unknown operator Frobnicate" in unknown.notes[0]


@pytest.mark.parametrize("chip", ["910B1", "Ascend910B2", "ascend910_93", "910_93", "910B3", "910B4", "310P3", "Ascend910_95"])
def test_chips(chip):
    assert us(row(chip=chip)) > 1
    assert not perf.estimate(row(chip=chip)).notes


def test_an_unknown_chip_is_said():
    done = perf.estimate(row(chip="H100"))
    assert done.predicted_us
    assert "'H100' is not known: taken as Ascend910B1" in done.notes[0]
    assert perf.estimate(row(chip="H100"), soc="910B3").soc == "Ascend910B3"


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        ({"input_shapes": "[[8,"}, "input_shapes is not a JSON list"),
        ({"input_shapes": "[8]"}, "list of lists"),
        ({"output_shapes": "[[-1,8]]"}, "no number from 0 up"),
        ({"input_shapes": "[[1.5]]"}, "no number from 0 up"),
        ({"input_shapes": "[[true]]"}, "no number from 0 up"),
        ({"input_shapes": "[[1099511627776,1099511627776]]"}, "more than 2**50"),
        ({"input_shapes": "{}"}, "list of lists"),
        ({"input_shapes": "[" * 100000}, "not a JSON list"),
        ({"block_dim": "many"}, "block_dim is no number"),
        ({"block_dim": "-1"}, "block_dim is no whole number"),
        ({"block_dim": "nan"}, "block_dim is no whole number"),
        ({"op": " "}, "op is empty"),
    ],
)
def test_a_row_that_describes_no_call(cells, problem):
    bad = row(**{"op": "Add", **cells})
    assert isinstance(bad, BadRow)
    assert problem in bad.problem


@pytest.mark.parametrize(
    "config",
    [
        row(inputs=((),), outputs=((),)),
        row(inputs=((0, 8),)),
        row("MatMulV2", ((0, 8), (8, 0)), ((0, 0),)),
        row("FlashAttention", ((4,),)),
        row("MatMul", ((4,),)),
        row("IndexPut", ((8, 8), (2,)), dtype="int64"),
        row("Add", dtype="posit16"),
        row("Add", input_shapes="", input_dtypes="", output_shapes="", output_dtypes=""),
        row("MatMulV2", ((8, 8), (8, 8)), block_dim="60000"),
        row("Sort", ((2**24, 2**20),)),
    ],
)
def test_odd_calls_have_a_number(config):
    done = perf.estimate(config)
    assert done.predicted_us > 0
    assert all(value >= 0 for value in done.pipes_us.values())


def test_an_unknown_dtype_and_missing_dtypes_are_said():
    assert "unknown input dtype posit16" in row(dtype="posit16").notes[0]
    assert "the last dtype stands for the rest" in row(input_dtypes="bf16").notes[0]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "calls.csv"
    path.write_text(
        f'{HEADER}\na,Add,910B4-1,"[[8,1024],[8,1024]]",bf16;bf16,"[[8,1024]]",bf16,8\nb,Add,910B1,"[[8,",bf16,"[[8]]",bf16,\n'
        'c,MatMulV2,,"[[64,64],[64,64]]",fp16;fp16,"[[64,64]]",fp16,\n'
    )
    return path


def test_command(table, tmp_path, capsys):
    out = tmp_path / "pred.csv"
    assert main(["estimate", "--table", str(table), "--out", str(out), "--soc", "910B3"]) == 1
    said = capsys.readouterr()
    assert "b: error: input_shapes is not a JSON list" in said.err
    assert "2 estimates" in said.out and "1 row without a number" in said.out
    with out.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert list(rows[0])[:9] == ["row_id", "predicted_us", "bound", "mte2", "vec", "mte3", "cube", "scalar", "launch"]
    assert [r["row_id"] for r in rows] == ["a", "b", "c"]
    assert [bool(r["predicted_us"]) for r in rows] == [True, False, True]
    assert rows[2]["soc"] == "Ascend910B3"


def test_command_json(table, tmp_path, capsys):
    table.write_text("\n".join(line for line in table.read_text().splitlines() if not line.startswith("b")) + "\n")
    assert main(["estimate", "--table", str(table), "--out", str(tmp_path / "p.csv"), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["rows"], said["failed"], said["noted"]) == (2, 0, 1)
    assert said["estimates"][0]["basis"] == "operator"


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("row_id,op,input_shapes\n", ConfigColumns, "input_dtypes, output_shapes, output_dtypes, chip"),
        ("", ConfigColumns, "row_id"),
        (HEADER + "\n", ConfigTable, "has no rows"),
        (f"{HEADER}\na,Add\na,Add\n", ConfigTable, "'a' occurs more than once"),
        (b"\xff\xfe\x00", ConfigTable, "UTF-8"),
    ],
)
def test_wrong_tables(text, error, words, tmp_path, capsys):
    path = tmp_path / "calls.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(error, match=words):
        perf.read_table(path)
    assert main(["estimate", "--table", str(path), "--out", str(tmp_path / "p.csv")]) == 2
    assert error.id in capsys.readouterr().err
    assert not (tmp_path / "p.csv").exists()


def test_files_that_are_not_there(table, tmp_path, capsys):
    assert main(["estimate", "--table", str(tmp_path / "none.csv"), "--out", "p.csv"]) == 2
    assert "none.csv: No such file" in capsys.readouterr().err
    assert main(["estimate", "--table", str(table), "--out", str(tmp_path / "no" / "p.csv")]) == 2
    assert main(["estimate", "--table", str(table), "--out", str(tmp_path / "p.csv"), "--soc", "H100"]) == 2
    assert "'H100' is not known" in capsys.readouterr().err


def test_no_torch():
    code = "import sys, ascendops.perf, ascendops.cli.estimate; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
