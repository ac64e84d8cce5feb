"""What a call of a kit operator costs beside its kernel, as multiples of torch.add on 64 floats.

    python -m tools.bench_call [--rounds 9]

`compiled registration` is the extension of gen/torch, its gradient included, compiled for the CPU with an aclnn call that does nothing: what a call on an
NPU costs before aclnn (plan of the shapes, output tensors). `registration` is torch.ops.NS.axpy with an operator that only makes its output: dispatcher, autograd, layouts. `without launch` is the
real operator whose kernel launch is left out: arguments, the kept plan of op_host, output tensors. `whole call` adds the CPU twin's launch,
which models an NPU core by threads and checks: it says nothing about an NPU. Rounds of all rows alternate, each row's best counts.
"""

from __future__ import annotations

import argparse
import sys
import sysconfig
import tempfile
import timeit
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import torch

import ascendops
from ascendops.build import operator as operators
from ascendops.render import new_project
from ascendops.toolchain import compiler as cxx
from ascendops.toolchain.diagnose import compile_error
from ascendops.torchlib import registry
from ascendops.twin.launch import LaunchResult

NAMESPACE = "ascendops_bench_call"


def measure(rows: dict[str, tuple[Callable[[], Any], int]], rounds: int) -> dict[str, float]:
    """Seconds of one call of each row: the best of `rounds` rounds."""
    best = dict.fromkeys(rows, float("inf"))
    for _ in range(rounds):
        for name, (call, number) in rows.items():
            best[name] = min(best[name], timeit.timeit(call, number=number) / number)
    return best


def compiled(folder: Path) -> Any:
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


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; see the top of the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9, help="rounds of all rows [9]")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        new_project("axpy", Path(folder) / "axpy")
        library = ascendops.open_project(Path(folder) / "axpy").build("twin")
        library.register(NAMESPACE)
        op, real = getattr(torch.ops, NAMESPACE).axpy, library.axpy
        entry = registry.entry(f"{NAMESPACE}::axpy")
        x, y = torch.randn(64), torch.randn(64)
        extension = compiled(Path(folder) / "axpy").axpy
        assert extension(x, y, 2.0).shape == x.shape and extension(x.requires_grad_(), y, 2.0).requires_grad
        x.requires_grad_(False)

        def empty(x: torch.Tensor, y: torch.Tensor, alpha: float = 1.0) -> torch.Tensor:
            del y, alpha
            return torch.empty_like(x)

        def registration() -> Any:
            return op(x, y, 2.0)

        found: dict[str, float] = {}
        with torch.no_grad():
            base = {"torch.add": (lambda: torch.add(x, y, alpha=2.0), 5000)}
            with mock.patch.object(entry, "operator", empty):
                rows = {**base, "compiled registration": (lambda: extension(x, y, 2.0), 2000), "registration": (registration, 2000)}
                found = measure(rows, options.rounds)
            result = LaunchResult("ok", (), None, 0.0, {}, library.soc)
            with mock.patch.object(operators, "launch", lambda *_, **__: result):
                found["without launch"] = measure({"without launch": (registration, 500)}, options.rounds)["without launch"]
                found["the same, not registered"] = measure({"own": (lambda: real(x, y, 2.0), 500)}, options.rounds)["own"]
            found["whole call"] = measure({"whole": (registration, 50)}, options.rounds)["whole"]
    unit = found["torch.add"]
    for name, seconds in found.items():
        print(f"{name:<34}{seconds * 1e6:>10.2f} us{seconds / unit:>10.1f} x torch.add")
    return 0


if __name__ == "__main__":
    sys.exit(main())
