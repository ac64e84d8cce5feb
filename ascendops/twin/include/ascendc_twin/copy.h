// DataCopy and DataCopyPad between global and local memory, and atomic modes of copies to global memory.
#pragma once

#include <cstring>

#include "ascendc_twin/pipe.h"
#include "ascendc_twin/require.h"
#include "ascendc_twin/rt_cube.h"

namespace ascendc_twin {

// The pipe of a copy between two local memories.
inline PipeId local_copy_pipe(const Span &dst, const Span &src) {
    if (src.mem == Mem::L1) return dst.mem == Mem::FB ? PipeId::FIX : PipeId::MTE1;
    return dst.mem == Mem::UB ? PipeId::V : PipeId::MTE3;
}

template <typename P>
constexpr uint64_t pad_bits(P value) {
    uint64_t bits = 0;
    static_assert(sizeof(P) <= sizeof bits);
    __builtin_memcpy(&bits, &value, sizeof(P));
    return bits;
}

}  // namespace ascendc_twin

namespace AscendC {

template <typename T>
TWIN_API void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const uint32_t count) {
    ascendc_twin::Inst inst("DataCopy", ascendc_twin::PipeId::MTE2);
    ascendc_twin::copy_count(inst, dst.span(), src.span(), ascendc_twin::bytes_of<PrimT<T>>(count));
}
template <typename T>
TWIN_API void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t count) {
    ascendc_twin::Inst inst("DataCopy", ascendc_twin::PipeId::MTE3);
    ascendc_twin::copy_count(inst, dst.span(), src.span(), ascendc_twin::bytes_of<PrimT<T>>(count));
}
template <typename T>
TWIN_API void DataCopy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t count) {
    ascendc_twin::Inst inst("DataCopy", ascendc_twin::local_copy_pipe(dst.span(), src.span()));
    ascendc_twin::copy_count(inst, dst.span(), src.span(), ascendc_twin::bytes_of<PrimT<T>>(count));
}

template <typename T>
TWIN_API void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyParams &p) {
    ascendc_twin::Inst inst("DataCopy", ascendc_twin::PipeId::MTE2);
    ascendc_twin::copy_blocks(inst, dst.span(), src.span(), p.blockCount, p.blockLen, p.srcStride, p.dstStride);
}
template <typename T>
TWIN_API void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &p) {
    ascendc_twin::Inst inst("DataCopy", ascendc_twin::PipeId::MTE3);
    ascendc_twin::copy_blocks(inst, dst.span(), src.span(), p.blockCount, p.blockLen, p.srcStride, p.dstStride);
}
template <typename T>
TWIN_API void DataCopy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &p) {
    ascendc_twin::Inst inst("DataCopy", ascendc_twin::local_copy_pipe(dst.span(), src.span()));
    ascendc_twin::copy_blocks(inst, dst.span(), src.span(), p.blockCount, p.blockLen, p.srcStride, p.dstStride);
}
template <typename T, typename U>
TWIN_API void DataCopy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const DataCopyParams &p) {
    static_assert(sizeof(PrimT<T>) == sizeof(PrimT<U>) || (std::is_same_v<PrimT<T>, float> && std::is_same_v<PrimT<U>, half>),
                  "DataCopy: between local memories only half becomes float, on its way into the bias table");
    ascendc_twin::Inst inst("DataCopy", ascendc_twin::local_copy_pipe(dst.span(), src.span()));
    ascendc_twin::copy_blocks(inst, dst.span(), src.span(), p.blockCount, p.blockLen, p.srcStride, p.dstStride);
}

// The enhanced parameters matter only for copies out of L0C; between GM and UB they are ignored.
template <typename T>
TWIN_API void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyParams &p,
                       const DataCopyEnhancedParams &) {
    DataCopy(dst, src, p);
}
template <typename T>
TWIN_API void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &p,
                       const DataCopyEnhancedParams &) {
    DataCopy(dst, src, p);
}
template <typename T, typename U>
TWIN_API void DataCopy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const DataCopyParams &p,
                       const DataCopyEnhancedParams &e) {
    if constexpr (sizeof(PrimT<T>) == sizeof(PrimT<U>)) {
        if (src.span().mem != ascendc_twin::Mem::L0C) return DataCopy(dst, src, p);
    }
    ascendc_twin::Inst inst("DataCopy", ascendc_twin::PipeId::V);
    const auto bits = [](auto x) { return static_cast<uint8_t>(x); };
    ascendc_twin::copy_out_l0c(inst, dst.span(), src.span(),
                               {p.blockCount, p.blockLen, p.srcStride, p.dstStride, e.blockMode == BlockMode::BLOCK_MODE_VECTOR, e.isRelu,
                                bits(e.deqScale), e.sidStoreMode, e.deqValue, reinterpret_cast<const uint8_t *>(e.deqTensorAddr)});
}

template <typename T>
TWIN_API void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const SliceInfo dstSliceInfo[],
                       const SliceInfo srcSliceInfo[], const uint32_t dimValue = 1) {
    static_assert(sizeof(SliceInfo) == sizeof(ascendc_twin::Slice));
    ascendc_twin::Inst inst("DataCopy", ascendc_twin::PipeId::MTE2);
    ascendc_twin::copy_slices(inst, dst.span(), src.span(), reinterpret_cast<const ascendc_twin::Slice *>(dstSliceInfo),
                              reinterpret_cast<const ascendc_twin::Slice *>(srcSliceInfo), dimValue, sizeof(PrimT<T>));
}
template <typename T>
TWIN_API void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const SliceInfo dstSliceInfo[],
                       const SliceInfo srcSliceInfo[], const uint32_t dimValue = 1) {
    ascendc_twin::Inst inst("DataCopy", ascendc_twin::PipeId::MTE3);
    ascendc_twin::copy_slices(inst, dst.span(), src.span(), reinterpret_cast<const ascendc_twin::Slice *>(dstSliceInfo),
                              reinterpret_cast<const ascendc_twin::Slice *>(srcSliceInfo), dimValue, sizeof(PrimT<T>));
}

