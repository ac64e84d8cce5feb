// One-source element-wise instructions: dst = op(src).
#pragma once

#include "ascendc_twin/vec_common.h"

#define TWIN_UNARY(API, OP, ...)                                                                                      \
    template <typename T, bool isSetMask = true>                                                                      \
    TWIN_API void API(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint64_t mask[], const uint8_t repeatTime, \
                      const UnaryRepeatParams &repeatParams) {                                                        \
        TWIN_REQUIRE_TYPE(#API, T, __VA_ARGS__);                                                                      \
        ascendc_twin::Inst inst(#API, ascendc_twin::PipeId::V);                                                       \
        const auto lanes = ascendc_twin::lanes_of_bits(mask, ascendc_twin::per_repeat<T>, repeatTime, isSetMask);     \
        ascendc_twin::vec_unary(inst, ascendc_twin::VecOp::OP, dst.span(), src.span(),                                \
                                ascendc_twin::with(lanes, repeatParams));                                             \
    }                                                                                                                 \
    template <typename T, bool isSetMask = true>                                                                      \
    TWIN_API void API(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint64_t mask, const uint8_t repeatTime,  \
                      const UnaryRepeatParams &repeatParams) {                                                        \
        TWIN_REQUIRE_TYPE(#API, T, __VA_ARGS__);                                                                      \
        ascendc_twin::Inst inst(#API, ascendc_twin::PipeId::V);                                                       \
        const auto lanes = ascendc_twin::lanes_of_mask(mask, repeatTime, isSetMask);                                  \
        ascendc_twin::vec_unary(inst, ascendc_twin::VecOp::OP, dst.span(), src.span(),                                \
                                ascendc_twin::with(lanes, repeatParams));                                             \
    }                                                                                                                 \
    template <typename T>                                                                                             \
    TWIN_API void API(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t &count) {                   \
        TWIN_REQUIRE_TYPE(#API, T, __VA_ARGS__);                                                                      \
        ascendc_twin::Inst inst(#API, ascendc_twin::PipeId::V);                                                       \
        ascendc_twin::vec_unary(inst, ascendc_twin::VecOp::OP, dst.span(), src.span(),                                \
                                ascendc_twin::lanes_of_count(static_cast<uint32_t>(count), true));                    \
    }

namespace AscendC {

TWIN_UNARY(Abs, ABS, half, float)
TWIN_UNARY(Exp, EXP, half, float)
TWIN_UNARY(Ln, LN, half, float)
TWIN_UNARY(Sqrt, SQRT, half, float)
TWIN_UNARY(Rsqrt, RSQRT, half, float)
TWIN_UNARY(Reciprocal, RECIPROCAL, half, float)
TWIN_UNARY(Relu, RELU, half, float, int32_t)
TWIN_UNARY(Not, NOT, int16_t, uint16_t)

}  // namespace AscendC
#undef TWIN_UNARY
