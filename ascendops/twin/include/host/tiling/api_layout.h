// Sizes and tiling data of sorting and layout changes.
#pragma once

#include "tiling/api_sizes.h"

namespace AscendC {
// Sorting works on 8-byte records, for which nothing is joined; on Ascend 310P on region proposals of 8 elements.
inline bool SortsProposals(const platform_ascendc::PlatformAscendC &platform) {
    return platform.GetSocVersion() == platform_ascendc::SocVersion::ASCEND310P;
}
inline uint32_t GetConcatTmpSize(const platform_ascendc::PlatformAscendC &platform, const uint32_t elemCount, const uint32_t dataTypeSize) {
    return SortsProposals(platform) ? elemCount * 8U * dataTypeSize : 0;
}
inline uint32_t GetSortTmpSize(const platform_ascendc::PlatformAscendC &platform, const uint32_t elemCount, const uint32_t dataTypeSize) {
    return elemCount * 8U * (SortsProposals(platform) ? dataTypeSize : 1U);
}
// In elements.
inline uint32_t GetSortOffset(const platform_ascendc::PlatformAscendC &platform, const uint32_t elemOffset, const uint32_t dataTypeSize) {
    return elemOffset * (SortsProposals(platform) ? 8U : 8U / dataTypeSize);
}
inline uint32_t GetSortLen(const platform_ascendc::PlatformAscendC &platform, const uint32_t elemCount, const uint32_t dataTypeSize) {
    return GetSortOffset(platform, elemCount, dataTypeSize);
}

enum class SortType { RADIX_SORT, MERGE_SORT };
struct SortConfig {
    SortType type = SortType::RADIX_SORT;
    bool isDescend = false, hasSrcIndex = false, hasDstIndex = false;
};
// Of the Sort with a configuration, which only Ascend 950 has. For the SoCs of the twin CANN logs an error and sets neither size; here both are 0.
inline void GetSortMaxMinTmpSize(const TensorShape &, const TensorDataType, const TensorDataType, const bool, const SortConfig &,
                                 uint32_t &maxValue, uint32_t &minValue) {
    maxValue = minValue = 0;
}

// Records of one row twice, and its indices unless the kernel gives them.
inline bool GetTopKMaxMinTmpSize(const platform_ascendc::PlatformAscendC &, const int32_t inner, const int32_t outter, const bool,
                                 const bool isInitIndex, enum TopKMode mode, const bool isLargest, const uint32_t dataTypeSize,
                                 uint32_t &maxValue, uint32_t &minValue) {
    const bool small = mode == TopKMode::TOPK_NSMALL;
    const uint32_t n = static_cast<uint32_t>(inner) * (small ? static_cast<uint32_t>(outter) : 1U);
    const uint32_t row = n * 16U + (isInitIndex ? 0U : n * 4U) + (isLargest ? 0U : twin_tmp::Align(n * dataTypeSize, 32U));
    maxValue = minValue = twin_tmp::Align(row, 32U);
    return inner % 32 == 0 && (!small || inner == 32);
}
template <typename Tiling>
inline bool TopKTilingFunc(const platform_ascendc::PlatformAscendC &platform, const int32_t inner, const int32_t outter, const int32_t k,
                           const uint32_t dataTypeSize, const bool isInitIndex, enum TopKMode mode, const bool isLargest,
                           Tiling &topKTiling) {
    AscendC::tiling::TopkTiling t;
    uint32_t max = 0, min = 0;
    const bool valid = GetTopKMaxMinTmpSize(platform, inner, outter, false, isInitIndex, mode, isLargest, dataTypeSize, max, min);
    t.tmpLocalSize = static_cast<int32_t>(min);
    t.allDataSize = inner * outter;
    t.innerDataSize = inner;
    t.sortRepeat = static_cast<uint32_t>(mode == TopKMode::TOPK_NSMALL ? outter : inner / 32);
    t.mrgSortRepeat = inner / 128;
    t.kAlignFourBytes = (k + 7) / 8 * 8;
    t.kAlignTwoBytes = (k + 15) / 16 * 16;
    t.srcIndexOffset = inner * 16;
    t.copyUbToUbBlockCount = static_cast<uint32_t>(inner) * 8U / 32U;
    ascendops::Give(t, topKTiling);
    return valid && k >= 1 && k <= inner;
}

inline void GetPadMaxMinTmpSize(const TensorShape &srcShape, const uint32_t typeSize, uint32_t &maxValue, uint32_t &minValue) {
    const uint32_t row = twin_tmp::Align(twin_tmp::LastDim(srcShape) * typeSize, 32U);
    minValue = 2U * 16U * row;
    maxValue = 2U * twin_tmp::Align(twin_tmp::Dim(srcShape, 0), 16U) * row;
}
template <typename Tiling>
inline void PadTilingFunc(const TensorShape srcShape, const TensorShape oriSrcShape, const uint32_t stackBufferSize, const uint32_t typeSize,
                          Tiling &tiling) {
    AscendC::tiling::PadTiling t;
    const uint32_t block = 32U / typeSize;
    t.srcHeight = twin_tmp::Dim(srcShape, 0);
    t.srcWidth = twin_tmp::Dim(srcShape, 1);
    t.srcOriWidth = twin_tmp::Dim(oriSrcShape, 1);
    t.blocksPerRow = twin_tmp::Align(t.srcWidth, block) / block;
    t.widthWithoutLastBlock = t.blocksPerRow == 0U ? 0U : (t.blocksPerRow - 1U) * block;
    const uint32_t rows = t.blocksPerRow == 0U ? 0U : stackBufferSize / (2U * 32U * t.blocksPerRow) / 16U * 16U;
    t.heightTiling = rows < t.srcHeight ? rows : t.srcHeight;
    t.heightFractal = t.heightTiling == 0U ? 0U : t.srcHeight / t.heightTiling;
    t.heightFractalTail = t.heightTiling == 0U ? 0U : t.srcHeight % t.heightTiling;
    t.tmpBuffer1BlockNum = t.heightTiling * t.blocksPerRow;
    t.tmpBuffer1RowNum = t.heightTiling;
    t.tmpBuffer2Offset = t.tmpBuffer1BlockNum * block;
    t.maxRepeatTimes = 255;
    ascendops::Give(t, tiling);
}
inline void GetUnPadMaxMinTmpSize(const platform_ascendc::PlatformAscendC &, const TensorShape &srcShape, const uint32_t typeSize,
                                  uint32_t &maxValue, uint32_t &minValue) {
    GetPadMaxMinTmpSize(srcShape, typeSize, maxValue, minValue);
}
template <typename Tiling>
inline void UnPadTilingFunc(const TensorShape srcShape, const uint32_t stackBufferSize, const uint32_t typeSize, Tiling &tiling) {
    AscendC::tiling::UnPadTiling t;
    t.srcHeight = twin_tmp::Dim(srcShape, 0);
    t.srcWidth = twin_tmp::Dim(srcShape, 1);
    t.tmpBuffer1BlockNum = stackBufferSize / 64U;
    t.tmpBuffer1RowNum = t.srcWidth == 0U ? 0U : t.tmpBuffer1BlockNum * 32U / (t.srcWidth * typeSize);
    t.tmpBuffer2Offset = t.tmpBuffer1BlockNum * 32U / typeSize;
    t.widthTiling = t.srcWidth;
    t.widthFractal = 1;
    ascendops::Give(t, tiling);
}

// [B, N, S, H / N], or [H, W] for a transposition.
inline void GetTransposeMaxMinTmpSize(const TensorShape &srcShape, const uint32_t typeSize, const uint32_t, uint32_t &maxValue,
                                      uint32_t &minValue) {
    minValue = 2U * 16U * twin_tmp::Align(twin_tmp::Dim(srcShape, srcShape.GetDimNum() > 2 ? 2 : 0), 16U) * typeSize;
    maxValue = 2U * twin_tmp::Align(twin_tmp::Count(srcShape) * typeSize, 256U);
    maxValue = maxValue > minValue ? maxValue : minValue;
}
inline void GetConfusionTransposeMaxMinTmpSize(const TensorShape &srcShape, const uint32_t typeSize, const uint32_t transposeTypeIn,
                                               uint32_t &maxValue, uint32_t &minValue) {
    GetTransposeMaxMinTmpSize(srcShape, typeSize, transposeTypeIn, maxValue, minValue);
}
template <typename Tiling>
inline void GetTransposeTilingInfo(const TensorShape &srcShape, const uint32_t stackBufferSize, const uint32_t typeSize,
                                   const uint32_t transposeTypeIn, Tiling &tiling) {
    AscendC::tiling::ConfusionTransposeTiling t;
    t.param0 = twin_tmp::Dim(srcShape, 0);
    t.param1 = twin_tmp::Dim(srcShape, 1);
    t.param2 = twin_tmp::Dim(srcShape, 2);
    t.param3 = twin_tmp::Dim(srcShape, 3);
    t.param4 = transposeTypeIn;
    t.param5 = stackBufferSize / typeSize;
    ascendops::Give(t, tiling);
}
template <typename Tiling>
inline void GetConfusionTransposeTilingInfo(const TensorShape &srcShape, const uint32_t stackBufferSize, const uint32_t typeSize,
                                            const uint32_t transposeTypeIn, Tiling &tiling) {
    GetTransposeTilingInfo(srcShape, stackBufferSize, typeSize, transposeTypeIn, tiling);
}
template <typename Tiling>
inline void GetConfusionTransposeOnlyTilingInfo(const TensorShape &srcShape, const uint32_t stackBufferSize, const uint32_t typeSize,
                                                Tiling &tiling) {
    GetTransposeTilingInfo(srcShape, stackBufferSize, typeSize, 7U, tiling);
}

enum class DataFormat : uint8_t { ND = 0, NZ, NCHW, NC1HWC0, NHWC, NCDHW, NDC1HWC0, FRACTAL_Z_3D };
struct TransDataConfig {
    DataFormat srcFormat;
    DataFormat dstFormat;
};
// Both layouts, and one fractal.
inline bool GetTransDataMaxMinTmpSize(const platform_ascendc::PlatformAscendC &, const TensorShape &srcShape, const TensorShape &dstShape,
                                      const TensorDataType, const TransDataConfig &config, uint32_t &maxValue, uint32_t &minValue) {
    const uint32_t from = twin_tmp::Count(srcShape), to = twin_tmp::Count(dstShape);
    minValue = maxValue = twin_tmp::Align((from + to) * 2U + 512U, 32U);
    return (config.srcFormat == DataFormat::NCDHW) != (config.dstFormat == DataFormat::NCDHW);
}
}  // namespace AscendC
