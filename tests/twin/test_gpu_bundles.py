"""Kernels on the twin against outputs that a GPU recorded."""

from __future__ import annotations

import io

import pytest

from ascendops import resources, testing
from ascendops.render import new_project


@pytest.mark.parametrize("name", ["softmax", "add"])
def test_kernels_agree_with_a_gpu(name: str, tmp_path) -> None:
    new_project(name, tmp_path / name)
    result = testing.run(
        [tmp_path / name], backend="twin", reference=str(resources.cuda_reference()), pytest_args=["-k", "tail_ or transposed"], stream=io.StringIO()
    )
    cases = [case for case in result.report.cases if case.kind == "case"]
    assert result.exit_code == 0 and len(cases) >= 9
    recorded = [case for case in cases if case.reference["status"] == "agrees"]
    assert len(recorded) >= 9 and all(case.reference["how"].startswith("recorded: Triton on NVIDIA H200") for case in recorded)
