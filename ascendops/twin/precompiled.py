"""Precompiled headers of g++: most of the time that a kernel or op_host source takes to compile is its API's headers.

What is compiled does not depend on them. g++ uses one only as the first thing of a unit, under the same flags and macros, and otherwise reads
the header itself; clang++ does without.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ascendops.toolchain import cache, compiler as cxx
from ascendops.toolchain.diagnose import compile_error

_KIND = "headers"
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_LINE = re.compile(r'#\s*(?:include\s*(?:<(?P<system>[^>]+)>|"(?P<own>[^"]+)")|pragma\s+once)\s*\Z')
_MACRO = re.compile(r"#define (\w+) (\S+)\Z")


@dataclass(frozen=True)
class Precompiled:
    """A precompiled header for one compilation.

    Attributes:
        flags: Arguments that make it known, before all others.
        files: The headers it was made of, which the unit depends on.
        folder: Where it lies.
    """

    flags: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    folder: Path | None = None

    def read(self, files: Iterable[Path]) -> list[Path]:
        """All files that a unit depends on, of which the compiler named `files`."""
        return [*(file for file in files if self.folder is None or self.folder not in file.parents), *self.files]


NONE = Precompiled()


def for_unit(text: str, header: str, base: Sequence[str], include: Path) -> Precompiled:
    """For a unit whose text begins with macros and the include of `header`, from the folder `include`."""
    ahead, found, _ = text.partition(f'#include "{header}"\n')
    macros = [_MACRO.match(line) for line in ahead.splitlines()]
    if not found or not all(macros):
        return NONE
    return _made(header, [*base, *(f"-D{macro[1]}={macro[2]}" for macro in macros if macro)], include)


def for_source(path: Path, header: str, base: Sequence[str], include: Path) -> Precompiled:
    """For a source that includes `header` after nothing but headers of the C++ library, so that it may as well come first."""
    if (path.parent / header).is_file() or not _comes_first(path.read_text(errors="replace"), header):  # one beside the source is the one it means
        return NONE
    made = _made(header, base, include)
    return Precompiled((*made.flags, "-include", header), made.files, made.folder) if made.flags else made


def _comes_first(text: str, header: str) -> bool:
    for line in filter(None, map(str.strip, _COMMENT.sub("", text).splitlines())):
        match = _LINE.match(line)
        if match is None or (match["own"] not in (None, header)) or "/" in (match["system"] or ""):
            return False
        if match["own"] == header:
            return True
    return False


def _made(header: str, base: Sequence[str], include: Path) -> Precompiled:
    compiler = cxx.find_compiler()
    if "clang" in compiler.version.lower():
        return NONE
    command = [flag for flag in base if not flag.startswith("-I")] + [f"-I{include}"]

    def make(stage: Path) -> list[Path]:
        (stage / header).parent.mkdir(parents=True, exist_ok=True)
        (stage / header).write_text(f'#include "{include / header}"\n')  # of its own, since `#pragma once` means nothing in the file that is precompiled
        deps = stage / "header.d"
        outcome = cxx.run([*command, "-x", "c++-header", str(stage / header), "-MMD", "-MF", str(deps), "-o", str(stage / f"{header}.gch")])
        if outcome.returncode != 0:
            raise compile_error(outcome, f"the CPU twin's {header}")
        return [path for path in cxx.read_depfile(deps) if stage not in path.parents]

    key = cache.digest(compiler.identity, *command, header)
    entry = cache.publish(_KIND, key, make).path
    read: dict[str, str] = json.loads((entry / "manifest.json").read_text())
    return Precompiled((f"-I{entry}",), tuple(map(Path, read)), entry.parent)
