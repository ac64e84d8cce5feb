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
    groups = _groups(leaves)
    total = GAP + sum(group.room + GAP for group in groups)
    libc = _libc()
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
    region = libc.mmap(None, total, _NO_ACCESS, flags, -1, 0)
    if region in (None, ctypes.c_void_p(-1).value):
        yield list(values)  # no address space: the bounds of copies are checked all the same
        return
    empty = {buffer.address for buffer in leaves if buffer.name == fresh}
    at = region + GAP
    for group in groups:
        libc.mprotect(at, group.room, _READ_WRITE)
        group.moved = at + group.room - group.bytes
        if group.begin in empty:
            group.moved -= group.moved % 512
        else:
            ctypes.memmove(group.moved, group.begin, group.bytes)
        at += group.room + GAP
    try:
        yield [_moved(value, groups) for value in values]
    finally:
        for group in groups:
            if group.begin not in empty and libc.memcmp(group.begin, group.moved, group.bytes):
                ctypes.memmove(group.begin, group.moved, group.bytes)
        libc.munmap(region, total)


def _moved(value: Any, groups: Sequence[_Group]) -> Any:
    if not isinstance(value, GmBuffer):
        return value
    if value.members:
        return GmBuffer.tensor_list([_moved(member, groups) for member in value.members], value.name)
    if value.bytes == 0:
        return value
    group = next(group for group in groups if group.begin <= value.address < group.end)
    return dataclasses.replace(value, address=value.address - group.begin + group.moved, guarded=True)
