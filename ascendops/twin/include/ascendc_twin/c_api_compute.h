// The C interface of Ascend C: arithmetic of vectors, on the first `count` elements, or by repeats and strides with the mask register.
#pragma once

#include "ascendc_twin/api_raw.h"
#include "ascendc_twin/c_api.h"
#include "ascendc_twin/vec_common.h"

namespace ascendc_twin {

TWIN_API Lanes c_count(uint32_t count) { return lanes_of_count(count, true); }
TWIN_API Lanes c_repeats(uint8_t repeat, uint32_t dst_blk, uint32_t a_blk, uint32_t b_blk, uint32_t dst_rep, uint32_t a_rep, uint32_t b_rep) {
    Lanes lanes = with_strides(lanes_of_register(repeat), dst_blk, a_blk, dst_rep, a_rep);
    lanes.blk[2] = b_blk;
    lanes.rep[2] = b_rep;
    return lanes;
}

}  // namespace ascendc_twin

#define TWIN_C_BINARY(NAME, OP)                                                                                                       \
    template <typename T>                                                                                                             \
    TWIN_API void NAME(T *dst, T *src0, T *src1, uint32_t count) {                                                                    \
        ascendc_twin::Inst inst(#NAME, ascendc_twin::PipeId::V);                                                                      \
        ascendc_twin::vec_binary(inst, ascendc_twin::VecOp::OP, ascendc_twin::raw_local(dst), ascendc_twin::raw_local(src0),          \
                                 ascendc_twin::raw_local(src1), ascendc_twin::c_count(count));                                        \
    }                                                                                                                                 \
    template <typename T>                                                                                                             \
    TWIN_API void NAME(T *dst, T *src0, T *src1, uint8_t repeat, uint8_t dst_block_stride, uint8_t src0_block_stride,                 \
                       uint8_t src1_block_stride, uint8_t dst_repeat_stride, uint8_t src0_repeat_stride, uint8_t src1_repeat_stride) { \
        ascendc_twin::Inst inst(#NAME, ascendc_twin::PipeId::V);                                                                      \
        ascendc_twin::vec_binary(inst, ascendc_twin::VecOp::OP, ascendc_twin::raw_local(dst), ascendc_twin::raw_local(src0),          \
                                 ascendc_twin::raw_local(src1),                                                                       \
                                 ascendc_twin::c_repeats(repeat, dst_block_stride, src0_block_stride, src1_block_stride,              \
                                                         dst_repeat_stride, src0_repeat_stride, src1_repeat_stride));                 \
    }                                                                                                                                 \
    template <typename T>                                                                                                             \
    TWIN_API void NAME##_sync(T *dst, T *src0, T *src1, uint32_t count) {                                                             \
        NAME(dst, src0, src1, count);                                                                                                 \
        asc_sync();                                                                                                                   \
    }
TWIN_C_BINARY(asc_add, ADD)
TWIN_C_BINARY(asc_sub, SUB)
TWIN_C_BINARY(asc_mul, MUL)
TWIN_C_BINARY(asc_div, DIV)
TWIN_C_BINARY(asc_max, MAX)
TWIN_C_BINARY(asc_min, MIN)
TWIN_C_BINARY(asc_and, AND)
TWIN_C_BINARY(asc_or, OR)
#undef TWIN_C_BINARY

#define TWIN_C_SCALAR(NAME, OP)                                                                                                        \
    template <typename T>                                                                                                              \
    TWIN_API void NAME(T *dst, T *src, std::common_type_t<T> value, uint32_t count) {                                                  \
        ascendc_twin::Inst inst(#NAME, ascendc_twin::PipeId::V);                                                                       \
        ascendc_twin::vec_scalar(inst, ascendc_twin::VecOp::OP, ascendc_twin::raw_local(dst), ascendc_twin::raw_local(src),            \
                                 ascendc_twin::scalar_of(value), ascendc_twin::c_count(count));                                        \
    }                                                                                                                                  \
    template <typename T>                                                                                                              \
    TWIN_API void NAME(T *dst, T *src, std::common_type_t<T> value, uint8_t repeat, uint16_t dst_block_stride,                         \
                       uint16_t src_block_stride, uint16_t dst_repeat_stride, uint16_t src_repeat_stride) {                            \
        ascendc_twin::Inst inst(#NAME, ascendc_twin::PipeId::V);                                                                       \
        ascendc_twin::vec_scalar(inst, ascendc_twin::VecOp::OP, ascendc_twin::raw_local(dst), ascendc_twin::raw_local(src),            \
                                 ascendc_twin::scalar_of(value),                                                                       \
                                 ascendc_twin::c_repeats(repeat, dst_block_stride, src_block_stride, 1, dst_repeat_stride,             \
                                                         src_repeat_stride, 8));                                                       \
    }                                                                                                                                  \
    template <typename T>                                                                                                              \
    TWIN_API void NAME##_sync(T *dst, T *src, std::common_type_t<T> value, uint32_t count) {                                           \
        NAME(dst, src, value, count);                                                                                                  \
        asc_sync();                                                                                                                    \
    }
TWIN_C_SCALAR(asc_add_scalar, ADDS)
TWIN_C_SCALAR(asc_mul_scalar, MULS)
TWIN_C_SCALAR(asc_max_scalar, MAXS)
TWIN_C_SCALAR(asc_min_scalar, MINS)
#undef TWIN_C_SCALAR

#define TWIN_C_UNARY(NAME, OP)                                                                                                         \
    template <typename T>                                                                                                              \
    TWIN_API void NAME(T *dst, T *src, uint32_t count) {                                                                               \
        ascendc_twin::Inst inst(#NAME, ascendc_twin::PipeId::V);                                                                       \
        ascendc_twin::vec_unary(inst, ascendc_twin::VecOp::OP, ascendc_twin::raw_local(dst), ascendc_twin::raw_local(src),             \
                                ascendc_twin::c_count(count));                                                                         \
    }                                                                                                                                  \
    template <typename T>                                                                                                              \
    TWIN_API void NAME(T *dst, T *src, uint8_t repeat, uint16_t dst_block_stride, uint16_t src_block_stride,                           \
                       uint16_t dst_repeat_stride, uint16_t src_repeat_stride) {                                                       \
        ascendc_twin::Inst inst(#NAME, ascendc_twin::PipeId::V);                                                                       \
        ascendc_twin::vec_unary(inst, ascendc_twin::VecOp::OP, ascendc_twin::raw_local(dst), ascendc_twin::raw_local(src),             \
                                ascendc_twin::c_repeats(repeat, dst_block_stride, src_block_stride, 1, dst_repeat_stride,              \
                                                        src_repeat_stride, 8));                                                        \
    }                                                                                                                                  \
    template <typename T>                                                                                                              \
    TWIN_API void NAME##_sync(T *dst, T *src, uint32_t count) {                                                                        \
        NAME(dst, src, count);                                                                                                         \
        asc_sync();                                                                                                                    \
    }
TWIN_C_UNARY(asc_abs, ABS)
TWIN_C_UNARY(asc_exp, EXP)
TWIN_C_UNARY(asc_log, LN)
TWIN_C_UNARY(asc_sqrt, SQRT)
TWIN_C_UNARY(asc_rsqrt, RSQRT)
TWIN_C_UNARY(asc_rcp, RECIPROCAL)
TWIN_C_UNARY(asc_relu, RELU)
TWIN_C_UNARY(asc_not, NOT)
#undef TWIN_C_UNARY
