"""Source lines of addresses in compiled libraries (addr2line)."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True)
class Frame:
    """A place in compiled code. `file` is empty and `line` 0 where the debug information does not say."""

    function: str
    file: str
    line: int

    def __str__(self) -> str:
        place = f" ({os.path.basename(self.file)}:{self.line})" if self.file else ""
        return f"{self.function}{place}"


def demangle(symbol: str) -> str:
    """A C++ symbol as it is written in source; unchanged where c++filt is not installed."""
    tool = shutil.which("c++filt")
    if tool is None:
        return symbol
    return subprocess.run([tool, symbol], capture_output=True, text=True, check=False, timeout=60).stdout.strip() or symbol


@lru_cache(maxsize=256)
def locate(library: str, offsets: tuple[int, ...]) -> tuple[Frame, ...]:
    """The frames at byte offsets of a library, inlined functions included (innermost first).

    Empty when addr2line is not installed.
    """
    tool = shutil.which("addr2line")
    if tool is None or not offsets:
        return ()
    command = [tool, "-f", "-i", "-C", "-e", library, *[hex(offset) for offset in offsets]]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return tuple(_frames(done.stdout.splitlines()))


def _frames(lines: Sequence[str]) -> list[Frame]:
    frames = []
    for function, place in zip(lines[::2], lines[1::2], strict=False):
        file, _, line = place.split(" (")[0].rpartition(":")
        known = bool(file) and file != "??" and line.isdigit()
        frames.append(Frame(function.split("(")[0], file if known else "", int(line) if known else 0))
    return frames
