"""Compiles the laptop `npu` device for the installed PyTorch, once, into the build cache."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ascendops.errors import DeviceRefused
from ascendops.toolchain import cache, compiler as cxx
from ascendops.toolchain.diagnose import compile_error

SOURCES = Path(__file__).parent / "src"
_FLAGS = ("-std=c++20", "-O1", "-fPIC", "-fvisibility=hidden", "-Wno-unknown-pragmas")


def device_library() -> Path:
    """The library of the device; about 20 s of compilation at first use with each version of PyTorch.

    Raises:
        CompilerNotFound: There is no C++ compiler.
        CompileError: It does not compile with this PyTorch.
        DeviceRefused: It crashes with this PyTorch on this machine.
    """
    import torch

    root = Path(torch.__file__).parent
    compiler = cxx.find_compiler()
    abi = f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}"
    flags = (*_FLAGS, abi, f"-I{root / 'include'}", f"-I{root / 'include/torch/csrc/api/include'}")
    sources = sorted(SOURCES.glob("*.cpp"))
    files = sorted(SOURCES.iterdir())
    gpus = str(torch.cuda.device_count())  # another device beside this one is another trial
    key = cache.digest(compiler.identity, torch.__version__, gpus, *flags, *(path.name + path.read_text() for path in files))

    def make(stage: Path) -> list[Path]:
        def compile_one(source: Path) -> Path:
            target = stage / f"{source.stem}.o"
            _run([compiler.path, *flags, "-c", str(source), "-o", str(target)], f"the laptop npu device for torch {torch.__version__}")
            return target

        with ThreadPoolExecutor(max_workers=len(sources)) as pool:
            objects = list(pool.map(compile_one, sources))
        libraries = [f"-L{root / 'lib'}", "-lc10", "-ltorch_cpu", *cxx.loaded_runtime()]
        _run([compiler.path, "-shared", *map(str, objects), "-o", str(stage / "npu.so"), *libraries], "linking the laptop npu device")
        for file in objects:
            file.unlink()
        _try(stage / "npu.so")
        return files

    return cache.publish("npu", key, make).path / "npu.so"


def _try(library: Path) -> None:
    import torch

    root = str(Path(__file__).parents[2])
    places = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": places, "ASCENDOPS_NPU": "off", "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    command = [sys.executable, "-m", "ascendops.npu.trial", str(library)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode == 0:
        return
    how = f"signal {-done.returncode}" if done.returncode < 0 else f"status {done.returncode}"
    raise DeviceRefused(
        f"the laptop npu device does not work with torch {torch.__version__} on this machine: a trial in a process of its own ended with {how}",
        where=str(library), why="\n".join(done.stderr.strip().splitlines()[-30:]),
        help="use CPU tensors, on which kit operators run on the CPU twin too, or another build of PyTorch",
    )  # fmt: skip


def _run(command: list[str], what: str) -> None:
    outcome = cxx.run(command)
    if outcome.returncode != 0:
        raise compile_error(outcome, what)
