"""Chains of ops that have a fused counterpart on Ascend, found in the order in which the profile launched them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ascendops.migrate.profile.trace import Trace


@dataclass(frozen=True)
class Fusion:
    """A chain of ops: `pattern` is a regular expression for each op in order."""

    name: str
    pattern: tuple[str, ...]
    fused: str
    family: str


_MATMUL = r"aten::(mm|addmm|bmm|baddbmm|matmul|linear)"
_ACTIVATION = r"aten::(gelu|relu_?|silu_?|tanh|sigmoid)"
FUSIONS = (
    Fusion("attention chain", (_MATMUL, r"aten::(div|mul|add_?|masked_fill_?|_softmax)", r"aten::(_softmax|softmax|add_?|masked_fill_?)", _MATMUL), "torch_npu.npu_fusion_attention", "attention"),
    Fusion("attention chain", (_MATMUL, r"aten::(_softmax|softmax)", _MATMUL), "torch_npu.npu_fusion_attention", "attention"),
    Fusion("matmul + bias + activation", (_MATMUL, r"aten::add_?", _ACTIVATION), "", "matmul_epilogue"),
    Fusion("matmul + activation", (r"aten::(addmm|linear)", _ACTIVATION), "", "matmul_epilogue"),
    Fusion("residual + norm", (r"aten::add_?", r"aten::(native_layer_norm|layer_norm)"), "", "normalization"),
    Fusion("residual + RMS norm", (r"aten::add_?", r"aten::pow", r"aten::mean"), "torch_npu.npu_add_rms_norm", "normalization"),
    Fusion("RMS norm", (r"aten::pow", r"aten::mean", r"aten::(add|rsqrt)_?"), "torch_npu.npu_rms_norm", "normalization"),
    Fusion("SwiGLU", (r"aten::silu_?", r"aten::mul_?"), "torch_npu.npu_swiglu", "elementwise"),
    Fusion("conv + batch norm", (r"aten::(cudnn_convolution|convolution|_convolution|conv2d)", r"aten::(cudnn_batch_norm|native_batch_norm|batch_norm)"), "fold the batch norm into the weights before inference", ""),
    Fusion("group norm + SiLU", (r"aten::native_group_norm", r"aten::silu_?"), "torch_npu.npu_group_norm_silu", "normalization"),
)  # fmt: skip


def candidates(trace: Trace) -> list[dict[str, object]]:
    """The chains found, with how often, the share of their ops in percent, and what to use."""
    total = trace.total_us or 1.0
    found: list[dict[str, object]] = []
    for fusion in FUSIONS:
        places = list(_places(fusion, trace.sequence))
        if places and not any(row["fused"] == fusion.fused and fusion.fused for row in found):
            ops = sorted({op for place in places for op in trace.sequence[place : place + len(fusion.pattern)]})
            share = 100 * sum(trace.op_us[op] for op in ops) / total
            use = fusion.fused or f"an operator of the template family {fusion.family}"
            found.append(
                {
                    "name": fusion.name,
                    "count": len(places),
                    "ops": ops,
                    "share": round(share, 1),
                    "use": use,
                    "fused": fusion.fused,
                    "family": fusion.family,
                }
            )
    return found


def _places(fusion: Fusion, sequence: list[str]) -> Iterator[int]:
    width = len(fusion.pattern)
    for start in range(len(sequence) - width + 1):
        if all(re.fullmatch(pattern, sequence[start + step]) for step, pattern in enumerate(fusion.pattern)):
            yield start
