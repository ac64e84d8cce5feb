"""The compatibility report of the laptop device: the ATen operators that a program used, and what torch_npu has for each."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping

from ascendops import resources

_WORDS = {
    "native": "has an NPU kernel", "functional": "has an NPU kernel without out=, which is what most programs call", "composite": "made of other operators", "cpu_fallback": "no NPU kernel: torch_npu would copy to the CPU and back",
    "no_dense_kernel": "no NPU kernel and no dense CPU kernel", "not_in_torch_2.13": "not in torch 2.13", "unknown": "not in the table",
}  # fmt: skip
_RUNS = ("native", "composite")


@functools.cache
def _support() -> dict[str, str]:
    table = json.loads((resources.data("migration") / "aten_support.json").read_text(encoding="utf-8"))
    return {row["op"]: row["class"] for row in table["aten"]}


def support(name: str) -> str:
    """What torch_npu has for an operator such as `aten::mm.Tensor`: the class of the fact table, `functional`, or `unknown`.

    PyTorch makes a structured operator of its out overload, so on a device without kernels of its own `gelu_backward` is seen as
    `gelu_backward.grad_input`: `functional` is an out overload that has no kernel in torch_npu while the operator itself has one.
    """
    table, own = _support(), name.removeprefix("aten::")
    kind = table.get(own, "unknown")
    if kind in _RUNS or table.get(_functional(own)) not in _RUNS:
        return kind
    return "functional"


def _functional(name: str) -> str:
    """The overload with the same arguments as an out overload but without those that are written to; empty without one."""
    import torch

    base, _, overload = name.partition(".")
    schemas = torch._C._jit_get_schemas_for_operator(f"aten::{base}")
    own = next((schema for schema in schemas if schema.overload_name == overload), None)
    if own is None or not any(argument.is_out for argument in own.arguments):
        return ""
    given = [(argument.name, str(argument.type)) for argument in own.arguments if not argument.is_out]
    for schema in schemas:
        if schema is not own and [(argument.name, str(argument.type)) for argument in schema.arguments] == given:
            return f"{base}.{schema.overload_name}".rstrip(".")
    return ""


def report(counts: Mapping[str, int]) -> str:
    """One line for each operator, the most frequent first; a last line with the sums."""
    rows = [(name, count, support(name)) for name, count in counts.items()]
    width = max((len(name) for name, _, _ in rows), default=0)
    lines = [f"{name:<{width}}  {count:>6}  {_WORDS[kind]}" for name, count, kind in rows]
    bad = [name for name, _, kind in rows if kind not in (*_RUNS, "functional")]
    lines.append(f"{len(rows)} operators ran on the twin's host memory; {len(bad)} of them have no NPU kernel in torch_npu" + (f": {', '.join(bad)}" if bad else ""))
    return "\n".join(lines)
