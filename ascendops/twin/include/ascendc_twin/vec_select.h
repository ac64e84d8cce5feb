// Compare and Select.
#pragma once

#include "ascendc_twin/vec_common.h"

namespace AscendC {

template <typename T, typename U, bool isSetMask = true>
TWIN_API void Compare(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, CMPMODE cmpMode,
                      const uint64_t mask[], uint8_t repeatTime, const BinaryRepeatParams &repeatParams) {
    TWIN_REQUIRE_TYPE("Compare", T, half, float, TWIN_A2(int32_t));
    ascendc_twin::Inst inst("Compare", ascendc_twin::PipeId::V);
    const auto lanes = ascendc_twin::lanes_of_bits(mask, ascendc_twin::per_repeat<T>, repeatTime, isSetMask);
    ascendc_twin::vec_compare(inst, static_cast<int>(cmpMode), dst.span(), src0.span(), src1.span(),
                              ascendc_twin::with(lanes, repeatParams), false);
}
template <typename T, typename U, bool isSetMask = true>
TWIN_API void Compare(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, CMPMODE cmpMode,
                      const uint64_t mask, uint8_t repeatTime, const BinaryRepeatParams &repeatParams) {
    TWIN_REQUIRE_TYPE("Compare", T, half, float, TWIN_A2(int32_t));
    ascendc_twin::Inst inst("Compare", ascendc_twin::PipeId::V);
    const auto lanes = ascendc_twin::lanes_of_mask(mask, repeatTime, isSetMask);
    ascendc_twin::vec_compare(inst, static_cast<int>(cmpMode), dst.span(), src0.span(), src1.span(),
                              ascendc_twin::with(lanes, repeatParams), false);
}
template <typename T, typename U>
TWIN_API void Compare(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, CMPMODE cmpMode,
                      uint32_t count) {
    TWIN_REQUIRE_TYPE("Compare", T, half, float, TWIN_A2(int32_t));
    ascendc_twin::Inst inst("Compare", ascendc_twin::PipeId::V);
    ascendc_twin::vec_compare(inst, static_cast<int>(cmpMode), dst.span(), src0.span(), src1.span(),
                              ascendc_twin::lanes_of_count(count, true), false);
}
// The result goes to the CMPMASK register.
template <typename T, bool isSetMask = true>
TWIN_API void Compare(const LocalTensor<T> &src0, const LocalTensor<T> &src1, CMPMODE cmpMode, const uint64_t mask[],
                      const BinaryRepeatParams &repeatParams) {
    TWIN_REQUIRE_TYPE("Compare", T, half, float);
    ascendc_twin::Inst inst("Compare", ascendc_twin::PipeId::V);
    const auto lanes = ascendc_twin::lanes_of_bits(mask, ascendc_twin::per_repeat<T>, 1, isSetMask);
    ascendc_twin::vec_compare(inst, static_cast<int>(cmpMode), ascendc_twin::Span{}, src0.span(), src1.span(),
                              ascendc_twin::with(lanes, repeatParams), true);
}
template <typename T, bool isSetMask = true>
TWIN_API void Compare(const LocalTensor<T> &src0, const LocalTensor<T> &src1, CMPMODE cmpMode, const uint64_t mask,
                      const BinaryRepeatParams &repeatParams) {
    TWIN_REQUIRE_TYPE("Compare", T, half, float);
    ascendc_twin::Inst inst("Compare", ascendc_twin::PipeId::V);
    const auto lanes = ascendc_twin::lanes_of_mask(mask, 1, isSetMask);
    ascendc_twin::vec_compare(inst, static_cast<int>(cmpMode), ascendc_twin::Span{}, src0.span(), src1.span(),
                              ascendc_twin::with(lanes, repeatParams), true);
}
template <typename T>
TWIN_API void SetCmpMask(const LocalTensor<T> &src) {
    ascendc_twin::Inst inst("SetCmpMask", ascendc_twin::PipeId::V);
    ascendc_twin::vec_set_cmp_mask(inst, src.span());
}
template <typename T>
TWIN_API void GetCmpMask(const LocalTensor<T> &dst) {
    ascendc_twin::Inst inst("GetCmpMask", ascendc_twin::PipeId::V);
    ascendc_twin::vec_get_cmp_mask(inst, dst.span());
}

}  // namespace AscendC

