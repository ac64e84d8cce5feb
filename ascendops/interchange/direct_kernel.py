"""What a direct launch must know of a kernel source: its entry, its last parameters, and the macros that an operator build sets for it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ascendops.errors import DirectLaunchRefused

if TYPE_CHECKING:
    from ascendops.twin.opdef import OpDef

_SUFFIXES = frozenset({".cpp", ".h", ".hpp", ".cc"})
_WORD = re.compile(r"[A-Za-z_]\w*")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_NEEDS_STRUCT = re.compile(r"\bGET_TILING_DATA\s*\(")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
_SYSTEM_WORKSPACE = re.compile(r"\b(?:GetUserWorkspace|GetSysWorkSpacePtr|REGIST_MATMUL_OBJ)\b")


@dataclass(frozen=True)
class KernelFile:
    """A kernel source: its path below op_kernel/, entry function, the name of its workspace parameter, and the words of all its files."""

    source: str
    entry: str
    workspace: str
    words: frozenset[str]


def read_kernel(root: Path, path: Path, entry: str, definition: OpDef) -> KernelFile:
    """Reads what a direct launch needs of a kernel.

    Raises:
        DirectLaunchRefused: It cannot be launched so; the message says why.
    """
    folder = root / "op_kernel"
    texts = {file: _COMMENT.sub(" ", file.read_text(encoding="utf-8", errors="replace")) for file in sorted(folder.rglob("*")) if file.suffix in _SUFFIXES}
    whole = "\n".join(texts.values())
    tensors = (*definition.inputs, *definition.outputs)
    reasons = {
        "it takes or gives lists of tensors": any(param.param_type == "dynamic" for param in tensors),
        "the kernel computes the shape of an output": any(param.shape_depends_on_compute for param in definition.outputs),
        "its kernel is a template of the tiling key": bool(definition.templates),
        "its tiling data is declared with BEGIN_TILING_DATA_DEF": definition.tiling_struct is not None,
        "its tiling structure depends on the key (REGISTER_TILING_FOR_TILINGKEY)": "REGISTER_TILING_FOR_TILINGKEY" in whole,
        "it uses GET_TILING_DATA without REGISTER_TILING_DEFAULT": bool(_NEEDS_STRUCT.search(whole)) and "REGISTER_TILING_DEFAULT" not in whole,
        "it needs the system workspace, and has no REGISTER_TILING_DEFAULT": bool(_SYSTEM_WORKSPACE.search(whole)) and "REGISTER_TILING_DEFAULT" not in whole,
    }
    parameters = _parameters(texts[path], entry)
    outside = next((name for file, text in texts.items() for name in _INCLUDE.findall(text) if _leaves(file.parent / name, folder)), "")
    reasons[f"its kernel includes a file outside of op_kernel/: {outside}"] = bool(outside)
    reasons["its kernel has other parameters than tensors, workspace and tiling"] = len(parameters) != len(tensors) + 2
    for reason, holds in reasons.items():
        if holds:
            what = f"{definition.op_type} cannot be a direct launch: {reason}"
            raise DirectLaunchRefused(what, where=str(path), help="ascendops explain ASC210; build --backend cann makes an operator package of it")
    return KernelFile(path.relative_to(folder).as_posix(), entry, parameters[-2], frozenset(_WORD.findall(whole)))


def _leaves(path: Path, folder: Path) -> bool:
    return path.is_file() and not path.resolve().is_relative_to(folder.resolve())


def _parameters(text: str, entry: str) -> list[str]:
    """Names of the parameters of the entry function."""
    found = re.search(rf"\b__global__\b[^;{{}}]*\b{entry}\s*\(([^()]*)\)", text)
    return [] if found is None else [_WORD.findall(one)[-1] for one in found[1].split(",") if _WORD.search(one)]


def macros(kernel: KernelFile, definition: OpDef, column: int) -> tuple[tuple[str, str], ...]:
    """The macros of a dtype column that the kernel's text uses, directly or through another, in an order that compiles.

    `DTYPE_X` is a C++ type; `ORIG_DTYPE_X` and `FORMAT_X` name enumerators, which are numbers here.
    """
    from ascendops.build.twin import column_defines

    every: Mapping[str, str] = column_defines(definition, column)
    used = [name for name in every if name in kernel.words]
    values = [every[name] for name in used if every[name] in every]
    return tuple((name, every[name]) for name in dict.fromkeys([*values, *used]))
