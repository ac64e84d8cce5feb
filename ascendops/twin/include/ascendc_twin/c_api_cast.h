// The C interface of Ascend C: conversions between element types. Suffix of the name: _rn to nearest even, _rna away from zero, _rd down,
// _ru up, _rz towards zero, _ro to odd.
#pragma once

#include "ascendc_twin/c_api_compute.h"

#define TWIN_C_CAST(NAME, TO, FROM, ROUND)                                                                                              \
    TWIN_API void NAME(TO *dst, FROM *src, uint32_t count) {                                                                            \
        ascendc_twin::Inst inst(#NAME, ascendc_twin::PipeId::V);                                                                        \
        ascendc_twin::vec_cast(inst, ascendc_twin::raw_local(dst), ascendc_twin::raw_local(src),                                        \
                               static_cast<int>(AscendC::RoundMode::ROUND), ascendc_twin::c_count(count));                              \
    }                                                                                                                                   \
    TWIN_API void NAME(TO *dst, FROM *src, uint8_t repeat, uint16_t dst_block_stride, uint16_t src_block_stride,                        \
                       uint16_t dst_repeat_stride, uint16_t src_repeat_stride) {                                                        \
        ascendc_twin::Inst inst(#NAME, ascendc_twin::PipeId::V);                                                                        \
        ascendc_twin::vec_cast(inst, ascendc_twin::raw_local(dst), ascendc_twin::raw_local(src),                                        \
                               static_cast<int>(AscendC::RoundMode::ROUND),                                                             \
                               ascendc_twin::c_repeats(repeat, dst_block_stride, src_block_stride, 1, dst_repeat_stride,                \
                                                       src_repeat_stride, 8));                                                          \
    }                                                                                                                                   \
    TWIN_API void NAME##_sync(TO *dst, FROM *src, uint32_t count) {                                                                     \
        NAME(dst, src, count);                                                                                                          \
        asc_sync();                                                                                                                     \
    }
#define TWIN_C_CASTS(NAME, TO, FROM)                  \
    TWIN_C_CAST(NAME##_rn, TO, FROM, CAST_RINT)       \
    TWIN_C_CAST(NAME##_rna, TO, FROM, CAST_ROUND)     \
    TWIN_C_CAST(NAME##_rd, TO, FROM, CAST_FLOOR)      \
    TWIN_C_CAST(NAME##_ru, TO, FROM, CAST_CEIL)       \
    TWIN_C_CAST(NAME##_rz, TO, FROM, CAST_TRUNC)
TWIN_C_CAST(asc_half2float, float, half, CAST_NONE)
TWIN_C_CAST(asc_bfloat162float, float, bfloat16_t, CAST_NONE)
TWIN_C_CAST(asc_int82half, half, int8_t, CAST_NONE)
TWIN_C_CAST(asc_uint82half, half, uint8_t, CAST_NONE)
TWIN_C_CAST(asc_int162float, float, int16_t, CAST_NONE)
TWIN_C_CAST(asc_int322int16, int16_t, int32_t, CAST_NONE)
TWIN_C_CAST(asc_int322int64, int64_t, int32_t, CAST_NONE)
TWIN_C_CAST(asc_int642int32, int32_t, int64_t, CAST_NONE)
TWIN_C_CAST(asc_float2half, half, float, CAST_NONE)
TWIN_C_CAST(asc_float2half_ro, half, float, CAST_ODD)
TWIN_C_CAST(asc_half2int8, int8_t, half, CAST_NONE)
TWIN_C_CAST(asc_half2uint8, uint8_t, half, CAST_NONE)
TWIN_C_CAST(asc_int162half, half, int16_t, CAST_NONE)
TWIN_C_CAST(asc_int322float, float, int32_t, CAST_NONE)
TWIN_C_CASTS(asc_float2half, half, float)
TWIN_C_CASTS(asc_float2bfloat16, bfloat16_t, float)
TWIN_C_CASTS(asc_float2float, float, float)
TWIN_C_CASTS(asc_float2int32, int32_t, float)
TWIN_C_CASTS(asc_float2int16, int16_t, float)
TWIN_C_CASTS(asc_float2int64, int64_t, float)
TWIN_C_CASTS(asc_bfloat162int32, int32_t, bfloat16_t)
TWIN_C_CASTS(asc_half2int32, int32_t, half)
TWIN_C_CASTS(asc_half2int16, int16_t, half)
TWIN_C_CASTS(asc_half2int8, int8_t, half)
TWIN_C_CASTS(asc_half2uint8, uint8_t, half)
TWIN_C_CASTS(asc_int162half, half, int16_t)
TWIN_C_CASTS(asc_int322float, float, int32_t)
TWIN_C_CASTS(asc_int642float, float, int64_t)
#undef TWIN_C_CASTS
#undef TWIN_C_CAST
