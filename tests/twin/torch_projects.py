"""Small operator projects for tests of the PyTorch side: template projects with one dtype and without cases, so that little is compiled."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import ascendops
from ascendops.render import new_project
from ascendops.spec import load


def small(root: Path, name: str, dtypes: str = "float32", *, cases: bool = False, **options: Any) -> Path:
    """The project of a template at `root/name` with only the dtype columns whose floating-point tensors have these dtypes.

    With `cases`, op.toml stays as it is, cases and columns too.
    """
    folder = root / name
    if not folder.exists():
        new_project(name, folder, **options)
        if cases:
            return folder
        (folder / "op.toml").write_text(_reduced(folder, set(dtypes.split())))
    return folder


def _reduced(folder: Path, dtypes: set[str]) -> str:
    spec = load(folder)
    floats = {"float16", "bfloat16", "float32", "float64"}
    kept = {}
    for op in spec.operators:
        first = op.inputs[0].dtypes
        fitting = [c for c in range(op.columns) if all(t.dtypes[c] in dtypes | {"float32"} or t.dtypes[c] not in floats for t in op.inputs)]
        kept[op.name] = [c for c in fitting if first[c] in dtypes] or fitting  # the first input of some is int8 in every column
    lines, op_name, in_case = [], spec.name, False
    for line in (folder / "op.toml").read_text().splitlines():
        if line.startswith("["):
            nested = re.match(r"\[+operators\.(\w+)", line)
            op_name, in_case = nested.group(1) if nested else spec.name, bool(re.match(r"\[\[(operators\.\w+\.)?case\]\]", line))
        if in_case:
            continue
        listed = re.match(r"(dtype +=|dtype=) *\[(.*)\]$", line)
        words = [word.strip() for word in listed.group(2).split(",")] if listed else []
        lines.append(f"dtype = [{', '.join(words[c] for c in kept[op_name])}]" if listed else line)
    return "\n".join(lines) + "\n"


def edit(folder: Path, *changes: tuple[str, str]) -> Path:
    """Replaces text in op.toml; each old text (a regular expression) must be there."""
    text = (folder / "op.toml").read_text()
    for old, new in changes:
        text, count = re.subn(old, new, text, flags=re.S)
        assert count, old
    (folder / "op.toml").write_text(text)
    return folder


def in_place(root: Path) -> Path:
    """x1 += alpha * x2: the kernel of axpy with its output declared to be its first input."""
    folder = root / "add_scaled"
    if folder.exists():
        return folder
    small(root, "add_scaled", family="elementwise", like="axpy")
    return edit(
        folder,
        (r"Tensor x1, Tensor x2, float alpha=1\.0\) -> Tensor y", "Tensor(a!) x1, Tensor x2, float alpha=1.0) -> Tensor(a!) x1"),
        (r"\[tensor\.y\].*?(?=\[cost)", ""),
        (r"\[autograd\.formula\].*?(?=\[\[tiling)", ""),
    )


def register(folder: Path, namespace: str) -> Any:
    """Builds for the twin and registers."""
    return ascendops.open_project(folder).build("twin").register(namespace)
