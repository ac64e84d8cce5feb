"""Two rendered operators in one project: the second one becomes `[operators.NAME]` of the first one's op.toml."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ascendops.errors import RenderError
from ascendops.render.env import toml_string
from ascendops.render.fileset import FileSet
from ascendops.spec.schema import FunctionSchema

GRAD = "grad_"  # what [autograd] puts before the name of an output to name its gradient
_TABLE = re.compile(r"^(\[\[?)(?=[a-z])", re.MULTILINE)


def renames(old: FunctionSchema, new: FunctionSchema) -> dict[str, str]:
    """Tensor names of a schema, and those of their gradients, that are others in `new`, which has as many tensors."""
    pairs = [(a.name, b.name) for a, b in zip(old.tensors, new.tensors, strict=True)]
    pairs += [(str(a.name), str(b.name)) for a, b in zip(old.returns, new.returns, strict=True)]
    changed = {a: b for a, b in pairs if a != b}
    return {**changed, **{f"{GRAD}{a}": f"{GRAD}{b}" for a, b in changed.items()}}


def add_backward(files: FileSet, backward: FileSet, name: str, grads: Mapping[str, str]) -> None:
    """Add the files of the operator `name`, which computes the gradients `grads` (forward input -> its output), to a project's.

    Raises:
        RenderError: Both have a file of the same path with another text.
    """
    declared, golden = files.files.pop("op.toml"), files.files.pop("golden.py")
    pairs = ", ".join(f"{key} = {toml_string(value)}" for key, value in grads.items())
    autograd = f"\n[autograd]\nbackward = {toml_string(name)}\ngrads    = {{ {pairs} }}\n"
    nested = FileSet()
    nested.add("op.toml", declared.text + autograd + _nested(backward["op.toml"], name), owner=declared.owner, note=declared.note)
    nested.add("golden.py", golden.text + _renamed(backward["golden.py"], name), owner=golden.owner, note=golden.note)
    files.files = {**nested.files, **files.files}
    for file in backward:
        if file.path in ("op.toml", "golden.py"):
            continue
        if file.path in files.files and files[file.path] != file.text:
            raise RenderError(f"{name} needs another {file.path} than its forward operator", where=file.path)
        files.files.setdefault(file.path, file)


def _nested(text: str, name: str) -> str:
    """A declaration as tables below [operators.NAME], without what belongs to the whole project."""
    head, _, tables = text.partition("\n\n")
    kept = [line for line in head.splitlines() if line.startswith(("schema", "doc"))]
    return "\n".join(["", f"[operators.{name}]", *kept, "", _TABLE.sub(rf"\1operators.{name}.", tables)])


def _renamed(text: str, name: str) -> str:
    """The golden function alone, under the operator's name."""
    return "\n\n" + text[text.index("def golden(") :].replace("def golden(", f"def {name}(", 1)
