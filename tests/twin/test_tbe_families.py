"""Every TBE preset builds and is right, in dynamic and static form; a broken source of each kind is refused with its line."""

from __future__ import annotations

import pytest
import torch

import ascendops
from ascendops import errors
from ascendops.cli import main
from ascendops.render import all_families, new_project
from ascendops.spec.names import suggestion
from ascendops.testing.cases import test_cases as cases_of
from ascendops.testing.reference import golden_of

PRESETS = [(family.name, preset) for family in all_families("tbe") for preset in family.presets]


def made(root, family, preset):
    name = suggestion(preset)
    new_project(name, root / name, family=family, like=preset, dialect="tbe")
    return ascendops.open_project(root / name)


@pytest.mark.parametrize(("family", "preset"), PRESETS, ids=[preset for _, preset in PRESETS])
def test_a_preset_agrees_with_its_golden(family, preset, tmp_path):
    project = made(tmp_path, family, preset)
    op = project.build(backend="twin").ops[project.name]
    assert [source.mode for source in op.sources] == ["dynamic", "static"]
    golden = golden_of(project.spec)
    names = [case.name for case in project.spec.cases if case.name not in ("special", "one", "long")]
    cases = [case for case in cases_of(project.spec) if case.case.name in (*names[1:3], names[-1])]
    if family == "cast":
        for case in cases:
            (x,) = case.values(0).values()
            assert torch.equal(op(x), golden(x.double()).to(op(x).dtype))
        return
    verdict = ascendops.parity.verify(op, golden, [case.values(0) for case in cases], repeats=1)
    assert verdict.status == "pass", verdict.labels
    assert {case.dtype for case in cases} == set(project.spec.inputs[0].dtypes)


def test_the_command_line_tests_a_tbe_project(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "op", "to_int32", "--dialect", "tbe"]) == 0
    assert main(["build", "to_int32"]) == 0
    assert main(["test", "to_int32", "--tier", "declared"]) == 0
    assert "6 passed" in capsys.readouterr().out


def broken(tmp_path, old, new, *, static=False, family="elementwise", preset="relu"):
    project = made(tmp_path, family, preset)
    path = project.root / "tbe/impl" / ("" if static else "dynamic") / f"{project.name}.py"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return project


RELU = 'res = tbe.vmaxs(x, tvm.const(0.0, "float32"))'


@pytest.mark.parametrize(
    ("old", "new", "error", "what"),
    [
        ("return narrow(res, dtype)", "return res", errors.TbeDtypeError, "the result for 'y' is float32, but the operator declares float16"),
        (RELU, "res = tbe.vmax(x, tbe.cast_to(x, 'float16'))", errors.TbeDtypeError, "was given tensors of float32 and float16"),
        (RELU, "res = tbe.vexp(tbe.cast_to(x, 'int32'))", errors.TbeDtypeError, "tbe.dsl.vexp does not take int32"),
        (RELU, "res = tbe.vmaxs(x, x)", errors.TbeParameterError, "the second argument of tbe.dsl.vmaxs must be a number"),
        (RELU, "res = tbe.vmax(x, tbe.broadcast(tvm.const(0.0, 'float32'), (1,)))", errors.TbeShapeError, "tbe.dsl.vmax was given the shapes"),
        (RELU, "res = tbe.reduce_sum(x, axis=0)", errors.TbeShapeError, "the result for 'y' has the shape [1]"),
        (RELU, "res = tbe.reduce_sum(x, axis=1)", errors.TbeParameterError, "axis 1 of tbe.dsl.reduce_sum does not fit 1 dims"),
        (RELU, "res = tvm.compute(x.shape, lambda *i: x(*i))", errors.TbeUnsupported, "the TBE twin does not evaluate tbe.tvm.compute"),
        (RELU, "res = tbe.matmul(x, x)", errors.TbeUnsupported, "tbe.dsl.matmul"),
        (RELU, "res = tbe.vrelu6(x)", errors.TbeUnsupported, "tbe.dsl.vrelu6"),
        (RELU, "res = nothing", errors.TbeError, "relu.py raised NameError: name 'nothing' is not defined"),
        ("variable_shape([variant])[0]", "shape_to_list(variant.get('shape'))", errors.TbeShapeError, "was given the shape [-1]"),
        ('DTYPES = ("float32", "float16", "bfloat16")', 'DTYPES = ("float32",)', errors.TbeParameterError, "dtype of 'x' cannot be float16"),
        ("tensors.append([data, res])", "tensors.append([data])", errors.TbeError, "tensor_list of tbe.build lacks the scheduled result"),
        ('    tbe.build(schedules, {"name": kernel_name, "tensor_list": tensors})', "", errors.TbeError, "relu.py built nothing"),
        ("def relu(x, y", "def other(x, y", None, ""),
    ],
)  # fmt: skip
def test_a_broken_source_is_refused_with_its_line(old, new, error, what, tmp_path):
    project = broken(tmp_path, old, new)
    if error is None:  # @register_operator marks the function, whatever it is called
        assert project.build(backend="twin").relu(torch.tensor([-1.0, 2.0])).tolist() == [0.0, 2.0]
        return
    with pytest.raises(error) as caught:
        project.build(backend="twin")
    assert what in caught.value.what
    assert caught.value.where.startswith(str(project.root / "tbe/impl/dynamic/relu.py"))
    assert isinstance(caught.value, RuntimeError)


def test_dynamic_and_static_must_agree(tmp_path):
    project = broken(tmp_path, RELU, 'res = tbe.vmaxs(x, tvm.const(0.5, "float32"))', static=True)
    op = project.build(backend="twin").relu
    assert op(torch.tensor([1.0, 2.0])).tolist() == [1.0, 2.0]
    with pytest.raises(errors.TbeError, match="differ in 1 of 2 elements of 'y'"):
        op(torch.tensor([0.25, 2.0]))


def test_a_source_sees_fused_shapes_only(tmp_path):
    """An axis that is not taken from classify is right in the static form and wrong in the dynamic one, as on the device."""
    project = broken(tmp_path, 'res = sum_compute(data, axes.get("value"), keepdim)', "res = sum_compute(data, [dim % rank], keepdim)", family="reduction", preset="sum")
    with pytest.raises(errors.TbeError):
        project.build(backend="twin").sum(torch.ones(2, 3, 5), dim=-1)


def test_the_maximum_of_nothing_is_refused(tmp_path):
    op = made(tmp_path, "reduction", "amax").build(backend="twin").amax
    with pytest.raises(errors.TbeShapeError, match=r"reduce_max has no elements along axes \[1\] of \[3, 0\]"):
        op(torch.ones(3, 0), dim=-1)


def test_ascend950_is_refused_with_the_reason(tmp_path):
    with pytest.raises(errors.UnitError) as caught:
        new_project("relu", tmp_path / "relu", dialect="tbe", units=["ascend950"])
    assert "TBE operators cannot be built for ascend950" in caught.value.what
    assert "Ascend C only" in str(caught.value.why)
    assert not (tmp_path / "relu").exists()


def test_half_accumulates_in_half():
    from ascendops.tbe.functions.base import EVALUATE
    from ascendops.tbe.graph import Tensor

    x = torch.full((1, 4096), 1.0009765625, dtype=torch.float16)
    node = Tensor("reduce_sum", "float16", [1], [Tensor("placeholder", "float16", [1, 4096])], {"axes": [1]})
    got = EVALUATE["reduce_sum"](node, [x]).item()
    step = x.clone()
    while step.shape[1] > 1:
        step = step[:, : step.shape[1] // 2] + step[:, step.shape[1] // 2 :]
    assert got == step.item()

