"""Compiles unmodified Ascend C and op_host sources, and the twin's own runtime, with the host's C++ compiler."""

from __future__ import annotations

import os
import platform
import re
import shutil
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from ascendops import resources
from ascendops.errors import CompileError
from ascendops.spec import socs
from ascendops.spec.names import C_LIBRARY_NAMES
from ascendops.toolchain import cache, compiler as cxx
from ascendops.toolchain.diagnose import Origin, compile_error
from ascendops.twin import task_types
from ascendops.twin.device_text import device_text, mixes_host_code
from ascendops.twin.launch import CUBE_LIBRARY
from ascendops.twin.portable_text import overlay, portable

# Macros that the CANN compiler sets per architecture; kernels test them.
_ARCH = {2201: ("220", "__DAV_C220__", "__DAV_C220_VEC__", "SPLIT_CORE_VEC"), 2002: ("200", "__DAV_M200__")}


@dataclass(frozen=True)
class KernelSource:
    """One kernel compilation.

    Attributes:
        path: The kernel's .cpp, compiled as it is.
        entries: Names of the `__global__` functions to export.
        soc: The SoC it is built for.
        include_dirs: Extra include folders.
        defines: Macros set before the source (`DTYPE_X` -> `half`, ...).
        prelude: C++ text placed before the source (the tiling struct of macro tiling).
        templates: (tiling key, template arguments as C++ text) of each instance, for an entry that is a template.
        expressions: C++ text of an entry where that is not its name: `ns::add<half>`.
        what: How messages call it.
    """

    path: Path
    entries: tuple[str, ...]
    soc: socs.Soc
    include_dirs: tuple[Path, ...] = ()
    defines: Mapping[str, str] = field(default_factory=dict)
    prelude: str = ""
    what: str = "the kernel"
    templates: tuple[tuple[int, tuple[str, ...]], ...] = ()
    expressions: Mapping[str, str] = field(default_factory=dict)


def compile_kernel(source: KernelSource, origin: Origin | None = None, runtime: Path | None = None) -> cache.Entry:
    """Compiles one kernel source to `kernel.so` in the returned entry, linked against `runtime` (this machine's by default).

    A cache hit compiles nothing.

    Raises:
        CompileError: The compiler refused it.
        CompilerNotFound: There is no compiler.
    """
    check_soc(source.soc)
    compiler = cxx.find_compiler()
    types = {name: _task_types(source, name) for name in source.entries}
    cube_only = all(item.cube_only for item in types.values())
    wrapper = _wrapper(source, types, cube=cube_only)
    command = [compiler.path, "-std=c++17", "-O2", "-g1", "-gdwarf-4", "-w", "-fPIC", "-fno-gnu-unique", "-pthread"]
    folders = (source.path.parent, *source.include_dirs)
    command += [f"-I{folder}" for folder in (resources.twin("include"), *overlay(source.path, folders), *folders)]

    def unit(wrapper: str) -> Path:
        def make(stage: Path) -> Iterable[Path]:
            path = stage / "unit.cpp"
            path.write_text(wrapper)
            return [source.path, *(read for read in _object(command, path, stage, source.what, origin) if read != path)]

        return cache.publish("units", cache.digest(compiler.identity, *command, wrapper, str(source.path)), make).path / "object.o"

    def either(wrapper: str) -> Path:
        try:
            return unit(wrapper)
        except CompileError as error:
            if "is ambiguous" not in str(error):
                raise
            try:  # a global type of the kernel has the name of one in AscendC: without `using namespace`, as in newer toolkits
                return unit("#define ASCENDC_TWIN_QUALIFIED 1\n" + wrapper)
            except CompileError:
                raise error from None

    linked = runtime or runtime_library()
    if cube_only or not any(item.uses_cube and item.split for item in types.values()):
        return _link("kernels", "kernel.so", [either(wrapper)], source.what, linked)
    with ThreadPoolExecutor(max_workers=2) as pool:
        vector, cube = pool.map(either, [wrapper, _wrapper(source, types, cube=True)])
    cubes = _link("kernels", "kernel.so", [cube], source.what, linked).path / "kernel.so"
    return _link("kernels", "kernel.so", [vector], source.what, linked, beside={CUBE_LIBRARY: cubes})


def _task_types(source: KernelSource, entry: str) -> task_types.TaskTypes:
    folders = (source.path.parent, *source.include_dirs)
    functions = {name: source.expressions.get(name, name).split("<")[0].split("::")[-1].strip() for name in source.entries}
    return task_types.read(source.path, functions[entry], tuple(functions.values()), folders, source.prelude, coupled=source.soc.npu_arch != 2201)


def check_soc(soc: socs.Soc) -> None:
    """Refuses a SoC that the twin does not model.

    Raises:
        CompileError: It is none of Ascend 910B, 910_93 and 310P.
    """
    if soc.npu_arch not in _ARCH:
        what = f"the CPU twin does not support {soc.name} (npu arch {soc.npu_arch})"
        raise CompileError(what, why="its kernels have other instructions", help="use a SoC of Ascend 910B, 910_93 or 310P, or the backend cann")


