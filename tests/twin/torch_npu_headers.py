"""The headers of the torch_npu wheel that fits the installed PyTorch: downloaded once, unpacked into the build cache, never installed."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

import torch

from ascendops.toolchain.cache import cache_root


def headers(version: str) -> Path | str:
    """The unpacked wheel's `torch_npu` folder, or why there is none."""
    home = cache_root() / "torch_npu" / version
    if (home / "torch_npu" / "include").is_dir():
        return home / "torch_npu"
    with tempfile.TemporaryDirectory() as stage:
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "-q", "-d", stage, f"torch_npu=={version}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        wheels = list(Path(stage).glob("*.whl"))
        if done.returncode or not wheels:
            last = (done.stderr.strip() or "pip said nothing").splitlines()[-1]
            return f"pip cannot download torch_npu=={version}: {last}"
        home.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(wheels[0]) as wheel:
            wheel.extractall(home, [name for name in wheel.namelist() if name.startswith("torch_npu/include/")])
    return home / "torch_npu"


def flags(npu: Path, project: Path, torch_root: Path | None = None, minor: int | None = None) -> list[str]:
    """What NpuExtension gives the compiler, with gen/torch/setup.py's own flags."""
    root = torch_root or Path(torch.__file__).parent
    number = minor if minor is not None else int(torch.__version__.split(".")[1])
    include, plugin = npu / "include", npu / "include/third_party/op-plugin"
    folders = [project / "gen/torch/shim", plugin, plugin / "op_plugin/include", include, include / "third_party/acl/inc", include / "third_party/hccl/inc"]
    folders += [root / "include", root / "include/torch/csrc/api/include", Path(sysconfig.get_paths()["include"])]
    standard = "-std=c++20" if number >= 10 else "-std=c++17"
    return [standard, "-fsyntax-only", f"-DCURRENT_VERSION=V2R{number}", "-Wno-deprecated-declarations", *(f"-I{folder}" for folder in folders)]


def type_check(source: Path, options: list[str]) -> str:
    """The compiler's errors for one binding; empty when it fits the headers."""
    done = subprocess.run(["g++", *options, str(source)], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr or "g++ failed"
