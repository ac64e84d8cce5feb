"""ONNX models: one finding per operator type, and one for the opset. Weights are not loaded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ascendops.errors.migrate import ExtraMissing
from ascendops.migrate.facts import tables
from ascendops.migrate.facts.tables import Fact
from ascendops.migrate.scanners.sink import Sink
from ascendops.migrate.sources.text import Source

_INSIDE_PARSER = {"Constant", "If", "Loop", "Scan", "Identity"}
LAST_OPSET = 18


def scan(path: Path, file: str) -> Sink:
    """The findings of a model.

    Raises:
        ExtraMissing: The onnx package is not installed.
        ValueError: The file is not an ONNX model.
    """
    try:
        import onnx
    except ImportError as error:
        raise ExtraMissing(
            "onnx is needed to read ONNX models", where=file, help="pip install 'ascendops[migrate]'"
        ) from error
    sink = Sink(Source(file, ""))
    try:
        model = onnx.load(path.as_posix(), load_external_data=False)
    except Exception as error:
        raise ValueError(f"not an ONNX model: {error}") from error
    if not model.graph.node:
        raise ValueError("not an ONNX model: it has no nodes")
    opsets = {entry.domain or "ai.onnx": entry.version for entry in model.opset_import}
    opset = opsets.get("ai.onnx", 0)
    _opset(opset, sink)
    counts = Counter((node.domain, node.op_type) for node in _nodes(model.graph))
    functions = {(function.domain, function.name) for function in model.functions}
    for (domain, name), count in sorted(counts.items()):
        if (domain, name) not in functions:
            _operator(domain, name, count, min(opset, LAST_OPSET), sink)
    return sink


def _nodes(graph: Any) -> Iterable[Any]:
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs):
                if inner.node:
                    yield from _nodes(inner)


def _opset(opset: int, sink: Sink) -> None:
    source = tables.table("onnx_support")["_meta"]["source"]
    if opset > LAST_OPSET:
        fact = Fact("opset", "restricted", f"opset {LAST_OPSET}", f"registrations end at opset {LAST_OPSET}", source)
        sink.add(
            0,
            f"opset {opset}",
            "MIG-ONNX-OPSET",
            fact,
            todo=f"convert the model to opset {LAST_OPSET} with onnx.version_converter",
        )
    else:
        sink.add(
            0,
            f"opset {opset}",
            "MIG-ONNX-OPSET",
            Fact("opset", "works_as_is", "", f"opset {opset} is within 8 to {LAST_OPSET}", source),
        )


def _operator(domain: str, name: str, count: int, opset: int, sink: Sink) -> None:
    row = tables.table("onnx_support")["ops"].get(name)
    meta = tables.table("onnx_support")["_meta"]
    if domain not in ("", "ai.onnx"):
        fact = Fact(
            name,
            "custom_op",
            "",
            f"operator of domain {domain}: it needs a parser plug-in and an operator",
            meta["source"],
        )
        sink.add(
            0,
            f"{domain}::{name} ({count} nodes)",
            "MIG-ONNX-OP",
            fact,
            command=f"ascendops new op {name.lower()} --from {sink.source.file}",
        )
    elif row and row[0] <= opset <= row[1]:
        sink.add(
            0,
            f"{name} ({count} nodes)",
            "MIG-ONNX-OP",
            Fact(name, "works_as_is", "", f"parser plug-in for opsets {row[0]} to {row[1]}", row[2]),
        )
    elif name in _INSIDE_PARSER:
        sink.add(
            0,
            f"{name} ({count} nodes)",
            "MIG-ONNX-OP",
            Fact(name, "works_as_is", "", "handled inside the parser", meta["not_covered"]),
        )
    else:
        note = f"registered for opsets {row[0]} to {row[1]}, the model has {opset}" if row else meta["not_covered"]
        sink.add(
            0,
            f"{name} ({count} nodes)",
            "MIG-ONNX-OP",
            Fact(name, "restricted", "", note, meta["source"]),
            todo="try ATC on the model; if it refuses the operator, write a plug-in or rewrite the graph",
        )
