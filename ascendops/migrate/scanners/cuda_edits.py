"""The edits that turn a call of the CUDA runtime into the call of AscendCL, where both do the same with the same arguments.

A row of the fact table says how a call changes, by its number of arguments: text to insert after argument `0`, `1`, ..., with `{2}` for the text of
argument 2; `(` inserts into empty parentheses; `cast` puts (void **) before the first argument. A row without this is not renamed by itself.
"""

from __future__ import annotations

import re

from ascendops.migrate.facts.tables import Fact
from ascendops.migrate.model import Edit
from ascendops.migrate.scanners.sink import Sink

_CAST = "(void **)"
_PLACE = re.compile(r"&?[A-Za-z_][\w.\[\]:]*(?:->[\w.\[\]]+)*")
"""What a cast may stand before: a variable, an element or a member, with or without `&`."""
_SIZES = re.compile(r"\bsizeof\s*\([^()]*\)|\.(?:size|numel|nbytes)\(\)")
_ONCE = re.compile(r"\+\+|--|=|[\w\]]\s*\(|[^\w\s.:*+/%&|()\[\]>-]")
"""What must not run twice: assignments and calls; sizeof and sizes of containers may."""
_HEADERS = ("cuda_runtime.h", "cuda_runtime_api.h")


def of_header(match: re.Match[str], fact: Fact, sink: Sink) -> tuple[Edit, ...]:
    """The edit of an include of the runtime's header; `match[1]` is the header."""
    if match[1] not in _HEADERS:
        return ()
    line = sink.source.line_at(match.start(1))
    edit = sink.edit(line, sink.source.column_at(match.start(1)), match[1], fact.target)
    return (edit,) if edit else ()


def of_name(masked: str, match: re.Match[str], fact: Fact, sink: Sink) -> tuple[Edit, ...]:
    """The edits of one use of a runtime name; none where the rename is not certain."""
    if fact.call is None or not re.fullmatch(r"\w+", fact.target):
        return ()
    line = sink.source.line_at(match.start())
    name = sink.edit(line, sink.source.column_at(match.start()), match[0], fact.target)
    if name is None:
        return ()
    if not fact.call:
        return (name,)
    spans = _arguments(masked, match.end())
    change = fact.call.get(str(len(spans))) if spans is not None else None
    if spans is None or change is None or sink.source.line_at(spans[-1][1] if spans else match.end()) != line:
        return ()
    texts = [sink.source.text[start:end].strip() for start, end in spans]
    inserts = _inserts(change, texts, spans, masked.find("(", match.end()) + 1)
    if inserts is None:
        return ()
    return (name, *(Edit(column, column, text) for place, text in inserts for column in [sink.source.column_at(place)]))


def _inserts(change: dict[str, str], texts: list[str], spans: list[tuple[int, int]], opened: int) -> list[tuple[int, str]] | None:
    """(offset, text) of each insertion; None where one is not certain."""
    found = []
    for where, text in change.items():
        if where == "(":
            found.append((opened, text))
        elif where == "cast":
            if texts[0].startswith("(void"):
                continue
            if not _PLACE.fullmatch(texts[0]):
                return None
            found.append((spans[0][0], _CAST))
        else:
            used = [int(number) for number in re.findall(r"\{(\d)\}", text)]
            if any(_ONCE.search(_SIZES.sub("n", texts[i])) for i in used):
                return None
            found.append((spans[int(where)][1], text.format(*texts)))
    return found


def _arguments(masked: str, start: int) -> list[tuple[int, int]] | None:
    """The offsets of the arguments of the call whose name ends at `start`, without blanks around; None if it is no call or one with templates."""
    opened = re.compile(r"\s*\(").match(masked, start)
    if opened is None:
        return None
    depth, begin, spans = 1, opened.end(), []
    for at in range(opened.end(), len(masked)):
        char = masked[at]
        if char in "<;{":
            return None
        depth += (char in "([") - (char in ")]")
        if depth == 0 or (depth == 1 and char == ","):
            spans.append(_trimmed(masked, begin, at))
            begin = at + 1
        if depth == 0:
            return [] if len(spans) == 1 and spans[0][0] == spans[0][1] else spans
    return None


def _trimmed(masked: str, start: int, end: int) -> tuple[int, int]:
    text = masked[start:end]
    return start + len(text) - len(text.lstrip()), end - len(text) + len(text.rstrip()) if text.strip() else start
