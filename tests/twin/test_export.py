"""A declaration makes the whole way: msopgen's JSON, a project of the family `custom`, its compiled registration, the JSON again."""

from __future__ import annotations

import json

import pytest
import torch

import ascendops
from ascendops.cli import main
from ascendops.interchange import msopgen

pytestmark = pytest.mark.twin

ENTRY = {
    "op": "Mixed",
    "language": "cpp",
    "input_desc": [
        {"name": "x", "param_type": "required", "format": ["ND", "ND"], "type": ["float", "int8"]},
        {"name": "xs", "param_type": "dynamic", "format": ["ND", "ND"], "type": ["float", "int8"]},
        {"name": "w", "param_type": "optional", "format": ["ND", "ND"], "type": ["int64", "int64"]},
    ],
    "output_desc": [{"name": "y", "param_type": "required", "format": ["ND", "ND"], "type": ["float", "int8"]}],
    "attr": [
        {"name": "eps", "param_type": "optional", "type": "float", "default_value": 0.5},
        {"name": "n", "param_type": "required", "type": "int"},
        {"name": "mode", "param_type": "optional", "type": "string", "default_value": "a"},
        {"name": "keep", "param_type": "optional", "type": "bool", "default_value": True},
        {"name": "pads", "param_type": "required", "type": "list_int"},
    ],
}


def test_json_to_project_to_json(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ir.json").write_text(json.dumps([ENTRY]))
    assert main(["new", "op", "mixed", "--from", "ir.json"]) == 0
    assert main(["export", "mixed", "--out", "back.json"]) == 0
    assert json.loads((tmp_path / "back.json").read_text()) == [ENTRY]
    (tmp_path / "mine.json").write_text("mine")
    assert main(["export", "mixed", "--out", "mine.json"]) == 2
    assert (tmp_path / "mine.json").read_text() == "mine"
    assert main(["export", "mixed", "--out", "mine.json", "--force"]) == 0
    assert (tmp_path / "mine.json.orig").read_text() == "mine" and json.loads((tmp_path / "mine.json").read_text()) == [ENTRY]
    assert msopgen.read(tmp_path / "back.json", "mixed").schema("mixed") == msopgen.read(tmp_path / "ir.json", "mixed").schema("mixed")
    op = ascendops.open_project("mixed").build(backend="twin").mixed
    x = torch.arange(200_003, dtype=torch.float32)
    assert torch.equal(op(x, [x], n=1, pads=[2]), x)
    small = torch.arange(35, dtype=torch.int8)
    assert torch.equal(op(small, [small, small], torch.ones(3, dtype=torch.int64), n=1, pads=[2]), small)
    capsys.readouterr()
    assert main(["test", "mixed", "--tier", "declared"]) == 1
    assert "write what mixed means in golden.py" in capsys.readouterr().out