def _wrapper(source: KernelSource, types: Mapping[str, task_types.TaskTypes], *, cube: bool) -> str:
    arch = _ARCH[source.soc.npu_arch]
    if cube and source.soc.npu_arch == 2201:
        arch = (*arch[:2], "__DAV_C220_CUBE__", "SPLIT_CORE_CUBE")
    lines = [f"#define __NPU_ARCH__ {source.soc.npu_arch}", f"#define __CCE_AICORE__ {arch[0]}"]
    lines += [f"#define {name} 1" for name in (*arch[1:], "ASCENDC_CPU_DEBUG", "ASCENDC_CPU_TWIN")]
    lines += ['#include "kernel_operator.h"', source.prelude]
    lines += [f"#define {name} {value}" for name, value in source.defines.items()]
    # g++ declares the C library's functions globally: a kernel called exp or div needs another name in the binary.
    lines += [f"#define {name} ascendc_kernel_{name}" for name in source.entries if name in C_LIBRARY_NAMES]
    lines += _own_constants(source.path)
    lines += [*_source_lines(source.path), '#include "ascendc_twin/launch.h"']
    if source.templates:
        lines += [_template_entry(name, source.templates) for name in source.entries]
    else:
        lines += [_entry_line(name, source.expressions.get(name, name)) for name in source.entries]
    lines += [f'ASCENDC_TWIN_TASK({name}, "{types[name].text}")' for name in source.entries]
    return "\n".join(lines) + "\n"


_CONSTANT = re.compile(r"^(?:static\s+)?(?:constexpr|const)\s+(?:static\s+)?[\w:]+\s+([A-Z][A-Z0-9_]*)\s*=", re.MULTILINE)


def _own_constants(path: Path) -> list[str]:
    """Other names for constants of the source that the API has too: the twin's `using namespace AscendC` would make them ambiguous."""
    text = path.read_text(errors="replace")
    api = (resources.twin("include") / "ascendc_twin" / "enums.h").read_text()
    shared = dict.fromkeys(name for name in _CONSTANT.findall(text) if re.search(rf"^constexpr \w+ {name}\b", api, re.MULTILINE))
    return [f"#define {name} ascendc_kernel_{name}" for name in shared if not re.search(rf"\bAscendC\s*::\s*{name}\b", text)]


def _source_lines(path: Path) -> list[str]:
    """The source: included as it is, or its text without the host code that launches its kernels."""
    text = path.read_text(errors="replace")
    device = portable(device_text(text).text if mixes_host_code(text) else text)
    return [f'#include "{path}"'] if device == text else [f'#line 1 "{path}"', device, '#line 1 "unit.cpp"']


def _entry_line(name: str, expression: str) -> str:
    return f"ASCENDC_TWIN_ENTRY({name})" if name == expression else f"ASCENDC_TWIN_ENTRY_AS({name}, {expression})"


def _template_entry(name: str, templates: Sequence[tuple[int, tuple[str, ...]]]) -> str:
    """C++ that exports a template kernel: the tiling key of the launch picks the instance."""
    instances = {key: f"{name}<{', '.join(args)}>" for key, args in templates}
    cases = [f"    ASCENDC_TWIN_INSTANCE({key}ull, {instance})" for key, instance in instances.items()]
    first = next(iter(instances.values()))
    return "\n".join([f"ASCENDC_TWIN_TEMPLATE_BEGIN({name})", *cases, f"ASCENDC_TWIN_TEMPLATE_END({name}, {first})"])


def symbol(entry: str) -> str:
    """The name under which `compile_kernel` exports the entry function `entry`."""
    return f"ascendc_kernel_{entry}" if entry in C_LIBRARY_NAMES else entry


def compile_host(
    sources: Sequence[Path], include_dirs: Sequence[Path], what: str, origin: Origin | None = None, *, repeated: bool = False, complete: bool = False
) -> cache.Entry:
    """Compiles op_host sources to `host.so`: OpDef registration, InferShape, InferDataType and tiling functions.

    `repeated`: more than one source may define a function, as in projects that make a library of each kind of source.
    `complete`: every function that is called must be there.

    Raises:
        CompileError: The compiler refused one of them.
        CompilerNotFound: There is no compiler.
    """
    compiler = cxx.find_compiler()
    base = [compiler.path, "-std=c++17", "-O1", "-g1", "-w", "-fPIC", "-fno-gnu-unique", "-pthread"]
    base += [f"-I{folder}" for folder in (resources.twin("include") / "host", *include_dirs)]
    flags = (*(["-Wl,-z,muldefs"] if repeated else []), *(["-Wl,-z,defs"] if complete else []))
    return _link("host", "host.so", _objects(sources, base, what, origin), what, host_runtime_library(), flags)


