"""Faults of op_host code stay inside and become errors that name their place."""

from __future__ import annotations

import platform
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from host_support import PROJECT, f32, host_ops

from ascendops.errors import KernelCrash, KernelHang, OpHostError
from ascendops.twin import compilation
from ascendops.twin.host import HostLibrary

pytestmark = pytest.mark.twin


@pytest.fixture(scope="module")
def lib() -> HostLibrary:
    return host_ops()


def faulty(lib: HostLibrary, how: int, timeout_s: float = 10.0):
    return lib.tiling("Faulty", [f32(0, 3)], [f32(0, 3)], {"how": how}, timeout_s=timeout_s)


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        (1, OpHostError, "the tiling function of Faulty returned a failure"),
        (2, KernelCrash, "crashed: Segmentation fault"),
        (4, OpHostError, "threw: vector::_M_range_check"),
        (5, OpHostError, "threw: an exception that is not a std::exception"),
        (6, KernelCrash, "crashed: Aborted"),
        (8, KernelCrash, "crashed: Segmentation fault"),
        (9, OpHostError, "set block dim 0"),
        (10, KernelCrash, "crashed: Segmentation fault"),
        (11, OpHostError, "wrote beyond the end of the tiling buffer"),
        (12, OpHostError, "set a data size of 65537 bytes"),
    ],
)
def test_a_fault_becomes_an_error(lib: HostLibrary, how: int, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        faulty(lib, how)
    assert f"x: float32[0, 3], how={how}" in str(caught.value)
    assert faulty(lib, 0).block_dim == 1, "the library still works"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="an integer division by zero traps on x86-64 only")
def test_a_division_by_zero_is_a_crash(lib: HostLibrary) -> None:
    with pytest.raises(KernelCrash, match="crashed: Floating point exception"):
        faulty(lib, 3)


def test_faults_on_other_threads_stay_there(lib: HostLibrary) -> None:
    def call(how: int) -> object:
        try:
            return faulty(lib, how).block_dim
        except (KernelCrash, OpHostError) as error:
            return type(error)

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(call, [0, 2, 8, 5] * 10))
    assert results == [1, KernelCrash, KernelCrash, OpHostError] * 10


def test_a_crash_names_its_line(lib: HostLibrary) -> None:
    with pytest.raises(KernelCrash) as caught:
        faulty(lib, 2)
    lines = (PROJECT / "op_host" / "faults.cpp").read_text().splitlines()
    line = next(i for i, text in enumerate(lines, 1) if "GetInputShape(5)" in text)
    assert str(caught.value.where).endswith(f"op_host/faults.cpp:{line}")
    assert "FaultTiling" in str(caught.value.why)


def test_a_structure_too_large_for_the_buffer_is_explained(lib: HostLibrary) -> None:
    with pytest.raises(KernelCrash, match="Segmentation fault") as caught:
        faulty(lib, 10)
    assert "the tiling structure has 1048576 bytes, the tiling buffer 65536" in str(caught.value.why)


def test_an_endless_loop_ends(lib: HostLibrary) -> None:
    with pytest.raises(KernelHang, match="did not return in time"):
        faulty(lib, 7, timeout_s=0.3)
    assert faulty(lib, 0).block_dim == 1


def test_an_attribute_read_with_the_wrong_type_is_noted(lib: HostLibrary) -> None:
    assert faulty(lib, 13).notes == ("attribute 0 is declared Int and was read as Float",)


def test_a_file_that_is_no_library(tmp_path: Path) -> None:
    path = tmp_path / "host.so"
    path.write_text("no library")
    with pytest.raises(OpHostError, match="cannot be loaded"):
        HostLibrary(path, compilation.host_runtime_library())
