// TransDataTo5HD and Transpose.
#pragma once

#include "ascendc_twin/vec_common.h"

namespace AscendC {

constexpr int32_t NCHW_CONV_ADDR_LIST_SIZE = 16;

#define TWIN_5HD_TYPES(T) \
    TWIN_REQUIRE_TYPE("TransDataTo5HD", T, int8_t, uint8_t, int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float)

template <typename T>
TWIN_API void TransDataTo5HD(const LocalTensor<T> (&dstList)[NCHW_CONV_ADDR_LIST_SIZE],
                             const LocalTensor<T> (&srcList)[NCHW_CONV_ADDR_LIST_SIZE], const TransDataTo5HDParams &params) {
    TWIN_5HD_TYPES(T);
    ascendc_twin::Inst inst("TransDataTo5HD", ascendc_twin::PipeId::V);
    ascendc_twin::Span dst[16], src[16];
    for (int i = 0; i < 16; ++i) {
        dst[i] = dstList[i].span();
        src[i] = srcList[i].span();
    }
    ascendc_twin::vec_trans_5hd(inst, dst, src, params.dstHighHalf, params.srcHighHalf, params.repeatTimes, params.dstRepStride,
                                params.srcRepStride);
}
// The lists hold what GetPhyAddr returned.
template <typename T>
TWIN_API void TransDataTo5HD(uint64_t dstList[NCHW_CONV_ADDR_LIST_SIZE], uint64_t srcList[NCHW_CONV_ADDR_LIST_SIZE],
                             const TransDataTo5HDParams &params) {
    TWIN_5HD_TYPES(T);
    ascendc_twin::Inst inst("TransDataTo5HD", ascendc_twin::PipeId::V);
    ascendc_twin::Span dst[16], src[16];
    for (int i = 0; i < 16; ++i) {
        dst[i] = ascendc_twin::span_at(dstList[i], ascendc_twin::dt_of<T>);
        src[i] = ascendc_twin::span_at(srcList[i], ascendc_twin::dt_of<T>);
    }
    ascendc_twin::vec_trans_5hd(inst, dst, src, params.dstHighHalf, params.srcHighHalf, params.repeatTimes, params.dstRepStride,
                                params.srcRepStride);
}
template <typename T>
TWIN_API void TransDataTo5HD(const LocalTensor<uint64_t> &dst, const LocalTensor<uint64_t> &src,
                             const TransDataTo5HDParams &params) {
    TransDataTo5HD<T>(reinterpret_cast<uint64_t *>(dst.GetPhyAddr()), reinterpret_cast<uint64_t *>(src.GetPhyAddr()), params);
}

// One 16 x 16 block of 16-bit elements; dst may be src.
template <typename T>
TWIN_API void Transpose(const LocalTensor<T> &dst, const LocalTensor<T> &src) {
    TWIN_REQUIRE_TYPE("Transpose", T, half, int16_t, uint16_t);
    ascendc_twin::Inst inst("Transpose", ascendc_twin::PipeId::V);
    ascendc_twin::vec_transpose16(inst, dst.span(), src.span());
}
template <typename T>
TWIN_API void Transpose(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &,
                        const TransposeParamsExt &params) {
    ascendc_twin::Inst inst("Transpose", ascendc_twin::PipeId::V);
    const uint32_t plane = uint32_t{params.hSize} * params.wSize;
    if (params.transposeType == TransposeType::TRANSPOSE_ND2ND_B16) {
        ascendc_twin::vec_transpose16(inst, dst.span(), src.span());
    } else if (params.transposeType == TransposeType::TRANSPOSE_NCHW2NHWC) {
        const uint32_t shape[3] = {params.nSize, params.cSize, plane};
        ascendc_twin::vec_transpose_axes(inst, dst.span(), src.span(), shape);
    } else if (params.transposeType == TransposeType::TRANSPOSE_NHWC2NCHW) {
        const uint32_t shape[3] = {params.nSize, plane, params.cSize};
        ascendc_twin::vec_transpose_axes(inst, dst.span(), src.span(), shape);
    }
}

}  // namespace AscendC
