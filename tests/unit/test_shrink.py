"""Shrinking passes over smaller forms that are no calls at all."""

from __future__ import annotations

import math

from ascendops.errors import GoldenError
from ascendops.render import new_project
from ascendops.spec import load
from ascendops.testing.cases import test_cases as cases_of
from ascendops.testing.shrink import script, shrink


def test_a_form_that_the_golden_refuses_is_not_the_fault(tmp_path):
    new_project("relu", tmp_path / "relu")
    case = next(case for case in cases_of(load(tmp_path / "relu")) if case.case.name == "tail_129")
    refused = []

    def fails(cases, fresh):
        size = math.prod(cases[-1].case.shapes["x"])
        if size == 16:
            refused.append(size)
            raise GoldenError("the golden takes no 16")
        return frozenset({"TAIL"}) if size > 4 else frozenset()

    found = shrink(case, None, fails)
    assert found is not None
    assert found.labels == {"TAIL"}
    assert refused
    assert 4 < math.prod(found.cases[-1].case.shapes["x"]) < 129


def test_single_elements_become_plain_and_are_written_out(tmp_path):
    new_project("relu", tmp_path / "relu")
    case = next(case for case in cases_of(load(tmp_path / "relu")) if case.case.name == "tail_129")

    def fails(cases, fresh):
        x = cases[-1].values(0)["x"].flatten()
        return frozenset({"TAIL"}) if x.numel() > 3 and float(x[3]) not in (0.0, 1.0) else frozenset()

    found = shrink(case, None, fails)
    assert found is not None
    values = found.cases[-1].values(0)["x"].flatten()
    assert float(values[3]) not in (0.0, 1.0) and set(values.tolist()) - {float(values[3])} <= {0.0, 1.0}
    text = script(found, "twin", "Ascend910B1", 0, "golden")
    assert f"torch.tensor({found.cases[-1].values(0)['x'].tolist()}" in text and len(text.splitlines()) <= 20
    compile(text, "repro.py", "exec")
