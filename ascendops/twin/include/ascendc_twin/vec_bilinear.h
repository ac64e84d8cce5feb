// BilinearInterpolation: rows of gathered blocks times weights.
#pragma once

#include "ascendc_twin/vec_common.h"

namespace AscendC {

namespace twin_detail {
template <typename T>
TWIN_API void bilinear(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<uint32_t> &offset, const LocalTensor<T> &src1,
                       const ascendc_twin::Lanes &lanes, uint32_t horizontal, bool each_block, uint32_t dst_blk, uint32_t row_step,
                       uint32_t vertical, const LocalTensor<uint8_t> &work) {
    TWIN_REQUIRE_TYPE("BilinearInterpolation", T, half);
    ascendc_twin::Inst inst("BilinearInterpolation", ascendc_twin::PipeId::V);
    // Ascend 310P keeps addresses there; elsewhere the gathered blocks and the weights, each of which fills a block.
    const uint64_t bytes = __NPU_ARCH__ == 2002 ? uint64_t{offset.GetSize()} * 4
                                                : uint64_t{horizontal} * vertical * 256 + uint64_t{src1.GetSize()} * 32;
    ascendc_twin::vec_bilinear(inst,
                               {dst.span(), src0.span(), offset.span(), src1.span(), work.span(), bytes, horizontal, vertical, dst_blk, row_step,
                                each_block}, lanes);
}
}  // namespace twin_detail

// Row v of dst is the sum over h of the eight blocks at src0Offset[(v * hRepeat + h) * 8 ...] times src1: one weight for each h, or
// with repeatMode one for each block. vROffset: elements from a row of dst to the next.
template <typename T>
TWIN_API void BilinearInterpolation(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<uint32_t> &src0Offset,
                                    const LocalTensor<T> &src1, uint64_t mask, uint8_t hRepeat, bool repeatMode, uint16_t dstBlkStride,
                                    uint16_t vROffset, uint8_t vRepeat, const LocalTensor<uint8_t> &sharedTmpBuffer) {
    twin_detail::bilinear(dst, src0, src0Offset, src1, ascendc_twin::lanes_of_mask(mask, vRepeat, true), hRepeat, repeatMode, dstBlkStride,
                          vROffset, vRepeat, sharedTmpBuffer);
}
template <typename T>
TWIN_API void BilinearInterpolation(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<uint32_t> &src0Offset,
                                    const LocalTensor<T> &src1, uint64_t mask[], uint8_t hRepeat, bool repeatMode, uint16_t dstBlkStride,
                                    uint16_t vROffset, uint8_t vRepeat, const LocalTensor<uint8_t> &sharedTmpBuffer) {
    twin_detail::bilinear(dst, src0, src0Offset, src1, ascendc_twin::lanes_of_bits(mask, ascendc_twin::per_repeat<T>, vRepeat, true), hRepeat,
                          repeatMode, dstBlkStride, vROffset, vRepeat, sharedTmpBuffer);
}

}  // namespace AscendC
