// The C interface of Ascend C: filling, copies inside UB, reductions and comparisons.
#pragma once

#include "ascendc_twin/c_api_compute.h"
#include "ascendc_twin/vec_reduce.h"
#include "ascendc_twin/vec_select.h"

template <typename T>
TWIN_API void asc_duplicate(T *dst, std::common_type_t<T> src, uint32_t count) {
    ascendc_twin::Inst inst("asc_duplicate", ascendc_twin::PipeId::V);
    ascendc_twin::vec_fill(inst, ascendc_twin::raw_local(dst), ascendc_twin::scalar_of(src), ascendc_twin::c_count(count));
}
template <typename T>
TWIN_API void asc_duplicate(T *dst, std::common_type_t<T> src, uint8_t repeat, uint16_t dst_block_stride, uint16_t dst_repeat_stride) {
    ascendc_twin::Inst inst("asc_duplicate", ascendc_twin::PipeId::V);
    ascendc_twin::vec_fill(inst, ascendc_twin::raw_local(dst), ascendc_twin::scalar_of(src),
                           ascendc_twin::c_repeats(repeat, dst_block_stride, 1, 1, dst_repeat_stride, 8, 8));
}
template <typename T>
TWIN_API void asc_duplicate_sync(T *dst, std::common_type_t<T> src, uint32_t count) {
    asc_duplicate(dst, src, count);
    asc_sync();
}

template <typename T>
TWIN_API void asc_copy(T *dst, T *src, uint32_t count) {
    ascendc_twin::Inst inst("asc_copy", ascendc_twin::PipeId::V);
    ascendc_twin::vec_copy(inst, ascendc_twin::raw_local(dst), ascendc_twin::raw_local(src), ascendc_twin::c_count(count));
}
template <typename T>
TWIN_API void asc_copy(T *dst, T *src, uint8_t repeat, uint16_t dst_block_stride, uint16_t src_block_stride, uint16_t dst_repeat_stride,
                       uint16_t src_repeat_stride) {
    ascendc_twin::Inst inst("asc_copy", ascendc_twin::PipeId::V);
    ascendc_twin::vec_copy(inst, ascendc_twin::raw_local(dst), ascendc_twin::raw_local(src),
                           ascendc_twin::c_repeats(repeat, dst_block_stride, src_block_stride, 1, dst_repeat_stride, src_repeat_stride, 8));
}
template <typename T>
TWIN_API void asc_copy_sync(T *dst, T *src, uint32_t count) {
    asc_copy(dst, src, count);
    asc_sync();
}

// Each of 8 elements per repeat fills one 32-byte block.
template <typename T>
TWIN_API void asc_brcb(T *dst, T *src, uint16_t dst_block_stride, uint16_t dst_repeat_stride, uint8_t repeat) {
    ascendc_twin::Inst inst("asc_brcb", ascendc_twin::PipeId::V);
    ascendc_twin::vec_brcb(inst, ascendc_twin::raw_local(dst), ascendc_twin::raw_local(src), repeat, dst_block_stride, dst_repeat_stride);
}
template <typename T>
TWIN_API void asc_brcb_sync(T *dst, T *src, uint16_t dst_block_stride, uint16_t dst_repeat_stride, uint8_t repeat) {
    asc_brcb(dst, src, dst_block_stride, dst_repeat_stride, repeat);
    asc_sync();
}

// One result for each 32-byte block of the repeats.
#define TWIN_C_BLOCKS(NAME, OP)                                                                                                        \
    template <typename T>                                                                                                              \
    TWIN_API void NAME(T *dst, T *src, uint8_t repeat, uint16_t dst_repeat_stride, uint16_t src_block_stride,                          \
                       uint16_t src_repeat_stride) {                                                                                   \
        ascendc_twin::Inst inst(#NAME, ascendc_twin::PipeId::V);                                                                       \
        ascendc_twin::vec_reduce_block(inst, ascendc_twin::Reduce::OP, ascendc_twin::raw_local(dst), ascendc_twin::raw_local(src),     \
                                       ascendc_twin::c_repeats(repeat, 1, src_block_stride, 1, dst_repeat_stride, src_repeat_stride, 8)); \
    }
TWIN_C_BLOCKS(asc_datablock_reduce_sum, SUM)
TWIN_C_BLOCKS(asc_datablock_reduce_max, MAX)
TWIN_C_BLOCKS(asc_datablock_reduce_min, MIN)
#undef TWIN_C_BLOCKS

// A bit for each element, of two sources or of one and a scalar.
#define TWIN_C_COMPARE(NAME, MODE)                                                                                                     \
    template <typename T>                                                                                                              \
    TWIN_API void NAME(uint8_t *dst, T *src0, T *src1, uint8_t repeat, uint8_t dst_block_stride, uint8_t src0_block_stride,            \
                       uint8_t src1_block_stride, uint8_t dst_repeat_stride, uint8_t src0_repeat_stride, uint8_t src1_repeat_stride) { \
        ascendc_twin::Inst inst(#NAME, ascendc_twin::PipeId::V);                                                                       \
        ascendc_twin::vec_compare(inst, static_cast<int>(AscendC::CMPMODE::MODE), ascendc_twin::raw_local(dst),                        \
                                  ascendc_twin::raw_local(src0), ascendc_twin::raw_local(src1),                                        \
                                  ascendc_twin::c_repeats(repeat, dst_block_stride, src0_block_stride, src1_block_stride,              \
                                                          dst_repeat_stride, src0_repeat_stride, src1_repeat_stride), false);          \
    }                                                                                                                                  \
    template <typename T>                                                                                                              \
    TWIN_API void NAME##_scalar(uint8_t *dst, T *src, std::common_type_t<T> value, uint8_t repeat, uint16_t dst_block_stride,          \
                                uint16_t src_block_stride, uint16_t dst_repeat_stride, uint16_t src_repeat_stride) {                   \
        ascendc_twin::Inst inst(#NAME "_scalar", ascendc_twin::PipeId::V);                                                             \
        ascendc_twin::vec_compare_scalar(inst, static_cast<int>(AscendC::CMPMODE::MODE), ascendc_twin::raw_local(dst),                 \
                                         ascendc_twin::raw_local(src), ascendc_twin::scalar_of(value),                                 \
                                         ascendc_twin::c_repeats(repeat, dst_block_stride, src_block_stride, 1, dst_repeat_stride,     \
                                                                 src_repeat_stride, 8));                                               \
    }
TWIN_C_COMPARE(asc_lt, LT)
TWIN_C_COMPARE(asc_gt, GT)
TWIN_C_COMPARE(asc_eq, EQ)
TWIN_C_COMPARE(asc_le, LE)
TWIN_C_COMPARE(asc_ge, GE)
TWIN_C_COMPARE(asc_ne, NE)
#undef TWIN_C_COMPARE
