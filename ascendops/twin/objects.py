"""Single compilations and links, each cached under the contents of the files that it read."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType

from ascendops.toolchain import cache, compiler as cxx
from ascendops.toolchain.diagnose import Origin, compile_error
from ascendops.twin import precompiled

# Of g++ in C++17 about a constexpr constructor that assigns its members; CANN's compiler takes it, as C++20 does.
_CXX20 = "must be initialized by mem-initializer in 'constexpr' constructor"


# A precompiled header wants a certain address, which some sandboxes do not give.
_NO_ADDRESS = "PCH"


def compile_object(
    base: Sequence[str], source: Path, stage: Path, what: str, origin: Origin | None, ahead: precompiled.Precompiled = precompiled.NONE,
) -> list[Path]:  # fmt: skip
    """Compiles a source to stage/object.o; returns the files it read. `ahead`: headers that are compiled already.

    Raises:
        CompileError: It does not compile.
    """
    deps = stage / "object.d"
    rest = ["-c", str(source), "-MMD", "-MF", str(deps), "-o", str(stage / "object.o")]
    outcome = cxx.run([base[0], *ahead.flags, *base[1:], *rest])
    if outcome.returncode != 0 and ahead.flags and _NO_ADDRESS in outcome.log:
        outcome = cxx.run([*base, *rest])
    if outcome.returncode != 0 and _CXX20 in outcome.log:
        outcome = cxx.run([*base, "-std=c++20", *rest])
    if outcome.returncode != 0:
        raise compile_error(outcome, what, origin)
    return ahead.read(cxx.read_depfile(deps))


def compile_objects(sources: Sequence[Path], base: Sequence[str], what: str, origin: Origin | None, header: tuple[str, Path]) -> list[Path]:
    """Each source as a cached object: an edit compiles only the objects it concerns. `header`: what most of them include first, and its folder."""
    identity = cxx.find_compiler().identity

    def one(source: Path) -> Path:
        def make(stage: Path) -> list[Path]:
            return compile_object(base, source, stage, what, origin, precompiled.for_source(source, header[0], base, header[1]))

        return cache.publish("objects", cache.digest(identity, *base, str(source)), make).path / "object.o"

    with ThreadPoolExecutor(max_workers=jobs()) as pool:
        return list(pool.map(one, sources))


def link(
    kind: str, name: str, objects: Sequence[Path], what: str, needs: Path | None, flags: Sequence[str] = (), beside: Mapping[str, Path] = MappingProxyType({}),
) -> cache.Entry:  # fmt: skip
    """Links a library, and copies those of `beside` into its folder under their new names; `needs` becomes its own dependency, so that nothing has to be loaded for the whole process.

    (A runtime in the global scope would stand in for inline functions of libraries loaded later, such as torch's.)

    Raises:
        CompileError: It does not link.
    """
    compiler = cxx.find_compiler()
    command = [compiler.path, "-shared", "-pthread", *flags, *map(str, objects)]
    command += [f"-Wl,-soname,{name}"] if needs is None else [str(needs), f"-Wl,-rpath,{needs.parent}"]

    def make(stage: Path) -> Iterable[Path]:
        outcome = cxx.run([*command, "-o", str(stage / name)])
        if outcome.returncode != 0:
            raise compile_error(outcome, f"linking {what}")
        for other, path in beside.items():
            shutil.copyfile(path, stage / other)
        return [*objects, *beside.values()]

    return cache.publish(kind, cache.digest(compiler.identity, *command, *map(str, beside.values())), make)


def jobs(wanted: int | None = None) -> int:
    """Compilations to run at once: `wanted`, else $ASCENDOPS_JOBS, else the number of usable cores."""
    if wanted:
        return wanted
    configured = os.environ.get("ASCENDOPS_JOBS", "")
    if configured.isdigit() and int(configured) > 0:
        return int(configured)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