template <typename T, PaddingMode mode = PaddingMode::Normal>
TWIN_API void DataCopyPad(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyExtParams &p,
                          const DataCopyPadExtParams<PrimT<T>> &pad) {
    TWIN_NOT_ON_310P("DataCopyPad", T);
    ascendc_twin::Inst inst("DataCopyPad", ascendc_twin::PipeId::MTE2);
    ascendc_twin::copy_pad_in(inst, dst.span(), src.span(), {p.blockCount, p.blockLen, p.srcStride, uint64_t{p.dstStride} * ONE_BLK_SIZE},
                              {pad.isPad, pad.leftPadding, pad.rightPadding, ascendc_twin::pad_bits(pad.paddingValue), sizeof(PrimT<T>)});
}
template <typename T, PaddingMode mode = PaddingMode::Normal>
TWIN_API void DataCopyPad(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyExtParams &p) {
    TWIN_NOT_ON_310P("DataCopyPad", T);
    ascendc_twin::Inst inst("DataCopyPad", ascendc_twin::PipeId::MTE3);
    ascendc_twin::copy_pad_out(inst, dst.span(), src.span(),
                               {p.blockCount, p.blockLen, uint64_t{p.srcStride} * ONE_BLK_SIZE, p.dstStride}, sizeof(PrimT<T>));
}
// The older parameters: 16-bit lengths, a 64-bit padding value.
template <typename T, PaddingMode mode = PaddingMode::Normal>
TWIN_API void DataCopyPad(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyParams &p,
                          const DataCopyPadParams &pad) {
    TWIN_NOT_ON_310P("DataCopyPad", T);
    ascendc_twin::Inst inst("DataCopyPad", ascendc_twin::PipeId::MTE2);
    ascendc_twin::copy_pad_in(inst, dst.span(), src.span(), {p.blockCount, p.blockLen, p.srcStride, uint64_t{p.dstStride} * ONE_BLK_SIZE},
                              {pad.isPad, pad.leftPadding, pad.rightPadding, pad.paddingValue, sizeof(PrimT<T>)});
}
template <typename T, PaddingMode mode = PaddingMode::Normal>
TWIN_API void DataCopyPad(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &p) {
    TWIN_NOT_ON_310P("DataCopyPad", T);
    ascendc_twin::Inst inst("DataCopyPad", ascendc_twin::PipeId::MTE3);
    ascendc_twin::copy_pad_out(inst, dst.span(), src.span(),
                               {p.blockCount, p.blockLen, uint64_t{p.srcStride} * ONE_BLK_SIZE, p.dstStride}, sizeof(PrimT<T>));
}

template <typename T, TPosition pos = TPosition::MAX>
TWIN_API void SetPadValue(T paddingValue) {
    TWIN_NOT_ON_310P("SetPadValue", T);
    ascendc_twin::set_pad_value(ascendc_twin::pad_bits(paddingValue));
}

template <typename T>
TWIN_API void SetAtomicAdd() {
    TWIN_RUN_TYPE("SetAtomicAdd", T, half, float, int16_t, TWIN_A2(int8_t), TWIN_A2(bfloat16_t), TWIN_A2(int32_t));
    ascendc_twin::set_atomic(1, ascendc_twin::dt_of<T>);
}
template <typename T>
TWIN_API void SetAtomicMax() {
    TWIN_NOT_ON_310P("SetAtomicMax", T);
    TWIN_RUN_TYPE("SetAtomicMax", T, half, float, int8_t, int16_t, int32_t, bfloat16_t);
    ascendc_twin::set_atomic(2, ascendc_twin::dt_of<T>);
}
template <typename T>
TWIN_API void SetAtomicMin() {
    TWIN_NOT_ON_310P("SetAtomicMin", T);
    TWIN_RUN_TYPE("SetAtomicMin", T, half, float, int8_t, int16_t, int32_t, bfloat16_t);
    ascendc_twin::set_atomic(3, ascendc_twin::dt_of<T>);
}
template <typename T>
TWIN_API void SetAtomicType() {
    ascendc_twin::set_atomic(ascendc_twin::core().atomic, ascendc_twin::dt_of<T>);
}
TWIN_API void SetAtomicNone() {
    ascendc_twin::set_atomic(0, ascendc_twin::Dt::F32);
}
TWIN_API void DisableDmaAtomic() {
    SetAtomicNone();
}

template <typename T, CacheLine entireType, DcciDst dcciDst>
TWIN_API void DataCacheCleanAndInvalid(const GlobalTensor<T> &dst) {
    ascendc_twin::cache_flush(dst.GetPhyAddr(), entireType == CacheLine::ENTIRE_DATA_CACHE);
}
template <typename T, CacheLine entireType, DcciDst dcciDst>
TWIN_API void DataCacheCleanAndInvalid(const LocalTensor<T> &) {}
template <typename T, CacheLine entireType>
TWIN_API void DataCacheCleanAndInvalid(const GlobalTensor<T> &dst) {
    ascendc_twin::cache_flush(dst.GetPhyAddr(), entireType == CacheLine::ENTIRE_DATA_CACHE);
}
template <typename T>
TWIN_API void DataCachePreload(const GlobalTensor<uint64_t> &, const T) {}

}  // namespace AscendC
