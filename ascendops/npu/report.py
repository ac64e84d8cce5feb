"""The compatibility report of the laptop device: the ATen operators that a program used, and what torch_npu has for each."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping

from ascendops import resources

_WORDS = {
    "native": "has an NPU kernel", "composite": "made of other operators", "cpu_fallback": "no NPU kernel: torch_npu would copy to the CPU and back",
    "no_dense_kernel": "no NPU kernel and no dense CPU kernel", "not_in_torch_2.13": "not in torch 2.13", "unknown": "not in the table",
}  # fmt: skip


@functools.cache
def _support() -> dict[str, str]:
    table = json.loads((resources.data("migration") / "aten_support.json").read_text(encoding="utf-8"))
    return {row["op"]: row["class"] for row in table["aten"]}


def support(name: str) -> str:
    """What torch_npu has for an operator such as `aten::add.Tensor`: the class of the fact table, or `unknown`."""
    return _support().get(name.removeprefix("aten::"), "unknown")


def report(counts: Mapping[str, int]) -> str:
    """One line for each operator, the most frequent first; a last line with the sums."""
    rows = [(name, count, support(name)) for name, count in counts.items()]
    width = max((len(name) for name, _, _ in rows), default=0)
    lines = [f"{name:<{width}}  {count:>6}  {_WORDS[kind]}" for name, count, kind in rows]
    bad = [name for name, _, kind in rows if kind not in ("native", "composite")]
    lines.append(f"{len(rows)} operators ran on the twin's host memory; {len(bad)} of them have no NPU kernel in torch_npu" + (f": {', '.join(bad)}" if bad else ""))
    return "\n".join(lines)
