"""Plants a fault into the twin's executions of this process: a skipped instruction, a short one, a lost wait, a core that does nothing."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from dataclasses import dataclass

KINDS = {"skip": 1, "short": 2, "lost_wait": 3, "dropped_core": 4}  # as in runtime/fault.h


@dataclass
class Planted:
    """A fault while it is planted; `hits` says how often it took effect, once it is taken out."""

    kind: str
    number: int
    hits: int = 0


@contextlib.contextmanager
def planted(kind: str, number: int) -> Iterator[Planted]:
    """Launches in the context have the fault.

    Args:
        kind: `skip` (an instruction does nothing), `short` (one element or repeat less), `lost_wait` (a wait for another pipe orders
            nothing) or `dropped_core`.
        number: Which instruction or wait of each core, from 1, or which core, from 0.
    """
    from ascendops.twin.loaded import runtime

    library = runtime()
    library.twin_fault.argtypes = [ctypes.c_int, ctypes.c_uint64]
    library.twin_fault_hits.restype = ctypes.c_uint64
    fault = Planted(kind, number)
    library.twin_fault(KINDS[kind], number)
    try:
        yield fault
    finally:
        fault.hits = int(library.twin_fault_hits())
        library.twin_fault(0, 0)
