// Temporary buffers and tiling data of the SoftMax family.
#pragma once

#include "../../kernel_tiling/softmax_rounds.h"
#include "tiling/api_structs.h"
#include "tiling/tmp_size.h"

namespace AscendC {
namespace twin_tmp {
inline uint32_t SoftmaxBytes(const TensorShape &shape, bool whole, uint32_t buffers) {
    const uint32_t k = LastDim(shape), rows = !whole || k == 0U ? 1U : Count(shape) / k;
    return rows * AscendC::tiling::SoftmaxRowBytes(k, buffers);
}
template <typename Plain>
inline Plain SoftmaxTilingOf(const TensorShape &shape, uint32_t typeSize, uint32_t bytes, uint32_t buffers) {
    const uint32_t k = LastDim(shape);
    return AscendC::tiling::SoftmaxRounds<Plain>(k == 0U ? 0U : Count(shape) / k, k, typeSize, bytes, buffers);
}
}  // namespace twin_tmp

enum class SoftMaxMode : int32_t { SOFTMAX_NORMAL, SOFTMAX_OUTPUT_WITHOUT_BRC };

inline uint32_t GetSoftMaxMaxTmpSize(const TensorShape &srcShape, const uint32_t, const bool) {
    return twin_tmp::SoftmaxBytes(srcShape, true, 2U);
}
inline uint32_t GetSoftMaxMinTmpSize(const TensorShape &srcShape, const uint32_t, const bool) {
    return twin_tmp::SoftmaxBytes(srcShape, false, 2U);
}
template <typename Tiling>
inline void SoftMaxTilingFunc(const TensorShape &srcShape, const uint32_t dataTypeSize, const uint32_t localWorkSpaceSize,
                              Tiling &softmaxTiling) {
    ascendops::Give(
        twin_tmp::SoftmaxTilingOf<AscendC::tiling::SoftMaxTiling>(srcShape, dataTypeSize, localWorkSpaceSize, 2U), softmaxTiling);
}

inline uint32_t GetSoftMaxFlashMaxTmpSize(const TensorShape &srcShape, const uint32_t, const bool, const bool) {
    return twin_tmp::SoftmaxBytes(srcShape, true, 3U);
}
inline uint32_t GetSoftMaxFlashMinTmpSize(const TensorShape &srcShape, const uint32_t, const bool, const bool) {
    return twin_tmp::SoftmaxBytes(srcShape, false, 3U);
}
template <typename Tiling>
inline void SoftMaxFlashTilingFunc(const TensorShape &srcShape, const uint32_t dataTypeSize, const uint32_t localWorkSpaceSize,
                                   Tiling &softmaxFlashTiling, const bool = false) {
    ascendops::Give(
        twin_tmp::SoftmaxTilingOf<AscendC::tiling::SoftMaxTiling>(srcShape, dataTypeSize, localWorkSpaceSize, 3U), softmaxFlashTiling);
}

inline uint32_t GetSoftMaxFlashV2MaxTmpSize(const TensorShape &srcShape, const uint32_t, const uint32_t, const bool, const bool = false,
                                            const bool = false) {
    return twin_tmp::SoftmaxBytes(srcShape, true, 2U);
}
inline uint32_t GetSoftMaxFlashV2MinTmpSize(const TensorShape &srcShape, const uint32_t, const uint32_t, const bool, const bool = false,
                                            const bool = false) {
    return twin_tmp::SoftmaxBytes(srcShape, false, 2U);
}
template <typename Tiling>
inline void SoftMaxFlashV2TilingFunc(const TensorShape &srcShape, const uint32_t dataTypeSize1, const uint32_t,
                                     const uint32_t localWorkSpaceSize, Tiling &softmaxFlashTiling, const bool, const bool = false,
                                     const bool = false) {
    ascendops::Give(
        twin_tmp::SoftmaxTilingOf<AscendC::tiling::SoftMaxTiling>(srcShape, dataTypeSize1, localWorkSpaceSize, 2U), softmaxFlashTiling);
}

inline void GetSoftMaxFlashV3MaxMinTmpSize(const TensorShape &srcShape, const uint32_t, const uint32_t, uint32_t &maxValue,
                                           uint32_t &minValue, const bool, const bool = false) {
    maxValue = twin_tmp::SoftmaxBytes(srcShape, true, 3U);
    minValue = twin_tmp::SoftmaxBytes(srcShape, false, 3U);
}
template <typename Tiling>
inline void SoftMaxFlashV3TilingFunc(const TensorShape &srcShape, const uint32_t dataTypeSize1, const uint32_t,
                                     const uint32_t localWorkSpaceSize, Tiling &softmaxFlashV3Tiling, const bool, const bool = false) {
    ascendops::Give(
        twin_tmp::SoftmaxTilingOf<AscendC::tiling::SoftMaxTiling>(srcShape, dataTypeSize1, localWorkSpaceSize, 3U), softmaxFlashV3Tiling);
}

inline uint32_t GetSoftMaxGradMaxTmpSize(const TensorShape &srcShape, const uint32_t, const bool, const bool) {
    return twin_tmp::SoftmaxBytes(srcShape, true, 3U);
}
inline uint32_t GetSoftMaxGradMinTmpSize(const TensorShape &srcShape, const uint32_t, const bool, const bool) {
    return twin_tmp::SoftmaxBytes(srcShape, false, 3U);
}
template <typename Tiling>
inline void SoftMaxGradTilingFunc(const TensorShape &srcShape, const uint32_t dataTypeSize, const uint32_t localWorkSpaceSize,
                                  Tiling &softmaxGradTiling, const bool = false) {
    ascendops::Give(
        twin_tmp::SoftmaxTilingOf<AscendC::tiling::SoftMaxTiling>(srcShape, dataTypeSize, localWorkSpaceSize, 3U), softmaxGradTiling);
}

inline uint32_t GetLogSoftMaxMaxTmpSize(const TensorShape srcShape, const uint32_t, const bool) {
    return twin_tmp::SoftmaxBytes(srcShape, true, 2U);
}
inline uint32_t GetLogSoftMaxMinTmpSize(const TensorShape srcShape, const uint32_t, const bool) {
    return twin_tmp::SoftmaxBytes(srcShape, false, 2U);
}
template <typename Tiling>
inline void LogSoftMaxTilingFunc(const TensorShape srcShape, const uint32_t dataTypeSize, const uint32_t localWorkSpaceSize,
                                 Tiling &softmaxTiling) {
    ascendops::Give(
        twin_tmp::SoftmaxTilingOf<AscendC::tiling::LogSoftMaxTiling>(srcShape, dataTypeSize, localWorkSpaceSize, 2U), softmaxTiling);
}

// Rows of 64 to 2047 elements in whole repeats, in groups of 8.
template <typename Tiling>
inline bool IsBasicBlockInSoftMax(const Tiling &tiling, const uint32_t dataTypeSize = 2) {
    AscendC::tiling::SoftMaxTiling t;
    ascendops::Take(tiling, t);
    return t.srcK < 2048U && t.srcK >= 256U / dataTypeSize && t.srcK % 64U == 0U && t.splitM % 8U == 0U && t.srcM % 8U == 0U;
}
}  // namespace AscendC
