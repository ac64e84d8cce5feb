"""Kernel text that CANN's compiler accepts and g++ does not, in words that both accept; every line stays where it was.

- `[aicore]` is what `__aicore__` stands for; libraries spell it themselves.
- g++ before 14 refuses explicit specialisations inside a class (CWG 727), which kernels use to give each kind of core its own function:
  `template <> void operator()<AscendC::AIC>(...)`. A function becomes an overload for that argument, a class a partial specialisation.
- `if constexpr (TILING_KEY_IS(1))` becomes `if (...)`: on a device each key has a build of its own, here a launch chooses.
- `static constexpr IsResetLoad3dConfig name = {false, true};` becomes a reference to a global constant: in a function of a template, g++ 12 crashes
  when the constant itself is a template argument.
- `__ubuf__ float x[64];` in a function is memory of UB: a reference to an array there, which each core has once.
- `Name() = default;` of a class without other constructors goes: with it the class is no aggregate for C++20, where some sources need it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ascendops.toolchain import cache
from ascendops.twin.declarations import blanked, declarations
from ascendops.twin.device_text import kernel_header

_AICORE = re.compile(r"\[\s*(?:host\s*,\s*aicore|aicore|aicore\s*,\s*host)\s*\]")
_EXPLICIT = re.compile(r"^[ \t]+template\s*<\s*>", re.MULTILINE)
_FUNCTION = re.compile(r"(?P<before>[^;{}]*?)\b(?P<name>operator\s*\(\s*\)|[A-Za-z_]\w*)\s*<(?P<args>[^<>;{}]*)>\s*\((?P<params>[^;{}]*)\{", re.DOTALL)
_CLASS = re.compile(r"\s*(?:struct|class)\s+(?P<name>\w+)\s*<(?P<args>[^;{}]*?)>\s*(?::[^;{}]*)?\{", re.DOTALL)
_DEFAULTED = re.compile(r"(?<=[;{}:])(?P<all>\s*(?:[A-Za-z_]\w*\s+)*?(?P<name>[A-Za-z_]\w*)\s*\(\s*\)\s*=\s*default\s*;)")
_KEY_BRANCH = re.compile(r"(\bif\s+)constexpr(?=\s*\([^;{}]*?\bTILING_KEY_IS\b)")
_LOAD_CONFIG = re.compile(r"(?P<type>\bstatic\s+constexpr\s+(?:AscendC\s*::\s*)?IsResetLoad3dConfig)\s+(?P<name>\w+)\s*=?\s*\{(?P<values>[\s\w,]*)\}")
_UB_ARRAYS = re.compile(r"\b__ubuf__\s+(?P<type>(?:const\s+)?[A-Za-z_][\w:]*)\s+(?P<names>\w+\s*(?:\[[^\[\];]+\]\s*)+(?:,\s*\w+\s*(?:\[[^\[\];]+\]\s*)+)*);")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^">\n]+)[">]', re.MULTILINE)
_FILES = 600


def portable(text: str) -> str:
    """The text with those things replaced; the same text when it has none of them."""
    text = _AICORE.sub(lambda match: " " * len(match[0]), text)
    if "TILING_KEY_IS" in text:
        text = _KEY_BRANCH.sub(lambda match: match[1] + " " * len("constexpr"), text)
    if "__ubuf__" in text:
        text = _with_ub_arrays(text)
    if "IsResetLoad3dConfig" in text:
        text = _LOAD_CONFIG.sub(lambda match: f"{match['type']} const &{match['name']} = AscendC::twin_detail::load_3d_config<{match['values']}>", text)
    if "default" in text:
        text = _without_defaulted(text)
    if _EXPLICIT.search(text) is None:
        return text
    masked = blanked(text)
    edits = [edit for match in _EXPLICIT.finditer(masked) if _in_class(masked, match.start()) for edit in _specialisation(masked, match)]
    return _applied(text, edits)


def _with_ub_arrays(text: str) -> str:
    masked = blanked(text)
    functions = [(one.start, one.end) for one in declarations(masked) if one.function]
    for match in reversed(list(_UB_ARRAYS.finditer(masked))):
        if not any(start < match.start() < end for start, end in functions):
            continue
        made = "".join(_ub_array(match["type"], name) for name in match["names"].split(","))
        text = text[: match.start()] + made + "\n" * match[0].count("\n") + text[match.end() :]
    return text


def _ub_array(element: str, declared: str) -> str:
    name, bracket, rest = declared.partition("[")
    name, sizes = name.strip(), " ".join((bracket + rest).split())
    return f"{element} (&{name}){sizes} = ascendc_twin::ub_array<{element}{sizes}>([] {{ static char at; return &at; }}());"


def _without_defaulted(text: str) -> str:
    masked = blanked(text)
    for match in _DEFAULTED.finditer(masked):
        head, end = _class_around(masked, match.start("name"))
        if re.search(rf"\b(?:class|struct)\s+{match['name']}\b", head) is None:
            continue
        others = re.findall(rf"\b{match['name']}\s*\(", masked[match.end() : end])
        start = masked.rfind("{", 0, match.start("name"))
        others += re.findall(rf"(?<!~)\b{match['name']}\s*\(", masked[start : match.start("name")])
        if not others:
            gone = re.sub(r"\S", " ", match["all"])
            text = text[: match.start("all")] + gone + text[match.end("all") :]
    return text


def _class_around(masked: str, at: int) -> tuple[str, int]:
    """What stands before the innermost open brace before `at`, and where that brace closes."""
    depth = 0
    for i in range(at - 1, -1, -1):
        depth += (masked[i] == "}") - (masked[i] == "{")
        if depth < 0:
            return re.split(r"[;{}]", masked[:i])[-1], _closing(masked, at)
    return "", at


def _closing(masked: str, at: int) -> int:
    depth = 0
    for match in re.finditer(r"[{}]", masked[at:]):
        depth += 1 if match[0] == "{" else -1
        if depth < 0:
            return at + match.start()
    return len(masked)


@dataclass(frozen=True, order=True)
class _Edit:
    start: int
    end: int
    new: str


def _applied(text: str, edits: Iterable[_Edit]) -> str:
    """The edits from the end on; several of one place (a primary template with two specialisations) are joined."""
    joined: dict[tuple[int, int], list[str]] = {}
    for edit in edits:
        joined.setdefault((edit.start, edit.end), []).append(edit.new)
    for (start, end), news in sorted(joined.items(), reverse=True):
        new = news[0] if len(set(news)) == 1 else "".join(dict.fromkeys(news))
        lines = text[start:end].count("\n") - new.count("\n")
        text = text[:start] + new + "\n" * max(lines, 0) + text[end:]
    return text


def _in_class(masked: str, at: int) -> bool:
    """Whether the innermost open brace before `at` belongs to a class."""
    head, _ = _class_around(masked, at)
    return re.search(r"\b(?:class|struct)\b", head) is not None and "enum" not in head


def _specialisation(masked: str, start: re.Match[str]) -> list[_Edit]:
    rest = masked[start.end() :]
    if found := _CLASS.match(rest):
        return _class_edits(masked, start, found)
    if found := _FUNCTION.match(rest):
        return _function_edits(masked, start, found)
    return []


def _function_edits(masked: str, start: re.Match[str], found: re.Match[str]) -> list[_Edit]:
    name = re.escape(found["name"]) if found["name"].isidentifier() else r"operator\s*\(\s*\)"
    primary = _last(rf"template\s*<(?P<params>[^<>;{{}}]*)>(?P<head>[^;{{}}]*?)\b{name}\s*\([^;{{}}]*(?P<end>[;{{])", masked, start.start())
    if primary is None or "," in primary["params"]:
        return []
    declared = primary["params"].split("=")[0].split()
    if len(declared) < 2 or declared[0] in {"class", "typename"}:
        return []
    parameter, value = declared[-1], found["args"].strip()
    own = f"template <{primary['params']}, typename std::enable_if<(({parameter}) == ({value})), int>::type = 0>"
    at = start.end()
    edits = [
        _Edit(start.start(), at, re.match(r"[ \t]*", start[0])[0] + own),  # type: ignore[index]
        _Edit(at + found.start("args") - 1, at + found.end("args") + 1, ""),
    ]
    if primary["end"] == ";":  # declared only: its overloads take its place
        return [*edits, _Edit(primary.start(), primary.end(), "")]
    others = f", typename std::enable_if<(({parameter}) != ({value})), int>::type = 0"
    return [*edits, _Edit(primary.end("params"), primary.end("params"), others)]


def _class_edits(masked: str, start: re.Match[str], found: re.Match[str]) -> list[_Edit]:
    primary = _last(rf"template\s*<(?P<params>[^;{{}}]*)>\s*(?:struct|class)\s+{found['name']}\s*[;{{:]", masked, start.start())
    if primary is None:
        return []
    at = start.end()
    edits = [
        _Edit(start.start(), at, re.match(r"[ \t]*", start[0])[0] + "template <typename TwinAny>"),  # type: ignore[index]
        _Edit(at + found.end("args"), at + found.end("args"), ", TwinAny"),
    ]
    return [*edits, _Edit(primary.end("params"), primary.end("params"), ", typename TwinAny = void")]


def _last(pattern: str, text: str, end: int) -> re.Match[str] | None:
    found = list(re.finditer(pattern, text[:end], re.DOTALL))
    return found[-1] if found else None


def overlay(path: Path, folders: Iterable[Path]) -> tuple[Path, ...]:
    """Folders to search for headers before `folders`: copies of the user's headers whose text g++ would refuse, without host code; none if there are none."""
    changed: dict[str, tuple[Path, str]] = {}
    seen, waiting, homes = {path}, [path], list(folders)
    while waiting and len(seen) < _FILES:
        current = waiting.pop()
        for name in _INCLUDE.findall(current.read_text(errors="replace")):
            home = next((home for home in (current.parent, *homes) if (home / name).is_file()), None)
            if home is None or home / name in seen:
                continue
            seen.add(home / name)
            waiting.append(home / name)
            text = (home / name).read_text(errors="replace")
            new = portable(kernel_header(text))
            if new != text and ".." not in Path(name).parts:
                changed[name] = (home / name, new)
    if not changed:
        return ()
    return (_folder(changed), *dict.fromkeys(source.parent for source, _ in changed.values()))


def _folder(changed: Mapping[str, tuple[Path, str]]) -> Path:
    def make(stage: Path) -> list[Path]:
        for name, (source, text) in changed.items():
            copy = stage / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(f'#line 1 "{source}"\n{text}')
        return [source for source, _ in changed.values()]

    parts = [part for name, (source, text) in sorted(changed.items()) for part in (name, str(source), text)]
    return cache.publish("portable", cache.digest(*parts), make).path
