"""Entry functions of a kernel source: what `launch` calls them, and what C++ text stands for them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ascendops.errors import InputError, did_you_mean
from ascendops.twin.device_text import MACRO, Entry, device_text, entry_macros

_ENTRY = re.compile(r"\b__global__\b(?P<between>[^;{}()]*(?:\([^()]*\)[^;{}()]*)?)\bvoid\s+(?P<name>[A-Za-z_]\w*)\s*\(")
_ENTRY_VOID_FIRST = re.compile(r"\bvoid\s+(?:__global__|__aicore__|\s)+\s(?P<name>[A-Za-z_]\w*)\s*\(")
_NOISE = re.compile(r"//[^\n]*|/\*.*?\*/|__attribute__\s*\(\(.*?\)\)", re.DOTALL)
_LAUNCHED = re.compile(r"\b(?:ACLRT_LAUNCH_KERNEL|ICPU_RUN_KF)\s*\(\s*(\w+)")
_LOCAL_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
_RENAME = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(?P<old>\w+)(?:\(\.\.\.\)[ \t]+(?P<call>\w+)\(__VA_ARGS__\)|[ \t]+(?P<new>[A-Za-z_]\w*))[ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class Exported:
    """One function that the kernel library exports.

    Attributes:
        name: What `launch` calls it: `add_custom`, or `add_custom<half, 64>` for an instance of a template.
        symbol: C name under which it is exported.
        expression: C++ text of the function: the name with its namespaces and template arguments.
    """

    name: str
    symbol: str
    expression: str


def find_entries(text: str) -> list[str]:
    """Names of the kernel entry functions (`__global__ ... void NAME(`) that a source text defines, in order; those that macros define come last."""
    text = _NOISE.sub(" ", text)
    makers = entry_macros(text)
    plain = MACRO.sub("", text)
    found = [match["name"] for pattern in (_ENTRY, _ENTRY_VOID_FIRST) for match in pattern.finditer(plain) if not _is_declaration(plain, match.end())]
    found += [name for maker in makers for name in _made(maker, plain)]
    return list(dict.fromkeys(found))


def declared_entries(text: str) -> list[str]:
    """Names of the entry functions that a source text declares or launches, and does not define: those of main.cpp in a direct launch project."""
    text = _NOISE.sub(" ", text)
    found = _LAUNCHED.findall(text) + [match["name"] for pattern in (_ENTRY, _ENTRY_VOID_FIRST) for match in pattern.finditer(text) if _is_declaration(text, match.end())]
    return [name for name in dict.fromkeys(found) if name not in find_entries(text)]


def _is_declaration(text: str, at: int) -> bool:
    """Whether the parameter list that starts at `at` ends with a semicolon."""
    depth = 1
    for end in range(at, len(text)):
        depth += (text[end] == "(") - (text[end] == ")")
        if depth == 0:
            return text[end + 1 :].lstrip().startswith(";")
    return False


def _made(maker: re.Match[str], text: str) -> list[str]:
    """Entries that the uses of a macro define: `DECLARE(half)` with `void add_##TYPE(` in its body is add_half."""
    parameters = [name.strip() for name in maker["params"].split(",")]
    names = []
    for use in re.finditer(rf"^[ \t]*{maker['name']}\s*\((?P<args>[^()]*)\)", text, re.MULTILINE):
        body = maker["body"].replace("\\\n", "\n")
        for name, value in zip(parameters, use["args"].split(","), strict=False):
            body = re.sub(rf"\b{name}\b", value.strip(), body)
        body = re.sub(r"\s*##\s*", "", body)
        names += [match["name"] for pattern in (_ENTRY, _ENTRY_VOID_FIRST) for match in pattern.finditer(body)]
    return names


def included_entries(path: Path) -> list[str]:
    """Names of the entry functions in files that a source includes by a path (`#include "../add.cpp"`), as macros before them rename them."""
    waiting, seen = [path], {path.resolve()}
    names: list[str] = []
    renamed: dict[str, str] = {}
    while waiting:
        current = waiting.pop()
        text = _NOISE.sub(" ", current.read_text(errors="replace"))
        renamed |= {match["old"]: match["call"] or match["new"] for match in _RENAME.finditer(text)}
        names += find_entries(text) if current != path else []
        for name in _LOCAL_INCLUDE.findall(text):
            inner = current.parent / name
            if inner.is_file() and inner.resolve() not in seen:
                seen.add(inner.resolve())
                waiting.append(inner)
    return list(dict.fromkeys(renamed.get(name, name) for name in names))


def is_plain_function(text: str, name: str) -> bool:
    """Whether a source text has the entry function `name`, and it is no template."""
    text = _NOISE.sub(" ", text)
    starts = [match.start() for pattern in (_ENTRY, _ENTRY_VOID_FIRST) for match in pattern.finditer(text) if match["name"] == name]
    return bool(starts) and not any(re.search(r"\btemplate\b", re.split(r"[;{}]", text[:start])[-1]) for start in starts)


def exported(path: Path, instances: Sequence[str] = ()) -> list[Exported]:
    """The functions to export from a kernel source.

    A template kernel is exported once for each launch in the file (`add_custom<half><<<...>>>`) and for each of `instances`.

    Raises:
        InputError: There is no entry function, a template has no known instance, or `instances` names none of the entries.
    """
    text = path.read_text(errors="replace")
    found = device_text(text).entries
    known = {entry.name for entry in found}
    entries = (*found, *(Entry(name, "", False) for name in find_entries(text) if name not in known))
    entries = entries or tuple(Entry(name, "", False) for name in included_entries(path))
    asked = _asked(instances, entries, path)
    result = []
    for entry in entries:
        arguments = [*asked.get(entry.name, ()), *(one for one in entry.instances if one not in asked.get(entry.name, ()))]
        if entry.template:
            result += [_instance(entry, args, index) for index, args in enumerate(arguments)]
        else:
            result.append(Exported(entry.name, entry.name, entry.scope + entry.name))
    if not result:
        raise _nothing(entries, path)
    return result


def _asked(instances: Sequence[str], entries: Sequence[Entry], path: Path) -> dict[str, list[str]]:
    asked: dict[str, list[str]] = {}
    names = {entry.name for entry in entries if entry.template}
    for text in instances:
        name, bracket, args = text.partition("<")
        name = name.split("::")[-1].strip()
        if name not in names or not bracket or not args.rstrip().endswith(">"):
            raise InputError(f"'{text}' is no instance of a template kernel in {path.name}", where=str(path), help=did_you_mean(name, names))
        asked.setdefault(name, []).append(args.rstrip()[:-1].strip())
    return asked


def _instance(entry: Entry, args: str, index: int) -> Exported:
    return Exported(f"{entry.name}<{args}>", f"{entry.name}__{index}", f"{entry.scope}{entry.name}<{args}>")


def _nothing(entries: Sequence[Entry], path: Path) -> InputError:
    declared = [] if entries else declared_entries(path.read_text(errors="replace"))
    if declared:
        homes = [one.name for one in sorted(path.parent.iterdir()) if one.suffix in (".cpp", ".asc", ".h") and declared[0] in find_entries(one.read_text(errors="replace"))]
        advice = f"compile the source that defines it: {homes[0] if homes else declared[0] + '.cpp'}"
        return InputError(f"{path.name} launches the kernel {declared[0]} and does not define it", where=str(path), help=advice)
    if not entries:
        return InputError(f"{path.name} has no kernel entry function", where=str(path), help='declare one: extern "C" __global__ __aicore__ void NAME(...)')
    what = f"{entries[0].name} is a template, and no launch in {path.name} says with which arguments"
    return InputError(what, where=str(path), help=f"name them: ascendops.twin.compile(..., instances=['{entries[0].name}<...>'])")


def pick_entry(entries: Sequence[str], name: str | None, path: Path) -> str:
    """The entry function to launch: `name`, the only instance of the template `name`, or the only one.

    Raises:
        InputError: There is none of that name, or several and none was named.
    """
    if name in entries:
        return str(name)
    candidates = [entry for entry in entries if name is None or entry.split("<")[0] == name]
    if len(candidates) == 1:
        return candidates[0]
    if not entries:
        raise _nothing((), path)
    what = f"{path.name} has no kernel '{name}'" if name else f"{path.name} has several kernels and none was named"
    if candidates and name:
        what = f"{name} has several instances and none was named"
    raise InputError(what, where=str(path), help=did_you_mean(name or "", candidates or entries))
