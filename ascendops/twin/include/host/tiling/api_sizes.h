// Temporary buffers of reductions, activations, quantisation, filters and layout changes; tiling data of TopK, Pad and
// ConfusionTranspose.
#pragma once

#include "tiling/api_structs.h"
#include "tiling/platform/platform_ascendc.h"
#include "tiling/tmp_size.h"

namespace AscendC {
enum class ReducePattern : uint32_t { AR = 0, RA = 1, R = 2, ARA = 3, ARAR = 4 };
enum class TopKMode { TOPK_NORMAL, TOPK_NSMALL };

#define ASCENDOPS_REDUCE_SIZE(NAME)                                                                                          \
    inline void GetReduce##NAME##MaxMinTmpSize(const TensorShape &srcShape, const TensorDataType, ReducePattern, bool,       \
                                               bool isReuseSource, uint32_t &maxValue, uint32_t &minValue) {                 \
        twin_tmp::Rows(srcShape, twin_tmp::LastDim(srcShape), isReuseSource ? 1U : 2U, 256U, maxValue, minValue);            \
    }
ASCENDOPS_REDUCE_SIZE(Sum)
ASCENDOPS_REDUCE_SIZE(Mean)
ASCENDOPS_REDUCE_SIZE(Max)
ASCENDOPS_REDUCE_SIZE(Min)
ASCENDOPS_REDUCE_SIZE(Any)
ASCENDOPS_REDUCE_SIZE(All)
ASCENDOPS_REDUCE_SIZE(Prod)
#undef ASCENDOPS_REDUCE_SIZE

inline void GetReduceXorSumMaxMinTmpSize(const TensorShape &srcShape, const uint32_t, const bool, uint32_t &maxValue, uint32_t &minValue) {
    twin_tmp::Rows(srcShape, 64U, 2U, 256U, maxValue, minValue);
}
inline void GetSumMaxMinTmpSize(const uint32_t n, const uint32_t typeSize, const bool, uint32_t &maxSize, uint32_t &minSize) {
    maxSize = minSize = twin_tmp::Align((n * typeSize + 255U) / 256U * typeSize, 32U);
}
inline void GetMeanMaxMinTmpSize(const uint32_t n, const uint32_t srcTypeSize, const uint32_t accTypeSize, const bool, uint32_t &maxSize,
                                 uint32_t &minSize) {
    const uint32_t work = twin_tmp::Align((n * accTypeSize + 255U) / 256U * accTypeSize, 32U);
    maxSize = minSize = work + (srcTypeSize == accTypeSize ? 0U : twin_tmp::Align(n * accTypeSize, 32U));
}
inline void GetMeanTmpBufferFactorSize(const uint32_t typeSize, uint32_t &maxLiveNodeCount, uint32_t &extraBuffer) {
    maxLiveNodeCount = typeSize == sizeof(float) ? 1U : 2U;
    extraBuffer = 256U;
}
inline void GetCumSumMaxMinTmpSize(const TensorShape &srcShape, const uint32_t, const bool, const bool, uint32_t &maxValue,
                                   uint32_t &minValue) {
    twin_tmp::Rows(srcShape, 16U * twin_tmp::LastDim(srcShape), 2U, 0U, maxValue, minValue);
}

// Activations.
inline uint32_t GetGeluMaxTmpSize(const TensorShape &srcShape, const uint32_t) { return 3U * twin_tmp::Align(twin_tmp::Count(srcShape) * 4U, 256U); }
inline uint32_t GetGeluMinTmpSize(const TensorShape &, const uint32_t) { return 3U * 256U; }
inline void GetGeluMaxMinTmpSize(const TensorShape &srcShape, const uint32_t typeSize, uint32_t &maxValue, uint32_t &minValue) {
    maxValue = GetGeluMaxTmpSize(srcShape, typeSize);
    minValue = GetGeluMinTmpSize(srcShape, typeSize);
}
#define ASCENDOPS_SIZE_WITH_REUSE(NAME, HALF, SINGLE)                                                                           \
    inline void Get##NAME##MaxMinTmpSize(const TensorShape &srcShape, const uint32_t typeSize, const bool isReuseSource,        \
                                         uint32_t &maxValue, uint32_t &minValue) {                                              \
        twin_tmp::Sizes({HALF, SINGLE, SINGLE}, srcShape, typeSize, isReuseSource, maxValue, minValue);                         \
    }                                                                                                                           \
    inline void Get##NAME##TmpBufferFactorSize(const uint32_t typeSize, uint32_t &maxLiveNodeCount, uint32_t &extraBuf) {       \
        maxLiveNodeCount = typeSize == sizeof(float) ? SINGLE : HALF;                                                           \
        extraBuf = 0;                                                                                                           \
    }
