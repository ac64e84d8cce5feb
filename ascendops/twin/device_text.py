"""The device part of a source that holds kernels and the host code that launches them.

Kernel-launch samples and .asc files mix both: `main`, PyTorch bindings and `kernel<<<blocks, l2, stream>>>(...)` stand
beside the kernels. Host functions and the includes they need are blanked, every line stays where it was, and the template
arguments of launches say which instances of a template kernel exist.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ascendops.twin.declarations import Declaration, blanked, declarations

_DEVICE = re.compile(r"\b__(?:aicore__|global__|simt_vf__|simd_vf__|simt_callee__|simd_callee__|ubuf__|vector__|cube__|mix__)")
_HOST = re.compile(
    r"<<<|\b(?:acl[A-Z]\w*|ACL\w*|aclrt\w*)\b|\b(?:c10_npu|torch|at|c10|py|pybind11|ge|gert|matmul_tiling|platform_ascendc)\s*::"
    r"|\bAscendC\s*::\s*(?:TensorShape\b|Get\w+(?:TmpSize|TilingInfo|FactorSize|ShapeInfo)\s*\(|\w+TilingFunc\s*\()|\bGet\w+(?:MaxMinTmpSize|MinTmpSize|MaxTmpSize)\s*\(|\.\s*(?:set_\w+|SaveToBuffer|GetDataSize)\s*\(|\b(?:TORCH_LIBRARY\w*|PYBIND11_MODULE|ICPU_RUN_KF|ICPU_SET_TILING_KEY|REG_\w+|CUSTOM_OP\w*|REGISTER_CUSTOM_OP\w*)\s*\("
    r"|\bstd\s*::\s*(?:vector|string|cout|cerr|map|unordered_map|unique_ptr|shared_ptr|[io]?fstream|[io]?stringstream|function|filesystem|chrono|thread|random_device|mt19937)\b"
    r"|\b(?:ReadFile|WriteFile|printf_s|fopen|malloc|free)\s*\("
)
_HOST_INCLUDE = re.compile(
    r'^[ \t]*#[ \t]*include[ \t]*[<"](?:acl/|aclnn|aclrtlaunch_|torch/|torch_npu/|ATen/|c10/|pybind11/|graph/|exe_graph/|register/|platform/|hccl/|experiment/|runtime/'
    r'|tiling/(?:tiling_api|platform/)|lib/(?!mat|hccl)|tikicpulib|data_utils\.h|opdev/|Python\.h|iostream|fstream|sstream|filesystem|thread|random|chrono|map>|unordered_map'
    r'|adv_api/\w+/\w*tiling)[^\n]*',
    re.MULTILINE,
)  # fmt: skip
# Headers that only host code has: a header of a kernel that needs one holds host code, too.
_HOST_HEADER = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"](?:acl/|aclnn|aclrtlaunch_|torch/|torch_npu/|ATen/|c10/|pybind11/|tiling/(?:tiling_api|platform/))', re.MULTILINE)
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(?P<name>\w+)\((?P<params>[\w, \t]*)\)(?P<body>(?:[^\n]*\\\n)*[^\n]*)", re.MULTILINE)
_LAST_WORD = re.compile(r"[A-Za-z_]\w*$")
_VARIABLE = re.compile(r"[\w>&*]\s+([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*=")
_NAME = re.compile(r"([A-Za-z_]\w*)\s*\($")
_CONSTANT = re.compile(r"\b(?:constexpr|const)\b[\w\s:<>,]*?\b(?P<name>[A-Za-z_]\w*)\s*(?:=\s*(?P<value>[^;{}]+?)|\{(?P<braced>[^{};]*)\})\s*;")
_TEMPLATE = re.compile(r"\s*template\s*<")
_ALIAS = re.compile(r"\busing\s+(?P<name>\w+)\s*=\s*(?P<value>[^;]+);")
_WORDS = frozenset(  # that the text of a template argument may have without a declaration in the file
    ["AscendC", "bfloat16_t", "bool", "char", "const", "constexpr", "double", "false", "float", "half", "int", "int16_t", "int32_t", "int4b_t", "int64_t", "int8_t", "long", "short", "signed", "sizeof", "size_t", "static_cast", "true", "uint16_t", "uint32_t", "uint64_t", "uint8_t", "unsigned", "void"]
)
_WORD = re.compile(r"(?<![\w:.])[A-Za-z_]\w*")


@dataclass(frozen=True)
class Entry:
    """A kernel entry function: its name, the namespaces before it, and the instances of a template (their argument texts)."""

    name: str
    scope: str
    template: bool
    instances: tuple[str, ...] = ()


@dataclass(frozen=True)
class DeviceText:
    """The text without its host code, and the entry functions in it."""

    text: str
    entries: tuple[Entry, ...]


def mixes_host_code(text: str) -> bool:
    """Whether a source holds launches or a main function."""
    masked = blanked(text)
    return "<<<" in masked or bool(_HOST_INCLUDE.search(text)) or re.search(r"\bmain\s*\(", masked) is not None


def kernel_header(text: str) -> str:
    """The text of a header that a kernel includes, without the host code in it."""
    return device_text(text).text if "<<<" in text or _HOST_HEADER.search(text) else text


def device_text(text: str) -> DeviceText:
    """Blanks the host code of a source; without matching brackets the text is returned as it is, with no entries."""
    masked = blanked(text)
    found = declarations(masked)
    hosts = _host_declarations(masked, found) if mixes_host_code(text) else []
    result = text
    for declaration in hosts:
        result = result[: declaration.start] + _blank(text[declaration.start : declaration.end]) + result[declaration.end :]
    result = _with_macro_uses(text, result) if hosts else result
    if hosts or mixes_host_code(text):
        result = _HOST_INCLUDE.sub(lambda match: " " * len(match.group()), result)
    known = set(_WORD.findall(blanked(result))) | _WORDS
    launched = {name: [args for args in each if known.issuperset(_WORD.findall(args))] for name, each in _launches(masked, found).items()}
    entries = tuple(_entry(declaration, launched) for declaration in found if _is_entry(declaration))
    return DeviceText(result, tuple({entry.name: entry for entry in entries}.values()))


def entry_macros(text: str) -> list[re.Match[str]]:
    """Definitions of the macros whose body has a kernel entry: `DECLARE(half)` then defines one."""
    return [match for match in MACRO.finditer(text) if "__global__" in match["body"]]


def _with_macro_uses(text: str, blanked_text: str) -> str:
    """The blanked text with the lines that use such a macro, which look like the start of the declaration behind them."""
    names = "|".join(match["name"] for match in entry_macros(text))
    use = re.compile(rf"[ \t]*(?:{names})\s*\([^()]*\)[ \t;]*") if names else None
    if use is None:
        return blanked_text
    lines = zip(text.split("\n"), blanked_text.split("\n"), strict=True)
    return "\n".join(line if use.fullmatch(line) else other for line, other in lines)


def _blank(text: str) -> str:
    """Spaces for every character, apart from preprocessor lines, whose #if and #endif may belong together with others."""
    return "".join(line if line.lstrip().startswith("#") else re.sub(r"[^\n]", " ", line) for line in text.splitlines(keepends=True))


