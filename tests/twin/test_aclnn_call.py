"""Calls of an installed operator through aclnn, against a stand-in for the Ascend runtime that checks what it is given."""

from __future__ import annotations

import ctypes
import dataclasses
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import ascendops
from ascendops.build import acl, aclnn
from ascendops.build.installed import operators
from ascendops.errors import DeviceError, InputError, KernelHang, ToolchainError, ToolchainMissing, TwinCheckError
from ascendops.render import new_project
from ascendops.spec import socs
from ascendops.toolchain.cann import Toolkit

pytestmark = [pytest.mark.twin, pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")]

SCHEMA = (
    "probe(Tensor x, Tensor? y, Tensor[] zs, int i=3, float f=0.5, bool b=True, str s='mean', int[] ii=[1,2], float[] ff=[0.5], bool[] bb=[True]) -> Tensor out"
)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """(project, toolkit, vendor folder) with the stand-in as runtime, as operator base and as the package's library."""
    root = tmp_path_factory.mktemp("installed")
    toolkit, vendor = root / "toolkit", root / "vendors" / "ascendops_probe"
    (toolkit / "lib64").mkdir(parents=True)
    (vendor / "op_api" / "lib").mkdir(parents=True)
    library = toolkit / "lib64" / "libascendcl.so"
    source = Path(__file__).parent / "acl_stand_in" / "acl_stand_in.cpp"
    subprocess.run(["g++", "-std=c++17", "-O1", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    for link in (toolkit / "lib64" / "libnnopbase.so", vendor / "op_api" / "lib" / "libcust_opapi.so"):
        link.symlink_to(library)
    new_project("probe", root / "probe", family="custom", schema=SCHEMA)
    return root / "probe", Toolkit(toolkit, "8.1.RC1", "ASCEND_HOME_PATH"), vendor


@pytest.fixture
def probe(installed, tmp_path, monkeypatch):
    monkeypatch.setenv("ACL_LOG", str(tmp_path / "log"))
    monkeypatch.delenv("ACL_FAIL", raising=False)
    project, toolkit, vendor = installed
    return operators(ascendops.open_project(project), socs.resolve("Ascend910B1"), toolkit, vendor)["probe"]


def live(installed) -> int:
    return ctypes.CDLL(str(installed[1].root / "lib64" / "libascendcl.so")).StandInLive()


def test_arguments_arrive_in_order_with_their_types(probe, installed):
    x = torch.randn(3, 5)
    result = probe.run(x, None, [torch.ones(2), torch.ones(4, 1)], i=-7, f=0.25, b=False, s="sum", ii=[4, 5, 6], ff=[1.5], bb=[True, False])
    assert torch.equal(result.outputs[0], x * 0.25)
    assert (result.backend, result.soc, result.workspace_bytes, result.tiling_key) == ("cann", "Ascend910B3", 256, 1)
    assert result.block_dim > 0 and "run on this host" in result.notes[-1]
    assert live(installed) == 0, "everything that the call made is freed"


def test_the_runtime_sees_shapes_dtypes_and_aligned_addresses(installed, tmp_path):
    """In a process of its own: the stand-in opens its log once."""
    project, toolkit, vendor = installed
    script = f'''
import torch, ascendops
from pathlib import Path
from ascendops.build.installed import operators
from ascendops.spec import socs
from ascendops.toolchain.cann import Toolkit
op = operators(ascendops.open_project("{project}"), socs.resolve("Ascend910B1"), Toolkit(Path("{toolkit.root}"), None, "x"), Path("{vendor}"))["probe"]
op(torch.ones(2, 3).t(), torch.ones(7), [torch.ones(2)], 9)
'''
    subprocess.run([sys.executable, "-c", script], check=True, env={**os.environ, "ACL_LOG": str(tmp_path / "log")})
    line = (tmp_path / "log").read_text()
    assert line == "probe tensor(0,2,3:2,2:1) tensor(0,2,7:1) [ tensor(0,2,2:1) ] 9 0.5 1 mean 1 2 0.5 1 tensor(0,2,3:2,2:1)\n"


def test_values_that_host_functions_read_take_the_form_with_tensors(probe, monkeypatch):
    inputs = (dataclasses.replace(probe.definition.inputs[0], value_depend="required"), *probe.definition.inputs[1:])
    asked = dataclasses.replace(probe.definition, inputs=inputs)
    library = ctypes.CDLL(str(probe.vendor / "op_api" / "lib" / "libcust_opapi.so"))
    with pytest.raises(ToolchainError, match="has no aclnnProbeTensorGetWorkspaceSize"):
        aclnn.call(aclnn.Target(acl.runtime(probe.toolkit), library, asked), aclnn.Given({}, {}, [], 0), 1.0)


def test_an_attribute_without_a_value_is_named(probe):
    definition = dataclasses.replace(probe.definition, attrs=tuple(dataclasses.replace(attr, default=None) for attr in probe.definition.attrs))
    empty = {attr.name: None for attr in definition.attrs}
    tensors = {"x": torch.ones(2), "y": None, "zs": [torch.ones(1)]}
    library = acl.operator_library(probe.vendor)
    with pytest.raises(ToolchainError, match="attribute 'i' has no value"):
        aclnn.call(aclnn.Target(acl.runtime(probe.toolkit), library, definition), aclnn.Given(tensors, empty, [torch.zeros(2)], 0), 1.0)


def test_out_and_empty_tensors(probe):
    out = torch.full((4,), 9.0)
    assert probe(torch.ones(4), None, [torch.ones(1)], out=out) is out and torch.equal(out, torch.full((4,), 0.5))
    assert probe(torch.empty(0, 3), None, [torch.ones(1)]).shape == (0, 3)
    with pytest.raises(InputError, match="has no kernel for x: int32"):
        probe(torch.ones(3, dtype=torch.int32), None, [torch.ones(1)])


@pytest.mark.parametrize(
    ("fault", "error", "message"),
    [
        ("arguments", DeviceError, "aclnnProbeGetWorkspaceSize failed with status 161002"),
        ("hang", KernelHang, "aclnnProbe did not end within 5 s on the device"),
        ("behind", TwinCheckError, "GM-BOUNDS"),
        ("before", TwinCheckError, "GM-BOUNDS"),
    ],
)
def test_what_goes_wrong_on_the_device_is_told(probe, installed, monkeypatch, fault, error, message):
    monkeypatch.setenv("ACL_FAIL", fault)
    with pytest.raises(error, match=message) as told:
        probe.run(torch.ones(8), None, [torch.ones(1)], timeout_s=5)
    if fault == "arguments":
        assert "EZ1001: x must be float32" in str(told.value)
    assert live(installed) == 0


def test_launches_are_timed_one_by_one_after_a_flush(probe, installed, monkeypatch):
    library = ctypes.CDLL(str(installed[1].root / "lib64" / "libascendcl.so"))
    library.StandInFlushed.restype = ctypes.c_uint64
    before = library.StandInFlushed()
    times = probe.times(torch.ones(8), None, [torch.ones(1)], repeats=4)
    assert times == pytest.approx([4.0] * 4), "each pair of events is around one launch"
    assert library.StandInFlushed() - before == (aclnn.WARM_UP + 4) * 2 * probe.soc.l2_bytes
    with pytest.raises(InputError, match="nothing is launched"):
        probe.times(torch.empty(0, 3), None, [torch.ones(1)])
    monkeypatch.setenv("ACL_FAIL", "hang")
    with pytest.raises(KernelHang, match="did not end within 5 s"):
        probe.times(torch.ones(8), None, [torch.ones(1)], timeout_s=5)
    assert live(installed) == 0


def test_writes_into_the_padding_are_a_warning(probe, monkeypatch):
    monkeypatch.setenv("ACL_FAIL", "padding")
    result = probe.run(torch.ones(5), None, [torch.ones(1)])
    assert [(one.id, one.severity) for one in result.diagnostics] == [("GM-PADDING", "warning")]
    assert "4 bytes in the padding of 'out'" in result.diagnostics[0].message
    assert probe.run(torch.ones(5), None, [torch.ones(1)], checks="off").diagnostics == ()


def test_an_output_that_the_kernel_leaves_keeps_its_poison(probe, monkeypatch):
    """The harness fills outputs before a run: those bytes must have been on the device."""
    monkeypatch.setenv("ACL_FAIL", "half")
    out = torch.zeros(6)
    probe.run(torch.ones(6), None, [torch.ones(1)], out=out)
    assert out.view(torch.uint8).view(6, 4)[3].tolist() == [0xA5] * 4


def test_a_package_or_runtime_that_lacks_something_is_named(installed, tmp_path, monkeypatch):
    project, toolkit, _ = installed
    there = ascendops.open_project(project)
    lost = operators(there, socs.resolve("Ascend910B1"), toolkit, tmp_path)["probe"]
    with pytest.raises(ToolchainMissing, match=r"libcust_opapi\.so is not there"):
        lost(torch.ones(2), None, [torch.ones(1)])
    (tmp_path / "op_api" / "lib").mkdir(parents=True)
    (tmp_path / "empty.cpp").write_text("int nothing;\n")
    subprocess.run(["g++", "-shared", "-fPIC", str(tmp_path / "empty.cpp"), "-o", str(tmp_path / "op_api/lib/libcust_opapi.so")], check=True)
    with pytest.raises(ToolchainError, match="has no aclnnProbeGetWorkspaceSize"):
        lost(torch.ones(2), None, [torch.ones(1)])
    with pytest.raises(ToolchainMissing, match=r"libascendcl\.so was not found"):
        acl.runtime(tmp_path)
    other = tmp_path / "toolkit"
    shutil.copytree(toolkit.root, other)
    monkeypatch.setenv("ACL_FAIL", "aclInit")
    with pytest.raises(DeviceError, match="aclInit failed with status 100000") as told:
        acl.runtime(other)
    assert "EJ0001: no driver" in str(told.value)
