// Vector instructions as the compiler's own functions: raw UB pointers, lanes as the mask register says.
#pragma once

#include "ascendc_twin/api_raw.h"
#include "ascendc_twin/vec_common.h"

namespace ascendc_twin {

template <typename T>
TWIN_API void raw_binary(const char *api, VecOp op, T *dst, T *a, T *b, uint32_t repeat, uint32_t dst_blk, uint32_t a_blk, uint32_t b_blk,
                         uint32_t dst_rep, uint32_t a_rep, uint32_t b_rep) {
    Inst inst(api, PipeId::V);
    Lanes lanes = with_strides(lanes_of_register(repeat), dst_blk, a_blk, dst_rep, a_rep);
    lanes.blk[2] = b_blk;
    lanes.rep[2] = b_rep;
    vec_binary(inst, op, raw_local(dst), raw_local(a), raw_local(b), lanes);
}

}  // namespace ascendc_twin

#define TWIN_CCE_BINARY(NAME, OP)                                                                                                 \
    template <typename T>                                                                                                         \
    TWIN_API void NAME(T *dst, T *src0, T *src1, uint8_t repeat, uint8_t dstBlkStride, uint8_t src0BlkStride,                     \
                       uint8_t src1BlkStride, uint8_t dstRepStride, uint8_t src0RepStride, uint8_t src1RepStride) {               \
        ascendc_twin::raw_binary(#NAME, ascendc_twin::VecOp::OP, dst, src0, src1, repeat, dstBlkStride, src0BlkStride,            \
                                 src1BlkStride, dstRepStride, src0RepStride, src1RepStride);                                      \
    }
TWIN_CCE_BINARY(vadd, ADD)
TWIN_CCE_BINARY(vsub, SUB)
TWIN_CCE_BINARY(vmul, MUL)
TWIN_CCE_BINARY(vdiv, DIV)
TWIN_CCE_BINARY(vmax, MAX)
TWIN_CCE_BINARY(vmin, MIN)
TWIN_CCE_BINARY(vor, OR)
TWIN_CCE_BINARY(vand, AND)
#undef TWIN_CCE_BINARY

