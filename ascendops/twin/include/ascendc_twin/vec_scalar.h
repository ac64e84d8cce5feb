// Element-wise instructions with a scalar operand: dst = src op scalar.
#pragma once

#include "ascendc_twin/vec_common.h"

// The forms with the scalar of type T are the ones whose address kernels take; those with U serve TensorTrait elements.
#define TWIN_SCALAR_IF(API, OP, TEST, ...)                                                                                       \
    template <typename T, bool isSetMask = true>                                                                          \
    TWIN_API void API(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalarValue, uint64_t mask[],        \
                      const uint8_t repeatTime, const UnaryRepeatParams &repeatParams) {                                  \
        TEST(#API, T);                                                                                                    \
        TWIN_REQUIRE_TYPE(#API, T, __VA_ARGS__);                                                                          \
        ascendc_twin::Inst inst(#API, ascendc_twin::PipeId::V);                                                           \
        const auto lanes = ascendc_twin::lanes_of_bits(mask, ascendc_twin::per_repeat<T>, repeatTime, isSetMask);         \
        ascendc_twin::vec_scalar(inst, ascendc_twin::VecOp::OP, dst.span(), src.span(),                                   \
                                 ascendc_twin::scalar_of(scalarValue), ascendc_twin::with(lanes, repeatParams));          \
    }                                                                                                                     \
    template <typename T, bool isSetMask = true>                                                                          \
    TWIN_API void API(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalarValue, uint64_t mask,          \
                      const uint8_t repeatTime, const UnaryRepeatParams &repeatParams) {                                  \
        TEST(#API, T);                                                                                                    \
        TWIN_REQUIRE_TYPE(#API, T, __VA_ARGS__);                                                                          \
        ascendc_twin::Inst inst(#API, ascendc_twin::PipeId::V);                                                           \
        const auto lanes = ascendc_twin::lanes_of_mask(mask, repeatTime, isSetMask);                                      \
        ascendc_twin::vec_scalar(inst, ascendc_twin::VecOp::OP, dst.span(), src.span(),                                   \
                                 ascendc_twin::scalar_of(scalarValue), ascendc_twin::with(lanes, repeatParams));          \
    }                                                                                                                     \
    template <typename T, bool isSetMask = true>                                                                          \
    TWIN_API void API(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalarValue, const int32_t &count) { \
        TEST(#API, T);                                                                                                    \
        TWIN_REQUIRE_TYPE(#API, T, __VA_ARGS__);                                                                          \
        ascendc_twin::Inst inst(#API, ascendc_twin::PipeId::V);                                                           \
        ascendc_twin::vec_scalar(inst, ascendc_twin::VecOp::OP, dst.span(), src.span(),                                   \
                                 ascendc_twin::scalar_of(scalarValue),                                                    \
                                 ascendc_twin::lanes_of_count(static_cast<uint32_t>(count), isSetMask));                  \
    }                                                                                                                     \
    template <typename T, typename U, bool isSetMask = true,                                                              \
              std::enable_if_t<std::is_same_v<PrimT<T>, U> && !std::is_same_v<T, U>, bool> = true>                        \
    TWIN_API void API(const LocalTensor<T> &dst, const LocalTensor<T> &src, const U &scalarValue, const int32_t &count) { \
        API<U, isSetMask>(dst.template ReinterpretCast<U>(), src.template ReinterpretCast<U>(), scalarValue, count);      \
    }

#define TWIN_EVERYWHERE(API, T)
#define TWIN_SCALAR(API, OP, ...) TWIN_SCALAR_IF(API, OP, TWIN_EVERYWHERE, __VA_ARGS__)

namespace AscendC {

TWIN_SCALAR(Adds, ADDS, half, float, int16_t, int32_t)
TWIN_SCALAR(Muls, MULS, half, float, int16_t, int32_t)
TWIN_SCALAR(Maxs, MAXS, half, float, int16_t, int32_t)
TWIN_SCALAR(Mins, MINS, half, float, int16_t, int32_t)
TWIN_SCALAR(LeakyRelu, LEAKY_RELU, half, float)
TWIN_SCALAR_IF(ShiftLeft, SHL, TWIN_NOT_ON_310P, int16_t, uint16_t, int32_t, uint32_t)

}  // namespace AscendC
#undef TWIN_SCALAR
#undef TWIN_SCALAR_IF
#undef TWIN_EVERYWHERE

namespace AscendC {

template <typename T, bool isSetMask = true>
TWIN_API void ShiftRight(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalarValue, uint64_t mask[],
                         const uint8_t repeatTime, const UnaryRepeatParams &repeatParams, bool roundEn = false) {
    TWIN_NOT_ON_310P("ShiftRight", T);
    TWIN_REQUIRE_TYPE("ShiftRight", T, int16_t, uint16_t, int32_t, uint32_t);
    ascendc_twin::Inst inst("ShiftRight", ascendc_twin::PipeId::V);
    const auto lanes = ascendc_twin::lanes_of_bits(mask, ascendc_twin::per_repeat<T>, repeatTime, isSetMask);
    ascendc_twin::vec_scalar(inst, roundEn ? ascendc_twin::VecOp::SHR_ROUND : ascendc_twin::VecOp::SHR, dst.span(), src.span(),
                             ascendc_twin::scalar_of(scalarValue), ascendc_twin::with(lanes, repeatParams));
}
template <typename T, bool isSetMask = true>
TWIN_API void ShiftRight(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalarValue, uint64_t mask,
                         const uint8_t repeatTime, const UnaryRepeatParams &repeatParams, bool roundEn = false) {
    TWIN_NOT_ON_310P("ShiftRight", T);
    TWIN_REQUIRE_TYPE("ShiftRight", T, int16_t, uint16_t, int32_t, uint32_t);
    ascendc_twin::Inst inst("ShiftRight", ascendc_twin::PipeId::V);
    const auto lanes = ascendc_twin::lanes_of_mask(mask, repeatTime, isSetMask);
    ascendc_twin::vec_scalar(inst, roundEn ? ascendc_twin::VecOp::SHR_ROUND : ascendc_twin::VecOp::SHR, dst.span(), src.span(),
                             ascendc_twin::scalar_of(scalarValue), ascendc_twin::with(lanes, repeatParams));
}
template <typename T, bool isSetMask = true>
TWIN_API void ShiftRight(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalarValue, const int32_t &count) {
    TWIN_NOT_ON_310P("ShiftRight", T);
    TWIN_REQUIRE_TYPE("ShiftRight", T, int16_t, uint16_t, int32_t, uint32_t);
    ascendc_twin::Inst inst("ShiftRight", ascendc_twin::PipeId::V);
    ascendc_twin::vec_scalar(inst, ascendc_twin::VecOp::SHR, dst.span(), src.span(), ascendc_twin::scalar_of(scalarValue),
                             ascendc_twin::lanes_of_count(static_cast<uint32_t>(count), isSetMask));
}

// dst = src * scalar + dst
template <typename T, typename U, bool isSetMask = true>
TWIN_API void Axpy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const U &scalarValue, uint64_t mask,
                   const uint8_t repeatTime, const UnaryRepeatParams &repeatParams) {
    static_assert(ascendc_twin::same_or_half_to_float<T, U>, "Axpy: half, float, or a half source and a float dst");
    ascendc_twin::Inst inst("Axpy", ascendc_twin::PipeId::V);
    const auto lanes = ascendc_twin::lanes_of_mask(mask, repeatTime, isSetMask);
    ascendc_twin::vec_scalar(inst, ascendc_twin::VecOp::AXPY, dst.span(), src.span(), ascendc_twin::scalar_of(scalarValue),
                             ascendc_twin::with(lanes, repeatParams));
}
template <typename T, typename U, bool isSetMask = true>
TWIN_API void Axpy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const U &scalarValue, uint64_t mask[],
                   const uint8_t repeatTime, const UnaryRepeatParams &repeatParams) {
    static_assert(ascendc_twin::same_or_half_to_float<T, U>, "Axpy: half, float, or a half source and a float dst");
    ascendc_twin::Inst inst("Axpy", ascendc_twin::PipeId::V);
    const auto lanes = ascendc_twin::lanes_of_bits(mask, ascendc_twin::per_repeat_of_wider<T, U>, repeatTime, isSetMask);
    ascendc_twin::vec_scalar(inst, ascendc_twin::VecOp::AXPY, dst.span(), src.span(), ascendc_twin::scalar_of(scalarValue),
                             ascendc_twin::with(lanes, repeatParams));
}
template <typename T, typename U>
TWIN_API void Axpy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const U &scalarValue, const int32_t &count) {
    static_assert(ascendc_twin::same_or_half_to_float<T, U>, "Axpy: half, float, or a half source and a float dst");
    ascendc_twin::Inst inst("Axpy", ascendc_twin::PipeId::V);
    ascendc_twin::vec_scalar(inst, ascendc_twin::VecOp::AXPY, dst.span(), src.span(), ascendc_twin::scalar_of(scalarValue),
                             ascendc_twin::lanes_of_count(static_cast<uint32_t>(count), true));
}

}  // namespace AscendC
