"""The environment variables that change what ascendops does: all of them, set or not."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ascendops import npu
from ascendops.doctor.checks import Check, Grade
from ascendops.toolchain.cache import cache_root
from ascendops.twin import compilation

VARIABLES = {
    "ASCENDOPS_CACHE": "folder of compiled twins",
    "ASCENDOPS_BACKEND": "backend when --backend is not given",
    "ASCENDOPS_JOBS": "parallel compilations",
    "ASCENDOPS_TWIN_OPTIMIZE": "0 to 3: how hard g++ works on kernels of the CPU twin; 2 unless set",
    "ASCENDOPS_NPU": "twin: the laptop npu device is on; auto, real, off: it is not",
    "ASCENDOPS_NPU_COUNT": "devices of the laptop npu device, 1 to 16",
    "CXX": "C++ compiler of the CPU twin",
    "NO_COLOR": "no colours when set",
    "ASCEND_HOME_PATH": "CANN toolkit",
    "TORCH_DEVICE_BACKEND_AUTOLOAD": "0: import torch does not load torch_npu",
    "TRITON_INTERPRET": "1: Triton kernels are interpreted",
}


def check_environment() -> Iterator[Check]:
    """Each variable with its value; a value that cannot work is a warning with a fix."""
    for name, meaning in VARIABLES.items():
        value = os.environ.get(name)
        if name == "ASCENDOPS_CACHE":
            yield _cache(value, meaning)
        elif value is None:
            yield Check("Environment", name, Grade.UNNEEDED, note=f"not set ({meaning})")
        else:
            fix = _fault(name, value)
            yield Check("Environment", name, Grade.WARN if fix else Grade.OK, note=f"{value} ({meaning})", fix=fix)


def _fault(name: str, value: str) -> str | None:
    if name == "ASCENDOPS_BACKEND" and value not in ("auto", "twin", "cann"):
        return "set it to auto, twin or cann, or unset it"
    if name == "ASCENDOPS_NPU" and value not in ("", *npu.CHOICES):
        return f"set it to one of {', '.join(npu.CHOICES)}, or unset it"
    if name == "ASCENDOPS_NPU_COUNT" and not (value.isdigit() and 1 <= int(value) <= npu.MOST_DEVICES):
        return f"set it to a number from 1 to {npu.MOST_DEVICES}, or unset it"
    if name == compilation.OPTIMIZE and value not in ("", *compilation.LEVELS):
        return f"set it to one of {', '.join(compilation.LEVELS)}, or unset it"
    if name == "ASCENDOPS_JOBS" and not (value.isdigit() and int(value) > 0):
        return "set it to a number above zero, or unset it"
    return None


def _cache(value: str | None, meaning: str) -> Check:
    root = cache_root()
    ground = next(path for path in (root, *root.parents) if path.exists())
    note = meaning if value else f"{meaning}; not set: the default"
    if ground.is_dir() and os.access(ground, os.W_OK):
        return Check("Environment", "ASCENDOPS_CACHE", Grade.OK, path=str(root), note=note)
    fix = "set ASCENDOPS_CACHE to a folder that you may write"
    return Check("Environment", "ASCENDOPS_CACHE", Grade.MISSING, path=str(root), note=f"{Path(ground)} is not a writable folder", fix=fix)
