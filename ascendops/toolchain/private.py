"""Toolchains in private folders of the cache: fetched by exact version and hash, never on anybody's import path, removable.

Layout: ``<cache>/toolchains/<name>-<version>-<tag>/{manifest.json, site/}``; a folder without a manifest is no toolchain.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from ascendops.errors import ToolchainAbsent, ToolchainError, WheelMismatch
from ascendops.toolchain.cache import cache_root
from ascendops.toolchain.pins import Pin, pin


@dataclass(frozen=True)
class Installed:
    """An installed toolchain.

    Attributes:
        path: Its folder.
        python: The interpreter that its extension modules need.
        wheels: File name to SHA-256 of what was unpacked.
    """

    name: str
    version: str
    tag: str
    path: Path
    python: str
    wheels: dict[str, str]

    @property
    def site(self) -> Path:
        """The folder with the unpacked packages."""
        return self.path / "site"

    @property
    def usable(self) -> bool:
        """Whether its interpreter still exists."""
        return Path(self.python).is_file()


def home() -> Path:
    """The folder of all private toolchains."""
    return cache_root() / "toolchains"


def installed() -> list[Installed]:
    """What is installed, by folder name."""
    return [found for folder in sorted(home().glob("*/manifest.json")) if (found := _read(folder.parent))]


def find(name: str) -> Installed | None:
    """The installed and usable toolchain of that name in the pinned version, or None."""
    wanted = pin(name)
    return next((it for it in installed() if it.name == name and it.version == wanted.version and it.usable), None)


def require(name: str) -> Installed:
    """The installed toolchain of that name.

    Raises:
        ToolchainAbsent: It is not installed, or its interpreter has gone.
    """
    found = find(name)
    if found is None:
        stale = next((it for it in installed() if it.name == name), None)
        raise ToolchainAbsent(
            f"the toolchain '{name}' is not installed" if stale is None else f"the installed '{name}' cannot be used",
            why=f"{stale.path} has version {stale.version} for {stale.python}" if stale else None,
            help=f"ascendops toolchain install {name}   ({pin(name).download_mb} MB, or --from a folder with its wheels)",
        )
    return found


def install(
    name: str, source: Path | None = None, python: str | None = None, say: Callable[[str], None] = lambda _: None
) -> tuple[Installed, bool]:
    """Installs a toolchain into its private folder; (it, whether this call did it).

    Args:
        source: A folder that holds the wheels, or one of the wheels beside the others; None fetches them with pip.
        python: The interpreter to install for; None takes this one, or one on PATH that has wheels.
        say: Receives a line for each step.

    Raises:
        UnknownToolchain: No such toolchain is pinned.
        ToolchainError: No wheel fits this machine, or pip failed.
        WheelMismatch: A wheel is missing in `source`, or does not have the pinned hash.
    """
    wanted = pin(name)
    if sys.platform != "linux":
        raise ToolchainError(f"{name} has wheels for Linux only, this is {sys.platform}", help="use a Linux machine or a container")
    executable, tag = _interpreter(wanted, python)
    wheels = wanted.select(tag, platform.machine())
    folder = home() / f"{name}-{wanted.version}-{tag}"
    home().mkdir(parents=True, exist_ok=True)
    with FileLock(home() / f".{folder.name}.lock"):
        present = _read(folder)
        if present and present.wheels == wheels and present.python == executable:
            return present, False
        with tempfile.TemporaryDirectory(prefix=".stage-", dir=home()) as stage:
            files = list(_local(source, wheels)) if source else _fetch(wanted, wheels, executable, Path(stage) / "wheels", say)
            for file in files:
                _verify(file, wheels[file.name])
                say(f"{file.name}: SHA-256 as pinned")
            _unpack(files, Path(stage) / "new" / "site")
            manifest = {"name": name, "version": wanted.version, "tag": tag, "python": executable, "wheels": wheels}
            (Path(stage) / "new" / "manifest.json").write_text(json.dumps(manifest, indent=1), encoding="utf-8")
            shutil.rmtree(folder, ignore_errors=True)
            os.rename(Path(stage) / "new", folder)
    made = _read(folder)
    assert made is not None
    return made, True


def remove(name: str) -> list[Path]:
    """Removes every installed version of a toolchain; the folders that went.

    Raises:
        UnknownToolchain: No such toolchain is pinned.
        ToolchainAbsent: None is installed.
    """
    pin(name)
    gone = [it.path for it in installed() if it.name == name]
    if not gone:
        raise ToolchainAbsent(f"the toolchain '{name}' is not installed", help="ascendops toolchain list shows what is")
    for path in gone:
        with FileLock(home() / f".{path.name}.lock"):
            shutil.rmtree(path)
    return gone


def _read(folder: Path) -> Installed | None:
    try:
        row = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        return Installed(row["name"], row["version"], row["tag"], folder, row["python"], row["wheels"])
    except (OSError, ValueError, KeyError):
        return None


def _interpreter(wanted: Pin, python: str | None) -> tuple[str, str]:
    tags = wanted.tags(platform.machine())
    names = [f"python{tag[2]}.{tag[3:]}" for tag in tags]
    for candidate in [python] if python else [sys.executable, *names]:
        executable = shutil.which(candidate)
        if executable is None:
            continue
        code = "import sys; print('cp%d%d' % sys.version_info[:2] if sys.implementation.name == 'cpython' else 'other')"
        done = subprocess.run([executable, "-I", "-c", code], capture_output=True, text=True, check=False)
        if done.stdout.strip() in tags:
            return str(Path(executable).absolute()), done.stdout.strip()
    named = f"{python} is not one of them" if python else "neither this interpreter nor one on PATH is one of them"
    raise ToolchainError(
        f"{wanted.name} {wanted.version} needs CPython {' or '.join(f'{tag[2]}.{tag[3:]}' for tag in tags) or 'on x86_64 or aarch64'}",
        why=named, help="install one of them and name it: --python python3.11",
    )  # fmt: skip


def _local(source: Path, wheels: Iterable[str]) -> Iterator[Path]:
    folder = source if source.is_dir() else source.parent
    for name in wheels:
        if not (folder / name).is_file():
            raise WheelMismatch(f"{folder} has no {name}", where=str(folder), help=f"needed: {', '.join(wheels)}")
        yield folder / name


def _fetch(wanted: Pin, wheels: dict[str, str], python: str, folder: Path, say: Callable[[str], None]) -> list[Path]:
    folder.mkdir()
    lines = [
        f"{package.name}=={package.version} --hash=sha256:{digest}"
        for package in wanted.packages
        for name, digest in wheels.items()
        if name in package.wheels
    ]
    (folder / "pins.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = [python, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--require-hashes"]
    command += ["--disable-pip-version-check", "--quiet", "-r", str(folder / "pins.txt"), "-d", str(folder)]
    say(f"fetching {wanted.download_mb} MB with pip: {' '.join(line.split()[0] for line in lines)}")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ToolchainError(
            f"pip could not fetch {wanted.name}",
            why=(done.stdout + done.stderr).strip()[-1500:],
            help=f"copy these files here and name their folder with --from: {', '.join(wheels)}",
        )
    return list(_local(folder, wheels))


def _verify(file: Path, expected: str) -> None:
    with file.open("rb") as stream:
        found = hashlib.sha256()
        for block in iter(lambda: stream.read(1 << 20), b""):
            found.update(block)
    if found.hexdigest() != expected:
        raise WheelMismatch(
            f"{file.name} is not the pinned file", where=str(file), why=f"its SHA-256 is {found.hexdigest()}, pinned is {expected}"
        )


def _unpack(files: Iterable[Path], target: Path) -> None:
    target.mkdir(parents=True)
    for file in files:
        with zipfile.ZipFile(file) as archive:
            for member in archive.infolist():
                path = Path(archive.extract(member, target))  # extract() drops `..` and leading slashes
                mode = member.external_attr >> 16
                if path.is_file():
                    path.chmod(0o755 if mode & 0o111 or _is_program(path) else 0o644)


def _is_program(path: Path) -> bool:
    if path.suffix:
        return False
    with path.open("rb") as stream:
        return stream.read(4) == b"\x7fELF"
