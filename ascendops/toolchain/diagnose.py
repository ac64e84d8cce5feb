"""Turns a compiler's output into one error that a person can act on."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

from ascendops.errors import CompileError
from ascendops.toolchain import ascendc_docs, build_macros
from ascendops.toolchain.cache import cache_root, digest
from ascendops.toolchain.compiler import Outcome

_ERROR = re.compile(r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+):(?:(?P<col>\d+):)? (?:fatal )?error: (?P<message>.*)$")
_DIAGNOSTIC = re.compile(r"^[^\s:][^:\n]*:\d+:(?:\d+:)? (?:fatal error|error|warning|note): ")
_MISSING = re.compile(r"‘(?P<name>[\w:]+)’ (?:was not declared|is not a member|has not been declared|does not name a type)|'(?P<ascii>[\w:]+)' (?:was not|is not a member|has not)")
_CALLED = re.compile(r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+):(?:\d+:)?\s+required from")
_WITH = re.compile(r"In instantiation of .*\[with (?P<types>.*)\]")
# Of a name that the twin has, used in a way that it or the SoC does not have: a form of the call, an element type, the SoC itself.
_NO_FORM = re.compile(r"no matching function for call to [‘'](?P<call>[^’']+)[’']")
_REFUSED = re.compile(r"static assertion failed: (?P<name>[A-Z]\w+)\b|call to [‘'][^’']*?(?P<function>\w+)\([^’']*[’'] declared with attribute|[‘'][^’']*?(?P<unavailable>\w+)\([^’']*[’'] is unavailable")
_TEMPLATE_ARGUMENTS = re.compile(r"<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>")
# Namespaces of functions that only Ascend 950 has: vector registers under two names, and threads.
_ONLY_950 = re.compile(r"[‘'](?:\w+::)*(?P<space>MicroAPI|Reg|Simt)[’'] (?:is not|has not|was not)")
_UNDEFINED = re.compile(r"^(?:(?P<where>/[^:\n]+:\d+): |[^\n]*)undefined reference to [`'](?P<name>[^'\n]+)'$", re.MULTILINE)
_INCLUDE = re.compile(r"(?P<header>[\w./-]+\.h(?:pp)?): No such file")

Origin = Callable[[Path, int], str | None]


def compile_error(outcome: Outcome, what: str, origin: Origin | None = None) -> CompileError:
    """The error for a failed compiler run.

    Args:
        outcome: The run; its log is kept in the cache and named in the message.
        what: What was being compiled, e.g. "the kernel of softmax (x: float16)".
        origin: Maps a line of a generated file to the template or op.toml line it came from, or None.
    """
    log = _keep_log(outcome)
    lines = outcome.log.splitlines()
    at = next((i for i, line in enumerate(lines) if _ERROR.match(line)), None)
    shown = _excerpt(lines, at)
    where, note = None, []
    help_text = None
    if at is not None:
        match = _ERROR.match(lines[at])
        assert match
        where = f"{match['file']}:{match['line']}"
        caller, types = _caller(lines, at)
        if caller:
            where, shown = caller, [f"with {types}", *shown] if types else shown
        source = origin(Path(match["file"]), int(match["line"])) if origin else None
        if source:
            note.append(f"generated from {source}: edit that, gen/ is rendered anew by each build")
        help_text = _advice(match["message"], Path(match["file"]))
    elif undefined := _UNDEFINED.search(outcome.log):
        where, name = undefined["where"], undefined["name"].split("(")[0]
        help_text = f"no source defines {name}: give the one that does, for a kernel with sources=[...] of ascendops.twin.compile"
    count = sum(1 for line in lines if _ERROR.match(line))
    more = [f"and {count - 1} more errors"] if count > 1 else []
    why = [*shown, *note, *more, f"command: {shlex.join(outcome.command)}", f"exit status {outcome.returncode}; full log: {log}"]
    return CompileError(f"{what} does not compile", where=where, why="\n".join(why), help=help_text)


def _caller(lines: list[str], at: int) -> tuple[str | None, str | None]:
    """Of an error inside a template: where the user's code asked for it, and the template arguments. None: not in a template."""
    where, types = None, None
    for line in reversed(lines[max(0, at - 12) : at]):
        if called := _CALLED.match(line):
            where = where or f"{called['file']}:{called['line']}"
        elif found := _WITH.search(line):
            types = types or found["types"]
        else:
            break
    return where, types


def _excerpt(lines: list[str], at: int | None) -> list[str]:
    if at is None:
        return lines[-12:]
    end = at + 1
    while end < len(lines) and not _DIAGNOSTIC.match(lines[end]) and end - at < 6:
        end += 1
    return lines[at:end]


def _advice(message: str, file: Path) -> str | None:
    if space := _ONLY_950.search(message):
        return f"the functions of AscendC::{space['space']} are those of Ascend 950 only, which the CPU twin does not support; take the kernel source for the other SoCs"
    missing = _MISSING.search(message)
    if missing:
        name = missing["name"] or missing["ascii"]
        if name == "ascendc_twin_default_tiling":
            return "GET_TILING_DATA needs the struct's type: write REGISTER_TILING_DEFAULT(YourTilingData) before it"
        documented = ascendc_docs.lookup(name.split("::")[-1])
        if documented:
            return documented.advice
        if macro := build_macros.find(file, name):
            return macro.advice
        return f"check the spelling of {name}; docs/ascendc-apis.md lists the Ascend C names that the CPU twin implements"
    if used := _documented_use(message):
        return used
    if "is not valid in preprocessor expressions" in message:
        return "if the #if asks for TILING_KEY_VAR: the CPU twin builds one library for all keys, so use TILING_KEY_IS in C++ instead"
    header = _INCLUDE.search(message)
    if header:
        return f"add the folder of {header['header']} with include_dirs=[...], or keep the header beside the kernel"
    return None


def _documented_use(message: str) -> str | None:
    """Of a documented function that was called in a way that this SoC or the twin does not have: which page says what there is."""
    if found := _NO_FORM.search(message):
        name = _TEMPLATE_ARGUMENTS.sub("", found["call"]).split("(")[0].split("::")[-1].strip()
        documented = ascendc_docs.lookup(name)
        return f"no form of {name} that the CPU twin has for this SoC takes these arguments; {documented.where}" if documented else None
    if refused := _REFUSED.search(message):
        documented = ascendc_docs.lookup(refused["name"] or refused["function"] or refused["unavailable"])
        return documented.where if documented else None
    return None


def _keep_log(outcome: Outcome) -> Path:
    folder = cache_root() / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{digest(*outcome.command, outcome.log)[:12]}.log"
    path.write_text(f"{shlex.join(outcome.command)}\nexit status {outcome.returncode}\n\n{outcome.log}")
    return path
