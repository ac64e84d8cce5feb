"""Chains of ops that have a fused counterpart on Ascend, found in the order in which the profile launched them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ascendops.migrate.profile.trace import Trace


@dataclass(frozen=True)
class Fusion:
    """A chain of ops: `pattern` is a regular expression over the names without `aten::`, each with a space after it."""

    name: str
    pattern: str
    fused: str
    family: str


_NOISE = re.compile(r"aten::(copy_|_to_copy|to|clone|contiguous|fill_|zero_|zeros|ones|tril_?|triu_?|bitwise_not|logical_not|empty|resize_|cat|slice)")
"""Casts, copies and the making of masks: they stand between the ops of a chain and do not break it."""
_MATMUL = "(?:mm|addmm|bmm|baddbmm|matmul|linear) "
_PRODUCT = "(?:bmm|baddbmm|matmul|mm) "
_ACTIVATION = "(?:gelu|relu_?|silu_?|tanh|sigmoid|clamp_min_?) "
_NORM = "(?:native_layer_norm|layer_norm) "
FUSIONS = (
    Fusion("attention written out", f"{_PRODUCT}(?:(?:div|mul|add|sub|masked_fill|where|baddbmm)_? ){{0,5}}_?softmax (?:(?:native_dropout|bernoulli_|div_?|mul_?|dropout) ){{0,3}}{_PRODUCT}", "torch_npu.npu_fusion_attention", "attention"),
    Fusion("fused attention of CUDA", "_?(?:scaled_dot_product_)?(?:cudnn|flash|efficient|fused_sdp_choice)_attention(?:_forward)? ", "torch.nn.functional.scaled_dot_product_attention (it has an NPU kernel), or torch_npu.npu_fusion_attention", "attention"),
    Fusion("matmul + bias + activation", f"(?:mm|bmm|matmul) add_? {_ACTIVATION}", "", "matmul_epilogue"),
    Fusion("matmul + activation", f"(?:addmm|linear) {_ACTIVATION}", "", "matmul_epilogue"),
    Fusion("residual + norm", f"add_? {_NORM}", "", "normalization"),
    Fusion("residual + RMS norm", "add_? (?:pow|mul|square) mean add_? rsqrt mul ", "torch_npu.npu_add_rms_norm", "normalization"),
    Fusion("RMS norm", "(?:pow|square) mean add_? rsqrt mul ", "torch_npu.npu_rms_norm", "normalization"),
    Fusion("SwiGLU", "silu_? mul_? ", "torch_npu.npu_swiglu", "elementwise"),
    Fusion("conv + batch norm", "(?:cudnn_convolution|convolution|_convolution|conv2d|_slow_conv2d_forward) (?:add_? ){0,2}(?:cudnn_batch_norm|native_batch_norm|_batch_norm_impl_index|batch_norm) ", "fold the batch norm into the weights before inference", ""),
    Fusion("group norm + SiLU", "native_group_norm silu_? ", "torch_npu.npu_group_norm_silu", "normalization"),
    Fusion("optimizer step, tensor by tensor", "(?:(?:mul_|lerp_|add_) ){1,3}(?:mul_ )?addcmul_ (?:(?:sqrt|div|div_|add_) ){1,4}addcdiv_ ", "torch_npu.optim.NpuFusedAdamW, or foreach=True", ""),
    Fusion("rotary embedding", "mul_? neg mul_? add_? ", "torch_npu.npu_rotary_mul", "elementwise"),
)  # fmt: skip


def candidates(trace: Trace) -> list[dict[str, object]]:
    """The chains found, with how often, the share of the time of those very calls in percent, and what to use."""
    kept = [index for index, op in enumerate(trace.sequence) if not _NOISE.fullmatch(op)]
    text = "".join(trace.sequence[index].removeprefix("aten::") + " " for index in kept)
    found: list[dict[str, object]] = []
    taken: set[int] = set()
    for fusion in FUSIONS:
        places = [match.span() for match in re.finditer(rf"(?<!\S){fusion.pattern}", text)]
        steps = [range(text[:start].count(" "), text[:end].count(" ")) for start, end in places]
        fresh = [step for step in steps if not taken & set(step)]
        if fresh:
            taken.update(index for step in fresh for index in step)
            found.append(_row(fusion, trace, [[kept[index] for index in step] for step in fresh]))
    return sorted(found, key=lambda row: -float(str(row["share"])))


def _row(fusion: Fusion, trace: Trace, places: list[list[int]]) -> dict[str, object]:
    us = sum(trace.step_us[index] for place in places for index in range(place[0], place[-1] + 1))
    return {
        "name": fusion.name,
        "count": len(places),
        "ops": sorted({trace.sequence[index] for place in places for index in place}),
        "share": round(100 * us / (trace.total_us or 1.0), 1),
        "use": fusion.fused or f"an operator of the template family {fusion.family}",
        "fused": fusion.fused,
        "family": fusion.family,
    }