# Not -ffast-math: these flags change no result, they only drop errno and traps, which stand in the way of vector code.
EXACT = ("-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math")
_CPU_FLAGS = {"x86_64": ("-march=native",), "AMD64": ("-march=native",), "aarch64": ("-mcpu=native",), "arm64": ("-mcpu=native",)}
_RUN_ONCE = frozenset({"launch", "report", "signals"})  # sources whose code runs once per launch: compiled faster instead
_HOST_GROUP = 4  # op_host runtime sources per compilation: their common headers cost more than they do


def this_cpu() -> tuple[str, ...]:
    """Flags for all instructions of this CPU; binaries are cached per instruction set."""
    return _CPU_FLAGS.get(platform.machine(), ())


def runtime_library(*, portable: bool = False) -> Path:
    """The twin's kernel-side runtime, compiled on first use; `portable`: for every CPU of this architecture, not for this one."""
    flags = ["-O3", *(() if portable else this_cpu()), *EXACT]
    return _runtime("runtime", flags, resources.twin("include"))


def host_runtime_library() -> Path:
    """The twin's op_host runtime (registries and contexts), compiled on first use."""
    return _runtime("hostrt", ["-O1"], resources.twin("include") / "host", _HOST_GROUP)


progress: Callable[[str], None] | None = None  # the command line sets it: told what is being compiled when that takes long


_runtime_locks = {"runtime": threading.Lock(), "hostrt": threading.Lock()}


def _runtime(folder: str, flags: Sequence[str], include: Path, group: int = 1) -> Path:
    with _runtime_locks[folder]:
        return _compiled_runtime(folder, flags, include, group)


def _compiled_runtime(folder: str, flags: Sequence[str], include: Path, group: int) -> Path:
    compiler = cxx.find_compiler()
    sources = sorted(resources.twin(folder).glob("*.cpp"))
    base = [compiler.path, "-std=c++17", *flags, "-g1", "-w", "-fPIC", "-fno-gnu-unique", "-pthread"]
    what = f"the CPU twin's {folder}"
    base += [f"-I{include}", f"-I{resources.twin(folder)}"]
    units = [_Unit(base, sources[at : at + group], what) for at in range(0, len(sources), group)]
    missing = sum(len(unit.sources) for unit in units if cache.lookup("objects", unit.key) is None)
    if missing and progress is not None:
        progress(f"compiling {what} ({missing} of {len(sources)} files, once per machine and version)")
    with ThreadPoolExecutor(max_workers=jobs()) as pool:
        objects = list(pool.map(_Unit.compiled, sorted(units, key=_Unit.weight, reverse=True)))
    objects.sort()
    # A name of its own per build: the loader takes two libraries of one name for the same one.
    name = f"lib{folder}-{cache.digest(*map(str, objects))[:16]}.so"
    return _link(folder, name, objects, what, None).path / name


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
        return sum(path.stat().st_size for path in self.sources)

    def compiled(self) -> Path:
        """The object file, from the cache or compiled now."""

        def make(stage: Path) -> Iterable[Path]:
            unit = stage / "unit.cpp"
            unit.write_text("".join(f'#include "{path}"\n' for path in self.sources))
            return [path for path in _object(self.command, unit, stage, self.what, None) if path != unit]

        return cache.publish("objects", self.key, make).path / "object.o"


# Of g++ in C++17 about a constexpr constructor that assigns its members; CANN's compiler takes it, as C++20 does.
_CXX20 = "must be initialized by mem-initializer in 'constexpr' constructor"


def _object(base: Sequence[str], source: Path, stage: Path, what: str, origin: Origin | None) -> list[Path]:
    """Compiles a source to stage/object.o; returns the files it read."""
    deps = stage / "object.d"
    rest = ["-c", str(source), "-MMD", "-MF", str(deps), "-o", str(stage / "object.o")]
    outcome = cxx.run([*base, *rest])
    if outcome.returncode != 0 and _CXX20 in outcome.log:
        outcome = cxx.run([*base, "-std=c++20", *rest])
    if outcome.returncode != 0:
        raise compile_error(outcome, what, origin)
    return cxx.read_depfile(deps)


def _objects(sources: Sequence[Path], base: Sequence[str], what: str, origin: Origin | None) -> list[Path]:
    """Each source as a cached object: an edit compiles only the objects it concerns."""
    identity = cxx.find_compiler().identity

    def one(source: Path) -> Path:
        key = cache.digest(identity, *base, str(source))
        return cache.publish("objects", key, lambda stage: _object(base, source, stage, what, origin)).path / "object.o"

    with ThreadPoolExecutor(max_workers=jobs()) as pool:
        return list(pool.map(one, sources))


def _link(
    kind: str, name: str, objects: Sequence[Path], what: str, needs: Path | None, flags: Sequence[str] = (), beside: Mapping[str, Path] = MappingProxyType({}),
) -> cache.Entry:  # fmt: skip
    """Links a library, and copies those of `beside` into its folder under their new names; `needs` becomes its own dependency, so that nothing has to be loaded for the whole process.

    (A runtime in the global scope would stand in for inline functions of libraries loaded later, such as torch's.)
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
