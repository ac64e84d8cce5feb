"""Measurements of references on a GPU, and their tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

ALLOWED_ULP = {"float32": 64.0, "float16": 2.0, "bfloat16": 2.0}  # a coarse net; `ascendops test` is the fine one


@dataclass
class Record:
    """One measurement: errors (in ulp of the dtype) on small shapes, or time on large ones."""

    op: str
    what: str  # triton or cuda
    dtype: str
    shape: str
    attrs: dict[str, Any]
    ulp: float | None = None
    torch_ulp: float | None = None
    wrong_special: int | None = None
    microseconds: float | None = None
    quartiles: tuple[float, float] | None = None
    torch_microseconds: float | None = None
    bytes: int | None = None
    error: str | None = None

    @property
    def bad(self) -> bool:
        """True for a wrong result or an exception."""
        allowed = max(ALLOWED_ULP.get(self.dtype, 0), 4 * (self.torch_ulp or 0))
        return self.error is not None or bool(self.wrong_special) or (self.ulp or 0) > allowed


def markdown(records: Sequence[Record], environment: dict[str, str]) -> str:
    """The two tables as Markdown."""
    lines = [
        "# References on a GPU",
        "",
        f"{environment['gpu']}, torch {environment['torch']}, Triton {environment['triton']}, CUDA {environment['cuda']}, "
        f"{environment['date']}; made by `tools/record_gpu.py`.",
        "",
        "Time is the median of 40 calls (CUDA events, L2 flushed before each, all queued before the first runs), GB/s counts every tensor once.",
        "",
        "| op | by | shapes | dtype | attributes | us | quartiles | GB/s | torch us | torch / this |",
        "|---|---|---|---|---|--:|---|--:|--:|--:|",
    ]
    lines += [_time_row(r) for r in records if r.torch_microseconds is not None]
    lines += [
        "",
        "Largest error in ulp of the dtype against fp64, over all small shapes (with nan, inf and empty tensors):",
        "",
    ]
    lines += ["| op | by | dtype | error | torch's error | wrong nan/inf |", "|---|---|---|--:|--:|--:|"]
    for op, what, dtype in dict.fromkeys((r.op, r.what, r.dtype) for r in records if r.ulp is not None):
        mine = [r for r in records if (r.op, r.what, r.dtype) == (op, what, dtype) and r.ulp is not None]
        worst, theirs = max(r.ulp or 0 for r in mine), max(r.torch_ulp or 0 for r in mine)
        lines.append(
            f"| {op} | {what} | {dtype} | {worst:.2f} | {theirs:.2f} | {sum(r.wrong_special or 0 for r in mine)} |"
        )
    failed = [r for r in records if r.error]
    if failed:
        lines += ["", "Failed:", ""]
        lines += [f"- {r.op} ({r.what}, {r.shape}, {r.dtype}): {r.error}" for r in failed]
    return "\n".join(lines) + "\n"


def _time_row(r: Record) -> str:
    attrs = ", ".join(f"{key}={value}" for key, value in r.attrs.items())
    mine, theirs, (low, high) = r.microseconds or math.nan, r.torch_microseconds or math.nan, r.quartiles or (0, 0)
    speed = (
        f"{mine:.1f} | {low:.1f} to {high:.1f} | {(r.bytes or 0) / mine / 1e3:.0f} | {theirs:.1f} | {theirs / mine:.2f}"
    )
    return f"| {r.op} | {r.what} | {r.shape} | {r.dtype} | {attrs} | {speed} |"
