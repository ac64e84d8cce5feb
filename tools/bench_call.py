"""What a call of a kit operator costs beside its kernel, as multiples of torch.add on 64 floats.

    python -m tools.bench_call [--rounds 9]

Two registrations: `compiled` (`lib.register(compiled=True)`, C++ kernels for the CPU and Autograd keys) and `Python`. Of each, `without launch` is
everything but the twin: dispatcher, autograd, kept plan of op_host, output tensors, packed arguments; `with a gradient` the same for an input that
requires one, with grad mode on; `whole call` adds the CPU twin's launch, which models an NPU core and checks every access: it says nothing about an NPU.
`Python, registration alone` has an operator that only makes its output. `torch_npu extension` is the extension of gen/torch compiled for the
CPU with an aclnn call that does nothing: what a call on an NPU costs before aclnn. Times are CPU times of the process; rounds of all rows
alternate, and each row's best counts.
"""

from __future__ import annotations

import argparse
import ctypes
import sys
import sysconfig
import tempfile
import time
import timeit
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import torch

import ascendops
from ascendops.build import operator as operators
from ascendops.build.library import Library
from ascendops.render import new_project
from ascendops.toolchain import compiler as cxx
from ascendops.toolchain.diagnose import compile_error
from ascendops.torchlib import native as native_kernels, registry
from ascendops.twin.launch import LaunchResult

NAMESPACE = "ascendops_bench_call"


def measure(rows: dict[str, tuple[Callable[[], Any], int]], rounds: int) -> dict[str, float]:
    """CPU seconds of one call of each row: the best of `rounds` rounds."""
    best = dict.fromkeys(rows, float("inf"))
    for _ in range(rounds):
        for name, (call, number) in rows.items():
            best[name] = min(best[name], timeit.timeit(call, number=number, timer=time.process_time) / number)
    return best


def npu_extension(folder: Path) -> Any:
    """torch.ops of the extension in `folder/gen/torch`, registered for the CPU, with an empty aclnn call.

    Raises:
        CompileError: It does not compile.
    """
    root, source = Path(torch.__file__).parent, folder / "gen" / "torch"
    stage = folder / "bench"
    stage.mkdir()
    (stage / "npu_cpp_extension.h").write_text("#pragma once\n#define EXEC_NPU_CMD_EXT(name, ...) ascendops_bench::Use(__VA_ARGS__)\n"
        "namespace ascendops_bench { template <typename... Args> void Use(const Args &...) {} }\n")  # fmt: skip
    files = []
    for path in (source / "axpy_binding.cpp", source / "axpy_autograd.cpp"):
        text = path.read_text().replace("PrivateUse1, m)", "CPU, m)")
        text = text.replace("TORCH_LIBRARY_FRAGMENT(ascendops,", f"TORCH_LIBRARY_FRAGMENT({NAMESPACE}_cpp,")
        text = text.replace("TORCH_LIBRARY_IMPL(ascendops,", f"TORCH_LIBRARY_IMPL({NAMESPACE}_cpp,").replace('"ascendops::', f'"{NAMESPACE}_cpp::')
        files.append(stage / path.name)
        files[-1].write_text(text)
    includes = [stage, source, source / "shim", root / "include", root / "include/torch/csrc/api/include", Path(sysconfig.get_paths()["include"])]
    command = [cxx.find_compiler().path, "-std=c++20", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-w", *(f"-I{path}" for path in includes)]
    command += [*map(str, files), str(folder / "gen/op_host/axpy_infershape.cpp"), "-o", str(stage / "axpy.so"), f"-L{root / 'lib'}", "-lc10", "-ltorch_cpu"]
    outcome = cxx.run(command)
    if outcome.returncode != 0:
        raise compile_error(outcome, "the extension in gen/torch")
    torch.ops.load_library(str(stage / "axpy.so"))
    return getattr(torch.ops, f"{NAMESPACE}_cpp")


def empty_launch(folder: Path) -> ctypes.CDLL:
    """A library with a `twin_launch` that does nothing."""
    (folder / "nothing.cpp").write_text('extern "C" int twin_launch(const void *) { return 0; }\nextern "C" const char *twin_report() { return ""; }\n')
    outcome = cxx.run([cxx.find_compiler().path, "-shared", "-fPIC", "-O2", str(folder / "nothing.cpp"), "-o", str(folder / "nothing.so")])
    if outcome.returncode != 0:
        raise compile_error(outcome, "an empty launch")
    return ctypes.CDLL(str(folder / "nothing.so"))


def rows_of(library: Library, folder: Path) -> dict[str, tuple[Callable[[], Any], int]]:
    """Rows whose calls need nothing replaced while they run."""
    x, y = torch.randn(64), torch.randn(64)
    wanted = torch.randn(64, requires_grad=True)
    native, bare = f"{NAMESPACE}_native", f"{NAMESPACE}_bare"
    whole = library.register(native, compiled=True).axpy
    without = library.register(bare, compiled=True).axpy
    with mock.patch.object(native_kernels, "_runtime", lambda _: empty_launch(folder)):  # the plans of this one keep it
        for first in (x, wanted):
            without(first, y, 2.0)
    extension = npu_extension(folder / "axpy").axpy
    assert torch.equal(whole(x, y, 2.0), whole(x, y, 2.0))

    def gradient(op: Any) -> Callable[[], Any]:
        def call() -> Any:
            with torch.enable_grad():
                return op(wanted, y, 2.0)

        return call

    return {
        "torch.add": (lambda: torch.add(x, y, alpha=2.0), 5000),
        "compiled, without launch": (lambda: without(x, y, 2.0), 2000),
        "torch_npu extension": (lambda: extension(x, y, 2.0), 2000),
        "torch.add, with a gradient": (gradient(lambda *args: torch.add(*args[:2], alpha=args[2])), 1000),
        "compiled, with a gradient, without launch": (gradient(without), 300),
        "compiled, whole call": (lambda: whole(x, y, 2.0), 300),
    }


def python_rows(library: Library, rounds: int) -> dict[str, float]:
    """Rows of the Python registration, with what they leave out replaced."""
    x, y = torch.randn(64), torch.randn(64)
    op, entry = library.register(NAMESPACE).axpy, registry.entry(f"{NAMESPACE}::axpy")

    def empty(x: torch.Tensor, y: torch.Tensor, alpha: float = 1.0) -> torch.Tensor:
        del y, alpha
        return torch.empty_like(x)

    def call() -> Any:
        return op(x, y, 2.0)

    with mock.patch.object(entry, "operator", empty):
        found = measure({"Python, registration alone": (call, 2000)}, rounds)
    result = LaunchResult("ok", (), None, 0.0, {}, library.soc)
    with mock.patch.object(operators, "launch", lambda *_, **__: result):
        found |= measure({"Python, without launch": (call, 500)}, rounds)
    return found | measure({"Python, whole call": (call, 100)}, rounds)


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; see the top of the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9, help="rounds of all rows [9]")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        new_project("axpy", Path(folder) / "axpy")
        library = ascendops.open_project(Path(folder) / "axpy").build("twin")
        with torch.no_grad():
            found = measure(rows_of(library, Path(folder)), options.rounds) | python_rows(library, options.rounds)
    for name, seconds in found.items():
        print(f"{name:<44}{seconds * 1e6:>10.2f} us{seconds / found['torch.add']:>10.1f} x torch.add")
    return 0


if __name__ == "__main__":
    sys.exit(main())
