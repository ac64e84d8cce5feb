"""Declarations at namespace scope of a C++ text, found without a compiler: enough to tell kernels from host code."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NOISE = re.compile(
    r'//(?:[^\n\\]|\\.)*|/\*.*?\*/|R"(?P<raw>[^(\s]*)\(.*?\)(?P=raw)"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Za-z_])\'(?:\\.|[^\'\\\n])*\'', re.DOTALL
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.MULTILINE)
_SCOPE = re.compile(r"^\s*(?:inline\s+)?(?:namespace\b(?P<name>[\w:\s]*)|extern)\s*$")
_AGGREGATE = re.compile(r"^\s*(?:template\s*<.*?>\s*)?(?:typedef\s+)?(?:class|struct|union|enum)\b[^()]*$", re.DOTALL)
_CLOSING = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True)
class Declaration:
    """One declaration: its place in the text, the text before its body, and the namespaces around it.

    Attributes:
        start: Offset of its first character.
        end: Offset behind it.
        header: What stands before the body, comments and strings blanked; everything for one without a body.
        scope: `a::b::` for a declaration in namespaces, else empty.
        function: It is a function (or a macro call) with a body.
    """

    start: int
    end: int
    header: str
    scope: str
    function: bool


def blanked(text: str) -> str:
    """The text with comments, strings and preprocessor lines replaced by spaces; offsets and lines stay."""

    def spaces(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match.group())

    return _DIRECTIVE.sub(spaces, _NOISE.sub(spaces, text))


def declarations(masked: str) -> list[Declaration]:
    """Declarations of a `blanked` text in order; empty if its brackets do not match (alternatives under #if)."""
    found: list[Declaration] = []
    return found if _walk(masked, 0, len(masked), "", found) else []


def _walk(masked: str, at: int, stop: int, scope: str, found: list[Declaration]) -> bool:
    while at < stop:
        if masked[at].isspace():
            at += 1
            continue
        end = _header_end(masked, at, stop)
        if end < 0:
            return False
        header = masked[at:end]
        if end >= stop or masked[end] == ";":
            if header.strip():
                found.append(Declaration(at, min(end + 1, stop), header, scope, False))
            at = end + 1
            continue
        close = _matching(masked, end, stop)
        if close < 0:
            return False
        inner = _SCOPE.match(header)
        if inner:
            name = "".join((inner["name"] or "").split())
            if not _walk(masked, end + 1, close, f"{scope}{name}::" if name else scope, found):
                return False
            at = close + 1
            continue
        function = not _AGGREGATE.match(header) and not header.rstrip().endswith("=")
        behind = close + 1 if function else _statement_end(masked, close + 1, stop)
        found.append(Declaration(at, behind, header, scope, function))
        at = behind
    return True


def _header_end(masked: str, at: int, stop: int) -> int:
    """Offset of the `{` of a body or the `;` of a declaration that starts at `at`, `stop` without one, -1 on a stray bracket."""
    while at < stop:
        letter = masked[at]
        if letter in "{;":
            return at
        if letter in "([":
            at = _matching(masked, at, stop)
            if at < 0:
                return -1
        elif letter in ")]}":
            return -1
        at += 1
    return stop


def _statement_end(masked: str, at: int, stop: int) -> int:
    end = masked.find(";", at, stop)
    return stop if end < 0 else end + 1


_BRACKET = re.compile(r"[()\[\]{}]")


def _matching(masked: str, at: int, stop: int) -> int:
    """Offset of the bracket that closes the one at `at`, -1 if there is none."""
    waiting: list[str] = []
    for match in _BRACKET.finditer(masked, at, stop):
        letter = match.group()
        if letter in _CLOSING:
            waiting.append(_CLOSING[letter])
        elif not waiting or waiting.pop() != letter:
            return -1
        elif not waiting:
            return match.start()
    return -1
