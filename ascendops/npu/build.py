"""Compiles the laptop `npu` device for the installed PyTorch, once, into the build cache."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ascendops.toolchain import cache, compiler as cxx
from ascendops.toolchain.diagnose import compile_error

SOURCES = Path(__file__).parent / "src"
_FLAGS = ("-std=c++20", "-O1", "-fPIC", "-fvisibility=hidden", "-Wno-unknown-pragmas")


def device_library() -> Path:
    """The library of the device; about 20 s of compilation at first use with each version of PyTorch.

    Raises:
        CompilerNotFound: There is no C++ compiler.
        CompileError: It does not compile with this PyTorch.
    """
    import torch

    root = Path(torch.__file__).parent
    compiler = cxx.find_compiler()
    abi = f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}"
    flags = (*_FLAGS, abi, f"-I{root / 'include'}", f"-I{root / 'include/torch/csrc/api/include'}")
    sources = sorted(SOURCES.glob("*.cpp"))
    files = sorted(SOURCES.iterdir())
    key = cache.digest(compiler.identity, torch.__version__, *flags, *(path.name + path.read_text() for path in files))

    def make(stage: Path) -> list[Path]:
        def compile_one(source: Path) -> Path:
            target = stage / f"{source.stem}.o"
            _run([compiler.path, *flags, "-c", str(source), "-o", str(target)], f"the laptop npu device for torch {torch.__version__}")
            return target

        with ThreadPoolExecutor(max_workers=len(sources)) as pool:
            objects = list(pool.map(compile_one, sources))
        libraries = [f"-L{root / 'lib'}", "-lc10", "-ltorch_cpu"]
        _run([compiler.path, "-shared", *map(str, objects), "-o", str(stage / "npu.so"), *libraries], "linking the laptop npu device")
        for file in objects:
            file.unlink()
        return files

    return cache.publish("npu", key, make).path / "npu.so"


def _run(command: list[str], what: str) -> None:
    outcome = cxx.run(command)
    if outcome.returncode != 0:
        raise compile_error(outcome, what)