#define TWIN_CCE_SCALAR(NAME, OP)                                                                                                 \
    template <typename T>                                                                                                         \
    TWIN_API void NAME(T *dst, T *src, T scalar, uint8_t repeat, uint16_t dstBlkStride, uint16_t srcBlkStride,                    \
                       uint8_t dstRepStride, uint8_t srcRepStride) {                                                              \
        ascendc_twin::Inst inst(#NAME, ascendc_twin::PipeId::V);                                                                  \
        const auto lanes = ascendc_twin::with_strides(ascendc_twin::lanes_of_register(repeat), dstBlkStride, srcBlkStride,        \
                                                      dstRepStride, srcRepStride);                                                \
        ascendc_twin::vec_scalar(inst, ascendc_twin::VecOp::OP, ascendc_twin::raw_local(dst), ascendc_twin::raw_local(src),       \
                                 ascendc_twin::scalar_of(scalar), lanes);                                                         \
    }
TWIN_CCE_SCALAR(vadds, ADDS)
TWIN_CCE_SCALAR(vmuls, MULS)
TWIN_CCE_SCALAR(vmaxs, MAXS)
TWIN_CCE_SCALAR(vmins, MINS)
#undef TWIN_CCE_SCALAR

#define TWIN_CCE_UNARY(NAME, OP)                                                                                                  \
    template <typename T>                                                                                                         \
    TWIN_API void NAME(T *dst, T *src, uint8_t repeat, uint16_t dstBlkStride, uint16_t srcBlkStride, uint8_t dstRepStride,        \
                       uint8_t srcRepStride) {                                                                                    \
        ascendc_twin::Inst inst(#NAME, ascendc_twin::PipeId::V);                                                                  \
        const auto lanes = ascendc_twin::with_strides(ascendc_twin::lanes_of_register(repeat), dstBlkStride, srcBlkStride,        \
                                                      dstRepStride, srcRepStride);                                                \
        ascendc_twin::vec_unary(inst, ascendc_twin::VecOp::OP, ascendc_twin::raw_local(dst), ascendc_twin::raw_local(src), lanes); \
    }
TWIN_CCE_UNARY(vexp, EXP)
TWIN_CCE_UNARY(vln, LN)
TWIN_CCE_UNARY(vabs, ABS)
TWIN_CCE_UNARY(vsqrt, SQRT)
TWIN_CCE_UNARY(vrsqrt, RSQRT)
TWIN_CCE_UNARY(vrec, RECIPROCAL)
TWIN_CCE_UNARY(vrelu, RELU)
TWIN_CCE_UNARY(vnot, NOT)
#undef TWIN_CCE_UNARY

// Suffix of the name: r to nearest even, f down, c up, a away from zero, z towards zero.
#define TWIN_CCE_CAST(NAME, TO, FROM, ROUND)                                                                                      \
    TWIN_API void NAME(TO *dst, FROM *src, uint8_t repeat, uint16_t dstBlkStride, uint16_t srcBlkStride, uint8_t dstRepStride,    \
                       uint8_t srcRepStride) {                                                                                    \
        ascendc_twin::Inst inst(#NAME, ascendc_twin::PipeId::V);                                                                  \
        const auto lanes = ascendc_twin::with_strides(ascendc_twin::lanes_of_register(repeat), dstBlkStride, srcBlkStride,        \
                                                      dstRepStride, srcRepStride);                                                \
        ascendc_twin::vec_cast(inst, ascendc_twin::raw_local(dst), ascendc_twin::raw_local(src),                                  \
                               static_cast<int>(AscendC::RoundMode::ROUND), lanes);                                               \
    }
#define TWIN_CCE_CASTS(NAME, TO, FROM)             \
    TWIN_CCE_CAST(NAME##r, TO, FROM, CAST_RINT)    \
    TWIN_CCE_CAST(NAME##f, TO, FROM, CAST_FLOOR)   \
    TWIN_CCE_CAST(NAME##c, TO, FROM, CAST_CEIL)    \
    TWIN_CCE_CAST(NAME##a, TO, FROM, CAST_ROUND)   \
    TWIN_CCE_CAST(NAME##z, TO, FROM, CAST_TRUNC)
TWIN_CCE_CAST(vconv_f162f32, float, half, CAST_NONE)
TWIN_CCE_CAST(vconv_f322f16, half, float, CAST_NONE)
TWIN_CCE_CASTS(vconv_f322f16, half, float)
TWIN_CCE_CAST(vconv_bf162f32, float, bfloat16_t, CAST_NONE)
TWIN_CCE_CASTS(vconv_f322bf16, bfloat16_t, float)
TWIN_CCE_CASTS(vconv_f322s32, int32_t, float)
TWIN_CCE_CASTS(vconv_f322s16, int16_t, float)
TWIN_CCE_CASTS(vconv_f162s32, int32_t, half)
TWIN_CCE_CAST(vconv_s322f32, float, int32_t, CAST_NONE)
TWIN_CCE_CAST(vconv_s162f32, float, int16_t, CAST_NONE)
TWIN_CCE_CAST(vconv_s162f16, half, int16_t, CAST_NONE)
#undef TWIN_CCE_CASTS
#undef TWIN_CCE_CAST

template <typename T>
TWIN_API void vector_dup(T *dst, T scalar, uint8_t repeat, uint16_t dstBlkStride, uint16_t srcBlkStride, uint16_t dstRepStride,
                         uint16_t srcRepStride) {
    ascendc_twin::Inst inst("vector_dup", ascendc_twin::PipeId::V);
    const auto lanes =
        ascendc_twin::with_strides(ascendc_twin::lanes_of_register(repeat), dstBlkStride, srcBlkStride, dstRepStride, srcRepStride);
    ascendc_twin::vec_fill(inst, ascendc_twin::raw_local(dst), ascendc_twin::scalar_of(scalar), lanes);
}
template <typename T>
TWIN_API void vcopy(T *dst, T *src, uint8_t repeat, uint16_t dstBlkStride, uint16_t srcBlkStride, uint16_t dstRepStride,
                    uint16_t srcRepStride) {
    ascendc_twin::Inst inst("vcopy", ascendc_twin::PipeId::V);
    const auto lanes =
        ascendc_twin::with_strides(ascendc_twin::lanes_of_register(repeat), dstBlkStride, srcBlkStride, dstRepStride, srcRepStride);
    ascendc_twin::vec_copy(inst, ascendc_twin::raw_local(dst), ascendc_twin::raw_local(src), lanes);
}
template <typename T>
TWIN_API void vbrcb(T *dst, T *src, uint16_t dstBlkStride, uint16_t dstRepStride, uint8_t repeat) {
    ascendc_twin::Inst inst("vbrcb", ascendc_twin::PipeId::V);
    ascendc_twin::vec_brcb(inst, ascendc_twin::raw_local(dst), ascendc_twin::raw_local(src), repeat, dstBlkStride, dstRepStride);
}
