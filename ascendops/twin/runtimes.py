"""The twin's own libraries, compiled on first use: the kernel-side runtime and that of op_host."""

from __future__ import annotations

import platform
import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from ascendops import progress, resources
from ascendops.toolchain import cache, compiler as cxx
from ascendops.twin.objects import compile_object, jobs, link

# Not -ffast-math: these flags change no result, they only drop errno and traps, which stand in the way of vector code.
EXACT = ("-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math")
_CPU_FLAGS = {"x86_64": ("-march=native",), "AMD64": ("-march=native",), "aarch64": ("-mcpu=native",), "arm64": ("-mcpu=native",)}
_RUN_ONCE = frozenset({"division", "launch", "report", "signals"})  # sources whose code runs once per launch: compiled faster instead
_UNIT_BYTES = 20 << 10  # sources up to so much are compiled as one, since their common headers cost more than most of them do


def this_cpu() -> tuple[str, ...]:
    """Flags for all instructions of this CPU; binaries are cached per instruction set."""
    return _CPU_FLAGS.get(platform.machine(), ())


def runtime_library(*, portable: bool = False) -> Path:
    """The twin's kernel-side runtime, compiled on first use; `portable`: for every CPU of this architecture, not for this one."""
    flags = ["-O3", *(() if portable else this_cpu()), *EXACT]
    return _runtime("runtime", flags, resources.twin("include"))


def host_runtime_library() -> Path:
    """The twin's op_host runtime (registries and contexts), compiled on first use."""
    return _runtime("hostrt", ["-O1"], resources.twin("include") / "host")


_runtime_locks = {"runtime": threading.Lock(), "hostrt": threading.Lock()}


def _runtime(folder: str, flags: Sequence[str], include: Path) -> Path:
    with _runtime_locks[folder]:
        return _compiled_runtime(folder, flags, include)


def _groups(sources: Sequence[Path]) -> list[list[Path]]:
    """What is compiled as one: neighbours by name, and those of _RUN_ONCE apart, in the order of the sources.

    Names in unnamed namespaces therefore differ between neighbours; where they do not, the compiler says so.
    """
    groups: list[list[Path]] = []
    for once in (False, True):
        group: list[Path] = []
        for source in (path for path in sources if (path.stem in _RUN_ONCE) == once):
            if not group or _bytes([*group, source]) > _UNIT_BYTES:
                group = []
                groups.append(group)
            group.append(source)
    return groups


def _bytes(sources: Sequence[Path]) -> int:
    return sum(path.stat().st_size for path in sources)


def _compiled_runtime(folder: str, flags: Sequence[str], include: Path) -> Path:
    compiler = cxx.find_compiler()
    sources = sorted(resources.twin(folder).glob("*.cpp"))
    base = [compiler.path, "-std=c++17", *flags, "-g1", "-w", "-fPIC", "-fno-gnu-unique", "-pthread"]
    what = f"the CPU twin's {folder}"
    base += [f"-I{include}", f"-I{resources.twin(folder)}"]
    units = [_Unit(base, group, what) for group in _groups(sources)]
    missing = sum(len(unit.sources) for unit in units if cache.lookup("objects", unit.key) is None)
    if missing:
        progress.tell(f"compiling {what} ({missing} of {len(sources)} files, once per machine and version)")
    with ThreadPoolExecutor(max_workers=jobs()) as pool:
        objects = list(pool.map(_Unit.compiled, sorted(units, key=_Unit.weight, reverse=True)))
    objects.sort()
    # A name of its own per build: the loader takes two libraries of one name for the same one.
    name = f"lib{folder}-{cache.digest(*map(str, objects))[:16]}.so"
    return link(folder, name, objects, what, None).path / name


@dataclass(frozen=True)
class _Unit:
    """Sources of a runtime that are compiled as one."""

    base: Sequence[str]
    sources: Sequence[Path]
    what: str

    @property
    def command(self) -> list[str]:
        return [*self.base, *(["-O1"] if self.sources[0].stem in _RUN_ONCE else [])]

    @property
    def key(self) -> str:
        return cache.digest(cxx.find_compiler().identity, *self.command, *map(str, self.sources))

    def weight(self) -> int:
        """Bytes of source: the largest come first, so that none is left over at the end."""
        return _bytes(self.sources)

    def compiled(self) -> Path:
        """The object file, from the cache or compiled now."""

        def make(stage: Path) -> Iterable[Path]:
            unit = stage / "unit.cpp"
            unit.write_text("".join(f'#include "{path}"\n' for path in self.sources))
            return [path for path in compile_object(self.command, unit, stage, self.what, None) if path != unit]

        return cache.publish("objects", self.key, make).path / "object.o"
