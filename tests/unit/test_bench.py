"""Roofs, baselines, and the tunables of op.toml."""

from __future__ import annotations

import json
import math

import pytest

from ascendops.errors import BadValue, BenchBaselineError, CaseError, TuneError, UnknownKey
from ascendops.perf import baseline, tune
from ascendops.perf.bench import Bench, Row
from ascendops.perf.roofline import roof
from ascendops.render import gen, new_project
from ascendops.spec.load import load, parse

ENV = {"backend": "twin", "soc": "Ascend910B1", "tried": {}, "versions": {"ascendops": "1"}}
ROW = Row("gelu", "small", "float32", "64x1024", 2.0)
TUNE = '[tune.TILE]\nvalues = [1, 2]  # rows\nwhy = "x"\n'


@pytest.fixture(scope="module")
def gelu(tmp_path_factory):
    root = tmp_path_factory.mktemp("bench") / "gelu"
    new_project("gelu", root)
    return root


def spec_with(gelu, text):
    whole = (gelu / "op.toml").read_text()
    start, end = whole.index("[[bench]]"), whole.index("[autograd.formula]")
    return parse(whole[:start] + text + "\n" + whole[end:], gelu / "op.toml")


def test_a_roof_is_the_slower_of_memory_and_arithmetic():
    moved = roof("Ascend910B1", 10, 1_600_000_000, "float32", cube=False)
    assert (moved.bound, moved.us) == ("memory", pytest.approx(1000.0))
    vector = roof("Ascend910B1", 64 * 48 * 1850, 4, "float32", cube=False)
    assert (vector.bound, vector.us) == ("vector", pytest.approx(1.0))
    assert roof("Ascend910B1", 64 * 48 * 1850, 4, "float16", cube=False).us == pytest.approx(0.5)
    cube = roof("Ascend910B1", 2 * 4096 * 24 * 1850, 4, "float16", cube=True)
    assert (cube.bound, cube.us) == ("cube", pytest.approx(1.0))
    assert roof("Ascend910B1", 2 * 4096 * 24 * 1850, 4, "float32", cube=True).us == pytest.approx(4.0)
    assert roof("Ascend910B1", 2 * 4096 * 24 * 1850, 4, "int8", cube=True).us == pytest.approx(0.5)


def saved(tmp_path, **changed):
    path = tmp_path / "base.json"
    baseline.save(path, Bench((ROW,), {**ENV, **changed}))
    return path


def test_a_baseline_tells_slower_from_faster_and_names_what_only_one_has(tmp_path):
    path = saved(tmp_path)
    new = Row("gelu", "large", "float32", "9", 1.0)
    slow = baseline.compare(Bench((Row(**{**vars(ROW), "us": 2.2}), new), ENV), baseline.load(path), path)
    assert [change.percent for change in slow.slower(5)] == [pytest.approx(10)] and not slow.slower(10.1)
    assert slow.new == (new,) and not slow.missing
    other = Row("gelu", "small", "float16", "64x1024", 1.0)
    both = baseline.compare(Bench((ROW, other), ENV), baseline.load(path), path)
    assert both.new == (other,) and not both.slower(0)
    two = tmp_path / "two.json"
    baseline.save(two, Bench((ROW, other), ENV))
    assert baseline.compare(Bench((ROW,), ENV), baseline.load(two), two).missing == ("gelu small 64x1024 float16",)


@pytest.mark.parametrize(("key", "value"), [("backend", "cann"), ("soc", "Ascend310P3")])
def test_times_of_another_backend_or_chip_are_not_compared(tmp_path, key, value):
    path = saved(tmp_path, **{key: value})
    with pytest.raises(BenchBaselineError, match=f"the baseline's {key} is {value}"):
        baseline.compare(Bench((ROW,), ENV), baseline.load(path), path)


def test_another_version_of_the_model_is_pointed_out(tmp_path):
    path = saved(tmp_path, versions={"ascendops": "0"})
    assert "from ascendops 0" in baseline.compare(Bench((ROW,), ENV), baseline.load(path), path).notes[0]


