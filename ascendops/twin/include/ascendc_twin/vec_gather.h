// Gather, Scatter, Gatherb and GatherMask.
#pragma once

#include "ascendc_twin/vec_common.h"
#include "ascendc_twin/vec_fill.h"

namespace AscendC {

// dst[i] = the element srcBaseAddr + srcOffset[i] bytes after the start of src.
template <typename T>
TWIN_API void Gather(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint32_t> &srcOffset,
                     const uint32_t srcBaseAddr, const uint64_t mask, const uint8_t repeatTime, const uint16_t dstRepStride) {
    TWIN_RUN_TYPE("Gather", T, TWIN_16_32);
    ascendc_twin::Inst inst("Gather", ascendc_twin::PipeId::V);
    const auto lanes = ascendc_twin::lanes_of_mask(mask, repeatTime, true);
    ascendc_twin::vec_gather(inst, dst.span(), src.span(), srcOffset.span(), srcBaseAddr,
                             ascendc_twin::with_strides(lanes, 1, 1, dstRepStride, 8));
}
template <typename T>
TWIN_API void Gather(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint32_t> &srcOffset,
                     const uint32_t srcBaseAddr, const uint64_t mask[], const uint8_t repeatTime, const uint16_t dstRepStride) {
    TWIN_RUN_TYPE("Gather", T, TWIN_16_32);
    ascendc_twin::Inst inst("Gather", ascendc_twin::PipeId::V);
    const auto lanes = ascendc_twin::lanes_of_bits(mask, ascendc_twin::per_repeat<T>, repeatTime, true);
    ascendc_twin::vec_gather(inst, dst.span(), src.span(), srcOffset.span(), srcBaseAddr,
                             ascendc_twin::with_strides(lanes, 1, 1, dstRepStride, 8));
}
template <typename T>
TWIN_API void Gather(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint32_t> &srcOffset,
                     const uint32_t srcBaseAddr, const uint32_t count) {
    TWIN_RUN_TYPE("Gather", T, TWIN_16_32);
    ascendc_twin::Inst inst("Gather", ascendc_twin::PipeId::V);
    ascendc_twin::vec_gather(inst, dst.span(), src.span(), srcOffset.span(), srcBaseAddr,
                             ascendc_twin::lanes_of_count(count, true));
}

template <typename T>
TWIN_API void Scatter(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint32_t> &dstOffset,
                      const uint32_t dstBaseAddr, const uint64_t mask, const uint8_t repeatTime, const uint8_t srcRepStride) {
    TWIN_REQUIRE_TYPE("Scatter", T, TWIN_16_32);
    ascendc_twin::Inst inst("Scatter", ascendc_twin::PipeId::V);
    const auto lanes = ascendc_twin::lanes_of_mask(mask, repeatTime, true);
    ascendc_twin::vec_scatter(inst, dst.span(), src.span(), dstOffset.span(), dstBaseAddr,
                              ascendc_twin::with_strides(lanes, 1, 1, 8, srcRepStride));
}
template <typename T>
TWIN_API void Scatter(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint32_t> &dstOffset,
                      const uint32_t dstBaseAddr, const uint64_t mask[], const uint8_t repeatTime,
                      const uint8_t srcRepStride) {
    TWIN_REQUIRE_TYPE("Scatter", T, TWIN_16_32);
    ascendc_twin::Inst inst("Scatter", ascendc_twin::PipeId::V);
    const auto lanes = ascendc_twin::lanes_of_bits(mask, ascendc_twin::per_repeat<T>, repeatTime, true);
    ascendc_twin::vec_scatter(inst, dst.span(), src.span(), dstOffset.span(), dstBaseAddr,
                              ascendc_twin::with_strides(lanes, 1, 1, 8, srcRepStride));
}
template <typename T>
TWIN_API void Scatter(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint32_t> &dstOffset,
                      const uint32_t dstBaseAddr, const uint32_t count) {
    TWIN_REQUIRE_TYPE("Scatter", T, TWIN_16_32);
    ascendc_twin::Inst inst("Scatter", ascendc_twin::PipeId::V);
    ascendc_twin::vec_scatter(inst, dst.span(), src.span(), dstOffset.span(), dstBaseAddr,
                              ascendc_twin::lanes_of_count(count, true));
}

// Whole 32-byte blocks: block j of dst comes from offset[j] bytes after the start of src.
template <typename T>
TWIN_API void Gatherb(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint32_t> &offset,
                      const uint8_t repeatTime, const GatherRepeatParams &repeatParams) {
    TWIN_NOT_ON_310P("Gatherb", T);
    TWIN_REQUIRE_TYPE("Gatherb", T, TWIN_16_32);
    ascendc_twin::Inst inst("Gatherb", ascendc_twin::PipeId::V);
    ascendc_twin::vec_gatherb(inst, dst.span(), src.span(), offset.span(), repeatTime, repeatParams.dstBlkStride,
                              repeatParams.dstRepStride);
}

template <typename T, typename U, GatherMaskMode mode = defaultGatherMaskMode>
TWIN_API void GatherMask(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<U> &src1Pattern,
                         const bool reduceMode, const uint32_t mask, const GatherMaskParams &gatherMaskParams,
                         uint64_t &rsvdCnt) {
    TWIN_REQUIRE_TYPE("GatherMask", T, TWIN_16_32);
    static_assert(sizeof(T) == sizeof(U), "GatherMask: 16-bit data takes a uint16_t pattern, 32-bit data a uint32_t pattern");
    ascendc_twin::Inst inst("GatherMask", ascendc_twin::PipeId::V);
    const ascendc_twin::Span pattern = src1Pattern.span();
    rsvdCnt = ascendc_twin::vec_gather_mask(
        inst, dst.span(), src0.span(),
        {&pattern, 0, reduceMode, mask, gatherMaskParams.src0BlockStride, gatherMaskParams.repeatTimes,
         gatherMaskParams.src0RepeatStride, gatherMaskParams.src1RepeatStride});
}
template <typename T, GatherMaskMode mode = defaultGatherMaskMode>
TWIN_API void GatherMask(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const uint8_t src1Pattern,
                         const bool reduceMode, const uint32_t mask, const GatherMaskParams &gatherMaskParams,
                         uint64_t &rsvdCnt) {
    TWIN_REQUIRE_TYPE("GatherMask", T, TWIN_16_32);
    ascendc_twin::Inst inst("GatherMask", ascendc_twin::PipeId::V);
    rsvdCnt = ascendc_twin::vec_gather_mask(
        inst, dst.span(), src0.span(),
        {nullptr, src1Pattern, reduceMode, mask, gatherMaskParams.src0BlockStride, gatherMaskParams.repeatTimes,
         gatherMaskParams.src0RepeatStride, gatherMaskParams.src1RepeatStride});
}
TWIN_API int64_t GetGatherMaskRemainCount() { return ascendc_twin::core().rsvd_cnt; }

}  // namespace AscendC
