"""Findings of the CPU twin, mapped from code addresses to lines of the user's kernel."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ascendops import resources
from ascendops.errors import TwinCheckError
from ascendops.twin.findings import FINDINGS

Address = tuple[str, int]  # library, offset in it
_CALLERS = 4  # lines of callers that are told
_HEADERS = frozenset((".h", ".hpp", ".hh", ".hxx", ".inc", ".cuh"))
_PLACE = re.compile(r"\{at\[(-?\d+), (\d+)\]\}")


@dataclass(frozen=True)
class Frame:
    """One line of source that an address belongs to; `function` as the compiler names it."""

    function: str
    file: str
    line: int


@dataclass(frozen=True)
class Diagnostic:
    """One finding of the CPU twin.

    Attributes:
        id: Id in the catalogue (`ascendops explain ID`).
        severity: `error`; `warning` for what is suspicious but may be right; `note` for what is worth knowing.
        message: What happened, with the numbers.
        file: The user's source, or None when it could not be found.
        line: Line of it, 0 when unknown.
        block: The first block it happened on.
        sub_block: Vector core inside that block.
        pipe: Pipe of the instruction: `S`, `V`, `MTE2`, `MTE3`, ...
        api: The API that was called.
        count: How often it happened, over all blocks.
        blocks: The blocks it happened on.
        stack: The user's lines of the call stack, innermost first.
        ended: Whether the block ended there: a crash or a hang.
        callers: Where `line` is in a header, the lines around it in other files, one of each, innermost first.
        other: The line of the other access, of a conflict between two.
    """

    id: str
    severity: str
    message: str
    file: str | None
    line: int
    block: int
    sub_block: int
    pipe: str
    api: str = ""
    count: int = 1
    blocks: tuple[int, ...] = ()
    stack: tuple[Frame, ...] = ()
    ended: bool = False
    callers: tuple[Frame, ...] = ()
    other: Frame | None = None

    def __str__(self) -> str:
        return self.text(source=False)

    def text(self, *, source: bool = True) -> str:
        """For a terminal: severity, id, message, file and line, and with `source` the line itself."""
        times = f", {self.count} times on {_blocks(self.blocks)}" if self.count > 1 else ""
        lines = [
            f"{self.severity}[{self.id}]: {self.message}",
            f"  --> {self.where}{called_from(self.callers)} (block {self.block}, pipe {self.pipe}{times})",
        ]
        quoted = source_line(self.file, self.line) if source else None
        if quoted is not None:
            lines += [f"   {self.line:>5} | {quoted}"]
        for frame, what in (*((frame, "the call") for frame in self.callers[:_CALLERS]), (self.other, "the other access")):
            if frame is not None and source and (quoted := source_line(frame.file, frame.line)) is not None:
                lines += [f"  --> {frame.file}:{frame.line} ({what})", f"   {frame.line:>5} | {quoted}"]
        if self.ended:
            lines += [f"   in {frame.function} at {frame.file}:{frame.line}" for frame in self.stack[:8]]
        return "\n".join(lines)

    @property
    def where(self) -> str:
        """`file:line`, or a sentence when it is unknown."""
        return f"{self.file}:{self.line}" if self.file else "an unknown line of the kernel"

    def to_dict(self) -> dict[str, Any]:
        """The finding as JSON-ready fields."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in {"stack", "blocks", "other", "callers"}}
        other = vars(self.other) if self.other else None
        stack, callers = ([vars(frame) for frame in frames] for frames in (self.stack, self.callers))
        return {**plain, "blocks": list(self.blocks), "stack": stack, "other": other, "callers": callers}


def _blocks(blocks: Sequence[int]) -> str:
    if len(blocks) == 1:
        return f"block {blocks[0]}"
    shown = ", ".join(map(str, blocks[:8]))
    return f"{len(blocks)} blocks ({shown}{', ...' if len(blocks) > 8 else ''})"


def source_line(file: str | None, line: int) -> str | None:
    """A line of a source file; None where there is none."""
    if file is None or line < 1:
        return None
    try:
        with Path(file).open(errors="replace") as source:
            for number, text in enumerate(source, 1):
                if number == line:
                    return text.rstrip()
    except OSError:
        return None
    return None


@functools.lru_cache(maxsize=1)
def _addr2line() -> str | None:
    return shutil.which("addr2line") or shutil.which("llvm-addr2line")


_frames: dict[tuple[str, int, int], tuple[Frame, ...]] = {}


def frames(addresses: Iterable[Address]) -> dict[Address, tuple[Frame, ...]]:
    """The source lines of code addresses, innermost inlined call first; none where there is no debug information."""
    wanted = set(addresses)
    by_library: dict[str, list[int]] = {}
    stamps = {library: _stamp(library) for library, _ in wanted}
    for library, offset in wanted:
        if (library, stamps[library], offset) not in _frames:
            by_library.setdefault(library, []).append(offset)
    for library, offsets in by_library.items():
        for offset, found in zip(offsets, _resolve(library, offsets), strict=True):
            _frames[library, stamps[library], offset] = found
    return {(library, offset): _frames[library, stamps[library], offset] for library, offset in wanted}


def _stamp(library: str) -> int:
    try:
        return Path(library).stat().st_mtime_ns
    except OSError:
        return 0


def _resolve(library: str, offsets: Sequence[int]) -> list[tuple[Frame, ...]]:
    tool = _addr2line()
    if tool is None or not _stamp(library):
        return [()] * len(offsets)
    command = [tool, "-a", "-f", "-C", "-i", "-e", library]
    done = subprocess.run(
        command, input="\n".join(hex(offset) for offset in offsets), capture_output=True, text=True, check=False, timeout=60
    )  # fmt: skip
    groups: list[list[str]] = []
    for line in done.stdout.splitlines():
        if re.fullmatch(r"0x[0-9a-fA-F]+", line):
            groups.append([])
        elif groups:
            groups[-1].append(line)
    if len(groups) != len(offsets):
        return [()] * len(offsets)
    return [tuple(_parse(group)) for group in groups]


