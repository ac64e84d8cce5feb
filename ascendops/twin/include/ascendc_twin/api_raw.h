// Forms of instructions that take raw UB and GM pointers: the layer below the API, which public kernels call here and there.
#pragma once

#include "ascendc_twin/copy.h"
#include "ascendc_twin/vec_fill.h"
#include "ascendc_twin/vec_transpose.h"

namespace ascendc_twin {

template <typename T>
TWIN_API Span raw_local(const T *at) {
    return span_at(reinterpret_cast<uint64_t>(at), dt_of<T>);
}
template <typename T>
TWIN_API Span raw_global(const T *at) {
    const auto address = reinterpret_cast<uint64_t>(at);
    return {reinterpret_cast<uint8_t *>(address), address, UINT64_MAX >> 1, -1, Mem::GM, dt_of<T>};
}

}  // namespace ascendc_twin

namespace AscendC {

template <typename T>
TWIN_API void TransDataTo5HDImpl(__ubuf__ T *dstList[NCHW_CONV_ADDR_LIST_SIZE], __ubuf__ T *srcList[NCHW_CONV_ADDR_LIST_SIZE],
                                 const TransDataTo5HDParams &params) {
    uint64_t dst[NCHW_CONV_ADDR_LIST_SIZE], src[NCHW_CONV_ADDR_LIST_SIZE];
    for (int i = 0; i < NCHW_CONV_ADDR_LIST_SIZE; ++i) {
        dst[i] = reinterpret_cast<uint64_t>(dstList[i]);
        src[i] = reinterpret_cast<uint64_t>(srcList[i]);
    }
    TransDataTo5HD<T>(dst, src, params);
}
template <typename T>
TWIN_API void TransDataTo5HDImpl(uint64_t dstList[NCHW_CONV_ADDR_LIST_SIZE], uint64_t srcList[NCHW_CONV_ADDR_LIST_SIZE],
                                 const TransDataTo5HDParams &params) {
    TransDataTo5HD<T>(dstList, srcList, params);
}

template <typename T>
TWIN_API void DuplicateImpl(__ubuf__ T *dst, const T &value, const int32_t &count) {
    ascendc_twin::Inst inst("Duplicate", ascendc_twin::PipeId::V);
    ascendc_twin::vec_fill(inst, ascendc_twin::raw_local(dst), ascendc_twin::scalar_of(value), ascendc_twin::lanes_of_count(static_cast<uint32_t>(count), true));
}

template <typename T>
TWIN_API void DataCopyUB2GMImpl(__gm__ T *dst, __ubuf__ T *src, const DataCopyParams &p) {
    ascendc_twin::Inst inst("DataCopy", ascendc_twin::PipeId::MTE3);
    ascendc_twin::copy_blocks(inst, ascendc_twin::raw_global(dst), ascendc_twin::raw_local(src), p.blockCount, p.blockLen,
                              p.srcStride, p.dstStride);
}
template <typename T>
TWIN_API void DataCopyGM2UBImpl(__ubuf__ T *dst, __gm__ T *src, const DataCopyParams &p) {
    ascendc_twin::Inst inst("DataCopy", ascendc_twin::PipeId::MTE2);
    ascendc_twin::copy_blocks(inst, ascendc_twin::raw_local(dst), ascendc_twin::raw_global(src), p.blockCount, p.blockLen,
                              p.srcStride, p.dstStride);
}

template <typename T>
TWIN_API void DataCopyPadGm2UBImpl(__ubuf__ T *dst, __gm__ T *src, const DataCopyExtParams &p, const DataCopyPadExtParams<T> &pad) {
    ascendc_twin::Inst inst("DataCopyPad", ascendc_twin::PipeId::MTE2);
    ascendc_twin::copy_pad_in(inst, ascendc_twin::raw_local(dst), ascendc_twin::raw_global(src),
                              {p.blockCount, p.blockLen, p.srcStride, uint64_t{p.dstStride} * ONE_BLK_SIZE},
                              {pad.isPad, pad.leftPadding, pad.rightPadding, ascendc_twin::pad_bits(pad.paddingValue), sizeof(T)});
}
template <typename T>
TWIN_API void DataCopyPadUB2GMImpl(__gm__ T *dst, __ubuf__ T *src, const DataCopyExtParams &p) {
    ascendc_twin::Inst inst("DataCopyPad", ascendc_twin::PipeId::MTE3);
    ascendc_twin::copy_pad_out(inst, ascendc_twin::raw_global(dst), ascendc_twin::raw_local(src),
                               {p.blockCount, p.blockLen, uint64_t{p.srcStride} * ONE_BLK_SIZE, p.dstStride}, sizeof(T));
}

}  // namespace AscendC