def _is_entry(declaration: Declaration) -> bool:
    return declaration.function and "__global__" in declaration.header and _function_name(declaration.header) is not None


def _entry(declaration: Declaration, launched: dict[str, list[str]]) -> Entry:
    name = _function_name(declaration.header) or ""
    template = declaration.header.lstrip().startswith("template")
    return Entry(name, declaration.scope, template, tuple(dict.fromkeys(launched.get(name, ()))) if template else ())


def _function_name(header: str) -> str | None:
    """Name of the function that a header declares: the word before its parameter list."""
    text = header.rstrip()
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += (text[at] == ")") - (text[at] == "(")
        if text[at] == "(" and depth == 0:
            match = _NAME.search(text[: at + 1])
            return match.group(1) if match else None
    return None


def _host_declarations(masked: str, found: Sequence[Declaration]) -> list[Declaration]:
    """Declarations of host code: by what they use, and whatever calls one of them."""
    open_ones = [d for d in found if not _DEVICE.search(masked[d.start : d.end] if not d.function else d.header)]
    hosts = {d for d in open_ones if _is_host(masked, d)}
    while True:
        names = {name for d in hosts if (name := _declared(d)) is not None}
        called = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b") if names else None
        more = {d for d in open_ones if d not in hosts and called is not None and called.search(masked, d.start, d.end)}
        if not more:
            return sorted(hosts, key=lambda d: d.start)
        hosts |= more


