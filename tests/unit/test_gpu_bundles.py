"""The golden bundles that ship with the references: recorded on a GPU, still of these sources, and right by our own rule."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ascendops import resources, spec
from ascendops.errors import AscendOpsError
from ascendops.parity import bundle, verify
from ascendops.parity.execute import Run
from ascendops.parity.judge import Judge, no_reference
from ascendops.render import new_project
from ascendops.testing.cases import test_cases as cases_of
from ascendops.testing.reference import choose, golden_of
from tools.kill_matrix.__main__ import DTYPES, RECIPES, cases
from tools.kill_matrix.more import SUBJECTS
from tools.kill_matrix.subjects import wide

OPERATORS = sorted(path.parent.name for path in resources.cuda_reference().glob("*/golden"))
H200 = Path(__file__).parents[1] / "data" / "h200"
KNOWN = {"neg": "SPECIAL_VALUE"}  # on a GPU, Triton's -x is 0 - x: the sign of a zero is lost
REFERENCES = sorted(path.parent.name for path in resources.cuda_reference().glob("*/triton_*.py"))
JUDGED = 3  # recorded cases per operator that are judged here; all of them is a matter of minutes


def test_every_reference_has_a_bundle() -> None:
    assert REFERENCES == OPERATORS


@pytest.mark.parametrize("name", OPERATORS)
def test_a_gpu_did_what_the_golden_says(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    try:
        new_project(name, folder)
    except AscendOpsError:  # a name that clashes with a C function
        new_project(f"{name}_custom", folder)
    declared = spec.load(folder / "op.toml")
    reference = choose(declared, str(resources.cuda_reference()))  # refuses a stale or damaged one
    assert reference.bundle is not None and reference.bundle.how.startswith("Triton on NVIDIA")
    judge = Judge(golden_of(declared), None, "L0", 1)
    judged: dict[int, int] = {}
    for case in sorted(cases_of(declared), key=lambda case: -case.elements):
        values = case.values(0)
        answer = reference(values, case.id)
        if answer.outputs is None or judged.get(case.column, 0) or len(judged) >= JUDGED:
            continue

        def recorded(_values: Any, _poison: Any, _outs: Any, outputs: Any = answer.outputs) -> Run:
            return Run(outputs=outputs, devices=["cpu"] * len(outputs))

        result = judge(case.id, values, recorded, (), case.output_dtypes(), no_reference).result
        if not (name in KNOWN and case.case.values == "special"):
            assert result.passed, f"{case.id}: {result.story()}"
        else:
            assert result.labels == (KNOWN[name],) and result.failing <= 2, f"{case.id}: {result.story()}"
        judged[case.column] = 1
    assert len(judged) == min(JUDGED, declared.columns), "every dtype has a whole recorded case"


@pytest.mark.parametrize("name", sorted(path.name for path in H200.iterdir()))
def test_torch_on_a_gpu_and_float32_arithmetic_here_pass_alike(name: str) -> None:
    recorded = bundle.load(H200 / name)
    subject = next(subject for subject in SUBJECTS if subject.name == name)
    assert recorded.how == "torch on NVIDIA H200"
    for dtype in DTYPES:
        data = [case for recipe, case in zip(RECIPES, cases(subject, dtype), strict=True) if recipe in ("random", "coded")]
        here = verify(wide(subject.golden), subject.golden, data, reference=recorded, repeats=1)
        assert here.passed and all(case.gate("G3").numbers for case in here.cases), str(here)  # type: ignore[union-attr]
        outputs = [recorded.outputs(recorded.find("", case)) for case in data]  # type: ignore[arg-type]
        judge = Judge(subject.golden, None, "L0", 1)
        for case, stored in zip(data, outputs, strict=True):
            assert stored is not None
            runner = lambda *_, stored=stored: Run(outputs=stored, devices=["cpu"])  # noqa: E731
            result = judge(name, case, runner, (), [dtype]).result
            assert result.passed, f"{dtype}: {result.story()}"
