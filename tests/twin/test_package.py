"""`ascendops package`: a wheel installed in another environment registers its operators there without a compiler; what is refused, and why."""

from __future__ import annotations

import base64
import csv
import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from torch_projects import small

from ascendops.cli import main
from ascendops.errors import PackageRefused, PackageUnusable
from ascendops.packages import load, manifest
from ascendops.packages.make import package

pytestmark = [pytest.mark.twin, pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")]
ROOT = Path(__file__).parents[2]
USE = """
import sys
import two_ops, torch
assert "my_ops" not in sys.modules and two_ops.__all__ == ["library", "add_macro", "swiglu", "swiglu_backward"], two_ops.__all__
x = torch.randn(3, 8, requires_grad=True)
y = torch.ops.two.swiglu(x)
a, b = x.chunk(2, -1)
torch.testing.assert_close(y, torch.nn.functional.silu(a) * b)
(grad,) = torch.autograd.grad(y.sum(), x)
torch.testing.assert_close(grad, torch.autograd.grad((torch.nn.functional.silu(a) * b).sum(), x)[0], atol=1e-6, rtol=1e-5)
whole = torch.ones(8, 2048, dtype=torch.int32)
torch.testing.assert_close(two_ops.add_macro(whole, whole), whole + whole)
assert torch.compile(lambda t: torch.ops.two.swiglu(t), fullgraph=True, backend="aot_eager")(x).shape == (3, 4)
from ascendops.packages import load_installed
assert list(load_installed()) == ["two-ops"]
print("used", two_ops.library)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel of a kit project with two operators and of a project from elsewhere, made by the command line."""
    root = tmp_path_factory.mktemp("package")
    folders = [small(root, "swiglu"), shutil.copytree(ROOT / "tests" / "projects" / "add_macro", root / "add_macro")]
    command = ["package", *map(str, folders), "--name", "two.ops", "--namespace", "two", "--cpu", "native", "--backend", "twin", "--out", str(root / "dist"), "-q"]
    assert main(command) == 0
    (path,) = (root / "dist").iterdir()
    return path


def test_the_wheel_has_the_standard_format(wheel):
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    assert wheel.name == f"two_ops-0.1.0-py3-none-{platform}.whl"
    with zipfile.ZipFile(wheel) as archive:
        rows = list(csv.reader(archive.read("two_ops-0.1.0.dist-info/RECORD").decode().splitlines()))
        assert [row[0] for row in rows] == archive.namelist()
        for name, digest, size in rows[:-1]:
            data = archive.read(name)
            assert (digest, size) == ("sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode(), str(len(data)))
        meta = archive.read("two_ops-0.1.0.dist-info/METADATA").decode()
        assert "Name: two.ops\n" in meta and "Requires-Dist: ascendops==" in meta and "Requires-Dist: torch>=2.7\n" in meta
        assert "[ascendops.operators]\ntwo-ops = two_ops\n" in archive.read("two_ops-0.1.0.dist-info/entry_points.txt").decode()


def test_another_environment_installs_imports_and_calls_it(wheel, tmp_path):
    import torch

    home = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--system-site-packages", str(home)], check=True)
    python = str(home / "bin" / "python")
    site = Path(subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], capture_output=True, text=True, check=True).stdout.strip())
    (site / "others.pth").write_text(f"{Path(torch.__file__).parents[1]}\n{ROOT}\n")  # its torch, and ascendops as an editable install
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(pip, check=True, capture_output=True)
    environment = {key: value for key, value in os.environ.items() if key not in ("CXX", "PYTHONPATH")}
    environment |= {"PATH": str(tmp_path / "empty"), "ASCENDOPS_CACHE": str(tmp_path / "cache"), "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    done = subprocess.run([python, "-W", "error::UserWarning", "-c", USE], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "used <Library two_ops: " in done.stdout
    assert not (tmp_path / "cache").exists(), "something was compiled"
    installed = site / "two_ops" / "package.json"
    good = json.loads(installed.read_text())
    installed.write_text(json.dumps({**good, "version": "9.9", "interface": "other"}))
    done = subprocess.run([python, "-c", "import two_ops"], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "two.ops was built with another version of ascendops" in done.stderr and "install ascendops==9.9" in done.stderr


def test_what_does_not_fit_this_machine_is_said(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    made = manifest.read(tmp_path / "two_ops")
    path = tmp_path / "two_ops" / manifest.FILE
    good = json.loads(path.read_text())
    assert made.cpu == manifest.cpu_features()
    for change, said in (
        ({"platform": "linux-riscv64"}, "was built for linux-riscv64, this is"), ({"cpu": ["avx10"]}, "was built for another CPU"),
        ({"format": 2}, "has the format 2"), ({"soc": None, "more": 1}, "has no usable package.json"),
        ({"runtime": "lib/none.so"}, "two.ops lacks lib/none.so"),
    ):  # fmt: skip
        path.write_text(json.dumps({**good, **change}))
        with pytest.raises(PackageUnusable, match=said):
            load(tmp_path / "two_ops")
    path.write_text(json.dumps({**good, "name": "other"}))
    with pytest.raises(PackageUnusable, match=r"other and two.ops both have torch.ops.two.swiglu"):
        load(tmp_path / "two_ops")


def test_what_cannot_be_packaged_is_refused(tmp_path):
    folder = small(tmp_path, "swiglu")
    twice = shutil.copytree(folder, tmp_path / "again")
    for roots, options, said in (
        ([folder], {"name": "numpy"}, "there is a module 'numpy' here already"), ([folder], {"name": "1st"}, "cannot be the name of a package"),
        ([folder], {"name": "import"}, "cannot be the name of a package"), ([folder], {"name": "my-ops", "version": "one"}, "'one' is not a version"),
        ([folder], {"name": "my-ops", "namespace": "aten"}, "'aten' cannot be a namespace"),
        ([folder, twice], {"name": "my-ops"}, "two projects have the operator swiglu"),
    ):  # fmt: skip
        with pytest.raises(PackageRefused, match=said):
            package(roots, options.pop("name"), tmp_path / "dist", backend="twin", **options)
    assert not (tmp_path / "dist").exists()


def test_a_package_for_an_ascend_host_carries_the_installed_package_and_the_extension(tmp_path, monkeypatch):
    """With stand-ins for the toolkit and for torch_npu's compiler: what the wheel holds, and what importing it does."""
    import ascendops
    from ascendops.build import cann, installed
    from ascendops.build.library import Library
    from ascendops.build.project import Project
    from ascendops.spec import socs
    from ascendops.toolchain.cann import Toolkit

    folder, vendor = small(tmp_path, "swiglu"), tmp_path / "install" / "vendors" / "ascendops_swiglu"
    (vendor / "op_api").mkdir(parents=True)
    (vendor / "op_api" / "lib.txt").write_text("x")
    toolkit = Toolkit(tmp_path, "8.1.RC1", "test")
    operators = installed.operators(ascendops.open_project(folder), socs.resolve("Ascend910B1"), toolkit, vendor)
    monkeypatch.setattr("ascendops.toolchain.cann.find_toolkit", lambda: toolkit)
    monkeypatch.setattr(Project, "build", lambda self, backend, soc, jobs: Library(operators, self.root, soc, backend))

    def build_extension(command, cwd, environment, what):
        assert command[1:3] == ["setup.py", "build_ext"] and cwd == folder / "gen" / "torch"
        target = Path(command[command.index("--build-lib") + 1])
        target.mkdir(parents=True)
        (tmp_path / "empty.cpp").write_text("int loaded = 1;\n")
        subprocess.run(["g++", "-shared", "-fPIC", str(tmp_path / "empty.cpp"), "-o", str(target / "ascendops_swiglu.so")], check=True)

    monkeypatch.setattr(cann, "step", build_extension)
    with pytest.raises(PackageRefused, match="under ascendops, not mine"):
        package([folder], "npu-ops", tmp_path / "dist", backend="cann", namespace="mine")
    made = package([folder], "npu-ops", tmp_path / "dist", backend="cann")
    assert made.tag.startswith(f"cp{sys.version_info.major}{sys.version_info.minor}-cp") and made.operators == ("ascendops::swiglu", "ascendops::swiglu_backward")
    with zipfile.ZipFile(made.path) as archive:
        archive.extractall(tmp_path / "site")
    root = tmp_path / "site" / "npu_ops"
    monkeypatch.setenv("ASCEND_CUSTOM_OPP_PATH", "/other")
    library = load(root)
    assert library.swiglu.toolkit == tmp_path and library.swiglu.vendor == root / "vendors" / "ascendops_swiglu"
    assert library.backend == "cann" and os.environ["ASCEND_CUSTOM_OPP_PATH"].split(os.pathsep) == [str(root / "vendors" / "ascendops_swiglu"), "/other"]
    assert (root / "vendors" / "ascendops_swiglu" / "op_api" / "lib.txt").read_text() == "x"
    broken = shutil.copytree(root, tmp_path / "broken")
    (broken / "extension" / "ascendops_swiglu.so").write_text("no library")
    with pytest.raises(PackageUnusable, match="the extension of npu-ops does not load with torch"):
        load(broken)
