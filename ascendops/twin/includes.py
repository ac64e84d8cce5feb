"""Include folders that a project's sources need beyond its own: headers in neighbouring folders, and the toolkit's inner headers."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from ascendops import resources
from ascendops.toolchain import cache

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+/[^>\n]+)>)', re.MULTILINE)  # not <vector>
_HEADERS = frozenset({".h", ".hpp", ".hh"})
_SIBLING = re.compile(r"(?:\.\./)+(?P<op>\w+)/(?P<rest>.+)")
_INSIDE = Path("in/in/in")  # so deep that `../../X/header` stays inside
_LEVELS = 6  # folders above the project that are looked at, up to a repository's root
_PROJECT_LEVELS = 9  # folders above a source of a CMake project that keeps its sources in a tree
_DEPTH = 7
_MOST_FOLDERS = 5000
_SHARED = frozenset({"common", "include", "inc", "lib", "libs", "op_common", "op_host", "op_kernel", "shared", "util", "utils"})
_SHARED_ENDS = ("_common", "_utils")  # foreach/foreach_utils
_SKIPPED = frozenset({"build", "build_out", "node_modules", "__pycache__", "tests", "ut", "st"})
# Headers of op_host that kernels include as well, for the macros of a tiling structure or for nothing.
_HOST_SIDE = re.compile(r"register/\w+\.h|toolchain/slog\.h")
# Headers of the toolkit below its documented ones; everything they declare comes with kernel_operator.h or tiling_api.h here.
_TOOLKIT = re.compile(
    r"(?:lib|impl|interface|inner_interface|basic_api|adv_api|highlevel_api|kernel_tiling|include)/.+\.h"
    r"|kernel_(?:operator_\w+|\w+_intf|tensor\w*|tpipe\w*|utils\w*|common|macros|type|event|struct_\w+|tiling\w*)\.h"
    r"|(?:basic_api|adv_api|kernel_api)\.h"
    r"|tiling/\w+/\w+_tiling\w*\.h"  # of one high-level function
)

_TOOLKIT_FOLDERS = frozenset({"basic_api", "adv_api", "highlevel_api", "tikcpp"})


def kernel_folders(source: Path, own: Sequence[Path]) -> tuple[Path, ...]:
    """Further include folders for a kernel source whose own folders are `own`."""
    host = resources.twin("include") / "host"
    search = _Search([resources.twin("include")], own, "kernel_operator.h", [resources.twin("include") / "spare"], _HOST_SIDE, {"securec.h": str(host / "securec.h")})
    return search.folders([source])


def host_folders(sources: Sequence[Path], own: Sequence[Path]) -> tuple[Path, ...]:
    """Further include folders for the op_host sources of one project."""
    spares = [resources.twin("include") / "host" / "spare"]
    return _Search([resources.twin("include") / "host"], own, "tiling/tiling_api.h", spares).folders(sources)


@dataclass
class _Search:
    shipped: Sequence[Path]
    own: Sequence[Path]
    forward_to: str
    spares: Sequence[Path] = ()
    inner: re.Pattern[str] | None = None
    known: Mapping[str, str] = field(default_factory=dict)
    seen: set[Path] = field(default_factory=set)
    found: list[Path] = field(default_factory=list)
    forwarded: dict[str, str] = field(default_factory=dict)
    index: dict[str, list[Path]] | None = None
    below: dict[Path, dict[str, list[Path]]] = field(default_factory=dict)

    def folders(self, sources: Iterable[Path]) -> tuple[Path, ...]:
        for source in sources:
            self._scan(source)
        overlay = [forwarding_folder(self.forwarded)] if self.forwarded else []
        return (*self.found, *overlay)

    def _scan(self, path: Path) -> None:
        path = Path(os.path.normpath(path))
        if path in self.seen:
            return
        self.seen.add(path)
        for quoted, angled in _INCLUDE.findall(path.read_text(errors="replace")):
            self._resolve((quoted or angled).strip(), path.parent)

    def _resolve(self, name: str, folder: Path) -> None:
        if any((home / name).is_file() for home in self.shipped):
            return
        home = next((home for home in (folder, *self.own, *self.found) if (home / name).is_file()), None)
        if home is None and Path(name).suffix in _HEADERS:
            inner = _TOOLKIT.fullmatch(name) is not None
            home = None if inner and "/" in name else self._neighbour(name)
            if inner and home is not None and _TOOLKIT_FOLDERS.intersection(home.parts):
                home = None  # an example inside the toolkit's own repository
            sibling = self._sibling(name)
            if home is not None:
                self.found.append(home)
            elif sibling is not None:
                self.forwarded[name] = str(sibling)
                self._scan(sibling)
            elif any((spare / name).is_file() for spare in self.spares):
                self.found.append(next(spare for spare in self.spares if (spare / name).is_file()))
            elif name in self.known:
                self.forwarded[name] = self.known[name]
            elif inner or (self.inner is not None and self.inner.fullmatch(name)):
                self.forwarded[name] = self.forward_to
            elif (home := self._only_one(name)) is not None:
                self.found.append(home)
        if home is not None:
            self._scan(home / name)

    def _sibling(self, name: str) -> Path | None:
        """The header that `../OP/header` means where every operator's op_kernel is installed as OP: OP/op_kernel/header of this repository."""
        match = _SIBLING.fullmatch(name)
        if match is None:
            return None
        for level, above in enumerate(self.own[-1].parents):
            for inner in ("op_kernel", "op_host", ""):
                path = above / match["op"] / inner / match["rest"]
                if path.is_file():
                    return path
            if level == _LEVELS or (above / ".git").exists():
                break
        return None

    def _neighbour(self, name: str) -> Path | None:
        for level, above in enumerate(self.own[-1].parents):  # a path from the repository's root
            if "/" in name and not name.startswith(".") and (above / name).is_file():
                return above
            if level == _LEVELS or (above / ".git").exists():
                break
        if self.index is None:
            self.index = _index(self.own[-1])
        for path in self.index.get(Path(name).name, ()):
            if path.as_posix().endswith(f"/{name}"):
                return Path(path.as_posix().removesuffix(f"/{name}"))
        return None

    def _only_one(self, name: str) -> Path | None:
        """The folder of the header `name` where CMake says where it is: one above the source, else the only one below the nearest CMakeLists.txt that has any."""
        for level, above in enumerate(self.own[0].parents):
            if level == _PROJECT_LEVELS or above in (above.parent, Path.home()):
                break
            if (above / name).is_file():
                return above
            if (above / "CMakeLists.txt").is_file():
                if above not in self.below:
                    self.below[above] = _by_name((folder / file for folder, files in islice(_walk(above), _MOST_FOLDERS) for file in files), _HEADERS)
                homes = {Path(path.as_posix().removesuffix(f"/{name}")) for path in self.below[above].get(Path(name).name, ()) if path.as_posix().endswith(f"/{name}")}
                if homes:
                    return homes.pop() if len(homes) == 1 else None
            if (above / ".git").exists():
                break
        return None


