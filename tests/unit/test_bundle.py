"""Golden bundles: what was recorded comes back, and every kind of damage has its own error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from ascendops.build.tensors import raw_bytes
from ascendops.errors import (
    AscendOpsError,
    BundleCorrupt,
    BundleInputs,
    BundleMissing,
    BundleOperator,
    BundleStale,
    BundleTruncated,
    BundleVersion,
)  # fmt: skip
from ascendops.parity import bundle, inputs, safetensors
from ascendops.render import new_project
from ascendops.spec import load
from ascendops.testing.cases import test_cases as cases_of
from ascendops.testing.record import record
from ascendops.testing.reference import choose


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("bundles")
    new_project("softmax", root / "softmax")
    text = (root / "softmax" / "op.toml").read_text()
    kept = [part for part in text.split("[[case]]") if not part.lstrip().startswith("name") or any(f'"{n}"' in part for n in ("tail_15", "empty", "tail_1025"))]
    (root / "softmax" / "op.toml").write_text("[[case]]".join(kept) + '\n[reference]\ntriton = "reference/triton_softmax.py:softmax"\n')
    record(load(root / "softmax" / "op.toml"), root / "b", "torch", largest=4096)
    return root


def copy(project: Path, tmp_path: Path) -> Path:
    target = tmp_path / "b"
    target.mkdir()
    for name in (bundle.MANIFEST, bundle.DATA):
        (target / name).write_bytes((project / "b" / name).read_bytes())
    return target


def edit(folder: Path, change: Any, sign: bool = True) -> None:
    manifest = json.loads((folder / bundle.MANIFEST).read_text())
    change(manifest)
    if sign:
        manifest["id"] = bundle.identity(manifest)
    (folder / bundle.MANIFEST).write_text(json.dumps(manifest))


def test_recorded_outputs_come_back(project: Path) -> None:
    spec = load(project / "softmax" / "op.toml")
    reference = choose(spec, str(project / "b"))
    seen = []
    for case in cases_of(spec):
        answer = reference(case.values(0), case.id)
        seen.append(answer.outputs is None)
        if answer.outputs is not None:
            assert torch.equal(answer.outputs[0], torch.softmax(case.values(0)["x"], -1)), case.id
        else:
            assert answer.samples is not None
            places, values = answer.samples[0]
            assert len(places) > 900 and torch.equal(values, torch.softmax(case.values(0)["x"], -1).flatten()[places])
    assert any(seen) and not all(seen), "one case is large enough to be sampled"
    assert reference(list(cases_of(spec))[-1].values(1), "other").reason == "the bundle does not have the case"


@pytest.mark.parametrize(
    ("damage", "error"),
    [
        (lambda b: (b / bundle.DATA).write_bytes((b / bundle.DATA).read_bytes()[:-5]), BundleTruncated),
        (lambda b: (b / bundle.DATA).write_bytes((b / bundle.DATA).read_bytes()[:-1] + b"\x7f"), BundleCorrupt),
        (lambda b: edit(b, lambda m: m.update(how="Triton on a better GPU"), sign=False), BundleCorrupt),
        (lambda b: (b / bundle.MANIFEST).write_text("{"), BundleCorrupt),
        (lambda b: edit(b, lambda m: m.update(format="ascendops-bundle/9")), BundleVersion),
        (lambda b: edit(b, lambda m: m.update(generator="mt19937")), BundleVersion),
        (lambda b: edit(b, lambda m: m.update(op="add", schema="add(Tensor a, Tensor b) -> Tensor")), BundleOperator),
        (lambda b: edit(b, lambda m: m["digests"].update(interface="0")), BundleStale),
        (lambda b: edit(b, lambda m: (m.update(how="Triton on X"), m["digests"].update(reference="0"))), BundleStale),
        (lambda b: (b / bundle.MANIFEST).unlink(), BundleMissing),
        (lambda b: (b / bundle.DATA).unlink(), BundleMissing),
    ],
    ids=["truncated", "bit flip", "manifest edited", "not json", "format", "generator", "operator", "schema stale", "source stale", "no manifest", "no data"],
)  # fmt: skip
def test_each_damage_has_its_error(project: Path, tmp_path: Path, damage: Any, error: type[AscendOpsError]) -> None:
    folder = copy(project, tmp_path)
    damage(folder)
    with pytest.raises(error):
        choose(load(project / "softmax" / "op.toml"), str(folder))


def test_other_inputs_are_refused_before_anything_runs(project: Path) -> None:
    spec = load(project / "softmax" / "op.toml")
    reference = choose(spec, str(project / "b"))
    case = next(case for case in cases_of(spec) if case.case.name == "tail_15")
    values = case.values(0)
    values["x"] = values["x"].clone()
    values["x"][0, 0] += 1
    with pytest.raises(BundleInputs, match="input x"):
        reference(values, case.id)


def test_the_format_is_safetensors(tmp_path: Path) -> None:
    stored = {
        "a": inputs.values((3, 5), torch.bfloat16), "b": torch.arange(4), "c": torch.zeros(0, 7), "d": torch.tensor(True),
        "e": torch.ones(2, dtype=torch.float8_e5m2), "f": torch.tensor(1 + 2j),
    }  # fmt: skip
    path = tmp_path / "x.safetensors"
    path.write_bytes(safetensors.dumps(stored))
    header = json.loads(path.read_bytes()[8 : 8 + int.from_bytes(path.read_bytes()[:8], "little")])
    assert header["a"] == {"dtype": "BF16", "shape": [3, 5], "data_offsets": [0, 30]}
    back = safetensors.load(path)
    assert all(back[name].dtype == tensor.dtype and back[name].shape == tensor.shape for name, tensor in stored.items())
    assert all(raw_bytes(back[name]) == raw_bytes(tensor) for name, tensor in stored.items())
