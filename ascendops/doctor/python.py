"""Probes of Python, torch, torch_npu and triton. None is imported here: a broken one must not break the doctor."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path

from packaging.version import Version

import ascendops
from ascendops.doctor.checks import Check, Grade, package, run
from ascendops.toolchain.cann import find_toolkit

AUTOLOAD = "TORCH_DEVICE_BACKEND_AUTOLOAD"
_OLDEST, _NEWEST = (3, 10), (3, 13)
_TORCH = "import json, torch; print(json.dumps([torch.__version__, torch.cuda.is_available() and torch.cuda.get_device_name()]))"


def check_python() -> Iterator[Check]:
    """Python's version, and this package's."""
    good = _OLDEST <= sys.version_info[:2] <= _NEWEST
    yield Check(
        "Python", "python", Grade.OK if good else Grade.WARN, platform.python_version(), sys.executable,
        note="virtual environment" if sys.prefix != sys.base_prefix else "no virtual environment",
        fix=None if good else "tested with Python 3.10 to 3.13: make a virtual environment with one of these",
    )  # fmt: skip
    yield Check("Python", "ascendops", Grade.OK, ascendops.__version__, str(Path(ascendops.__file__).parent))


def trap() -> bool:
    """Whether torch_npu is installed, would be loaded by `import torch`, and has no CANN to load."""
    return package("torch_npu") is not None and find_toolkit() is None and os.environ.get(AUTOLOAD) != "0"


def check_torch() -> Iterator[Check]:
    """Whether torch imports (in a process of its own), and the GPU it sees."""
    found = package("torch")
    if found is None:
        yield Check("torch", "torch", Grade.MISSING, fix="pip install -c constraints.txt torch")
        return
    ran = run([sys.executable, "-W", "ignore", "-c", _TORCH], timeout_s=120)
    if not ran.ok:
        yield Check("torch", "torch", Grade.MISSING, found.version, found.path, f"import torch fails: {ran.last_line}", _torch_fix())
        return
    version, gpu = json.loads(ran.last_line)
    old = Version(version) < Version("2.7")
    yield Check(
        "torch", "torch", Grade.WARN if old else Grade.OK, version, found.path,
        note=f"sees {gpu}" if gpu else "CPU",
        fix="torch 2.7 or later is needed: pip install -c constraints.txt torch" if old else None,
    )  # fmt: skip


def _torch_fix() -> str:
    if trap():
        return f"torch_npu without CANN breaks import torch: export {AUTOLOAD}=0, or pip uninstall torch_npu"
    return "reinstall it: pip install --force-reinstall -c constraints.txt torch"


def check_torch_npu(needed: bool) -> Iterator[Check]:
    """Whether torch_npu is installed where CANN is, and only there."""
    found = package("torch_npu")
    if found is None:
        check = Check("torch", "torch_npu", Grade.WARN, note="builds work, calls on the NPU do not", fix="pip install 'ascendops[npu]'")
        yield check.unless(needed, "only calls on an NPU need it")
    elif find_toolkit() is None:
        off = os.environ.get(AUTOLOAD) == "0"
        yield Check(
            "torch", "torch_npu", Grade.OK if off else Grade.WARN, found.version, found.path,
            note=f"without CANN; not loaded because {AUTOLOAD}=0" if off else "torch_npu without CANN breaks import torch",
            fix=None if off else f"export {AUTOLOAD}=0, or pip uninstall torch_npu",
        )  # fmt: skip
    else:
        yield Check("torch", "torch_npu", Grade.OK, found.version, found.path)


def check_triton() -> Iterator[Check]:
    """Triton, the engine of the references, and whether it will be interpreted."""
    found = package("triton")
    if found is None:
        linux = sys.platform == "linux"
        yield Check(
            "Triton", "triton", Grade.WARN, note="Triton references are skipped; the fp64 golden still decides",
            fix="pip install 'ascendops[gpu]'" if linux else "Triton has wheels for Linux only: use WSL or a container",
        )  # fmt: skip
        return
    numpy = package("numpy")
    poor = Version(found.version) < Version("3.7") and numpy is not None and Version(numpy.version) >= Version("2.4")
    interpreted = os.environ.get("TRITON_INTERPRET") == "1"
    yield Check(
        "Triton", "triton", Grade.WARN if poor else Grade.OK, found.version, found.path,
        note="TRITON_INTERPRET=1: interpreted on the CPU" if interpreted else "native on a GPU, else interpreted on the CPU",
        fix="before triton 3.7 its interpreter fails with numpy 2.4: pip install 'triton>=3.7' or 'numpy<2.4'" if poor else None,
    )  # fmt: skip
