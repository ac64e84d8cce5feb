"""An operator and its backward operator in one project, and inputs that keep to a range of whole numbers."""

from __future__ import annotations

import pytest

from ascendops.errors import BadValue, ExprError, RenderError
from ascendops.render import FileSet, new_project
from ascendops.render.compose import add_backward
from ascendops.spec import load
from ascendops.testing.cases import test_cases as cases_of


def test_the_backward_operator_shares_the_project(tmp_path):
    spec = new_project("swiglu", tmp_path / "swiglu").spec
    assert [op.name for op in spec.operators] == ["swiglu", "swiglu_backward"]
    assert spec.autograd.backward == "swiglu_backward"
    assert dict(spec.autograd.grads) == {"x": "grad_x"}
    golden = (tmp_path / "swiglu" / "golden.py").read_text()
    assert golden.count("import torch") == 1
    assert "def golden(" in golden and "def swiglu_backward(" in golden


def test_names_of_the_schema_reach_the_backward_operator(tmp_path):
    spec = new_project("swiglu", tmp_path / "swiglu", schema="swiglu(Tensor hidden) -> Tensor out").spec
    backward = spec.operators[1]
    assert [tensor.name for tensor in backward.inputs] == ["grad_out", "hidden"]
    assert dict(spec.autograd.grads) == {"hidden": "grad_hidden"}


def test_a_file_that_both_need_differently_is_refused():
    first, second = FileSet(), FileSet()
    for files, text in ((first, "a\n"), (second, "b\n")):
        files.add("op.toml", 'schema = "x"\n\n[tensor.x]\n')
        files.add("golden.py", "def golden(x):\n    return x\n")
        files.add("op_kernel/rows.h", text)
    with pytest.raises(RenderError, match=r"rows\.h"):
        add_backward(first, second, "x_backward", {"x": "grad_x"})


DECLARATION = """
edition = 1
name    = "pick"
schema  = "pick(Tensor x, Tensor at) -> Tensor y"
units   = ["ascend910b"]

[tensor.x]
dims  = ["n"]
dtype = ["float32"]

[tensor.at]
dims  = ["m"]
dtype = ["int64"]
range = RANGE

[tensor.y]
dims  = ["m"]
dtype = ["float32"]

[[case]]
name   = "few"
shapes = { x = [3], at = [50] }
"""


def declared(tmp_path, text):
    (tmp_path / "op.toml").write_text(DECLARATION.replace("RANGE", text))
    return load(tmp_path)


def test_inputs_keep_to_their_range(tmp_path):
    (case,) = cases_of(declared(tmp_path, '[-1, "n"]'))
    assert sorted(set(case.values(0)["at"].tolist())) == [-1, 0, 1, 2]


def test_a_range_of_nothing_known_is_refused(tmp_path):
    with pytest.raises(ExprError, match="'k'"):
        declared(tmp_path, '[0, "k"]')


def test_a_range_needs_two_ends(tmp_path):
    with pytest.raises(BadValue, match="range"):
        declared(tmp_path, "[0]")


def test_only_whole_numbers_have_a_range(tmp_path):
    (tmp_path / "op.toml").write_text(DECLARATION.replace("RANGE", "[0, 3]").replace("int64", "float32"))
    with pytest.raises(BadValue, match="whole numbers"):
        load(tmp_path)
