"""Joining a profile to findings: each kernel's share of the time, and what that share advises."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from ascendops.migrate.facts import tables
from ascendops.migrate.model import Finding, Report
from ascendops.migrate.profile.fusion import candidates
from ascendops.migrate.profile.trace import Kernel, Trace

SMALL_US = 10.0
MANY = 100

_FAMILIES = (
    ("communication", r"nccl|AllReduce|AllGather|ReduceScatter|all_reduce", "MIG-DIST-NCCL"),
    ("attention library", r"flash_(?:fwd|bwd)|fmha|flash_attn|pytorch_flash", "flash"),
    ("cuDNN", r"cudnn|implicit_convolve|winograd|_convolve_", ""),
    ("ATen", r"\bat::native\b|\bat::cuda\b|\bc10::", ""),
    ("CUB or Thrust", r"\bcub::|\bthrust::", ""),
    ("Inductor", r"^triton_(?:poi|per|red|tem|for|mm|bmm)", "MIG-COMPILE"),
    ("GEMM library", r"gemm|cutlass|cublas|sm\d+_xmma|s16816|ampere_|hopper_|nvjet|splitK", ""),
    ("cuSOLVER", r"cusolver|getrf|potrf|geqrf|syevj|trsm_", ""),
    ("copy", r"Memcpy|Memset", ""),
)
"""Libraries by the names of their kernels, the narrower first."""


def join(report: Report, trace: Trace, threshold: float) -> None:
    """Puts weights on the findings of `report`, and the profile's summary into it; `threshold` is in percent."""
    total = trace.total_us or 1.0
    shares: dict[str, float] = {}
    for kernel in trace.kernels.values():
        shares[kernel.name] = shares.get(kernel.name, 0.0) + 100 * kernel.us / total
    report.findings = [_weigh(finding, shares, threshold) for finding in report.findings]
    report.findings.sort(key=lambda finding: -(finding.weight or 0.0))
    known = {_kernel_name(finding) for finding in report.findings if _kernel_name(finding)}
    report.profile = {
        "total_us": round(trace.total_us, 1),
        "span_us": round(trace.span_us, 1),
        "threshold": threshold,
        "kernels": [
            _row(kernel, total, known) for kernel in sorted(trace.kernels.values(), key=lambda item: -item.us)[:50]
        ],
        "ops": _ops(trace),
        "communication": round(
            100 * sum(k.us for k in trace.kernels.values() if family(k) == "communication") / total, 2
        ),
        "launch_bound": _launch_bound(trace, known),
        "busy": round(100 * trace.total_us / trace.span_us, 1) if trace.span_us else 100.0,
        "fusion": candidates(trace),
    }


def _launch_bound(trace: Trace, known: set[str]) -> list[dict[str, Any]]:
    """Ops (or kernels that no op launched) with many launches of a few microseconds, the longest in sum first."""
    total = trace.total_us or 1.0
    groups: dict[str, list[float]] = {}
    for kernel in trace.kernels.values():
        if family(kernel) in ("communication", "copy"):
            continue
        ops = {} if kernel.name in known else kernel.ops  # a kernel of the sources counts under its own name
        launched = sum(ops.values())
        for op, count in ops.items():
            row = groups.setdefault(op, [0.0, 0.0])
            row[0] += count
            row[1] += kernel.us * count / kernel.count
        if kernel.count > launched:
            row = groups.setdefault(kernel.name, [0.0, 0.0])
            row[0] += kernel.count - launched
            row[1] += kernel.us * (kernel.count - launched) / kernel.count
    rows = [
        {"name": name, "count": int(count), "us": round(us, 1), "mean_us": round(us / count, 2), "share": round(100 * us / total, 2), "source": name in known}
        for name, (count, us) in groups.items()
        if count >= MANY and us / count < SMALL_US
    ]
    return sorted(rows, key=lambda row: -float(str(row["us"])))


def _kernel_name(finding: Finding) -> str:
    match = re.match(r"(?:__global__|@triton\.jit|@cuda\.jit) kernel (\w+)", finding.construct)
    return match[1] if match else ""


def _weigh(finding: Finding, shares: dict[str, float], threshold: float) -> Finding:
    name = _kernel_name(finding)
    if name not in shares or not name:
        return finding
    share = shares[name]
    advice = finding.todo
    command = finding.command
    if share < threshold and finding.rule in ("MIG-KERNEL", "MIG-PY-KERNEL"):
        advice = f"{share:.1f} % of the time, below {threshold:g} %: do not write a custom op first, compose it from ATen ops. Else: {advice}"
        command = ""
    return replace(finding, weight=share, todo=advice, command=command)


def family(kernel: Kernel) -> str:
    """The library that a kernel belongs to, by its name; `own` if none."""
    return next((name for name, pattern, _ in _FAMILIES if re.search(pattern, kernel.full, re.IGNORECASE)), "own")


def _row(kernel: Kernel, total: float, known: set[str]) -> dict[str, Any]:
    return {
        "name": kernel.name,
        "share": round(100 * kernel.us / total, 2),
        "us": round(kernel.us, 1),
        "count": kernel.count,
        "mean_us": round(kernel.mean_us, 2),
        "family": "source" if kernel.name in known else family(kernel),
        "op": max(kernel.ops, key=lambda op: kernel.ops[op]) if kernel.ops else "",
    }


def _ops(trace: Trace) -> list[dict[str, Any]]:
    """The ATen ops by share, with their class in the support table."""
    total = trace.total_us or 1.0
    classes: dict[str, str] = {}
    order = {"cpu_fallback": 0, "no_dense_kernel": 1, "composite": 2, "native": 3}
    for row in tables.table("aten_support")["aten"]:
        name = "aten::" + row["op"].split(".")[0]
        if order.get(row["class"], -1) > order.get(classes.get(name, ""), -1):
            classes[name] = row["class"]
    rows = sorted(trace.op_us.items(), key=lambda item: -item[1])[:50]
    return [
        {"op": op, "share": round(100 * us / total, 2), "class": classes.get(op, "not an ATen op")} for op, us in rows
    ]
