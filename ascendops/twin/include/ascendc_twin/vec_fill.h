// Duplicate, CreateVecIndex, Brcb, Copy.
#pragma once

#include "ascendc_twin/vec_common.h"

#define TWIN_16_32 half, bfloat16_t, int16_t, uint16_t, float, int32_t, uint32_t

namespace AscendC {

template <typename T, bool isSetMask = true>
TWIN_API void Duplicate(const LocalTensor<T> &dst, const T &scalarValue, uint64_t mask, const uint8_t repeatTime,
                        const uint16_t dstBlockStride, const uint8_t dstRepeatStride) {
    TWIN_REQUIRE_TYPE("Duplicate", T, TWIN_16_32);
    ascendc_twin::Inst inst("Duplicate", ascendc_twin::PipeId::V);
    const auto lanes = ascendc_twin::lanes_of_mask(mask, repeatTime, isSetMask);
    ascendc_twin::vec_fill(inst, dst.span(), ascendc_twin::scalar_of(scalarValue),
                           ascendc_twin::with_strides(lanes, dstBlockStride, 1, dstRepeatStride, 8));
}
template <typename T, bool isSetMask = true>
TWIN_API void Duplicate(const LocalTensor<T> &dst, const T &scalarValue, uint64_t mask[], const uint8_t repeatTime,
                        const uint16_t dstBlockStride, const uint8_t dstRepeatStride) {
    TWIN_REQUIRE_TYPE("Duplicate", T, TWIN_16_32);
    ascendc_twin::Inst inst("Duplicate", ascendc_twin::PipeId::V);
    const auto lanes = ascendc_twin::lanes_of_bits(mask, ascendc_twin::per_repeat<T>, repeatTime, isSetMask);
    ascendc_twin::vec_fill(inst, dst.span(), ascendc_twin::scalar_of(scalarValue),
                           ascendc_twin::with_strides(lanes, dstBlockStride, 1, dstRepeatStride, 8));
}
template <typename T>
TWIN_API void Duplicate(const LocalTensor<T> &dst, const T &scalarValue, const int32_t &count) {
    TWIN_REQUIRE_TYPE("Duplicate", T, TWIN_16_32);
    ascendc_twin::Inst inst("Duplicate", ascendc_twin::PipeId::V);
    ascendc_twin::vec_fill(inst, dst.span(), ascendc_twin::scalar_of(scalarValue),
                           ascendc_twin::lanes_of_count(static_cast<uint32_t>(count), true));
}

template <typename T>
TWIN_API void CreateVecIndex(LocalTensor<T> &dst, const T &firstValue, uint64_t mask, uint8_t repeatTime,
                             uint16_t dstBlkStride, uint8_t dstRepStride) {
    TWIN_REQUIRE_TYPE("CreateVecIndex", T, half, float, int16_t, int32_t);
    ascendc_twin::Inst inst("CreateVecIndex", ascendc_twin::PipeId::V);
    const auto lanes = ascendc_twin::lanes_of_mask(mask, repeatTime, true);
    ascendc_twin::vec_index(inst, dst.span(), ascendc_twin::scalar_of(firstValue), {1.0f, 1},
                            ascendc_twin::with_strides(lanes, dstBlkStride, 1, dstRepStride, 8));
}
template <typename T>
TWIN_API void CreateVecIndex(LocalTensor<T> &dst, const T &firstValue, uint64_t mask[], uint8_t repeatTime,
                             uint16_t dstBlkStride, uint8_t dstRepStride) {
    TWIN_REQUIRE_TYPE("CreateVecIndex", T, half, float, int16_t, int32_t);
    ascendc_twin::Inst inst("CreateVecIndex", ascendc_twin::PipeId::V);
    const auto lanes = ascendc_twin::lanes_of_bits(mask, ascendc_twin::per_repeat<T>, repeatTime, true);
    ascendc_twin::vec_index(inst, dst.span(), ascendc_twin::scalar_of(firstValue), {1.0f, 1},
                            ascendc_twin::with_strides(lanes, dstBlkStride, 1, dstRepStride, 8));
}
template <typename T>
TWIN_API void CreateVecIndex(LocalTensor<T> dst, const T &firstValue, uint32_t count) {
    TWIN_REQUIRE_TYPE("CreateVecIndex", T, half, float, int16_t, int32_t);
    ascendc_twin::Inst inst("CreateVecIndex", ascendc_twin::PipeId::V);
    ascendc_twin::vec_index(inst, dst.span(), ascendc_twin::scalar_of(firstValue), {1.0f, 1},
                            ascendc_twin::lanes_of_count(count, true));
}

// An arithmetic progression: dst[i] = first + i * diff.
template <typename T>
TWIN_API void ArithProgression(const LocalTensor<T> &dstLocal, const T firstValue, const T diffValue, const int32_t count) {
    TWIN_REQUIRE_TYPE("ArithProgression", T, half, float, int16_t, int32_t);
    ascendc_twin::Inst inst("ArithProgression", ascendc_twin::PipeId::V);
    ascendc_twin::vec_index(inst, dstLocal.span(), ascendc_twin::scalar_of(firstValue), ascendc_twin::scalar_of(diffValue),
                            ascendc_twin::lanes_of_count(static_cast<uint32_t>(count), true));
}
template <typename T>
TWIN_API void Arange(const LocalTensor<T> &dstLocal, const T firstValue, const T diffValue, const int32_t count) {
    ArithProgression(dstLocal, firstValue, diffValue, count);
}

// Each of 8 elements per repeat fills one 32-byte block.
template <typename T>
TWIN_API void Brcb(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint8_t repeatTime,
                   const BrcbRepeatParams &repeatParams) {
    TWIN_REQUIRE_TYPE("Brcb", T, TWIN_16_32);
    ascendc_twin::Inst inst("Brcb", ascendc_twin::PipeId::V);
    ascendc_twin::vec_brcb(inst, dst.span(), src.span(), repeatTime, repeatParams.dstBlkStride, repeatParams.dstRepStride);
}

template <typename T, bool isSetMask = true>
TWIN_API void Copy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint64_t mask[], const uint8_t repeatTime,
                   const CopyRepeatParams &repeatParams) {
    TWIN_NOT_ON_310P("Copy", T);
    TWIN_REQUIRE_TYPE("Copy", T, TWIN_16_32);
    ascendc_twin::Inst inst("Copy", ascendc_twin::PipeId::V);
    const auto lanes = ascendc_twin::lanes_of_bits(mask, ascendc_twin::per_repeat<T>, repeatTime, isSetMask);
    ascendc_twin::vec_copy(inst, dst.span(), src.span(),
                           ascendc_twin::with_strides(lanes, repeatParams.dstStride, repeatParams.srcStride,
                                                      repeatParams.dstRepeatSize, repeatParams.srcRepeatSize));
}
template <typename T, bool isSetMask = true>
TWIN_API void Copy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint64_t mask, const uint8_t repeatTime,
                   const CopyRepeatParams &repeatParams) {
    TWIN_NOT_ON_310P("Copy", T);
    TWIN_REQUIRE_TYPE("Copy", T, TWIN_16_32);
    ascendc_twin::Inst inst("Copy", ascendc_twin::PipeId::V);
    const auto lanes = ascendc_twin::lanes_of_mask(mask, repeatTime, isSetMask);
    ascendc_twin::vec_copy(inst, dst.span(), src.span(),
                           ascendc_twin::with_strides(lanes, repeatParams.dstStride, repeatParams.srcStride,
                                                      repeatParams.dstRepeatSize, repeatParams.srcRepeatSize));
}

}  // namespace AscendC
