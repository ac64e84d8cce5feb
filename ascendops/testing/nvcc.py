"""Compiles a CUDA C++ reference (one .cu file that registers a torch operator) and loads it."""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from ascendops.errors import WorkerError

_LIBRARIES = ("-lc10", "-lc10_cuda", "-ltorch", "-ltorch_cpu", "-ltorch_cuda")


def load(target: str) -> Any:
    """torch.ops.ascendops_cuda.NAME of `file.cu:NAME`, compiled for the GPU here (once per content of the file).

    Raises:
        WorkerError: nvcc refuses the file.
    """
    import torch

    path, _, name = target.rpartition(":")
    library = _compile(Path(path))
    torch.ops.load_library(str(library))
    return getattr(torch.ops.ascendops_cuda, name)


def architecture(major: int, minor: int) -> str:
    """nvcc's option for a GPU of this compute capability, from 9.0 on with the instructions that only this one has (wgmma, say)."""
    number = f"{major}{minor}" + ("a" if major >= 9 else "")
    return f"-gencode=arch=compute_{number},code=sm_{number}"


def _compile(source: Path) -> Path:
    import torch
    from torch.utils import cpp_extension

    target = architecture(*torch.cuda.get_device_capability())
    digest = hashlib.sha256(source.read_bytes() + f"{torch.__version__} {target}".encode()).hexdigest()[:16]
    library = Path(tempfile.gettempdir()) / f"ascendops-{source.stem}-{digest}.so"
    if library.is_file():
        return library
    lib = Path(torch.__file__).parent / "lib"
    includes = [part for path in cpp_extension.include_paths("cuda") for part in ("-I", path)]
    made = library.with_suffix(".tmp.so")
    command = [
        "nvcc", "-O3", "-std=c++17", target, "-shared", "-Xcompiler", "-fPIC", *includes, f"-L{lib}",
        f"-Xlinker=-rpath,{lib}", *_LIBRARIES, str(source), "-o", str(made),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise WorkerError(f"nvcc cannot compile {source.name}", traceback=done.stderr, why=done.stderr[-2000:])
    made.replace(library)
    return library
