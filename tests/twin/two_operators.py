"""A project with two operators and [autograd], put together from two template projects: exp, and its backward, which is a multiplication."""

from __future__ import annotations

import re
from pathlib import Path

from ascendops.render import new_project

AUTOGRAD = """
[autograd]
backward = "exp_custom_backward"
grads    = { x = "grad_x" }

"""


def make(root: Path, autograd: str = AUTOGRAD) -> Path:
    """Writes the project `exp_custom` below `root` and returns its folder."""
    first, second = root / "exp_custom", root / "backward"
    new_project("exp_custom", first)
    schema = "exp_custom_backward(Tensor grad_y, Tensor y) -> Tensor grad_x"
    new_project("exp_custom_backward", second, family="broadcast", like="mul", schema=schema)
    for file in [*second.glob("op_host/*"), *second.glob("op_kernel/*")]:
        (first / file.relative_to(second)).write_text(file.read_text())
    head, _, tables = (second / "op.toml").read_text().partition("\n\n")
    head = "".join(line + "\n" for line in head.splitlines() if line.startswith(("schema", "doc")))
    nested = head + "\n" + tables.partition("[reference]")[0]
    nested = re.sub(r"^(\[\[?)(?=[a-z])", r"\1operators.exp_custom_backward.", nested, flags=re.M)
    declared = re.sub(r"\[autograd\.formula\][^\[]*", "", (first / "op.toml").read_text())
    (first / "op.toml").write_text(declared + autograd + "[operators.exp_custom_backward]\n" + nested)
    declared = (first / "op.toml").read_text()
    (first / "op.toml").write_text(re.sub(r', "(bfloat16|int32)"', "", declared))  # fewer kernels to compile
    golden = (second / "golden.py").read_text().replace("def golden(", "def exp_custom_backward(")
    (first / "golden.py").write_text((first / "golden.py").read_text() + golden[golden.index("\n\ndef ") :])
    return first
