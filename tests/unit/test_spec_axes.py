"""[axes.NAME]: sizes that the declaration refuses, and cases that are therefore not made."""

from __future__ import annotations

import pytest
import torch

from ascendops.errors import BadValue, CaseError, DimsError, ShapeMismatch
from ascendops.render import new_project
from ascendops.spec import load
from ascendops.testing.cases import test_cases
from ascendops.testing.matrix import cases

TEXT = """edition = 1
name    = "halves"
schema  = "halves(Tensor x) -> Tensor y"
units   = ["ascend910b"]

[tensor.x]
dims  = ["*batch", "m"]
dtype = ["float32"]

[tensor.y]
dims  = ["*batch", "m // 2"]
dtype = ["float32"]

[axes.m]
multiple = 2
minimum  = 4

[axes.batch]
minimum = 1

[[case]]
name   = "one"
shapes = { x = [3, 34] }
"""


def declared(tmp_path, text=TEXT):
    (tmp_path / "op.toml").write_text(text)
    return load(tmp_path)


def test_sizes_that_break_a_rule_are_refused(tmp_path):
    spec = declared(tmp_path)
    assert spec.output_shapes({"x": (3, 34)}, {}) == [(3, 17)]
    for shape, said in (((3, 33), "a multiple of 2 and 4 or more"), ((3, 2), "4 or more"), ((0, 4), "halves: the axis 'batch' is 0 in 'x', but must be 1 or more")):
        with pytest.raises(ShapeMismatch, match=said):
            spec.output_shapes({"x": shape}, {})


def test_no_case_is_made_that_breaks_a_rule(tmp_path):
    made = cases(declared(tmp_path))
    sizes = {case.case.shapes["x"][-1] for case in made}
    assert len(sizes) > 5
    assert all(size % 2 == 0 and size >= 4 for size in sizes)
    odd = cases(declared(tmp_path, TEXT.replace("multiple = 2", "multiple = 1")))
    assert any(case.case.shapes["x"][-1] % 2 for case in odd)


GROUPED = (
    TEXT.replace('"*batch", "m"]', '"heads", "m", "groups"]').replace('"*batch", "m // 2"]', '"heads"]').replace("[3, 34]", "[6, 4, 3]")
    .replace("[axes.batch]\nminimum = 1", '[axes.heads]\nmultiple = "groups"\nmaximum = 12')
)  # fmt: skip


def test_an_axis_can_be_a_multiple_of_another_one(tmp_path):
    spec = declared(tmp_path, GROUPED)
    for shape in ((6, 4, 3), (0, 4, 3), (0, 4, 0), (12, 4, 1)):
        assert spec.output_shapes({"x": shape}, {}) == [shape[:1]]
    for shape, said in (((7, 4, 3), "a multiple of groups"), ((6, 4, 0), "a multiple of groups"), ((15, 4, 3), "12 or less")):
        with pytest.raises(ShapeMismatch, match=said):
            spec.output_shapes({"x": shape}, {})
    made = [case.case.shapes["x"] for case in cases(spec)]
    assert len(made) > 5
    assert all(heads <= 12 and (heads % groups == 0 if groups else heads == 0) for heads, _, groups in made)


def test_an_axis_can_be_a_multiple_of_an_attribute(tmp_path):
    spec = declared(tmp_path, TEXT.replace("Tensor x)", "Tensor x, int parts=2)").replace("multiple = 2", 'multiple = "parts"'))
    assert spec.output_shapes({"x": (3, 9)}, {"parts": 3}) == [(3, 4)]
    for size, parts in ((9, 2), (8, 0)):
        with pytest.raises(ShapeMismatch, match="a multiple of parts"):
            spec.output_shapes({"x": (3, size)}, {"parts": parts})
    assert all(case.case.shapes["x"][-1] % case.case.attrs.get("parts", 2) == 0 for case in cases(spec))


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("[axes.m]", "[axes.k]", DimsError),
        ("multiple = 2", "multiple = 0", BadValue),
        ("minimum = 1", "minimum = -1", BadValue),
        ("minimum = 1", "minimum = 3\nmaximum = 2", BadValue),
        ("minimum = 1", "maximum = -1", BadValue),
        ("minimum = 1", 'multiple = "k"', DimsError),
        ("minimum = 1", 'multiple = "batch"', DimsError),
        ("[3, 34]", "[3, 33]", CaseError),
    ],
)
def test_rules_that_do_not_fit_are_refused_with_their_line(old, new, error, tmp_path):
    with pytest.raises(error) as caught:
        declared(tmp_path, TEXT.replace(old, new))
    assert "op.toml:" in str(caught.value.where)


@pytest.mark.parametrize("preset", ["swiglu", "geglu", "rope", "cross_entropy"])
def test_made_cases_of_a_preset_are_calls_that_its_golden_takes(preset, tmp_path):
    from ascendops.testing.reference import golden_of

    new_project(preset, tmp_path / preset)
    for spec in load(tmp_path / preset).operators:
        golden = golden_of(spec)
        for case in cases(spec)[::3]:
            values = case.values(0)
            outputs = golden(*[value.double() if getattr(value, "is_floating_point", bool)() else value for value in values.values()])
            shapes = [tuple(one.shape) for one in (outputs if isinstance(outputs, tuple) else (outputs,))]
            given = {name: tuple(value.shape) for name, value in values.items() if hasattr(value, "shape")}
            attrs = {name: value for name, value in values.items() if not hasattr(value, "shape")}
            assert shapes == [tuple(shape) for shape in spec.output_shapes(given, attrs)]


def test_where_groups_end_is_in_order_and_reaches_both_ends(tmp_path):
    spec = load(new_project("grouped_matmul", tmp_path / "grouped_matmul").root / "op.toml")
    case = next(case for case in test_cases(spec) if case.case.name == "tail_129")
    ends = case.values(0)["group_list"]
    assert ends.dtype == torch.int64 and ends.tolist() == sorted(ends.tolist())
    assert ends[0] == 0 and ends[-1] == 515 and ends.unique().numel() == 4


def test_only_a_range_is_sorted(tmp_path):
    (tmp_path / "op.toml").write_text(TEXT.replace('["*batch", "m"]\n', '["*batch", "m"]\nsorted = true\n'))
    with pytest.raises(BadValue, match="only a tensor with a range is sorted"):
        load(tmp_path / "op.toml")
