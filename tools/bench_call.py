"""What a call of a kit operator costs beside its kernel, as multiples of torch.add on 64 floats.

    python -m tools.bench_call [--rounds 9]

Rows: `registration` is torch.ops.NS.axpy with an operator that only makes its output: dispatcher, autograd, layouts. `without launch` is the
real operator whose kernel launch is left out: arguments, the kept plan of op_host, output tensors. `whole call` adds the CPU twin's launch,
which models an NPU core by threads and checks: it says nothing about an NPU. Rounds of all rows alternate, each row's best counts.
"""

from __future__ import annotations

import argparse
import sys
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

        def empty(x: torch.Tensor, y: torch.Tensor, alpha: float = 1.0) -> torch.Tensor:
            del y, alpha
            return torch.empty_like(x)

        def registration() -> Any:
            return op(x, y, 2.0)

        found: dict[str, float] = {}
        with torch.no_grad():
            base = {"torch.add": (lambda: torch.add(x, y, alpha=2.0), 5000)}
            with mock.patch.object(entry, "operator", empty):
                found = measure({**base, "registration": (registration, 2000)}, options.rounds)
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
