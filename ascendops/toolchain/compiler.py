"""The host C++ compiler: finding it and running it."""

from __future__ import annotations

import functools
import os
import platform
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ascendops.errors import CompilerNotFound
from ascendops.toolchain.cache import digest

CANDIDATES = ("g++", "clang++", "c++")


@dataclass(frozen=True)
class Compiler:
    """A C++ compiler: its path and the first line of `--version`."""

    path: str
    version: str

    @property
    def identity(self) -> str:
        """What a cached binary depends on besides its command: compiler, machine and its instruction set."""
        return digest(self.path, self.version, platform.machine(), _cpu_flags())


@dataclass(frozen=True)
class Outcome:
    """One finished compiler run."""

    command: tuple[str, ...]
    returncode: int
    log: str


def find_compiler() -> Compiler:
    """The compiler named by $CXX, else the first of g++, clang++, c++ on PATH.

    Raises:
        CompilerNotFound: None of them exists.
    """
    wanted = os.environ.get("CXX")
    names = (wanted,) if wanted else CANDIDATES
    path = next((found for found in map(shutil.which, names) if found), None)
    if path is None:
        raise CompilerNotFound(
            f"no C++ compiler: looked for {', '.join(names)}" + (" (from CXX)" if wanted else " on PATH"),
            help="install g++ (Debian, Ubuntu: apt-get install g++; openEuler: dnf install gcc-c++) or set CXX to a compiler",
        )
    return Compiler(path, _version(path))


@functools.cache
def _version(path: str) -> str:
    done = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    return (done.stdout or done.stderr).splitlines()[0] if done.stdout or done.stderr else "unknown"


@functools.cache
def _cpu_flags() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.lower().startswith(("flags", "features"))), "")


def run(command: Sequence[str], *, cwd: Path | None = None) -> Outcome:
    """Runs a compiler command with messages in English and returns what it said; never raises for a failure."""
    env = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(list(command), cwd=cwd, env=env, capture_output=True, text=True, errors="replace", check=False)
    return Outcome(tuple(command), done.returncode, done.stdout + done.stderr)


def loaded_runtime() -> tuple[str, ...]:
    """The shared C++ libraries of this process, as linker arguments for an extension of it; none where they cannot be seen.

    A compiler that has only the static ones would give the extension its own copy. Two copies do not share their locales, so that the first
    number that such an extension prints into a message is a crash.
    """
    try:
        lines = Path("/proc/self/maps").read_text().splitlines()
    except OSError:
        return ()
    mapped = {line.split(maxsplit=5)[-1] for line in lines if "/" in line}
    return tuple(sorted(path for path in mapped if Path(path).name.startswith(("libstdc++.so", "libgcc_s.so")) and Path(path).is_file()))


def read_depfile(path: Path) -> list[Path]:
    """The files that a `-MMD` dependency file names, without its target."""
    text = path.read_text().replace("\\\n", " ")
    _, _, names = text.partition(": ")
    return [Path(name.replace("\0", " ")) for name in names.replace("\\ ", "\0").split()]
