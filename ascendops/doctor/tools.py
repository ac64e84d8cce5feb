"""Probes of compilers and build tools."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from packaging.version import Version

from ascendops.doctor.checks import Check, Grade, run
from ascendops.errors import CompilerNotFound
from ascendops.toolchain.compiler import find_compiler

_CXX17 = """#include <optional>
#include <string_view>
extern "C" int probe(int n) { if constexpr (sizeof(int) > 1) { std::optional<std::string_view> v; return n + v.has_value(); } }
"""
_CXX_FIX = "install a C++17 compiler (Debian, Ubuntu: apt-get install g++; openEuler: dnf install gcc-c++), or set CXX to one"


def check_compiler(needed: bool) -> Iterator[Check]:
    """The compiler of the CPU twin: found, and able to compile and link C++17; then what else is on PATH."""
    try:
        chosen = find_compiler()
    except CompilerNotFound as error:
        yield Check("C++", "compiler", Grade.MISSING, note=error.what, fix=_CXX_FIX).unless(needed)
        return
    name = Path(chosen.path).name
    refusal = _refuses_cxx17(chosen.path)
    if refusal:
        check = Check("C++", name, Grade.MISSING, number(chosen.version), chosen.path, f"C++17 does not work: {refusal}", _CXX_FIX)
        yield check.unless(needed)
    else:
        yield Check("C++", name, Grade.OK, number(chosen.version), chosen.path, "C++17 works; the CPU twin uses it")
    for other in ("g++", "clang++"):
        path = shutil.which(other)
        if path and path != chosen.path:
            yield Check("C++", other, Grade.OK, number(run([path, "--version"]).first_line), path, f"used when CXX={other}")


def _refuses_cxx17(compiler: str) -> str | None:
    with tempfile.TemporaryDirectory(prefix="ascendops-doctor-") as folder:
        source = Path(folder) / "probe.cpp"
        source.write_text(_CXX17)
        ran = run([compiler, "-std=c++17", "-fPIC", "-shared", "-pthread", str(source), "-o", str(source.with_suffix(".so"))], 60)
        if ran.ok:
            return None
        first = next((line for line in ran.text.splitlines() if "error" in line), ran.first_line)
        return first.replace(folder + "/", "") or "it failed without a message"


def check_build_tools(needed: bool) -> Iterator[Check]:
    """Cmake (CANN projects need 3.16) and ninja (optional)."""
    path = shutil.which("cmake")
    version = number(run([path, "--version"]).first_line) if path else None
    if path is None:
        yield Check("C++", "cmake", Grade.MISSING, note="CANN packages are built with it", fix="install cmake 3.16 or later").unless(needed)
    elif version and Version(version) < Version("3.16"):
        yield Check("C++", "cmake", Grade.MISSING, version, path, "too old", "install cmake 3.16 or later").unless(needed)
    else:
        yield Check("C++", "cmake", Grade.OK, version, path)
    ninja = shutil.which("ninja")
    if ninja:
        yield Check("C++", "ninja", Grade.OK, number(run([ninja, "--version"]).first_line), ninja)


def number(text: str) -> str | None:
    """The last dotted number of a `--version` line (`g++ (Debian 12.2.0-14) 12.2.0` gives 12.2.0)."""
    found = re.findall(r"\d+(?:\.\d+)+", text)
    return found[-1] if found else None
