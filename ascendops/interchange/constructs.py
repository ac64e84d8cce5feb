"""CUDA and Triton constructs and what takes their place in Ascend C (docs/concepts.md has the reasons)."""

from __future__ import annotations

import re

CUDA = (
    (r"\bblockIdx\.\w|\bgridDim\.\w", "GetBlockIdx(), GetBlockNum(): a block is a core with a share of the tensor, not one tile"),
    (r"\bthreadIdx\.\w|\bblockDim\.\w", "no counterpart: one vector instruction does a tile; its length replaces the thread index"),
    (r"\b__shared__\b", "TBuf<TPosition::VECCALC> in UB; copied tiles live in TQue<TPosition::VECIN, 2>"),
    (r"\b__syncthreads\w*|\b__syncwarp\b", "EnQue/DeQue between copy and compute, PipeBarrier<PIPE_V>() between dependent vector instructions"),
    (r"\b__shfl\w*|\b__reduce_\w+", "WholeReduceSum, BlockReduceMax, ReduceSum over a tile"),
    (r"\b__ballot\w*|\b__any\w*|\b__all\w*", "Compare to a bit mask, then Select or GatherMask"),
    (r"\bcub::\w+|\bBlockReduce\b|\bWarpReduce\b", "ReduceSum, ReduceMax, ReduceMin (level 2) or the advanced Sum"),
    (r"\batomicAdd\b", "SetAtomicAdd<T>() before DataCopyPad to GM, SetAtomicNone() after it"),
    (r"\batomic(?:Max|Min)\b", "SetAtomicMax<T>() or SetAtomicMin<T>() before DataCopyPad to GM"),
    (r"\batomic(?:CAS|Exch|Inc|Dec|And|Or|Xor)\b", "no counterpart: give each core its own part, or combine in workspace after SyncAll"),
    (r"\b__ldg\b|\breinterpret_cast<\s*(?:const\s+)?(?:float4|int4|uint4|float2)", "DataCopyPad of a whole tile: the copy engine moves up to 2 MiB at once"),
    (r"\bcp_async|__pipeline_|cuda::pipeline", "double buffering: TQue<TPosition::VECIN, 2>"),
    (r"\bwmma::|\bmma_sync\b|\bnvcuda::", "the Matmul object on the cube core"),
    (r"\b__?expf?\b", "Exp"),
    (r"\b__?logf?\b|\blog1pf?\b|\blog2f?\b", "Ln, Log2"),
    (r"\brsqrtf?\b", "Sqrt, then Div of 1: Rsqrt is an approximation"),
    (r"\bsqrtf?\b|\b__fsqrt_rn\b", "Sqrt"),
    (r"\btanhf?\b", "Tanh"),
    (r"\berff?\b", "Erf"),
    (r"\bpowf?\b", "Power"),
    (r"\bsinf?\b|\bcosf?\b|\b__?sincosf?\b", "Sin, Cos"),
    (r"\bfmaf?\b|\b__fmaf_rn\b", "MulAddDst or FusedMulAdd; Mul and Add round twice"),
    (r"\bfmaxf?\b|\bfminf?\b|\bmax\s*\(|\bmin\s*\(", "Max, Min, Maxs, Mins"),
    (r"\bfabsf?\b|\babs\s*\(", "Abs"),
    (r"\b__float2half\w*|\b__half2float\b|\b__float2bfloat16\w*|\b__bfloat162float\b", "Cast with a RoundMode"),
    (r"\bcurand\w*|\b[Pp]hilox\w*", "PhiloxRandom, or the generator written with vector instructions"),
    (r"\bprintf\s*\(", "PRINTF or DumpTensor"),
    (r"\bdouble\b", "float: the vector core has no fp64"),
)

TRITON = (
    (r"\btl\.program_id\b|\btl\.num_programs\b", "GetBlockIdx(), GetBlockNum(): a block is a core; loop over the tiles of its share"),
    (r"\btl\.arange\b", "the tile itself: addresses are base + offset of a DataCopyPad; CreateVecIndex where values are needed"),
    (r"\btl\.load\b", "DataCopyPad into a TQue<TPosition::VECIN, 2>; `other` is padding, Duplicate or Select"),
    (r"\btl\.store\b", "DataCopyPad from a TQue<TPosition::VECOUT, 2>; the mask is the copied length"),
    (r"\btl\.make_block_ptr\b|\btl\.make_tensor_descriptor\b", "DataCopyPad with DataCopyExtParams (blocks and strides)"),
    (r"\btl\.dot\b", "the Matmul object on the cube core"),
    (r"\btl\.sum\b", "ReduceSum, or WholeReduceSum for rows"),
    (r"\btl\.max\b|\btl\.min\b", "ReduceMax, ReduceMin"),
    (r"\btl\.argmax\b|\btl\.argmin\b", "ReduceMax or ReduceMin with calIndex = true"),
    (r"\btl\.cumsum\b|\btl\.associative_scan\b", "CumSum"),
    (r"\btl\.sort\b|\btl\.topk\b", "Sort, TopK, or Sort32 with MrgSort"),
    (r"\btl\.where\b", "Compare or CompareScalar to a bit mask, then Select"),
    (r"\btl\.maximum\b|\btl\.minimum\b|\btl\.clamp\b", "Max, Min, Maxs, Mins"),
    (r"\btl\.exp2?\b|\bmath\.exp\b", "Exp"),
    (r"\btl\.log2?\b", "Ln, Log2"),
    (r"\btl\.sqrt\b|\btl\.rsqrt\b|\btl\.sqrt_rn\b", "Sqrt; 1/sqrt as Sqrt and Div"),
    (r"\btl\.sigmoid\b", "Sigmoid, or Muls, Exp, Adds and Div"),
    (r"\btanh\b", "Tanh"),
    (r"\berf\b", "Erf"),
    (r"\btl\.sin\b|\btl\.cos\b", "Sin, Cos"),
    (r"\btl\.atomic_add\b", "SetAtomicAdd<T>() before DataCopyPad to GM, SetAtomicNone() after it"),
    (r"\btl\.atomic_(?:max|min)\b", "SetAtomicMax<T>() or SetAtomicMin<T>() before DataCopyPad to GM"),
    (r"\btl\.atomic_(?:cas|xchg|and|or|xor)\b", "no counterpart: give each core its own part, or combine in workspace after SyncAll"),
    (r"\btl\.rand\w*\b|\btl\.philox\b", "PhiloxRandom"),
    (r"\.to\(\s*tl\.|\.to\(\w+\.dtype", "Cast with a RoundMode"),
    (r"\btl\.zeros\b|\btl\.full\b|\btl\.zeros_like\b", "Duplicate"),
    (r"\btl\.debug_barrier\b", "PipeBarrier<PIPE_V>()"),
    (r"\btl\.device_print\b|\btl\.static_print\b", "PRINTF or DumpTensor"),
)


def found(text: str, table: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """(construct as written, its counterpart) for each row of the table that the text uses, in order of first use."""
    rows = [(match.start(), match[0].strip(" ("), counterpart) for pattern, counterpart in table if (match := re.search(pattern, text))]
    return tuple((written, counterpart) for _, written, counterpart in sorted(rows))
