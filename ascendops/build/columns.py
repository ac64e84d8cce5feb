"""The kernel libraries of an operator's dtype columns, compiled when they are needed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import overload

from ascendops.toolchain.diagnose import Origin
from ascendops.twin import compilation as cc


class KernelColumns(Sequence[Path]):
    """Kernel library by dtype column; reading one compiles it unless it is in the cache.

    A project from elsewhere may declare dozens of columns of which a caller uses two, and each is a whole compilation.
    """

    def __init__(self, sources: Sequence[cc.KernelSource], origin: Origin | None) -> None:
        self._sources = sources
        self._origin = origin
        self._made: dict[int, Path] = {}

    def __len__(self) -> int:
        return len(self._sources)

    @overload
    def __getitem__(self, column: int) -> Path: ...
    @overload
    def __getitem__(self, column: slice) -> list[Path]: ...
    def __getitem__(self, column: int | slice) -> Path | list[Path]:
        if isinstance(column, slice):
            return [self[index] for index in range(*column.indices(len(self)))]
        self._compile(range(len(self))[column])
        return self._made[range(len(self))[column]]

    def prepare(self, columns: Iterable[int], jobs: int) -> int:
        """Compiles several columns at once; returns how many the cache did not have."""
        with ThreadPoolExecutor(max_workers=jobs) as pool:
            return sum(pool.map(self._compile, columns))

    def _compile(self, column: int) -> int:
        if column in self._made:
            return 0
        entry = cc.compile_kernel(self._sources[column], self._origin)
        self._made[column] = entry.path / "kernel.so"
        return int(not entry.hit)

    def linked(self, runtime: Path) -> list[Path]:
        """The library of every column, linked against another build of the twin's runtime; what is compiled already is only linked."""
        return [cc.compile_kernel(source, self._origin, runtime).path / "kernel.so" for source in self._sources]
