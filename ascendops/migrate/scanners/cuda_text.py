"""CUDA C++ as text: comments and strings blanked, brackets matched, kernels and device functions found.

A tokeniser, not a parser: CUDA code is rarely parseable without its headers and macros, and a kernel inside a macro or
between the halves of an #if must be found too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r"//(?:[^\n\\]|\\.|\\\n)*|/\*.*?(?:\*/|\Z)|R\"(?P<tag>[^()\\\s]{0,16})\((?P<raw>.*?)\)(?P=tag)\"|\"(?:[^\"\\\n]|\\.)*\"|(?<![0-9a-fA-F])'(?:[^'\\\n]|\\.)+'",
    re.DOTALL,
)


@dataclass(frozen=True)
class Function:
    """A kernel or device function.

    Attributes:
        kind: `__global__` or `__device__`.
        start: Offset of the keyword.
        name_at: Offset of the name.
        body: Start and end of the braces; equal offsets for a declaration.
    """

    kind: str
    name: str
    start: int
    name_at: int
    body: tuple[int, int]


def mask(text: str) -> str:
    """The text with comments and the inside of strings as spaces; offsets and lines stay. Includes keep their paths."""

    def blank(match: re.Match[str]) -> str:
        found = match[0]
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if found[0] == '"' and "#" in line and "include" in line:
            return found
        inner = re.sub(r"[^\n]", " ", found)
        return f"{found[0]}{inner[1:-1]}{found[-1]}" if found[0] in "\"'" else inner

    return _TOKEN.sub(blank, text)


def raw_strings(text: str) -> list[tuple[int, str]]:
    """(offset, content) of the raw string literals that hold CUDA code, as NVRTC users write it."""
    return [
        (m.start("raw"), m["raw"])
        for m in _TOKEN.finditer(text)
        if m["raw"] and ("__global__" in m["raw"] or "threadIdx" in m["raw"])
    ]


def closing(text: str, start: int) -> int:
    """The offset after the bracket that closes the one at `start`; the end of the text if none does."""
    opening, depth = text[start], 0
    close = {"(": ")", "{": "}", "<": ">", "[": "]"}[opening]
    for match in re.compile(re.escape(opening) + "|" + re.escape(close)).finditer(text, start):
        depth += 1 if match[0] == opening else -1
        if depth == 0:
            return match.end()
    return len(text)


_HEAD = re.compile(
    r"\s*(?:\\\n\s*)?(?:(?P<skip>__launch_bounds__|__attribute__|alignas|__declspec|__cluster_dims__|__maxnreg__)\s*(?=\()|(?P<word>[A-Za-z_~][\w:]*)|(?P<angle><)|(?P<paren>\()|(?P<mark>[&*]|##|\\\n)|(?P<end>[;{}=\])>,\[]))"
)


def functions(masked: str) -> list[Function]:
    """Every function marked `__global__` or `__device__`, with its body."""
    found = []
    for match in re.finditer(r"\b__(?:global|device)__\b", masked):
        kind, at = match[0], match.end()
        line = masked[masked.rfind("\n", 0, at) + 1 : masked.find("\n", at) if "\n" in masked[at:] else len(masked)]
        if re.match(r"\s*#", line) and line.rstrip().endswith(kind):
            continue  # a macro that stands for the keyword
        word, word_at = "", 0
        for _ in range(64):
            head = _HEAD.match(masked, at)
            if head is None or head["end"]:
                break
            if head["skip"]:
                at = closing(masked, masked.index("(", head.end()))
            elif head["angle"]:
                at = closing(masked, head.start("angle"))
            elif head["paren"]:
                found.append(Function(kind, word, match.start(), word_at, _body(masked, head.start("paren"))))
                break
            else:
                if head["word"]:
                    word, word_at = head["word"], head.start("word")
                at = head.end()
    return [function for function in found if function.name and function.name not in ("__global__", "__host__")]


def _body(masked: str, paren: int) -> tuple[int, int]:
    after = closing(masked, paren)
    match = re.compile(r"[;{]").search(masked, after)
    if match is None or match[0] == ";":
        return after, after
    return match.start(), closing(masked, match.start())
