"""The text that is compiled for a kernel: macros of the SoC, the headers, the unmodified source, and what exports its entries."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ascendops import resources
from ascendops.errors import CompileError
from ascendops.spec import socs
from ascendops.spec.names import C_LIBRARY_NAMES
from ascendops.twin import task_types
from ascendops.twin.device_text import device_text, mixes_host_code
from ascendops.twin.portable_text import portable

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
        others: Sources of functions that the kernel calls, compiled apart and linked with it.
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
    others: tuple[Path, ...] = ()


def check_soc(soc: socs.Soc) -> None:
    """Refuses a SoC that the twin does not model.

    Raises:
        CompileError: It is none of Ascend 910B, 910_93 and 310P.
    """
    if soc.npu_arch not in _ARCH:
        what = f"the CPU twin does not support {soc.name} (npu arch {soc.npu_arch})"
        raise CompileError(what, why="its kernels have other instructions", help="use a SoC of Ascend 910B, 910_93 or 310P, or the backend cann")


def unit_text(source: KernelSource, types: Mapping[str, task_types.TaskTypes], *, cube: bool) -> str:
    """The C++ text, as the vector core or (`cube`) as the cube core of the kernel compiles it; `types`: by entry."""
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
    if _ASKS_FOR_KEY.search(source.path.read_text(errors="replace")):
        lines.append("#undef TILING_KEY_VAR")  # all keys are one build here: code that is only left out for a key stays in
    lines += [*_source_lines(source.path), '#include "ascendc_twin/launch.h"']
    if source.templates:
        lines += [_template_entry(name, source.templates) for name in source.entries]
    else:
        lines += [_entry_line(name, source.expressions.get(name, name)) for name in source.entries]
    lines += [f'ASCENDC_TWIN_TASK({name}, "{types[name].text}")' for name in source.entries]
    return "\n".join(lines) + "\n"


_ASKS_FOR_KEY = re.compile(r"^[ \t]*#[ \t]*(?:el)?if[^\n]*\bdefined\s*\(\s*TILING_KEY_VAR\s*\)", re.MULTILINE)
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
