"""Small operator projects for tests of the PyTorch side: template projects with one dtype and without cases, so that little is compiled."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import ascendops
from ascendops.render import new_project


def small(root: Path, name: str, dtypes: str = "float32", **options: Any) -> Path:
    """The project of a template at `root/name` with only these dtypes."""
    folder = root / name
    if not folder.exists():
        new_project(name, folder, **options)
        text = (folder / "op.toml").read_text()
        dropped = "|".join({"float32", "float16", "bfloat16", "int32"} - set(dtypes.split()))
        text = re.sub(rf', "({dropped})"|"({dropped})", ', "", text)
        (folder / "op.toml").write_text(re.sub(r"\[\[case\]\].*?(?=\n\[reference\]|\Z)", "", text, flags=re.S))
    return folder


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
