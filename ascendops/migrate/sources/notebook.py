"""Notebook cells as sources: magics are blanked so that lines and columns stay; cells of other languages keep their kind."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace

from ascendops.migrate.sources.text import Source

_LINE_MAGIC = re.compile(r"^(\s*)%(\w+)((?:\s+-\w+(?:\s+\d+)?)*)\s?")
_CODE_MAGICS = {"time", "timeit", "prun", "memit", "mprun", "lprun", "snakeviz"}
_CELL_KINDS = {
    "cu": "cuda",
    "cuda": "cuda",
    "cuda_group_save": "cuda",
    "nvcc": "cuda",
    "bash": "shell",
    "sh": "shell",
    "script": "shell",
}


def cells(file: str, text: str) -> Iterator[tuple[Source, str]]:
    """Yields (source, kind) for each code cell; kind is python, cuda, cpp or shell. Shell lines of a Python cell come as a second source.

    Raises:
        ValueError: The file is not a notebook.
    """
    try:
        notebook = json.loads(text)
        found = notebook["cells"] if "cells" in notebook else notebook["worksheets"][0]["cells"]
        sources = [
            (index, cell.get("source", cell.get("input", "")))
            for index, cell in enumerate(found)
            if cell["cell_type"] == "code"
        ]
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise ValueError(f"not a notebook: {error!r}") from error
    for index, source in sources:
        yield from _cell(file, index, "".join(source) if isinstance(source, list) else str(source))


def _cell(file: str, index: int, text: str) -> Iterator[tuple[Source, str]]:
    head, _, rest = text.partition("\n")
    if head.startswith("%%"):
        words = head[2:].split()
        kind = _CELL_KINDS.get(words[0], "python") if words else "python"
        if words and words[0] == "writefile":
            kind = (
                "cuda"
                if head.endswith((".cu", ".cuh"))
                else "cpp"
                if head.endswith((".cpp", ".h", ".cc"))
                else "python"
                if head.endswith(".py")
                else "shell"
            )
        text = "\n" + rest
        if kind != "python":
            yield Source(file, text, index), kind
            return
    code, shell = [], []
    for line in text.split("\n"):
        python, command = _line(line)
        code.append(python)
        shell.append(command)
    yield Source(file, "\n".join(code), index), "python"
    if any(shell):
        yield Source(file, "\n".join(shell), index), "shell"


def _line(line: str) -> tuple[str, str]:
    """A line as (Python, shell), one of them blank or both in their columns."""
    stripped = line.lstrip()
    if stripped.startswith("!"):
        return line[: len(line) - len(stripped)] + "pass", stripped[1:]
    magic = _LINE_MAGIC.match(line)
    if not magic or "%" not in line[: magic.end()]:
        return line, ""
    if magic[2] in _CODE_MAGICS:
        return magic[1] + line[magic.end() :], ""
    if magic[2] in ("pip", "conda", "sh", "env", "set_env"):
        return magic[1] + "pass", stripped[1:] if magic[2] != "env" else "export " + stripped[4:].strip()
    return magic[1] + "pass", ""


def magic_free(source: Source) -> Source:
    """The source with its magics and shell lines blanked; equal to `source` if it has none."""
    return replace(source, text="\n".join(_line(line)[0] for line in source.lines))