ASCENDOPS_SIZE_WITH_REUSE(GeGLU, 4, 0)
ASCENDOPS_SIZE_WITH_REUSE(ReGlu, 6, 0)
ASCENDOPS_SIZE_WITH_REUSE(Clamp, 1, 1)
ASCENDOPS_SIZE_WITH_REUSE(Fmod, 8, 1)
ASCENDOPS_SIZE_WITH_REUSE(Lgamma, 24, 8)
#undef ASCENDOPS_SIZE_WITH_REUSE
inline void GetSiluTmpSize(const TensorShape &srcShape, const uint32_t typeSize, const bool isReuseSource, uint32_t &maxValue,
                           uint32_t &minValue) {
    twin_tmp::Sizes({1, 1, 1}, srcShape, typeSize, isReuseSource, maxValue, minValue);
}
inline void GetSwishTmpSize(const TensorShape &srcShape, const uint32_t typeSize, const bool isReuseSource, uint32_t &maxValue,
                            uint32_t &minValue) {
    twin_tmp::Sizes({1, 1, 1}, srcShape, typeSize, isReuseSource, maxValue, minValue);
}
inline void GetSwiGLUMaxMinTmpSize(const TensorShape &srcShape, const uint32_t typeSize, uint32_t &maxValue, uint32_t &minValue,
                                   const bool isReuseSource) {
    twin_tmp::Sizes({6, 0, 0}, srcShape, typeSize, isReuseSource, maxValue, minValue);
}
inline void GetSwiGLUTmpBufferFactorSize(const uint32_t typeSize, uint32_t &maxLiveNodeCount, uint32_t &extraBuffer) {
    maxLiveNodeCount = typeSize == sizeof(float) ? 0U : 6U;
    extraBuffer = 0;
}
inline bool GetExpMaxMinTmpSize(const TensorShape &srcShape, const uint32_t typeSize, const bool isReuseSource, uint32_t &maxValue,
                                uint32_t &minValue) {
    twin_tmp::Sizes({8, 3, 2}, srcShape, typeSize, isReuseSource, maxValue, minValue);
    return true;
}
inline void GetExpTmpBufferFactorSize(const uint32_t typeSize, uint32_t &maxLiveNodeCount, uint32_t &extraBuffer) {
    maxLiveNodeCount = typeSize == sizeof(float) ? 3U : 8U;
    extraBuffer = 0;
}

// Quantisation.
inline void GetAscendQuantMaxMinTmpSize(const TensorShape &srcShape, const uint32_t typeSize, uint32_t &maxValue, uint32_t &minValue) {
    twin_tmp::Sizes({3, 2, 2}, srcShape, typeSize, false, maxValue, minValue);
}
inline void GetAscendQuantTmpBufferFactorSize(uint32_t &maxLiveNodeCount, uint32_t &extraBuf) {
    maxLiveNodeCount = 3;
    extraBuf = 0;
}
inline void GetAscendDequantMaxMinTmpSize(const TensorShape &srcShape, const uint32_t, uint32_t &maxValue, uint32_t &minValue) {
    twin_tmp::Rows(srcShape, twin_tmp::LastDim(srcShape), 2U, twin_tmp::Align(twin_tmp::LastDim(srcShape) * 4U, 32U), maxValue, minValue);
}
inline void GetAscendDequantTmpBufferFactorSize(const TensorShape &srcShape, uint32_t &maxLiveNodeCount, uint32_t &extraBuf) {
    maxLiveNodeCount = 2;
    extraBuf = twin_tmp::Align(twin_tmp::LastDim(srcShape) * 4U, 32U);
}
inline void GetAscendAntiQuantMaxMinTmpSize(const TensorShape &srcShape, const TensorShape &scaleShape, bool, TensorDataType,
                                            TensorDataType, uint32_t &maxValue, uint32_t &minValue) {
    twin_tmp::Rows(srcShape, twin_tmp::LastDim(srcShape), 2U, twin_tmp::Align(twin_tmp::Count(scaleShape) * 8U, 32U), maxValue, minValue);
}
inline uint32_t GetAscendAntiQuantMaxTmpSize(const TensorShape &srcShape, const TensorShape &scaleShape, bool isTranspose,
                                             TensorDataType inputDataType, TensorDataType outputDataType) {
    uint32_t max = 0, min = 0;
    GetAscendAntiQuantMaxMinTmpSize(srcShape, scaleShape, isTranspose, inputDataType, outputDataType, max, min);
    return max;
}
inline uint32_t GetAscendAntiQuantMinTmpSize(const TensorShape &srcShape, const TensorShape &scaleShape, bool isTranspose,
                                             TensorDataType inputDataType, TensorDataType outputDataType) {
    uint32_t max = 0, min = 0;
    GetAscendAntiQuantMaxMinTmpSize(srcShape, scaleShape, isTranspose, inputDataType, outputDataType, max, min);
    return min;
}

