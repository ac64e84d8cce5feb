"""Global-memory buffers of a launch between unreadable pages, so that a pointer of the kernel that leaves one faults at once."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import mmap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ascendops.twin.arguments import GmBuffer

LIMIT = 16 << 20  # bytes of all buffers together; larger launches are not copied between guards, which would cost more than the check
GAP = 128 << 10  # unreadable bytes between two buffers; half belongs to each (kGuard of runtime/signals.cpp)
TILING = "tiling"  # name of the buffer with tiling data
_PAGE = mmap.PAGESIZE
_NO_ACCESS, _READ_WRITE = 0, mmap.PROT_READ | mmap.PROT_WRITE


@functools.lru_cache(maxsize=1)
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    libc.memcmp.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
    return libc


@dataclasses.dataclass
class _Group:
    """Buffers that share memory (views of one tensor, an output in place of an input): one range, copied once."""

    begin: int
    end: int
    moved: int = 0  # its address between the guards

    @property
    def bytes(self) -> int:
        return self.end - self.begin

    @property
    def room(self) -> int:
        """Its bytes in whole pages."""
        return -(-self.bytes // _PAGE) * _PAGE


def _leaves(values: Sequence[Any]) -> Iterator[GmBuffer]:
    for value in values:
        if isinstance(value, GmBuffer) and value.members:
            yield from _leaves(value.members)
        elif isinstance(value, GmBuffer) and value.bytes > 0:
            yield value


def _groups(buffers: Sequence[GmBuffer]) -> list[_Group]:
    groups: list[_Group] = []
    for buffer in sorted(buffers, key=lambda b: b.address):
        if groups and buffer.address < groups[-1].end:
            groups[-1].end = max(groups[-1].end, buffer.address + buffer.bytes)
        else:
            # a struct of tiling data may end in padding that op_host did not write
            size = (buffer.bytes + 7) // 8 * 8 if buffer.name == TILING else buffer.bytes
            groups.append(_Group(buffer.address, buffer.address + size))
    return groups


class _Region:
    """Reserved address space: rooms of readable and writable pages, with GAP unreadable bytes before, between and behind them."""

    def __init__(self, rooms: tuple[int, ...]) -> None:
        self.rooms = rooms
        self._total = GAP + sum(room + GAP for room in rooms)
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
        self._address = _libc().mmap(None, self._total, _NO_ACCESS, flags, -1, 0)
        self.valid = self._address not in (None, ctypes.c_void_p(-1).value)
        self.ends: list[int] = []  # addresses behind the rooms
        at = self._address + GAP if self.valid else 0
        for room in rooms if self.valid else ():
            _libc().mprotect(at, room, _READ_WRITE)
            self.ends.append(at + room)
            at += room + GAP

    def close(self) -> None:
        if self.valid:
            _libc().munmap(self._address, self._total)


_spare: list[_Region] = []  # at most one, of the last launch: the next one has mostly the same buffers, and these pages exist already


def _region(rooms: tuple[int, ...]) -> _Region:
    try:
        region = _spare.pop()
    except IndexError:
        return _Region(rooms)
    if region.rooms == rooms:
        return region
    region.close()
    return _Region(rooms)


def _give_back(region: _Region) -> None:
    if _spare or not region.valid:
        region.close()
    else:
        _spare.append(region)


@contextmanager
def guarded(values: Sequence[Any], *, fresh: str = "") -> Iterator[list[Any]]:
    """The arguments of a launch with every buffer copied to the end of its own pages, with unreadable pages on both sides.

    What the kernel changes is copied back at the end. Buffers that overlap stay overlapping. Above LIMIT bytes the arguments are
    passed on as they are.

    Args:
        values: GmBuffers and whatever else a kernel takes.
        fresh: Name of the buffer without contents (the workspace), which is not copied and starts at a multiple of 512.
    """
    leaves = list(_leaves(values))
    if not leaves or sum(buffer.bytes for buffer in leaves if buffer.name != fresh) > LIMIT:
        yield list(values)
        return
    groups, empty = _groups(leaves), {buffer.address for buffer in leaves if buffer.name == fresh}
    copied, blank = ([g for g in groups if (g.begin in empty) == is_blank] for is_blank in (False, True))
    region, new = _region(tuple(group.room for group in copied)), _Region(tuple(group.room for group in blank))
    try:
        if not (region.valid and new.valid):
            yield list(values)  # no address space: the bounds of copies are checked all the same
            return
        for group, end in zip(copied, region.ends, strict=True):
            group.moved = end - group.bytes
            ctypes.memmove(group.moved, group.begin, group.bytes)
        for group, end in zip(blank, new.ends, strict=True):
            group.moved = (end - group.bytes) // 512 * 512
        try:
            yield [_moved(value, groups) for value in values]
        finally:
            for group in copied:
                if _libc().memcmp(group.begin, group.moved, group.bytes):
                    ctypes.memmove(group.begin, group.moved, group.bytes)
    finally:
        _give_back(region)
        new.close()


def _moved(value: Any, groups: Sequence[_Group]) -> Any:
    if not isinstance(value, GmBuffer):
        return value
    if value.members:
        return GmBuffer.tensor_list([_moved(member, groups) for member in value.members], value.name)
    if value.bytes == 0:
        return value
    group = next(group for group in groups if group.begin <= value.address < group.end)
    return dataclasses.replace(value, address=value.address - group.begin + group.moved, guarded=True)
