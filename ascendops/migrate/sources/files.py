"""The files below the paths given: which are scanned, which are skipped and why. Nothing is executed or imported."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ascendops.migrate.model import Skipped

MAX_TEXT = 4 * 1024 * 1024
MAX_NOTEBOOK = 64 * 1024 * 1024
MAX_MODEL = 2 * 1024 * 1024 * 1024

FOLDERS_SKIPPED = {
    ".git",
    ".hg",
    ".svn",
    ".venv",
    "venv",
    "node_modules",
    "__pycache__",
    ".mypy_cache",
    ".ruff_cache",
    ".tox",
    ".eggs",
    "site-packages",
}

PYTHON = {".py", ".pyi", ".pyx"}
CUDA = {".cu", ".cuh"}
CPP = {".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inl", ".inc", ".ipp"}
SHELL = {".sh", ".bash", ".zsh", ".slurm", ".sbatch"}
CONFIG = {".yaml", ".yml", ".json", ".toml", ".cfg", ".ini", ".env"}


@dataclass
class Walk:
    """Files to scan in a stable order, and what was left out."""

    skipped: list[Skipped] = field(default_factory=list)

    def files(self, paths: list[Path]) -> Iterator[tuple[Path, str]]:
        """Yields (path, kind); a symbolic link to a folder is followed once, a loop never."""
        seen: set[tuple[int, int]] = set()
        for path in paths:
            if path.is_dir():
                yield from self._folder(path, seen)
            elif (kind := kind_of(path)) and self._small(path, kind):
                yield path, kind
            elif not kind:
                self.skipped.append(Skipped(path.as_posix(), "not a kind of file that is scanned"))

    def _folder(self, folder: Path, seen: set[tuple[int, int]]) -> Iterator[tuple[Path, str]]:
        try:
            status = folder.stat()
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            self.skipped.append(Skipped(folder.as_posix(), f"cannot be read: {error.strerror}"))
            return
        if (status.st_dev, status.st_ino) in seen:
            self.skipped.append(Skipped(folder.as_posix(), "a link to a folder that was scanned already"))
            return
        seen.add((status.st_dev, status.st_ino))
        for entry in entries:
            path = Path(entry.path)
            try:
                is_folder = entry.is_dir()
                is_file = entry.is_file()
            except OSError:
                is_folder = is_file = False
            if is_folder:
                if entry.name not in FOLDERS_SKIPPED:
                    yield from self._folder(path, seen)
            elif is_file:
                if (kind := kind_of(path)) and self._small(path, kind):
                    yield path, kind
            elif kind_of(path):
                self.skipped.append(
                    Skipped(
                        path.as_posix(),
                        "a broken link or a link to itself" if entry.is_symlink() else "not a regular file",
                    )
                )

    def _small(self, path: Path, kind: str) -> bool:
        limit = {"notebook": MAX_NOTEBOOK, "onnx": MAX_MODEL}.get(kind, MAX_TEXT)
        try:
            size = path.stat().st_size
        except OSError as error:
            self.skipped.append(Skipped(path.as_posix(), f"cannot be read: {error.strerror}"))
            return False
        if size > limit:
            self.skipped.append(
                Skipped(path.as_posix(), f"{size / 1048576:.0f} MiB, above the limit of {limit // 1048576} MiB")
            )
        return size <= limit

    def read(self, path: Path) -> str | None:
        """The text of a file with line feeds as line ends; None and a note if it is binary or unreadable."""
        try:
            data = path.read_bytes()
        except OSError as error:
            self.skipped.append(Skipped(path.as_posix(), f"cannot be read: {error.strerror}"))
            return None
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            text = data.decode("utf-16", errors="replace")
        elif b"\0" in data[:8192]:
            self.skipped.append(Skipped(path.as_posix(), "binary"))
            return None
        else:
            try:
                text = data.decode("utf-8-sig")
            except UnicodeDecodeError:
                text = data.decode("latin-1")
                self.skipped.append(Skipped(path.as_posix(), "not UTF-8: read as Latin-1"))
        return text.replace("\r\n", "\n").replace("\r", "\n")


def kind_of(path: Path) -> str:
    """The scanner's name for a file, or an empty string: python, cuda, cpp, cmake, make, shell, docker, packages, config, notebook, onnx."""
    name, suffix = path.name.lower(), path.suffix.lower()
    if suffix in (".txt", ".in") and (
        "requirements" in name or name in ("req.txt", "reqs.txt", "constraints.txt") or "requirements" in path.parent.name.lower()
    ):
        return "packages"
    if name in ("pyproject.toml", "setup.cfg", "pipfile", "meta.yaml", "meta.yml", "environment.yml", "environment.yaml") or (
        name.startswith(("environment", "conda")) and suffix in (".yml", ".yaml")
    ):
        return "packages"
    if (
        name.startswith(("dockerfile", "containerfile"))
        or suffix == ".dockerfile"
        or (name.startswith(("docker-compose", "compose")) and suffix in (".yml", ".yaml"))
    ):
        return "docker"
    if name == "cmakelists.txt" or suffix == ".cmake":
        return "cmake"
    if name in ("makefile", "gnumakefile") or suffix == ".mk":
        return "make"
    if name.endswith("lock.json") or name == "package.json":
        return ""
    kinds = {
        "python": PYTHON,
        "cuda": CUDA,
        "cpp": CPP,
        "shell": SHELL,
        "config": CONFIG,
        "notebook": {".ipynb"},
        "onnx": {".onnx"},
    }
    return next((kind for kind, suffixes in kinds.items() if suffix in suffixes), "")
