// Temporary buffers and tiling data of GroupNorm, BatchNorm, the gradients of LayerNorm and Welford's statistics.
#pragma once

#include <cstring>

#include "tiling/api_norm.h"

namespace AscendC {
// [N, C, H, W] in groups of channels; a channel is padded to whole blocks.
inline void GetGroupNormMaxMinTmpSize(const TensorShape &srcShape, const uint32_t typeSize, const bool isReuseSource,
                                      const uint32_t groupNum, uint32_t &maxValue, uint32_t &minValue) {
    const uint32_t rows = twin_tmp::Dim(srcShape, 0) * groupNum;
    const uint32_t hw = twin_tmp::Align(twin_tmp::Dim(srcShape, 2) * twin_tmp::Dim(srcShape, 3), 32U / typeSize);
    const uint32_t width = groupNum == 0U ? 0U : twin_tmp::Dim(srcShape, 1) / groupNum * hw;
    twin_tmp::Rows(TensorShape({rows, width}), width, twin_tmp::NormBuffers(isReuseSource), 8U * twin_tmp::Align(rows, 8U), maxValue,
                   minValue);
}
template <typename Tiling>
inline void GetGroupNormNDTilingInfo(const TensorShape &srcShape, const uint32_t stackBufferSize, const uint32_t typeSize,
                                     const bool isReuseSource, const uint32_t groupNum, Tiling &tiling) {
    AscendC::tiling::GroupNormTiling t;
    t.n = twin_tmp::Dim(srcShape, 0);
    t.c = twin_tmp::Dim(srcShape, 1);
    t.hw = twin_tmp::Dim(srcShape, 2) * twin_tmp::Dim(srcShape, 3);
    t.g = groupNum;
    t.d = groupNum == 0U ? 0U : t.c / groupNum;
    t.hwAlignSize = twin_tmp::Align(t.hw, 32U / typeSize);
    t.dhwAlignSize = t.d * t.hwAlignSize;
    t.factor = twin_tmp::Inverse(t.d * t.hw);
    twin_tmp::FillRounds(t, stackBufferSize, twin_tmp::NormBuffers(isReuseSource), t.n * t.g, t.dhwAlignSize);
    t.smallShape = t.inputRoundSize == t.inputXSize;
    ascendops::Give(t, tiling);
}

// [B, S, H] over B: 2 buffers of B columns, and the statistics.
inline bool GetBatchNormMaxMinTmpSize(const TensorShape &srcShape, const TensorShape &, const uint32_t, const bool, uint32_t &maxValue,
                                      uint32_t &minValue, const bool = false) {
    const uint32_t columns = twin_tmp::Dim(srcShape, 1) * twin_tmp::Dim(srcShape, 2);
    twin_tmp::Rows(srcShape, twin_tmp::Dim(srcShape, 0) * 16U, 3U, 8U * twin_tmp::Align(columns, 8U), maxValue, minValue);
    return columns != 0U;
}
template <typename Tiling>
inline bool GetBatchNormNDTilingInfo(const TensorShape &srcShape, const TensorShape &originSrcShape, const uint32_t stackBufferByteSize,
                                     const uint32_t, const bool, Tiling &tilling, const bool = false) {
    AscendC::tiling::BatchNormTiling t;
    t.originalBLength = twin_tmp::Dim(originSrcShape, 0);
    t.meanVarSize = twin_tmp::Dim(srcShape, 1) * twin_tmp::Dim(srcShape, 2);
    const uint32_t stats = twin_tmp::Align(t.meanVarSize, 8U);
    t.varianceTmpTensorPos = stats;
    const twin_tmp::Rounds r = twin_tmp::RoundsOf(stackBufferByteSize, 2U * stats, 3U, t.meanVarSize, twin_tmp::Dim(srcShape, 0));
    t.tmpBufSize = r.buffer_floats;
    t.oneTmpSize = r.one;
    t.firstTmpStartPos = r.first;
    t.secondTmpStartPos = r.first + r.one;
    t.thirdTmpStartPos = r.first + 2U * r.one;
    t.loopRound = r.loop;
    t.inputTailSize = r.tail;
    t.inputTailPos = t.meanVarTailPos = r.tail_row_at;
    t.meanVarTailSize = r.tail_rows;
    t.bshCurLength = r.round;
    t.shCurLength = r.round_rows;
    t.firstDimValueBack = twin_tmp::Inverse(t.originalBLength);
    t.castHalfRepStride = t.castHalfOutRepStride = t.meanVarSize / 16U;
    t.shCurLengthBlockNum = twin_tmp::Align(r.round_rows, 8U) / 8U;
    ascendops::Give(t, tilling);
    return r.round_rows != 0U;
}

// Gradients of [B, S, H, original H]: 9 and 2 (half: 4) buffers of rows.
inline void GetLayerNormGradMaxMinTmpSize(const TensorShape &srcShape, const uint32_t, const bool isReuseSource, uint32_t &maxValue,
                                          uint32_t &minValue) {
    const uint32_t rows = twin_tmp::RowsOf(srcShape), width = twin_tmp::Dim(srcShape, 2);
    twin_tmp::Rows(TensorShape({rows, width}), width, isReuseSource ? 8U : 9U, 8U * twin_tmp::Align(rows, 8U), maxValue, minValue);
}
template <typename Tiling>
inline void GetLayerNormGradNDTilingInfo(const TensorShape srcShape, const uint32_t stackBufferSize, const uint32_t, const bool isReuseSource,
                                         Tiling &tiling) {
    AscendC::tiling::LayerNormGradTiling t;
    t.stackBufferSize = stackBufferSize / 4U;
    t.bLength = twin_tmp::Dim(srcShape, 0);
    t.sLength = twin_tmp::Dim(srcShape, 1);
    t.hLength = twin_tmp::Dim(srcShape, 2);
    t.originalHLength = srcShape.GetDimNum() > 3 ? twin_tmp::Dim(srcShape, 3) : t.hLength;
    const uint32_t rows = t.bLength * t.sLength, stats = twin_tmp::Align(rows, 8U), buffers = isReuseSource ? 8U : 9U;
    const twin_tmp::Rounds r = twin_tmp::RoundsOf(stackBufferSize, 2U * stats, buffers, rows, t.hLength);
    t.oneCalSize = r.round;
    t.nohCalSize = r.round_rows;
    t.loopNum = r.loop;
    t.tailSize = r.tail;
    t.nohTailSize = r.tail_rows;
    t.tmpTensorBSHPos = t.pdVarTensorPos = 0;
    t.pdVarTensorSize = t.pdMeanTensorPos = t.pdMeanTensorSize = stats;
    t.x1TensorPos = 2U * stats;
    t.x1TensorSize = t.x2TensorSize = t.x3TensorSize = t.tmpTensorSize = t.tmpTensor1Size = t.tmpTensor2Size = t.tmpTensorBSHSize = r.one;
    t.x2TensorPos = t.x1TensorPos + r.one;
    t.x3TensorPos = t.x2TensorPos + r.one;
    t.tmpTensorPos = t.x3TensorPos + r.one;
    t.tmpTensor1Pos = t.tmpTensorPos + r.one;
    t.tmpTensor2Pos = t.tmpTensor1Pos + r.one;
    const float back = twin_tmp::Inverse(t.originalHLength), twice = 2.0F * back;
    std::memcpy(&t.lastDimValueBack, &back, sizeof back);  // the fields hold the bits of floats
    std::memcpy(&t.lastDimValueBackMulTwo, &twice, sizeof twice);
    ascendops::Give(t, tiling);
}
inline void GetLayerNormGradBetaMaxMinTmpSize(const TensorShape &srcShape, const uint32_t typeSize, const bool, uint32_t &maxValue,
                                              uint32_t &minValue) {
    const uint32_t rows = twin_tmp::RowsOf(srcShape), width = twin_tmp::Dim(srcShape, 2);
    twin_tmp::Rows(TensorShape({rows, width}), width, typeSize == 4U ? 2U : 4U, 8U * width, maxValue, minValue);
}
template <typename Tiling>
inline void GetLayerNormGradBetaNDTilingInfo(const TensorShape srcShape, const uint32_t stackBufferSize, const uint32_t typeSize, const bool,
                                             Tiling &tiling) {
    AscendC::tiling::LayerNormGradBetaTiling t;
    t.stackBufferSize = stackBufferSize / 4U;
    t.bLength = twin_tmp::Dim(srcShape, 0);
    t.sLength = twin_tmp::Dim(srcShape, 1);
    t.hLength = twin_tmp::Dim(srcShape, 2);
    t.originalHLength = srcShape.GetDimNum() > 3 ? twin_tmp::Dim(srcShape, 3) : t.hLength;
    t.bsLength = t.bLength * t.sLength;
    t.bshLength = t.bsLength * t.hLength;
    t.numberOfTmpBuf = typeSize == 4U ? 2U : 4U;
    const twin_tmp::Rounds r = twin_tmp::RoundsOf(stackBufferSize, 2U * t.hLength, t.numberOfTmpBuf, t.bsLength, t.hLength);
    t.oneCalSize = t.bshCurLength = r.round;
    t.bsCurLength = r.round_rows;
    t.loopRound = r.loop;
    t.inputTailSize = r.tail;
    t.inputTailPos = r.tail_at;
    t.bsTailSize = r.tail_rows;
    t.betaTempTensorPos = t.hLength;
    t.inputDyTmpTensorPos = 2U * t.hLength;
    t.resForGammaTmpTensorPos = t.inputDyTmpTensorPos + r.one;
    ascendops::Give(t, tiling);
}

inline void GetWelfordUpdateMaxMinTmpSize(const TensorShape &srcShape, const uint32_t, const uint32_t, const bool isReuseSource, const bool,
                                          uint32_t &maxValue, uint32_t &minValue) {
    twin_tmp::Rows(srcShape, 64U, isReuseSource ? 2U : 3U, 0U, maxValue, minValue);
}
inline void GetWelfordFinalizeMaxMinTmpSize(const TensorShape &srcShape, const uint32_t, const bool, uint32_t &maxValue,
                                            uint32_t &minValue) {
    twin_tmp::Rows(srcShape, 64U, 2U, 256U, maxValue, minValue);
}
}  // namespace AscendC
