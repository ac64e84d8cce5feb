"""Made cases: the same everywhere, allowed by the declaration, and covering what a tier promises. Streaming, resuming and mutants."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from ascendops.errors import UnknownTier, VerdictDisagrees
from ascendops.parity.faults import FAULTS
from ascendops.parity.truth import Truth
from ascendops.parity.wrong import wrong_candidates
from ascendops.render import new_project
from ascendops.report.model import CaseReport, OpReport
from ascendops.spec import load
from ascendops.testing import matrix, mutate, stream, verdicts
from ascendops.testing.cases import from_recipe


@pytest.fixture(scope="module")
def specs(tmp_path_factory: pytest.TempPathFactory):
    root = tmp_path_factory.mktemp("matrix")

    def get(name: str):
        if not (root / name).exists():
            new_project(name, root / name)
        return load(root / name / "op.toml")

    return get


@pytest.mark.parametrize("name", ["gelu", "add", "sum", "softmax"])
def test_a_default_tier_covers_the_axes(specs, name: str) -> None:
    spec = specs(name)
    cases = matrix.cases(spec, "default")
    assert len(cases) == 120 and len({case.id for case in cases}) == 120 and len({case.digest(0) for case in cases}) == 120
    made = [case for case in cases if case.case not in spec.cases]
    for case in made:
        spec.output_shapes(case.case.shapes, case.attrs)
    assert {case.column for case in made} == set(range(spec.columns))
    assert {case.case.layout for case in made} >= {"sliced", "transposed", "contiguous"}
    assert {case.case.values for case in cases} >= {"tail", "negative", "special"}
    assert any(0 in shape for case in cases for shape in case.case.shapes.values())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("rms_norm", {((3, 5, 0), (0,))}), ("group_norm", {((3, 0, 8, 8), (0,), (0,)), ((3, 8, 0, 8), (8,), (8,)), ((3, 8, 8, 0), (8,), (8,))}),
        ("sum", {((17, 0, 33),), ((8, 0),), ((0, 60),), ((0,),)}), ("linear", {((15, 0), (31, 0), (31,)), ((0,), (33, 0), (33,))}),
        ("scatter_add", {((40,), (0,), (0,)), ((3, 50, 65), (3, 50, 0), (3, 50, 0))}),
    ],
)  # fmt: skip
def test_a_default_tier_has_inputs_without_elements_whose_results_have_some(specs, name: str, expected: set[Any]) -> None:
    shapes = [tuple(case.case.shapes.values()) for case in matrix.cases(specs(name), "default") if case.case not in specs(name).cases]
    assert expected <= set(shapes), [shape for shape in shapes if 0 in sum(shape, ())]


def test_tiers_grow(specs) -> None:
    sizes = [len(matrix.cases(specs("softmax"), tier)) for tier in ("smoke", "declared", "default", "full")]
    assert sizes[0] <= 12 and sizes == sorted(sizes) and sizes[3] == 1500
    with pytest.raises(UnknownTier, match="defualt"):
        matrix.cases(specs("softmax"), "defualt")


def test_the_full_tier_has_huge_axes(specs) -> None:
    def largest(tier: str) -> int:
        return max(max(shape, default=1) for case in matrix.cases(specs("softmax"), tier) if case.case not in specs("softmax").cases for shape in case.case.shapes.values())

    assert largest("full") == matrix.HUGE > largest("default")


def test_no_index_points_into_a_table_without_rows(specs) -> None:
    shapes = [case.case.shapes for case in matrix.cases(specs("embedding"), "full")]
    assert any(0 in one["weight"] for one in shapes) and any(0 in one["indices"] for one in shapes)
    assert all(0 in one["indices"] for one in shapes if one["weight"][0] == 0)


def test_digests_are_the_same_on_every_machine(specs) -> None:
    case = next(case for case in matrix.cases(specs("softmax"), "declared") if case.case.name == "tail_15")
    assert case.digest(0) == "e146c0ece0d8" and case.digest(1) != case.digest(0)
    again = from_recipe(case.spec, json.loads(json.dumps(case.recipe(0))), case.column)
    assert again.digest(0) == case.digest(0) and torch.equal(again.values(0)["x"], case.values(0)["x"])


def test_lines_of_a_run_that_died_are_taken_up(tmp_path: Path) -> None:
    path, conditions = tmp_path / "run.jsonl", {"backend": "twin", "seed": 0}
    lines = stream.Stream(path, conditions)
    lines.write(CaseReport("a[1]", "a", digest="d1", sources="s", status="pass"), OpReport("a", ""))
    lines.write(CaseReport("a[2]", "a", digest="d2", sources="s", status="fail"), OpReport("a", ""))
    lines.close()
    with path.open("a") as file:
        file.write('{"case": {"id": "a[3]", "op": "a", "stat')  # the process ended here
    assert set(stream.load(path, conditions)) == {"a d1 s"}, "a failure runs again"
    assert stream.load(path, {**conditions, "seed": 1}) == {} and stream.load(tmp_path / "none", conditions) == {}
    (tmp_path / "k.cpp").write_text("1")
    before = stream.sources(tmp_path)
    (tmp_path / "k.cpp").write_text("2")
    assert stream.sources(tmp_path) != before


def test_faults_change_outputs_and_are_noticed() -> None:
    want = torch.linspace(-3, 5, 23 * 65, dtype=torch.float64).reshape(23, 65)
    want[3, 4], want[5, 6] = float("nan"), float("inf")
    truth = Truth(want, torch.float32, torch.zeros_like(want), names=("x",))
    tried = wrong_candidates([want.float()], [truth], {fault.name: fault.change for fault in FAULTS})
    assert len(tried) >= 19 and not [wrong.name for wrong in tried if wrong.equivalent]
    assert {wrong.name for wrong in tried if not wrong.rejected} <= {"truncated"}, "odd last bits only: half an ulp on average"


def test_scores_count_what_took_effect() -> None:
    score = mutate.Score()
    for name, status in (("a", "alive"), ("a", "killed"), ("b", "equivalent"), ("c", "alive"), ("c", "equivalent")):
        score.add(name, status)
    assert score.status == {"a": "killed", "b": "equivalent", "c": "alive"} and score.share == 0.5
    assert "no case of op notices: c" in mutate.verdict(score, "op")
    score.declare({"c": "the output is one row", "a": "no"})
    assert score.share == 1.0 and mutate.verdict(score, "op") == [] and score.status["a"] == "killed"


def test_a_verdict_stands_or_is_refused(specs, tmp_path: Path) -> None:
    spec = specs("softmax")
    case = next(case for case in matrix.cases(spec, "declared") if case.case.name == "tail_15")
    values = case.values(0)
    right = torch.softmax(values["x"].double(), -1).to(values["x"].dtype)

    def written(out: torch.Tensor, folder: Path) -> Path:
        file = verdicts.VerdictFile()
        gates = [{"gate": gate, "status": "pass"} for gate in ("G1", "G2", "G4")]
        file.add(case, CaseReport("x", "softmax", status="pass", gates=gates), [out], values)
        file.write(folder, {"level": "L0"})
        return folder

    assert verdicts.verify(written(right, tmp_path / "good")).disagreements == ()
    (line,) = verdicts.verify(written(right * 1.01, tmp_path / "lie")).disagreements
    assert "gate G2 is fail, the file says pass" in line
    manifest = tmp_path / "good" / verdicts.MANIFEST
    manifest.write_text(manifest.read_text().replace('"L0"', '"L2"'))
    with pytest.raises(VerdictDisagrees, match="its id does not fit"):
        verdicts.verify(manifest)
