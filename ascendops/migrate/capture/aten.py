"""Captured operators joined to the support table: native, composite, CPU fallback, missing, and dtypes with limits."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from ascendops.errors import AscendOpsError
from ascendops.errors.migrate import ModelError
from ascendops.migrate.capture.dtypes import limits as dtype_limits
from ascendops.migrate.facts import tables
from ascendops.migrate.facts.tables import Fact
from ascendops.migrate.model import Report
from ascendops.migrate.scanners.sink import Sink
from ascendops.migrate.sources.text import Source

_ANSWERS = {
    "native": ("works_as_is", "an NPU kernel is registered"),
    "composite": ("works_as_is", "has no kernel of its own and decomposes into other operators; the capture lists those that are dispatched, and one of the others may run on the CPU"),
    "cpu_fallback": (
        "restricted",
        "runs on the CPU, with a copy there and back; TORCH_NPU_FALLBACK_CPU_DISABLE=1 makes it an error",
    ),
    "no_dense_kernel": ("custom_op", "only sparse or quantised kernels exist"),
    "not_in_torch_2.13": ("restricted", "named for older versions only"),
}

def capture(report: Report, model: str, inputs: str | None, timeout_s: float = 600.0) -> None:
    """Captures `model` in a worker process and adds one finding for each operator, and the table of the model, to the report.

    Raises:
        ModelError: The factory, the inputs or the forward pass failed; the message has the exception.
    """
    from ascendops.worker import Worker

    try:
        with Worker("ascendops.migrate.capture.record:record", timeout_s=timeout_s, label="the model") as worker:
            rows: list[dict[str, Any]] = worker.call(model, inputs)
    except AscendOpsError as error:
        raise ModelError(
            f"the operators of {model} could not be captured: {error.what}", where=model, why=error.why, help=error.help
        ) from error
    join(report, model, rows)


def join(report: Report, model: str, rows: list[dict[str, Any]]) -> None:
    """Adds the findings for captured rows (op, dtypes, shapes, count) to the report."""
    support = {row["op"]: row for row in tables.table("aten_support")["aten"]}
    source = tables.table("aten_support")["_meta"]["torch_npu_sources"][0]
    by_op: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by_op[row["op"]].append(row)
    sink = Sink(Source(model, ""))
    classes: dict[str, int] = defaultdict(int)
    for op, places in sorted(by_op.items()):
        name = op.removeprefix("aten::")
        known = support.get(name) or support.get(f"{name}.default")
        kind = known["class"] if known else "missing"
        count = sum(place["count"] for place in places)
        classes[kind] += count
        sink.add(0, f"{op} ({count} calls)", "MIG-ATEN-OP", _fact(op, known, places, source))
    report.findings += sink.findings
    report.models.append(
        {
            "model": model,
            "calls": dict(classes),
            "ops": [
                {**row, "class": (support.get(row["op"].removeprefix("aten::")) or {}).get("class", "missing")}
                for row in rows
            ],
        }
    )


def _fact(op: str, row: dict[str, Any] | None, places: list[dict[str, Any]], source: str) -> Fact:
    if row is None:
        if op.startswith("higher_order::"):
            return Fact(op, "restricted", "", "control flow in the graph: eager mode runs it, graph modes may break it", "derived")
        if not op.startswith("aten::"):
            return Fact(
                op, "custom_op", "", f"an operator outside of ATen; shapes such as {places[0]['shapes']}", source
            )
        return Fact(op, "custom_op", "", "not in the support table", source)
    status, note = _ANSWERS[row["class"]]
    dtypes = {dtype for place in places for dtype in place["dtypes"].split(", ")}
    hard, limits = dtype_limits(op, dtypes)
    if hard and status == "works_as_is":
        status = "restricted"
    detail = "; ".join(
        [note, *limits, f"dtypes {', '.join(sorted(dtypes - {''})) or 'none'}, such as {places[0]['shapes']}"]
    )
    return Fact(
        op,
        status,
        row.get("aclnn", ""),
        detail,
        source,
        versions=f"native until torch {row['native_until']}" if row.get("native_until") else "",
    )
