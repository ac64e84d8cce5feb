"""Macros that the CMakeLists.txt around a source sets: a kernel that is compiled by itself lacks them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_LEVELS = 3  # the source's folder and two above it


@dataclass(frozen=True)
class BuildMacro:
    """A macro that a build script sets.

    Attributes:
        name: The macro.
        script: The script that sets it.
        value: Its value where the script has one, else None (a parameter of the build).
    """

    name: str
    script: Path
    value: str | None

    @property
    def advice(self) -> str:
        """What to do when the macro is missing."""
        value = self.value or "..."
        said = f"as {self.value} where nothing else is asked for" if self.value else "from a parameter of the build"
        return f'{self.script} sets the macro {self.name} {said}: pass defines={{"{self.name}": "{value}"}}'


def find(source: Path, name: str) -> BuildMacro | None:
    """The macro, if a CMakeLists.txt in the folder of `source` or in one of two folders above sets it."""
    setting = re.compile(rf'(?:-D\s*|(?:add|target)_compile_definitions\s*\([^)]*?\b){re.escape(name)}\b(?:=(?P<value>[^\s)";]+))?')
    for folder in list(source.parents)[:_LEVELS]:
        script = folder / "CMakeLists.txt"
        if not script.is_file():
            continue
        text = re.sub(r"#[^\n]*|^\s*message\s*\([^\n]*", "", script.read_text(errors="replace"), flags=re.MULTILINE)
        if found := setting.search(text):
            return BuildMacro(name, script, _resolved(text, found["value"] or "1"))
    return None


def _resolved(text: str, value: str) -> str | None:
    """The value, through one set() where it is a variable."""
    variable = re.fullmatch(r"\$\{(?P<name>\w+)\}", value)
    if variable is None:
        return None if "$" in value else value
    default = re.search(rf'\bset\s*\(\s*{variable["name"]}\s+"?(?P<value>[^\s")$]+)', text)
    return default["value"] if default else None
