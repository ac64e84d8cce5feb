"""Several operators in one op.toml: one build, one gen/, cases and golden of each."""

from __future__ import annotations

import json
import shutil

import pytest
import torch
from two_operators import make

import ascendops
from ascendops.cli import main

pytestmark = [pytest.mark.twin, pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory):
    return make(tmp_path_factory.mktemp("two"))


def test_one_build_makes_both(root):
    library = ascendops.open_project(root).build("twin")
    assert sorted(library.ops) == ["exp_custom", "exp_custom_backward"]
    assert library.exp_custom_backward.spec.inputs[0].name == "grad_y"
    x, grad = torch.randn(3, 33), torch.randn(3, 33)
    assert torch.allclose(library.exp_custom_backward(grad, library.exp_custom(x)), grad * x.exp(), rtol=1e-5)
    rendered = {path.name for path in (root / "gen").rglob("*.cpp")}
    assert {f"{name}_{kind}.cpp" for name in library.ops for kind in ("def", "infershape", "binding")} <= rendered
    assert "OP_TYPE ExpCustomBackward" in (root / "gen/cann9/op_kernel/CMakeLists.txt").read_text()


def test_each_has_its_cases_and_its_golden(root, capsys, monkeypatch):
    monkeypatch.chdir(root)
    assert main(["test", "--json", "-k", "(tail or vector) and float16", "--reference", "none"]) == 0
    cases = json.loads(capsys.readouterr().out)["cases"]
    assert {case["op"] for case in cases} == {"exp_custom", "exp_custom_backward"}
    golden = (root / "golden.py").read_text()
    try:
        (root / "golden.py").write_text(golden.replace("def exp_custom_backward(", "def other("))
        assert main(["test", "--json", "-k", "exp_custom_backward and float16 and tail", "--reference", "none"]) != 0
        assert "defines no function `exp_custom_backward`" in capsys.readouterr().out
    finally:
        (root / "golden.py").write_text(golden)