def _declared(declaration: Declaration) -> str | None:
    """Name of the function or of the initialised variable that a declaration makes."""
    if declaration.function:
        return _function_name(declaration.header)
    match = _VARIABLE.search(declaration.header)
    return match.group(1) if match else None


def _is_host(masked: str, declaration: Declaration) -> bool:
    if declaration.function and _function_name(declaration.header) == "main":
        return True
    return _HOST.search(masked, declaration.start, declaration.end) is not None


def _launches(masked: str, found: Sequence[Declaration]) -> dict[str, list[str]]:
    """Template arguments of each launch by kernel name, with constants and template arguments of the launching function put in."""
    result: dict[str, list[str]] = {}
    bodies = {declaration: masked[declaration.start : declaration.end] for declaration in found}
    for declaration, body in bodies.items():
        for match in re.finditer("<<<", body):
            name, args = _launched(body[: match.start()].rstrip())
            constants = dict(_constants(body))
            for given in _callers(declaration, bodies):
                result.setdefault(name, []).append(_resolved(args, {**given, **constants}))
    return result


def _callers(declaration: Declaration, bodies: Mapping[Declaration, str]) -> list[dict[str, str]]:
    """Template arguments with which a function of the file is called; one empty set for a function that is no template."""
    start = _TEMPLATE.match(declaration.header)
    if start is None:
        return [{}]
    names = [part.split("=")[0].split()[-1] for part in _split(_bracketed(declaration.header, start.end() - 1))]
    called = re.compile(rf"\b{_function_name(declaration.header)}\s*(?:(?=<)|\(\s*(?P<first>\w+))")
    result = []
    for caller, body in bodies.items():
        constants = dict(_constants(body))
        for match in called.finditer(body) if caller != declaration else ():
            explicit = _split(_bracketed(body, match.end())) if match["first"] is None else _vector_of(body, match["first"])
            args = [_resolved(arg, constants) for arg in explicit]
            if len(args) == len(names):
                result.append(dict(zip(names, args, strict=True)))
    return result


def _vector_of(body: str, name: str) -> list[str]:
    """The element type of a vector, from which a template argument is deduced."""
    match = re.search(rf"\bstd\s*::\s*vector\s*<\s*([\w:]+)\s*>\s*{name}\b", body)
    return [match.group(1)] if match else []


def _bracketed(text: str, at: int) -> str:
    """The text between the `<` at `at` and its `>`."""
    depth = 0
    for end in range(at, len(text)):
        depth += (text[end] in "<(") - (text[end] in ">)")
        if depth == 0:
            return text[at + 1 : end]
    return ""


def _split(text: str) -> list[str]:
    """Parts between the commas that are in no bracket."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "<([{") - (letter in ">)]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def _launched(before: str) -> tuple[str, str]:
    """Kernel name and template arguments at the end of the text before `<<<`."""
    depth, at = 0, len(before)
    while at and (depth or before[at - 1] == ">"):
        at -= 1
        depth += (before[at] in ">)") - (before[at] in "<(")
    match = _LAST_WORD.search(before[:at].rstrip())
    return match.group() if match else "", before[at + 1 : -1].strip()


def _constants(body: str) -> Iterator[tuple[str, str]]:
    for pattern in (_CONSTANT, _ALIAS):
        for match in pattern.finditer(body):
            value = match["value"] or match.groupdict().get("braced")
            if value:
                text = " ".join(value.split())
                yield match["name"], text if pattern is _ALIAS or text.isalnum() else f"({text})"


def _resolved(args: str, constants: dict[str, str]) -> str:
    for _ in range(8):
        replaced = _WORD.sub(lambda match: constants.get(match.group(), match.group()), args)
        if replaced == args:
            break
        args = replaced
    return " ".join(args.split())
