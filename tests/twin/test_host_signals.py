"""Faults of op_host code, of kernels and of Python itself, in one process."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PRELUDE = """
import faulthandler
from pathlib import Path
from ascendops.errors import KernelCrash
from ascendops.twin import compilation
from ascendops.twin.host import HostLibrary, HostTensor
project = Path("tests/projects/host_ops").absolute()
folders = (project / "op_host", project / "op_kernel")
library = HostLibrary(compilation.compile_host(sorted(folders[0].glob("*.cpp")), folders, "host_ops").path / "host.so")
x = HostTensor((0, 3), "float32")

def crash_in_tiling():
    try:
        library.tiling("Faulty", [x], [x], {"how": 2})
    except KernelCrash:
        print("tiling crash contained")
"""

pytestmark = pytest.mark.twin


def run(body: str) -> subprocess.CompletedProcess[str]:
    text = PRELUDE + textwrap.dedent(body)
    return subprocess.run([sys.executable, "-c", text], cwd=ROOT, capture_output=True, text=True, timeout=300)


def test_a_crash_outside_of_guarded_code_still_ends_the_process() -> None:
    done = run(
        """
        import ctypes
        faulthandler.enable()
        crash_in_tiling()
        ctypes.string_at(0)
        """
    )
    assert done.stdout == "tiling crash contained\n"
    assert done.returncode == -11
    assert "Fatal Python error: Segmentation fault" in done.stderr


def test_kernel_and_tiling_crashes_alternate_on_several_threads(tmp_path: Path) -> None:
    kernel = tmp_path / "crash.cpp"
    kernel.write_text(
        '#include "kernel_operator.h"\nextern "C" __global__ __aicore__ void crash(GM_ADDR x) {\n'
        "    *reinterpret_cast<volatile int *>(16) = static_cast<int>(GetBlockIdx());\n}\n"
    )
    done = run(
        f"""
        import ascendops, numpy, threading
        kernel = ascendops.twin.compile({str(kernel)!r}, soc="Ascend910B1")

        def crash_in_kernel():
            try:
                kernel.launch("crash", block_dim=4, args=[numpy.zeros(8, numpy.float32)])
            except KernelCrash:
                print("kernel crash contained")

        for _ in range(3):
            crash_in_tiling()
            crash_in_kernel()
        threads = [threading.Thread(target=target) for target in (crash_in_tiling, crash_in_kernel) * 4]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        """
    )
    assert done.returncode == 0, done.stderr
    assert (done.stdout.count("kernel crash contained"), done.stdout.count("tiling crash contained")) == (7, 7)
