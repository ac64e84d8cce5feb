"""The device compiler of the stand-in toolkit: a kernel source for the CPU twin, and the C++ text of a function that launches it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from ascendops import twin
from ascendops.twin.compilation import runtime_library
from ascendops.twin.loaded import signature


@dataclass(frozen=True)
class Compiled:
    """One kernel: its name, its library, the twin's runtime, how many parameters it has, and whether the build sets its system workspace."""

    name: str
    library: Path
    runtime: Path
    parameters: int
    sets_workspace: bool

    def call(self, blocks: str, stream: str, args: str) -> str:
        """C++ text that launches it; `args` is an array."""
        return f'StandInLaunch("{self.library}", "{self.runtime}", "{self.name}", {blocks}, {stream}, {args}, {self.parameters}, {int(self.sets_workspace)})'


DECLARATION = (
    'extern "C" unsigned StandInLaunch(const char *, const char *, const char *, unsigned, void *, void *const *, int, int);\n'
)


def compile_source(source: Path, soc: str, includes: list[str], defines: dict[str, str]) -> Compiled:
    """Compiles a source with one kernel, as the toolkit asks for."""
    kernel = twin.compile(source, soc=soc, include_dirs=includes, defines=defines)
    (name,) = kernel.entries
    return Compiled(name, kernel.library, runtime_library(), len(signature(kernel.library, name)), {"HAVE_WORKSPACE", "HAVE_TILING"} <= defines.keys())


def main(soc: str, out: str, headers: str, includes: str, defines: str, *sources: str) -> None:
    """Writes `out` (C++ of every launch function) and `headers`/aclrtlaunch_<kernel>.h, as ascendc_library does."""
    macros = {name: value or "1" for name, _, value in (one.removeprefix("-D").partition("=") for one in defines.split(";") if one)}
    text = "#include <cstdint>\n" + DECLARATION
    for source in sources:
        kernel = compile_source(Path(source), soc, [one for one in includes.split(";") if one], macros)
        names = [f"void *p{i}" for i in range(kernel.parameters)]
        head = f'extern "C" uint32_t aclrtlaunch_{kernel.name}({", ".join(["uint32_t blockDim", "void *stream", *names])})'
        array = f"void *args[] = {{{', '.join(f'p{i}' for i in range(kernel.parameters))}}};"
        text += f"{head}\n{{\n    {array}\n    return {kernel.call('blockDim', 'stream', 'args')};\n}}\n"
        macro = "#ifndef ACLRT_LAUNCH_KERNEL\n#define ACLRT_LAUNCH_KERNEL(kernel_func) aclrtlaunch_##kernel_func\n#endif\n"
        header = Path(headers) / f"aclrtlaunch_{kernel.name}.h"
        header.parent.mkdir(parents=True, exist_ok=True)
        header.write_text(f"#pragma once\n#include <cstdint>\n{macro}{head};\n")
    Path(out).write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
