"""Loaded kernel libraries and the runtime that they are linked against; what a library says about its kernels."""

from __future__ import annotations

import ctypes
import functools
import os
from pathlib import Path

from ascendops.errors import InputError
from ascendops.twin import task_types

CUBE_LIBRARY = "kernel_aic.so"  # beside a kernel library, where cube cores run other code than vector cores
_ABI = 3
_runtimes: dict[str, ctypes.CDLL] = {}  # by file name, which has a hash of the build: the loader takes one name for one library, too
_shipped: dict[Path, Path] = {}  # folders of kernel libraries that came with a runtime of their own


def ship_runtime(folder: Path, runtime: Path) -> None:
    """Kernel libraries below `folder` run with this runtime, so that no compiler is needed for them."""
    _shipped[folder.resolve()] = runtime
    _runtime_path.cache_clear()


def runtime(library: str | Path | None = None) -> ctypes.CDLL:
    """The twin's runtime library that a kernel library is linked against: the one that came with it, else the one compiled on first use.

    Raises:
        CompilerNotFound: There is no C++ compiler.
        InputError: The library is of another version.
    """
    path = _runtime_path(None if library is None else str(library))
    if path.name not in _runtimes:
        found = ctypes.CDLL(str(path))
        found.twin_report.restype = ctypes.c_char_p
        if found.twin_abi() != _ABI:
            raise InputError(f"the runtime library {path} is of another version of ascendops", help="remove the build cache, or package the operators again")
        _runtimes[path.name] = found
    return _runtimes[path.name]


@functools.lru_cache(maxsize=256)
def _runtime_path(library: str | None) -> Path:
    for parent in () if library is None else Path(library).resolve().parents:
        if parent in _shipped:
            return _shipped[parent]
    from ascendops.twin import compilation

    return compilation.runtime_library()


@functools.lru_cache(maxsize=256)
def _kernel(library: str, stamp: int) -> ctypes.CDLL:
    del stamp  # part of the cache key: a rebuilt file is another library
    runtime(library)
    return ctypes.CDLL(library)


def load(library: str | Path) -> ctypes.CDLL:
    """A kernel library, with the runtime loaded before it."""
    return _kernel(str(library), os.stat(library).st_mtime_ns)


def signature(library: str | Path, entry: str) -> list[str]:
    """Kind and bytes of each parameter of a kernel, such as `p8` (pointer), `u4`, `i8`, `f2`, `n2` (bfloat16), `b1`, `s24` (struct).

    Raises:
        InputError: The library exports no such kernel.
    """
    return _signature(load(library), entry, str(library))


@functools.lru_cache(maxsize=256)
def _signature(kernels: ctypes.CDLL, entry: str, library: str) -> list[str]:
    text = _described(kernels, f"twin_sig_{entry}")
    if text is None:
        raise InputError(f"{library} exports no kernel {entry}", where=str(library))
    return text.split()


def cores_of(kernels: ctypes.CDLL, entry: str, key: int) -> tuple[int, int]:
    """Cube and vector cores of one block, as the kernel's text declares them for this tiling key."""
    text = _described(kernels, f"twin_task_{entry}")
    return (0, 1) if text is None else task_types.cores_for(text, key)


def _described(kernels: ctypes.CDLL, function: str) -> str | None:
    """What a function without parameters says; None if the library has none of that name."""
    try:
        describe = getattr(kernels, function)
    except AttributeError:
        return None
    describe.restype = ctypes.c_char_p
    text: bytes = describe()
    return text.decode()


def entry_of(kernels: ctypes.CDLL, entry: str) -> ctypes.c_void_p:
    """The address of a kernel's entry."""
    return ctypes.cast(getattr(kernels, f"twin_entry_{entry}"), ctypes.c_void_p)


def of_cube_cores(library: str | Path) -> ctypes.CDLL:
    """What the cube cores run: the library beside the kernel's, where there is one."""
    path = Path(library).with_name(CUBE_LIBRARY)
    return load(path if path.is_file() else library)
