"""What a profile advises, as Markdown lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ascendops.migrate.model import Report


def lines(report: Report) -> Iterator[str]:
    """The section about the profile."""
    profile = report.profile
    yield f"## Where the time goes ({profile['total_us'] / 1000:.1f} ms on the GPU)"
    yield ""
    yield "| share | kernel | launches | mean | launched by | belongs to |"
    yield "|---|---|---|---|---|---|"
    for row in profile["kernels"][:15]:
        yield f"| {row['share']:.1f} % | `{row['name']}` | {row['count']} | {row['mean_us']:.1f} us | {row['op'] or '-'} | {row['family']} |"
    yield ""
    yield from _advice(profile)
    yield ""


def _advice(profile: dict[str, Any]) -> Iterator[str]:
    yield f"- A kernel below {profile['threshold']:g} % of the time is no reason for a custom op: compose it from ATen ops first."
    if profile["communication"]:
        yield f"- Communication is {profile['communication']:.1f} %: it runs on HCCL; tune HCCL_BUFFSIZE, overlap and the topology, not kernels."
    for row in [row for row in profile["ops"] if row["class"] in ("cpu_fallback", "no_dense_kernel")]:
        yield f"- `{row['op']}` ({row['share']:.1f} %) would run on the CPU: {row['class']}. Replace it, or write an operator."
    if profile["busy"] < 70:
        yield f"- The GPU computes {profile['busy']:.0f} % of the time from its first to its last kernel: the host is the limit, and an NPU will wait for it, too."
    for row in profile["launch_bound"][:10]:
        yield f"- `{row['name']}` is launched {row['count']} times for {row['mean_us']:.1f} us each ({row['share']:.1f} %): launch-bound. Fuse it, or capture a graph (torch.npu.graph)."
    for row in profile["fusion"]:
        yield f"- {row['name']} ({row['count']} times, {row['share']:.1f} %): use {row['use']}."