def test_a_baseline_of_other_operators_is_refused(tmp_path):
    path = saved(tmp_path)
    with pytest.raises(BenchBaselineError, match="none of this run's calls"):
        baseline.compare(Bench((Row("tanh", "a", "float32", "1", 1.0),), ENV), baseline.load(path), path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "cannot be read: No such file"),
        ("{", "it is not JSON"),
        ("[]", "it has 'list'"),
        ('{"format": "ascendops-verdict/1"}', "it has 'ascendops-verdict/1'"),
        (json.dumps({"format": baseline.FORMAT, "environment": {}, "rows": [{"op": "x", "case": "", "shapes": "", "dtype": "", "us": None}]}), "damaged"),
        (json.dumps({"format": baseline.FORMAT, "environment": {}, "rows": [{"op": "x", "us": 1.0}]}), "damaged"),
        (json.dumps({"format": baseline.FORMAT, "environment": {}, "rows": [{"op": "x", "case": "", "shapes": "", "dtype": "", "us": 0}]}), "damaged"),
    ],
)
def test_what_is_no_baseline_is_refused(tmp_path, text, message):
    path = tmp_path / "x.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(BenchBaselineError, match=message):
        baseline.load(path)


def test_a_wrong_operator_makes_no_baseline(tmp_path):
    path = saved(tmp_path)
    before = path.read_text()
    with pytest.raises(BenchBaselineError, match="1 of 2 calls were not timed"):
        baseline.save(path, Bench((ROW, Row("gelu", "b", "float32", "1", math.nan, wrong="TAIL: x")), ENV))
    assert path.read_text() == before and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("[tune.tile]\nvalues = [1]", BadValue, "cannot be the name of a tunable"),
        ("[tune.TILE]\nvalues = []", BadValue, "values of TILE"),
        ("[tune.TILE]\nvalues = [1, 1]", BadValue, "values of TILE"),
        ("[tune.TILE]\nvalues = [1, true]", BadValue, "values of TILE"),
        ("[tune.TILE]\nvalues = [1.5]", BadValue, "values of TILE"),
        ("[tune.TILE]\nvalues = [1, 2]\nbest = 3", BadValue, "best of TILE cannot be 3"),
        ("[tune.TILE]\nvalue = [1, 2]", UnknownKey, "unknown key 'value'"),
        ('[[bench]]\nname = "a"\nshapes = { y = [1] }', CaseError, "not an input"),
        ('[[bench]]\nname = "a"\nshapes = { x = [1] }\nlayout = "sliced"', UnknownKey, "unknown key 'layout'"),
        ('[[bench]]\nname = "a"\nshapes = { x = [1] }\n[[bench]]\nname = "a"\nshapes = { x = [2] }', CaseError, "two cases are called 'a'"),
    ],
)
def test_mistakes_in_bench_and_tune_tables_are_refused(gelu, text, error, message):
    with pytest.raises(error, match=message):
        spec_with(gelu, text)


def test_the_best_value_reaches_both_generations_of_cann(gelu):
    plain = {str(file.path): file.text for file in gen(spec_with(gelu, TUNE))}
    tuned = {str(file.path): file.text for file in gen(spec_with(gelu, TUNE + "best = 2\n"))}
    assert not any("TILE" in text for text in plain.values())
    for generation, option in (("cann8", "add_ops_compile_options(ALL OPTIONS -DTILE=2)"), ("cann9", "npu_op_kernel_options(ascendc_kernels ALL OPTIONS -DTILE=2)")):
        assert "add_compile_definitions(TILE=2)" in tuned[f"gen/{generation}/op_host/CMakeLists.txt"]
        assert option in tuned[f"gen/{generation}/op_kernel/CMakeLists.txt"]


def test_applying_changes_one_line_and_keeps_the_rest(gelu, tmp_path):
    path = tmp_path / "op.toml"
    text = (gelu / "op.toml").read_text()
    path.write_text(text)
    tune.apply(path, (("MIN_CORE_BYTES", 8192),))
    assert path.read_text() == text.replace("[tune.MIN_CORE_BYTES]\n", "[tune.MIN_CORE_BYTES]\nbest = 8192\n")
    commented = path.read_text().replace("best = 8192\n", "best   = 8192 # measured\n")
    path.write_text(commented)
    tune.apply(path, (("MIN_CORE_BYTES", 1024), ("MAX_TILE_BYTES", 4096)))
    assert "best   = 1024 # measured\n" in path.read_text()
    assert load(path).defines == {"MIN_CORE_BYTES": 1024, "MAX_TILE_BYTES": 4096}


def test_a_table_that_cannot_be_edited_is_left_alone(gelu, tmp_path):
    path = tmp_path / "op.toml"
    text = (gelu / "op.toml").read_text()
    text = text.replace("[tune.MIN_CORE_BYTES]\nvalues", "[tune]\nMIN_CORE_BYTES.values").replace('why    = "a core', 'MIN_CORE_BYTES.why = "a core')
    path.write_text(text)
    with pytest.raises(TuneError, match=r"no table \[tune.MIN_CORE_BYTES\]"):
        tune.apply(path, (("MAX_TILE_BYTES", 4096), ("MIN_CORE_BYTES", 1024)))
    assert path.read_text() == text