def _index(root: Path) -> dict[str, list[Path]]:
    """Headers by file name in the shared folders around the project, nearest first."""
    return _by_name(shared_files(root, _HEADERS), _HEADERS)


def _by_name(paths: Iterable[Path], suffixes: Collection[str]) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for path in paths:
        if path.suffix in suffixes:
            found.setdefault(path.name, []).append(path)
    return found


def shared_files(root: Path, suffixes: Collection[str]) -> Iterator[Path]:
    """Files with one of the suffixes in the shared folders beside the project and beside the folders above it, nearest first."""
    budget = _MOST_FOLDERS
    for level, above in enumerate(root.parents):
        if level == _LEVELS or above in (above.parent, Path.home()):
            return
        for shared in sorted(path for path in above.iterdir() if path.is_dir() and (path.name in _SHARED or path.name.endswith(_SHARED_ENDS))):
            for folder, names in _walk(shared):
                budget -= 1
                yield from (folder / name for name in names if Path(name).suffix in suffixes)
                if budget == 0:
                    return
        if (above / ".git").exists():
            return


def _walk(start: Path) -> Iterator[tuple[Path, list[str]]]:
    for folder, below, files in os.walk(start):
        path = Path(folder)
        deep = len(path.relative_to(start).parts) >= _DEPTH
        below[:] = [] if deep else sorted(name for name in below if name not in _SKIPPED and not name.startswith("."))
        yield path, sorted(files)


def forwarding_folder(targets: Mapping[str, str]) -> Path:
    """An include folder in the cache where each header name includes its target; names may start with `../`."""
    wanted = sorted(targets.items())

    def make(stage: Path) -> list[Path]:
        for name, target in wanted:
            header = Path(os.path.normpath(stage / _INSIDE / name))
            header.parent.mkdir(parents=True, exist_ok=True)
            header.write_text(f'#pragma once\n#include "{target}"\n')
        (stage / _INSIDE).mkdir(parents=True, exist_ok=True)
        return []

    return cache.publish("forward", cache.digest(*(word for pair in wanted for word in pair)), make).path / _INSIDE
