"""What the twin's kernel-side headers support on each SoC, read from the headers themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

_FUNCTION = re.compile(r"^TWIN_API\s[^;{]*?\b([A-Z]\w*)\s*\(", re.MULTILINE)
_TYPE = re.compile(r"^(?:class|struct|enum class) ([A-Z]\w*)\s*(?:final\s*)?(?::[^{;]*)?\{", re.MULTILINE)
_MACRO = re.compile(r"^#\s*define ((?!TWIN_|ASCENDC_TWIN_|DT_|FORMAT_|_)[A-Z][A-Z0-9_]+)\b(?!_H_)", re.MULTILINE)
_SPACE = re.compile(r"^namespace AscendC \{(.*?)^\}  // namespace AscendC", re.MULTILINE | re.DOTALL)
_MAKER = re.compile(r"^#define (TWIN_[A-Z_]+)\((?P<fixed>[^)]*)\)(?P<body>(?:[^\n]*\\\n)*[^\n]*)", re.MULTILINE)
_MADE = re.compile(r"^(TWIN_[A-Z_]+)\((?P<args>[A-Z][a-z]\w*(?:,(?:[^()]|\([^()]*\))*)?)\)", re.MULTILINE)
_REQUIRED = re.compile(r'TWIN_(?:REQUIRE|RUN)_TYPE\("(\w+)", \w+, ((?:[^()]|\([^()]*\))*)\);')
_WRITTEN = re.compile(r"TWIN_REQUIRE_TYPE\(#API, \w+, ((?!__VA_ARGS__)(?:[^()]|\([^()]*\))*)\)")
_LIST = re.compile(r"^#define (TWIN_\w+) ((?:\w+, )+\w+)$", re.MULTILINE)
_ALIAS = re.compile(r"^#define (TWIN_\w+)\(API, T\) TWIN_REQUIRE_TYPE\(API, T, ([^()]*)\)", re.MULTILINE)
_REFUSED = re.compile(r'(?:TWIN_NOT_ON_310P(?:_V)?|TWIN_A2_ONLY)\("(\w+)"')
_ONLY_310P = re.compile(r'TWIN_ONLY_ON_310P\("(\w+)"')
_A2 = re.compile(r"TWIN_A2\((\w+)\)")
_ORDER = ("half", "bfloat16_t", "float", "double", "int4b_t", "int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t", "bool")


@dataclass
class Api:
    """One function: the element types that it takes on Ascend 910B and 910_93, and on 310P; none where they are not restricted."""

    name: str
    a2: set[str] = field(default_factory=set)
    types_310p: set[str] = field(default_factory=set)
    on_a2: bool = True
    on_310p: bool = True

    def add(self, listed: str) -> None:
        """Adds the types of one TWIN_REQUIRE_TYPE list."""
        only_a2 = set(_A2.findall(listed)) | {"bfloat16_t"}
        types = set(re.findall(r"\w+", _A2.sub(r"\1", listed)))
        self.a2 |= types
        self.types_310p |= types - only_a2

    def cells(self) -> tuple[str, str]:
        """Text for Ascend 910B and 910_93, and for Ascend 310P."""
        return _listed(self.a2) if self.on_a2 else "not supported", _listed(self.types_310p) if self.on_310p else "not supported"


@dataclass
class Header:
    """One header: its title, its functions, and the other names that it defines."""

    name: str
    title: str
    apis: dict[str, Api]
    others: list[str]


def headers(folder: Path) -> list[Header]:
    """Every header with kernel-side names, by file name."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.h"))}
    everything = "\n".join(texts.values())
    lists, aliases = dict(_LIST.findall(everything)), dict(_ALIAS.findall(everything))
    found = [_header(path.relative_to(folder).as_posix(), _expanded(text, lists, aliases)) for path, text in texts.items()]
    return [header for header in found if header.apis or header.others]


def page(folder: Path, note: str) -> str:
    """docs/ascendc-apis.md."""
    parts = [
        f"# Ascend C names that the CPU twin implements\n\n{note}\n"
        "`yes`: the function takes every element type that the documents give it, or has none. Methods of a type are not listed. Any other\n"
        "name is a compile error that names it and its page in the documents. Ascend 950 is not supported: its kernels use another API\n"
        "(registers of vectors), and a build for it stops with an error.\n"
    ]
    for header in headers(folder):
        parts.append(f"## {header.name}\n\n{header.title}\n")
        if header.apis:
            rows = ["| function | Ascend 910B, 910_93 | Ascend 310P | Ascend 950 |", "|---|---|---|---|"]
            rows += [f"| `{api.name}` | {' | '.join(api.cells())} | not supported |" for _, api in sorted(header.apis.items())]
            parts.append("\n".join(rows) + "\n")
        if header.others:
            parts.append("Types and macros: " + ", ".join(f"`{name}`" for name in header.others) + "\n")
    return "\n".join(parts)


def _header(name: str, text: str) -> Header:
    kernel_side = "\n".join(_SPACE.findall(text))
    apis = {found: Api(found) for found in _FUNCTION.findall(kernel_side)}
    for made, listed, refused in _made(text, kernel_side):
        api = apis.setdefault(made, Api(made))
        api.add(listed)
        api.on_310p = api.on_310p and not refused
    for found, listed in _REQUIRED.findall(kernel_side):
        apis.setdefault(found, Api(found)).add(listed)
    for found in _REFUSED.findall(kernel_side):
        if found in apis:
            apis[found].on_310p = False
    for found in _ONLY_310P.findall(kernel_side):
        apis[found].on_a2 = False
    others = {*_TYPE.findall(kernel_side), *_MACRO.findall(text)}
    return Header(name, text.splitlines()[0].removeprefix("//").strip(), apis, sorted(others - set(apis)))


def _expanded(text: str, lists: Mapping[str, str], aliases: Mapping[str, str]) -> str:
    """The text with macros that stand for a list of types, or for the check of one, replaced by it."""
    for name, listed in lists.items():
        text = re.sub(rf"(?<!#define )\b{name}\b", listed, text)
    for name, listed in aliases.items():
        text = re.sub(rf"(?<!#define )\b{name}\(([^,()]+), (\w+)\)", rf"TWIN_REQUIRE_TYPE(\1, \2, {listed})", text)
    return text


def _made(text: str, kernel_side: str) -> Iterator[tuple[str, str, bool]]:
    """Functions that a macro of the header makes: name, list of types, and whether Ascend 310P lacks them."""
    makers = {match[1]: match for match in _MAKER.finditer(text)}
    for use in _MADE.finditer(kernel_side):
        maker = makers.get(use[1])
        args = _split(use["args"])
        body = maker["body"] if maker else ""
        written = _WRITTEN.search(body)
        fixed = len(_split(maker["fixed"])) - 1 if maker and "..." in maker["fixed"] else len(args)
        listed = written[1] if written else ", ".join(args[fixed:]) if any(word in body for word in ("TWIN_REQUIRE_TYPE", "_IF(", "_MASKED(")) else ""
        yield args[0], listed, "TWIN_NOT_ON_310P" in f"{body} {use['args']}"


def _split(text: str) -> list[str]:
    return [part.strip() for part in re.split(r",(?![^()]*\))", text) if part.strip()]


def _listed(types: set[str]) -> str:
    known = [name for name in _ORDER if name in types]
    return ", ".join(known + sorted(types - set(known))) or "yes"