def _parse(lines: Sequence[str]) -> Iterable[Frame]:
    for function, place in zip(lines[::2], lines[1::2], strict=False):
        file, _, rest = place.rpartition(":")
        number = re.match(r"\d+", rest)
        if file and file != "??" and number and int(number[0]) > 0:
            yield Frame(function, file, int(number[0]))


@functools.lru_cache(maxsize=1)
def _own_folders() -> tuple[str, ...]:
    return tuple(str(resources.twin(folder).resolve()) for folder in ("include", "runtime"))


def is_user(frame: Frame) -> bool:
    """Whether a frame is a line of the user's: of a file that is here, and neither the twin's nor the compiler's."""
    return _is_user_file(frame.file)


@functools.lru_cache(maxsize=1024)
def _is_user_file(file: str) -> bool:
    path = Path(file)
    if not path.is_absolute() or path.name == "unit.cpp" or not path.is_file():
        return False
    return not str(path.resolve()).startswith((*_own_folders(), "/usr/include", "/usr/lib"))


def user_frame(found: Sequence[Frame]) -> Frame | None:
    """The innermost line that is the user's; else None."""
    return next((frame for frame in found if is_user(frame)), None)


def called_from(callers: Sequence[Frame]) -> str:
    """`, called from split.h:40, softmax.cpp:88`, or nothing."""
    return f", called from {', '.join(f'{Path(one.file).name}:{one.line}' for one in callers[:_CALLERS])}" if callers else ""


def found_text(entry: dict[str, Any]) -> str:
    """One line for a finding as plain data: its id, its line, the line that called into a shared header, its message."""
    callers = [Frame(**caller) for caller in entry.get("callers", ())]
    place = f" at {entry['file']}:{entry['line']}{called_from(callers)}" if entry.get("file") else ""
    return f"{entry['id']}{place}: {entry['message']}"


def callers_of(stack: Sequence[Frame]) -> tuple[Frame, ...]:
    """Of a stack whose innermost line is in a header: the innermost line in each other file, up to that of a source."""
    if not stack or Path(stack[0].file).suffix not in _HEADERS:
        return ()
    found: dict[str, Frame] = {}
    for frame in stack:
        found.setdefault(frame.file, frame)
        if Path(frame.file).suffix not in _HEADERS:
            break
    return tuple(found.values())[1:]


def _callers(finding: dict[str, Any]) -> list[Sequence[int]]:
    """The calls around a finding's address that are in the kernel's own library."""
    return [pc for pc in finding["callers"] if pc[0] == finding["pcs"][0][0]]


def diagnose(report: dict[str, Any]) -> tuple[Diagnostic, ...]:
    """The diagnostics of a launch report (the JSON of `twin_report`)."""
    modules: list[str] = report["modules"]
    addresses = {_address(pc, modules) for finding in report["findings"] for pc in (*finding["pcs"], *_callers(finding), finding["other"])}
    for finding in report["findings"]:
        addresses |= {_address((int(m), int(offset)), modules) for m, offset in _PLACE.findall(finding["message"])}
    found = frames(address for address in addresses if address is not None)
    return tuple(_diagnostic(finding, modules, found) for finding in report["findings"])


def _address(pc: Sequence[int], modules: Sequence[str]) -> Address | None:
    return (modules[pc[0]], pc[1]) if pc[0] >= 0 else None


def _diagnostic(finding: dict[str, Any], modules: Sequence[str], found: dict[Address, tuple[Frame, ...]]) -> Diagnostic:
    def place(match: re.Match[str]) -> str:
        address = _address((int(match[1]), int(match[2])), modules)
        frame = user_frame(found[address]) if address else None
        return f"{Path(frame.file).name}:{frame.line}" if frame else "an unknown line"

    stack = [frame for pc in (*finding["pcs"], *_callers(finding)) for frame in found.get(_address(pc, modules) or ("", 0), ())]
    own = [frame for frame in stack if is_user(frame)]
    top = own[0] if own else None
    other = _address(finding["other"], modules)
    entry = FINDINGS.get(finding["id"])
    return Diagnostic(
        id=finding["id"],
        severity=entry.severity if entry else "error",
        message=_PLACE.sub(place, finding["message"]),
        file=top.file if top else None,
        line=top.line if top else 0,
        block=finding["block"],
        sub_block=finding["sub_block"],
        pipe=finding["pipe"],
        api=finding["api"],
        count=finding["count"],
        blocks=tuple(finding["blocks"]),
        stack=tuple(own),
        ended=len(finding["pcs"]) > 1,
        callers=() if len(finding["pcs"]) > 1 else callers_of(own),
        other=user_frame(found.get(other, ())) if other else None,
    )


def raise_for_findings(name: str, diagnostics: Sequence[Diagnostic]) -> None:
    """Raises TwinCheckError when a finding is an error."""
    errors = tuple(d for d in diagnostics if d.severity == "error")
    if errors:
        first = errors[0]
        more = "" if len(errors) == 1 else f" and {len(errors) - 1} more"
        raise TwinCheckError(
            f"the kernel of {name} has a fault: {first.id}{more}",
            where=f"{first.file}:{first.line}" if first.file else name,
            why="\n".join(str(d) for d in errors[:5]),
            help=f"ascendops explain {first.id}",
            diagnostics=tuple(diagnostics),
        )
