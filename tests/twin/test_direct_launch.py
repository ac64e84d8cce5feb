"""`ascendops export --format direct`: the project is built by the real CMake with stand-ins of both toolkits, and its kernels run on the twin."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import ascendops
from ascendops.cli import main
from ascendops.render import new_project

sys.path.insert(0, str(Path(__file__).parent / "direct_stand_in"))
from toolkit import toolkit

pytestmark = [
    pytest.mark.twin,
    pytest.mark.skipif(shutil.which("cmake") is None or shutil.which("make") is None, reason="needs cmake and make"),
    pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++"),
]
SOC = "Ascend910B3"


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    root = tmp_path_factory.mktemp("direct")
    new_project("softmax", root / "softmax")
    assert main(["export", str(root / "softmax"), "--format", "direct", "--tier", "smoke", "--soc", SOC, "--out", str(root / "out")]) == 0
    return root / "out"


def run(folder, home, log=None, **extra):
    env = {**os.environ, "ASCEND_HOME_PATH": str(home), "ASCENDOPS_JOBS": "1", "ASC_DIR": str(home / "asc"), "ACL_LOG": str(log or "/dev/null"), **extra}
    env["LD_LIBRARY_PATH"] = f"{home}/lib64"  # as the toolkit's set_env.sh does
    env["PATH"] = f"{Path(sys.executable).parent}:{env['PATH']}"
    return subprocess.run(["bash", folder / "run.sh"], env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("version", [8, 9])
def test_an_exported_operator_is_built_launched_and_right(exported, tmp_path, version):
    home = toolkit(tmp_path / "toolkit", version, SOC)
    done = run(exported, home, tmp_path / "log")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "all outputs are right"
    cases = json.loads((exported / "data/cases.json").read_text())["cases"]
    launched = [line.split() for line in (tmp_path / "log").read_text().splitlines()]
    assert [words[1] for words in launched] == [case["kernel"] for case in cases]
    assert {words[1] for words in launched} == {"softmax_float32_key1", "softmax_float32_key2"}
    torch_calls(exported, home, tmp_path / "toolkit/lib64/libascendcl.so")
    refused = run(exported, home, ACL_FAIL="soc")
    assert refused.returncode == 3 and "the tiling data are for Ascend910B3, this device is Ascend910B1" in refused.stderr


def test_a_kernel_of_cube_and_vector_cores_gets_its_workspace(tmp_path):
    """On 9.x the kernel itself names the workspace, through which both kinds of cores talk."""
    project = new_project("linear", tmp_path / "linear").root
    declared = (project / "op.toml").read_text()
    (project / "op.toml").write_text(re.sub(r"(dtype\s*=\s*)\[[^\]]*\]", r'\1["float16"]', declared))
    kernel = project / "op_kernel/linear.cpp"
    check = r"\1\n    if (GetSysWorkSpacePtr() == nullptr) {\n        return;\n    }"
    kernel.write_text(re.sub(r"(REGISTER_TILING_DEFAULT\(.*\);)", check, kernel.read_text()))
    assert main(["export", str(project), "--format", "direct", "--tier", "smoke", "--soc", SOC, "--out", str(tmp_path / "out")]) == 0
    shutil.copytree(tmp_path / "out", tmp_path / "wrong")
    home = toolkit(tmp_path / "toolkit", 9, SOC)
    done = run(tmp_path / "out", home)
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == "all outputs are right", done.stdout + done.stderr
    header = tmp_path / "wrong/kernels/direct.h"
    header.write_text(header.read_text().replace("AscendC::SetSysWorkspace(DIRECT_WORKSPACE)", "AscendC::SetSysWorkspace(nullptr)"))
    done = run(tmp_path / "wrong", home)
    assert done.returncode == 1 and done.stdout.splitlines()[-1].endswith("outputs are wrong"), done.stdout + done.stderr


CALLS = """
import ctypes, sys, types
import torch
acl, stream = ctypes.CDLL(sys.argv[2]), ctypes.c_void_p()
assert acl.aclInit(None) == 0 and acl.aclrtCreateStream(ctypes.byref(stream)) == 0
torch.npu = types.SimpleNamespace(current_stream=lambda: types.SimpleNamespace(npu_stream=stream.value), get_device_name=lambda: "Ascend910B3")
sys.path.insert(0, sys.argv[1])
from softmax_direct import softmax
for shape in ((8, 1023), (2, 30011)):
    x = torch.randn(shape)
    y = softmax(x)
    assert acl.aclrtSynchronizeStream(stream) == 0
    torch.testing.assert_close(y, torch.softmax(x, -1))
for bad, why in ((torch.randn(3, 7), "has no tiling data for"), (torch.randn(1023, 8).t(), "pass contiguous tensors")):
    try:
        softmax(bad)
    except ValueError as error:
        assert why in str(error), error
    else:
        raise AssertionError(why)
print("called")
"""


def torch_calls(exported, home, runtime):
    """softmax_direct.py on CPU tensors, which the stand-in takes for device memory."""
    env = {**os.environ, "LD_LIBRARY_PATH": f"{home}/lib64", "ACL_FAIL": "near"}
    done = subprocess.run([sys.executable, "-c", CALLS, str(exported), str(runtime)], env=env, capture_output=True, text=True, check=False)
    assert done.stdout == "called\n", done.stderr


def test_wrong_outputs_are_found(exported, tmp_path):
    data = tmp_path / "data"
    shutil.copytree(exported / "data", data)
    for path in data.glob("*/golden_0.npz"):  # what a right program would write
        import numpy as np

        np.load(path)["want"].astype(np.float32).tofile(path.parent / "output_0.bin")

    def verify():
        return subprocess.run([sys.executable, exported / "verify.py", data], capture_output=True, text=True, check=False)

    assert verify().returncode == 0, verify().stdout
    wrong = data / "float32-tail_dominant-8x1023-full_load/output_0.bin"
    right = wrong.read_bytes()
    for bad, text in ((b"\xa5" * 4 + right[4:], "1 of 8184 elements; first [0]"), (b"\0\0\xc0\x7f" + right[4:], "first [0] got nan"), (right[:-4], "8183 elements, not 8184")):
        wrong.write_bytes(bad)
        done = verify()
        assert done.returncode == 1 and text in done.stdout and "1 outputs are wrong" in done.stdout
    wrong.unlink()
    assert "output_0.bin was not written" in verify().stdout


def test_an_exported_kernel_is_a_source_for_the_twin(exported):
    """The files of kernels/ include the operator's source and rename its entry; that is a kernel as any other."""
    kernel = ascendops.twin.compile(exported / "kernels/softmax_float32_key1.cpp", soc=SOC)
    assert kernel.entries == ("softmax_float32_key1",)
    case = exported / "data/float32-all_negative-8x35-full_load"
    x = torch.frombuffer(bytearray((case / "input_0.bin").read_bytes()), dtype=torch.float32).reshape(8, 35)
    y = torch.empty_like(x)
    kernel.launch(block_dim=8, args=[x, y], tiling=(case / "tiling.bin").read_bytes(), workspace_bytes=1 << 25)
    torch.testing.assert_close(y, torch.softmax(x, -1))


def test_what_is_missing_is_said(exported, tmp_path):
    env = {key: value for key, value in os.environ.items() if key != "ASCEND_HOME_PATH"}
    done = subprocess.run(["bash", exported / "run.sh"], env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, "set_env.sh" in done.stderr) == (3, True)
    done = run(exported, tmp_path)
    assert done.returncode != 0 and "no ascendc_kernel_cmake/ascendc.cmake in" in done.stderr
