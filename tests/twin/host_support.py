"""The op_host library of tests/projects/host_ops, which the tests of host code share."""

from __future__ import annotations

from pathlib import Path

from ascendops.twin import compilation
from ascendops.twin.host import HostLibrary, HostTensor

PROJECT = Path(__file__).parents[1] / "projects" / "host_ops"
FOLDERS = (PROJECT / "op_host", PROJECT / "op_kernel")


def built(sources: list[Path]) -> HostLibrary:
    return HostLibrary(compilation.compile_host(sources, FOLDERS, "host_ops").path / "host.so")


def host_ops() -> HostLibrary:
    return built(sorted((PROJECT / "op_host").glob("*.cpp")))


def f32(*shape: int) -> HostTensor:
    return HostTensor(shape, "float32")
