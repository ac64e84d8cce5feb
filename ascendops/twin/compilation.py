"""Compiles unmodified Ascend C and op_host sources with the host's C++ compiler."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from ascendops import resources
from ascendops.errors import CompileError, InputError
from ascendops.toolchain import cache, compiler as cxx
from ascendops.toolchain.diagnose import Origin
from ascendops.twin import precompiled, task_types
from ascendops.twin.kernel_unit import KernelSource, check_soc, symbol, unit_text
from ascendops.twin.loaded import CUBE_LIBRARY
from ascendops.twin.objects import compile_object, compile_objects, jobs, link
from ascendops.twin.portable_text import overlay
from ascendops.twin.runtimes import EXACT, host_runtime_library, runtime_library, this_cpu

__all__ = [
    "EXACT",
    "KernelSource",
    "check_soc",
    "compile_host",
    "compile_kernel",
    "host_runtime_library",
    "jobs",
    "runtime_library",
    "symbol",
    "this_cpu",
]


def compile_kernel(source: KernelSource, origin: Origin | None = None, runtime: Path | None = None) -> cache.Entry:
    """Compiles one kernel source to `kernel.so` in the returned entry, linked against `runtime` (this machine's by default).

    A cache hit compiles nothing.

    A kernel that declares the tiling structure itself, under the name that the host's has, is compiled without that of the host.

    Raises:
        CompileError: The compiler refused it.
        CompilerNotFound: There is no compiler.
    """
    try:
        return _compiled_kernel(source, origin, runtime)
    except CompileError as error:
        twice = _REDEFINED.search(str(error))
        if twice is None or f"struct {twice['name']} {{" not in source.prelude:
            raise
        return _compiled_kernel(replace(source, prelude=""), origin, runtime)


_REDEFINED = re.compile(r"redefinition of [‘'](?:struct|class) (?P<name>\w+)[’']")


def _compiled_kernel(source: KernelSource, origin: Origin | None, runtime: Path | None) -> cache.Entry:
    check_soc(source.soc)
    types = {name: _task_types(source, name) for name in source.entries}
    cube_only = all(item.cube_only for item in types.values())
    units = [_Compiled(source, _command(source), origin), *(_Compiled(one, _command(one), origin) for one in _others(source))]
    linked = runtime or runtime_library()

    def objects(cube: bool) -> list[Path]:
        return [unit.object(unit_text(unit.source, types, cube=cube)) for unit in units]

    if cube_only or not any(item.uses_cube and item.split for item in types.values()):
        return link("kernels", "kernel.so", objects(cube_only), source.what, linked, _ALL_THERE)
    with ThreadPoolExecutor(max_workers=2) as pool:
        vector, cube = pool.map(objects, [False, True])
    cubes = link("kernels", "kernel.so", cube, source.what, linked, _ALL_THERE).path / "kernel.so"
    return link("kernels", "kernel.so", vector, source.what, linked, _ALL_THERE, beside={CUBE_LIBRARY: cubes})


def _others(source: KernelSource) -> list[KernelSource]:
    return [replace(source, path=path, entries=(), templates=(), expressions={}, others=()) for path in source.others]


_ALL_THERE = ("-Wl,-z,defs",)  # a function that no source defines is an error of the link, not of loading the library


# Kernels and op_host copy tiling structures word by word, whatever the types of their fields.
_ALIASES = "-fno-strict-aliasing"
_GO_ON = "-fno-isolate-erroneous-paths-dereference"  # a path with a division by a known zero goes on, as on the device


OPTIMIZE = "ASCENDOPS_TWIN_OPTIMIZE"
LEVELS = ("0", "1", "2", "3")


def _level() -> str:
    """How hard the compiler works on kernels: $ASCENDOPS_TWIN_OPTIMIZE, else 2. Most of the work is the runtime's, whatever this says.

    Raises:
        InputError: There is no such level.
    """
    level = os.environ.get(OPTIMIZE) or "2"
    if level not in LEVELS:
        raise InputError(f"{OPTIMIZE} cannot be '{level}'", help=f"use one of {', '.join(LEVELS)}, or unset it: 2")
    return level


def _command(source: KernelSource) -> list[str]:
    folders = (source.path.parent, *source.include_dirs)
    command = [cxx.find_compiler().path, "-std=c++17", f"-O{_level()}", "-g1", "-gdwarf-4", "-w", "-fPIC", "-fno-gnu-unique", "-pthread", _GO_ON, _ALIASES]
    return command + [f"-I{folder}" for folder in (resources.twin("include"), *overlay(source.path, folders), *folders)]


# What compilers say of a name that means two things, also where it is a template argument.
_TWO_MEANINGS = ("is ambiguous", "parse error in template argument list")


@dataclass(frozen=True)
class _Compiled:
    """Objects of one kernel source."""

    source: KernelSource
    command: Sequence[str]
    origin: Origin | None

    def object(self, text: str) -> Path:
        """The object of a unit's text."""
        try:
            return self._unit(text)
        except CompileError as error:
            if not any(words in str(error) for words in _TWO_MEANINGS):
                raise
            try:  # a global type or constant of the kernel has the name of one in AscendC: without `using namespace`, as in newer toolkits
                return self._unit("#define ASCENDC_TWIN_QUALIFIED 1\n" + text)
            except CompileError as other:
                raise (error if any(words in str(other) for words in _TWO_MEANINGS) else other) from None

    def _unit(self, text: str) -> Path:
        def make(stage: Path) -> Iterable[Path]:
            path = stage / "unit.cpp"
            path.write_text(text)
            ahead = precompiled.for_unit(text, "kernel_operator.h", self.command, resources.twin("include"))
            read = compile_object(self.command, path, stage, self.source.what, self.origin, ahead)
            return [self.source.path, *(file for file in read if file != path)]

        key = cache.digest(cxx.find_compiler().identity, *self.command, text, str(self.source.path))
        return cache.publish("units", key, make).path / "object.o"


def _task_types(source: KernelSource, entry: str) -> task_types.TaskTypes:
    folders = (source.path.parent, *source.include_dirs)
    functions = {name: source.expressions.get(name, name).split("<")[0].split("::")[-1].strip() for name in source.entries}
    return task_types.read(source.path, functions[entry], tuple(functions.values()), folders, source.prelude, coupled=source.soc.npu_arch != 2201)


def compile_host(
    sources: Sequence[Path], include_dirs: Sequence[Path], what: str, origin: Origin | None = None, *, repeated: bool = False, complete: bool = False,
    defines: Mapping[str, str] | None = None,
) -> cache.Entry:  # fmt: skip
    """Compiles op_host sources to `host.so`: OpDef registration, InferShape, InferDataType and tiling functions.

    `repeated`: more than one source may define a function, as in projects that make a library of each kind of source.
    `complete`: every function that is called must be there. `defines`: macros.

    Raises:
        CompileError: The compiler refused one of them.
        CompilerNotFound: There is no compiler.
    """
    compiler = cxx.find_compiler()
    base = [compiler.path, "-std=c++17", "-O1", "-g1", "-w", "-fPIC", "-fno-gnu-unique", "-pthread", _ALIASES]
    base += [f"-I{folder}" for folder in (resources.twin("include") / "host", *include_dirs)]
    base += [f"-D{name}={value}" for name, value in (defines or {}).items()]
    flags = (*(["-Wl,-z,muldefs"] if repeated else []), *(["-Wl,-z,defs"] if complete else []))
    objects = compile_objects(sources, base, what, origin, ("register/op_def_registry.h", resources.twin("include") / "host"))
    return link("host", "host.so", objects, what, host_runtime_library(), flags)
