"""The worked model of docs/torch.md: a small LLaMA trained with torch's operators and with the kit's, on the CPU and on the laptop npu device."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from llama_block import OPERATORS, Kit, Stock, losses
from torch_projects import small

import ascendops
from ascendops import torchlib

NAMESPACE = "ascendops_test_model"

pytestmark = [pytest.mark.twin, pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")]
ON_NPU = """
import json, sys
import ascendops
ascendops.enable_npu_twin()
from pathlib import Path
from llama_block import Kit, Stock, losses
from torch_projects import register, small
for name in sys.argv[2:]:
    ops = register(small(Path(sys.argv[1]), name), "npu_model")
print(json.dumps([losses(Stock(), "npu"), losses(Kit(ops), "npu")]))
"""


def agree(a: list[float], b: list[float]) -> None:
    assert len(a) == len(b) == 8 and max(abs(x - y) for x, y in zip(a, b, strict=True)) < 2e-5, (a, b)


def test_losses_agree_at_every_step_on_every_device(tmp_path):
    for _, name in OPERATORS:
        ops = ascendops.open_project(small(tmp_path, name)).build("twin").register(NAMESPACE, compiled=True)
    assert set(torchlib.kinds(NAMESPACE).values()) == {"compiled"}
    stock, kit = losses(Stock(), "cpu"), losses(Kit(ops), "cpu")
    assert stock[-1] < 0.8 * stock[0]
    agree(stock, kit)
    here = Path(__file__).parent
    path = os.pathsep.join([str(here.parents[1]), str(here), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-c", ON_NPU, str(tmp_path), *(name for _, name in OPERATORS)]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for found in json.loads(done.stdout):
        agree(stock, found)
