"""The laptop `npu` device: user code on it, when it is refused, and how it is asked for. In processes of their own: it cannot be switched off."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ascendops.errors import DeviceRefused
from ascendops.npu.report import report, support

pytestmark = [pytest.mark.twin, pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")]
HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def python(*args: str, path: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    places = os.pathsep.join(filter(None, [path, str(ROOT), str(HERE), os.environ.get("PYTHONPATH", "")]))
    env = {**os.environ, "PYTHONPATH": places, **environment}
    return subprocess.run([sys.executable, *args], env=env, capture_output=True, text=True, check=False)


def test_user_code_runs_unchanged(tmp_path):
    done = python("-X", "faulthandler", str(HERE / "npu_checks.py"), str(tmp_path), ASCENDOPS_NPU_COUNT="2")
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line for line in lines if not line.startswith("ok ")] == [], done.stdout
    assert len(lines) == 17


def test_a_device_that_crashes_is_refused_instead_of_ending_the_process(tmp_path, monkeypatch):
    from ascendops.npu import build

    source = tmp_path / "crash.cpp"
    source.write_text("#include <csignal>\nnamespace { struct Crash { Crash() { raise(SIGSEGV); } } crash; }\n")
    subprocess.run(["g++", "-shared", "-fPIC", str(source), "-o", str(tmp_path / "npu.so")], check=True)
    with pytest.raises(DeviceRefused, match="does not work with torch .* ended with signal 11") as caught:
        build._try(tmp_path / "npu.so")
    assert "Segmentation fault" in (caught.value.why or "") and "trial.py" in (caught.value.why or "")


USE = """
import torch
from ascendops.errors import AscendOpsError
try:
    import ascendops
    ascendops.enable_npu_twin()
except AscendOpsError as error:
    print(error.id, error.what)
"""


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("import sys; sys.modules['torch_npu'] = object()", "torch_npu is loaded, so the npu twin stays off"),
        ("import torch; torch.utils.rename_privateuse1_backend('other')", "is taken by 'other'"),
    ],
)
def test_refused_where_another_backend_is(before, said):
    done = python("-c", before + USE)
    assert done.stdout.startswith("ASC704 ") and said in done.stdout, done.stdout + done.stderr


def test_never_on_by_itself_and_on_by_the_variable(tmp_path):
    info = tmp_path / "kit-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: kit\nVersion: 0\n")
    (info / "entry_points.txt").write_text("[torch.backends]\nascendops = ascendops.npu:autoload\n")
    code = "import torch, sys; print(torch._C._get_privateuse1_backend_name(), hasattr(torch, 'npu') and torch.npu.is_twin, 'ascendops.npu.device' in sys.modules)"
    for variable, said in (("", "privateuseone False False"), ("off", "privateuseone False False"), ("twin", "npu True True")):
        done = python("-c", code, path=str(tmp_path), ASCENDOPS_NPU=variable)
        assert done.stdout.strip() == said, done.stdout + done.stderr


def test_the_entry_point_is_declared():
    text = (ROOT / "pyproject.toml").read_text()
    assert '[project.entry-points."torch.backends"]\nascendops = "ascendops.npu:autoload"' in text


def test_the_report_says_what_torch_npu_has():
    assert support("aten::mm") == "native" and support("aten::nothing") == "unknown"
    text = report({"aten::mm": 3, "aten::_linalg_det": 1, "aten::nothing": 1})
    assert text.splitlines()[0].split(maxsplit=2) == ["aten::mm", "3", "has an NPU kernel"]
    assert "of them have no NPU kernel in torch_npu" in text.splitlines()[-1] and "aten::nothing" in text.splitlines()[-1]


def test_an_operator_is_not_missing_because_its_out_overload_is():
    """Structured operators are seen by their out overload: torch_npu has gelu_backward, but not gelu_backward.grad_input."""
    names = ("gelu_backward.grad_input", "threshold_backward.grad_input", "huber_loss_backward.out", "index.Tensor_out", "scatter_add.out", "max.unary_out")
    assert {name: support(f"aten::{name}") for name in names} == dict.fromkeys(names, "functional")
    for name, kind in (("_linalg_det", "cpu_fallback"), ("frexp.Tensor_out", "functional"), ("special_zeta.out", "cpu_fallback"), ("add.out", "native")):
        assert support(f"aten::{name}") == kind, name
    last = report({"aten::gelu_backward.grad_input": 1}).splitlines()[-1]
    assert last == "1 operators ran on the twin's host memory; 0 of them have no NPU kernel in torch_npu"