// Filters.
inline void GetDropOutMaxMinTmpSize(const TensorShape &srcShape, const uint32_t typeSize, const bool isReuseSource, uint32_t &maxValue,
                                    uint32_t &minValue) {
    twin_tmp::Sizes({2, 1, 1}, srcShape, typeSize, isReuseSource, maxValue, minValue);
}
inline uint32_t GetDropOutMaxTmpSize(const TensorShape &srcShape, const uint32_t typeSize, const bool isReuseSource) {
    uint32_t max = 0, min = 0;
    GetDropOutMaxMinTmpSize(srcShape, typeSize, isReuseSource, max, min);
    return max;
}
inline uint32_t GetDropOutMinTmpSize(const TensorShape &srcShape, const uint32_t typeSize, const bool isReuseSource) {
    uint32_t max = 0, min = 0;
    GetDropOutMaxMinTmpSize(srcShape, typeSize, isReuseSource, max, min);
    return min;
}
#define ASCENDOPS_SELECT_SIZE(NAME)                                                                                               \
    inline uint32_t Get##NAME##MaxTmpSize(const TensorShape &src0Shape, const TensorShape &src1Shape, const uint32_t srcTypeSize, \
                                          const TensorShape &, const uint32_t, const bool) {                                      \
        const uint32_t a = twin_tmp::Count(src0Shape), b = twin_tmp::Count(src1Shape);                                            \
        return twin_tmp::Align((a > b ? a : b) * (srcTypeSize + 2U), 256U) + 256U;                                                \
    }                                                                                                                             \
    inline uint32_t Get##NAME##MinTmpSize(const TensorShape &, const TensorShape &, const uint32_t srcTypeSize,                   \
                                          const TensorShape &maskShape, const uint32_t, const bool) {                             \
        return twin_tmp::Align(twin_tmp::LastDim(maskShape) * (srcTypeSize + 2U), 256U) + 256U;                                   \
    }                                                                                                                             \
    inline void Get##NAME##MaxMinTmpSize(const TensorShape &src0Shape, const TensorShape &src1Shape, const uint32_t srcTypeSize,  \
                                         const TensorShape &maskShape, const uint32_t maskTypeSize, const bool isReuseMask,       \
                                         uint32_t &maxValue, uint32_t &minValue) {                                                \
        minValue = Get##NAME##MinTmpSize(src0Shape, src1Shape, srcTypeSize, maskShape, maskTypeSize, isReuseMask);                \
        maxValue = Get##NAME##MaxTmpSize(src0Shape, src1Shape, srcTypeSize, maskShape, maskTypeSize, isReuseMask);                \
        maxValue = maxValue > minValue ? maxValue : minValue;                                                                     \
    }
ASCENDOPS_SELECT_SIZE(Select)
ASCENDOPS_SELECT_SIZE(SelectWithBytesMask)
#undef ASCENDOPS_SELECT_SIZE

// Index ranges, broadcasting.
inline void GetArangeMaxMinTmpSize(uint32_t &maxValue, uint32_t &minValue) { maxValue = minValue = 0; }
inline void GetArithProgressionMaxMinTmpSize(uint32_t &maxValue, uint32_t &minValue) { maxValue = minValue = 0; }
inline void GetBroadCastMaxMinTmpSize(const platform_ascendc::PlatformAscendC &, const TensorShape &srcShape, const TensorShape &dstShape,
                                      uint32_t typeSize, const bool, uint32_t &maxValue, uint32_t &minValue) {
    minValue = twin_tmp::Align(twin_tmp::Count(srcShape) * 32U, 256U);
    maxValue = minValue + twin_tmp::Align(twin_tmp::Count(dstShape) * (typeSize == 1U ? 2U : 0U), 256U);
}
}  // namespace AscendC