// CompareScalar and its newer name Compares.
#define TWIN_COMPARE_SCALAR(API)                                                                                              \
    template <typename T, typename U, bool isSetMask = true>                                                                  \
    TWIN_API void API(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const T src1Scalar, CMPMODE cmpMode,             \
                      const uint64_t mask[], uint8_t repeatTime, const UnaryRepeatParams &repeatParams) {                     \
        TWIN_REQUIRE_TYPE(#API, T, half, float, TWIN_A2(int32_t));                                                                     \
        ascendc_twin::Inst inst(#API, ascendc_twin::PipeId::V);                                                               \
        const auto lanes = ascendc_twin::lanes_of_bits(mask, ascendc_twin::per_repeat<T>, repeatTime, isSetMask);             \
        ascendc_twin::vec_compare_scalar(inst, static_cast<int>(cmpMode), dst.span(), src0.span(),                            \
                                         ascendc_twin::scalar_of(src1Scalar), ascendc_twin::with(lanes, repeatParams));       \
    }                                                                                                                         \
    template <typename T, typename U, bool isSetMask = true>                                                                  \
    TWIN_API void API(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const T src1Scalar, CMPMODE cmpMode,             \
                      const uint64_t mask, uint8_t repeatTime, const UnaryRepeatParams &repeatParams) {                       \
        TWIN_REQUIRE_TYPE(#API, T, half, float, TWIN_A2(int32_t));                                                                     \
        ascendc_twin::Inst inst(#API, ascendc_twin::PipeId::V);                                                               \
        const auto lanes = ascendc_twin::lanes_of_mask(mask, repeatTime, isSetMask);                                          \
        ascendc_twin::vec_compare_scalar(inst, static_cast<int>(cmpMode), dst.span(), src0.span(),                            \
                                         ascendc_twin::scalar_of(src1Scalar), ascendc_twin::with(lanes, repeatParams));       \
    }                                                                                                                         \
    template <typename T, typename U>                                                                                         \
    TWIN_API void API(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const T src1Scalar, CMPMODE cmpMode,             \
                      uint32_t count) {                                                                                       \
        TWIN_REQUIRE_TYPE(#API, T, half, float, TWIN_A2(int32_t));                                                                     \
        ascendc_twin::Inst inst(#API, ascendc_twin::PipeId::V);                                                               \
        ascendc_twin::vec_compare_scalar(inst, static_cast<int>(cmpMode), dst.span(), src0.span(),                            \
                                         ascendc_twin::scalar_of(src1Scalar), ascendc_twin::lanes_of_count(count, true));     \
    }

namespace AscendC {

TWIN_COMPARE_SCALAR(CompareScalar)
TWIN_COMPARE_SCALAR(Compares)

template <typename T, typename U, bool isSetMask = true>
TWIN_API void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0,
                     const LocalTensor<T> &src1, SELMODE selMode, uint64_t mask[], uint8_t repeatTime,
                     const BinaryRepeatParams &repeatParams) {
    TWIN_REQUIRE_TYPE("Select", T, half, float);
    ascendc_twin::Inst inst("Select", ascendc_twin::PipeId::V);
    const auto lanes = ascendc_twin::lanes_of_bits(mask, ascendc_twin::per_repeat<T>, repeatTime, isSetMask);
    const ascendc_twin::Span bits = selMask.span(), other = src1.span();
    ascendc_twin::vec_select(inst, static_cast<int>(selMode), dst.span(), &bits, src0.span(), &other, {},
                             ascendc_twin::with(lanes, repeatParams));
}
template <typename T, typename U, bool isSetMask = true>
TWIN_API void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0,
                     const LocalTensor<T> &src1, SELMODE selMode, uint64_t mask, uint8_t repeatTime,
                     const BinaryRepeatParams &repeatParams) {
    TWIN_REQUIRE_TYPE("Select", T, half, float);
    ascendc_twin::Inst inst("Select", ascendc_twin::PipeId::V);
    const auto lanes = ascendc_twin::lanes_of_mask(mask, repeatTime, isSetMask);
    const ascendc_twin::Span bits = selMask.span(), other = src1.span();
    ascendc_twin::vec_select(inst, static_cast<int>(selMode), dst.span(), &bits, src0.span(), &other, {},
                             ascendc_twin::with(lanes, repeatParams));
}
template <typename T, typename U>
TWIN_API void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0,
                     const LocalTensor<T> &src1, SELMODE selMode, uint32_t count) {
    TWIN_REQUIRE_TYPE("Select", T, half, float);
    ascendc_twin::Inst inst("Select", ascendc_twin::PipeId::V);
    const ascendc_twin::Span bits = selMask.span(), other = src1.span();
    ascendc_twin::vec_select(inst, static_cast<int>(selMode), dst.span(), &bits, src0.span(), &other, {},
                             ascendc_twin::lanes_of_count(count, true));
}

// Mode 1: the second source is a scalar.
template <typename T, typename U, bool isSetMask = true>
TWIN_API void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0, T src1,
                     SELMODE selMode, uint64_t mask[], uint8_t repeatTime, const BinaryRepeatParams &repeatParams) {
    TWIN_REQUIRE_TYPE("Select", T, half, float);
    ascendc_twin::Inst inst("Select", ascendc_twin::PipeId::V);
    const auto lanes = ascendc_twin::lanes_of_bits(mask, ascendc_twin::per_repeat<T>, repeatTime, isSetMask);
    const ascendc_twin::Span bits = selMask.span();
    ascendc_twin::vec_select(inst, static_cast<int>(selMode), dst.span(), &bits, src0.span(), nullptr,
                             ascendc_twin::scalar_of(src1), ascendc_twin::with(lanes, repeatParams));
}
template <typename T, typename U, bool isSetMask = true>
TWIN_API void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0, T src1,
                     SELMODE selMode, uint64_t mask, uint8_t repeatTime, const BinaryRepeatParams &repeatParams) {
    TWIN_REQUIRE_TYPE("Select", T, half, float);
    ascendc_twin::Inst inst("Select", ascendc_twin::PipeId::V);
    const auto lanes = ascendc_twin::lanes_of_mask(mask, repeatTime, isSetMask);
    const ascendc_twin::Span bits = selMask.span();
    ascendc_twin::vec_select(inst, static_cast<int>(selMode), dst.span(), &bits, src0.span(), nullptr,
                             ascendc_twin::scalar_of(src1), ascendc_twin::with(lanes, repeatParams));
}
template <typename T, typename U>
TWIN_API void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0, T src1,
                     SELMODE selMode, uint32_t count) {
    TWIN_REQUIRE_TYPE("Select", T, half, float);
    ascendc_twin::Inst inst("Select", ascendc_twin::PipeId::V);
    const ascendc_twin::Span bits = selMask.span();
    ascendc_twin::vec_select(inst, static_cast<int>(selMode), dst.span(), &bits, src0.span(), nullptr,
                             ascendc_twin::scalar_of(src1), ascendc_twin::lanes_of_count(count, true));
}

// Without mask arguments: lanes from the mask register; SetCmpMask gave the bits (mode 0), their address (mode 2) or the
// scalar (mode 1).
template <typename T, SELMODE selMode>
TWIN_API void Select(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, uint8_t repeatTime,
                     const BinaryRepeatParams &repeatParams) {
    TWIN_REQUIRE_TYPE("Select", T, half, float);
    ascendc_twin::Inst inst("Select", ascendc_twin::PipeId::V);
    const auto lanes = ascendc_twin::with(ascendc_twin::lanes_of_register(repeatTime), repeatParams);
    const ascendc_twin::Span other = src1.span();
    if constexpr (selMode == SELMODE::VSEL_CMPMASK_SPR) {
        ascendc_twin::vec_select(inst, static_cast<int>(selMode), dst.span(), nullptr, src0.span(), &other, {}, lanes);
    } else {
        const ascendc_twin::Span bits = ascendc_twin::span_at(ascendc_twin::core().cmp_mask[0], ascendc_twin::Dt::U8);
        ascendc_twin::vec_select(inst, static_cast<int>(selMode), dst.span(), &bits, src0.span(), &other, {}, lanes);
    }
}
template <typename T, typename U>
TWIN_API void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0,
                     uint8_t repeatTime, const BinaryRepeatParams &repeatParams) {
    TWIN_REQUIRE_TYPE("Select", T, half, float);
    ascendc_twin::Inst inst("Select", ascendc_twin::PipeId::V);
    const auto lanes = ascendc_twin::with(ascendc_twin::lanes_of_register(repeatTime), repeatParams);
    const ascendc_twin::Span bits = selMask.span();
    const T other = ascendc_twin::low_bits_as<T>(ascendc_twin::core().cmp_mask[0]);
    ascendc_twin::vec_select(inst, static_cast<int>(SELMODE::VSEL_TENSOR_SCALAR_MODE), dst.span(), &bits, src0.span(), nullptr,
                             ascendc_twin::scalar_of(other), lanes);
}

}  // namespace AscendC
#undef TWIN_COMPARE_SCALAR
