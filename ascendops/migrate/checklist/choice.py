"""Which framework to write an operator in: a table of routes, those that the findings suggest marked, with their costs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ascendops.migrate.model import Finding, Report


@dataclass(frozen=True)
class Route:
    """A way to get an operator onto Ascend.

    Attributes:
        when: The condition under which it is the first choice.
        cost: What it costs to write and to keep.
        rules: Rules whose findings lead here.
        features: If given, kernels qualify only with one of these features; `()` asks for none.
    """

    name: str
    when: str
    cost: str
    rules: tuple[str, ...]
    wants: tuple[str, ...] = ()
    avoids: tuple[str, ...] = ()


_CUBE = ("tensor cores", "CUTLASS or CuTe")
_HARD = ("dynamic parallelism", "texture")

ROUTES = (
    Route("stock torch op", "the kernel does what a native ATen op does, and the profile does not show it above the threshold", "minutes; nothing to maintain", ("MIG-ATEN-OP", "MIG-CUDA-PYTHON")),
    Route("fused torch_npu op", "a row of the fused-operator table replaces the library call (attention, norm, rotary, SwiGLU, MoE, quantised matmul)", "hours; the signature, layout and mask semantics differ", ("MIG-IMPORT", "MIG-PACKAGE", "MIG-ATTENTION-IMPL")),
    Route("Triton on Ascend", "the kernel is Triton already and its tiles fit the Unified Buffer", "hours for each kernel; GPU options do not tune", ("MIG-TRITON-KERNEL",)),
    Route("Ascend C (vector)", "an elementwise, reduction or normalisation kernel that no fused op covers", "days for each kernel; `ascendops new op` writes the project", ("MIG-KERNEL", "MIG-PY-KERNEL", "MIG-EXTENSION", "MIG-CU-SOURCE"), avoids=_CUBE + _HARD),
    Route("CATLASS-style templates or the Matmul API", "a GEMM with an epilogue of its own: tensor cores, CUTLASS or CuTe in the source", "days to weeks; cube and vector cores work together", ("MIG-KERNEL", "MIG-CUDA-LIBRARY"), wants=_CUBE),
    Route("SIMT on Ascend 950", "the target is Ascend 950 only, and the kernel indexes irregularly", "days; does not run on A2/A3", ("MIG-KERNEL", "MIG-DEVICE-CODE"), wants=("atomics", "warp vote", "cooperative groups")),
    Route("TBE", "an existing TBE operator only needs a change, or the graph engine needs its fusion", "days; new operators are better written in Ascend C", ()),
    Route("ATB", "a whole transformer layer for inference, on A2/A3", "hours to days; the layer's structure is fixed", ("MIG-IMPORT",)),
    Route("ONNX and ATC", "the model is exported once and only run", "hours; every operator must be in the parser's table", ("MIG-ONNX-OP", "MIG-ONNX-OPSET", "MIG-PROVIDER")),
    Route("MindIE", "serving of a supported large model replaces TensorRT or a serving engine", "hours to days; the model list is fixed", ("MIG-PACKAGE", "MIG-CUDA-PYTHON")),
)  # fmt: skip

_LIBRARIES = {
    "fused torch_npu op": (
        "flash",
        "xformers",
        "apex",
        "bitsandbytes",
        "grouped_gemm",
        "megablocks",
        "deep_ep",
        "awq",
        "gptq",
        "fla",
    ),
    "ATB": ("vllm", "sglang", "flashinfer"),
    "MindIE": ("tensorrt", "torch_tensorrt", "vllm"),
    "stock torch op": ("cupy", "torch_scatter"),
}


def leads(route: Route, findings: list[Finding]) -> list[Finding]:
    """The findings that suggest a route."""
    found = [finding for finding in findings if finding.rule in route.rules and finding.status != "works_as_is"]
    if route.wants:
        found = [
            finding
            for finding in found
            if set(finding.features) & set(route.wants)
            or (finding.rule == "MIG-CUDA-LIBRARY" and "cut" in finding.construct)
        ]
    if route.avoids:
        found = [finding for finding in found if not set(finding.features) & set(route.avoids)]
    if words := _LIBRARIES.get(route.name):
        found = [
            finding
            for finding in found
            if any(word in finding.construct.lower() for word in words)
            or finding.rule in ("MIG-ATEN-OP", "MIG-ATTENTION-IMPL")
        ]
    if route.name == "ONNX and ATC":
        found = [finding for finding in findings if finding.rule in route.rules]
    return found


def section(report: Report) -> Iterator[str]:
    """The decision table as Markdown lines; empty when no finding leads anywhere."""
    table = [(route, leads(route, report.findings)) for route in ROUTES]
    if not any(found for _, found in table):
        return
    yield "## Which framework for which operator"
    yield ""
    yield "Go down the rows and take the first whose condition holds; a route without findings is listed so that the choice is complete."
    yield ""
    yield "| route | take it when | cost | findings that lead here |"
    yield "|---|---|---|---|"
    for route, found in table:
        names = sorted(
            {
                finding.construct.removeprefix("__global__ kernel ").removeprefix("@triton.jit kernel ")
                for finding in found
            }
        )
        shown = ", ".join(f"`{name}`" for name in names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
        yield f"| {route.name} | {route.when} | {route.cost} | {shown or '-'} |"
    yield ""
