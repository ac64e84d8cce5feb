// Temporary buffers and tiling data of the normalisations.
//
// The buffers hold floats: two statistics per row, and 2 or 3 copies of as many whole rows as fit. The tiling data describe
// the rounds in which a function works through its input with a given buffer.
#pragma once

#include "tiling/api_structs.h"
#include "tiling/tmp_size.h"

namespace AscendC {
namespace twin_tmp {
// How an input of `rows` rows is worked through: whole rows per round, and what is left for the last one.
struct Rounds {
    uint32_t buffer_floats, one, first, loop, round, tail, tail_at, round_rows, tail_rows, tail_row_at;
};
inline Rounds RoundsOf(uint32_t bytes, uint32_t fixed_floats, uint32_t buffers, uint32_t rows, uint32_t width) {
    Rounds r = {};
    r.buffer_floats = bytes / 4U;
    const uint32_t room = r.buffer_floats > fixed_floats ? (r.buffer_floats - fixed_floats) / buffers : 0U;
    const uint32_t fit = width == 0U ? 0U : room / width;
    r.round_rows = fit < rows ? fit : rows;
    r.one = room / 8U * 8U;
    r.first = fixed_floats;
    r.round = r.round_rows * width;
    r.loop = r.round_rows == 0U ? 0U : rows / r.round_rows;
    r.tail_rows = r.round_rows == 0U ? 0U : rows % r.round_rows;
    r.tail = r.tail_rows * width;
    r.tail_at = r.loop * r.round;
    r.tail_row_at = r.loop * r.round_rows;
    return r;
}
// The fields that the tilings of LayerNorm, DeepNorm and GroupNorm share.
template <typename T>
inline void FillRounds(T &t, uint32_t bytes, uint32_t buffers, uint32_t rows, uint32_t width) {
    const uint32_t stats = Align(rows, 8U);
    const Rounds r = RoundsOf(bytes, 2U * stats, buffers, rows, width);
    t.inputXSize = rows * width;
    t.meanVarSize = rows;
    t.numberOfTmpBuf = buffers;
    t.meanTmpTensorSize = t.varianceTmpTensorPos = t.varianceTmpTensorSize = stats;
    t.tmpBufSize = r.buffer_floats;
    t.oneTmpSize = r.one;
    t.firstTmpStartPos = r.first;
    t.secondTmpStartPos = r.first + r.one;
    t.thirdTmpStartPos = r.first + 2U * r.one;
    t.loopRound = r.loop;
    t.inputRoundSize = t.bshCurLength = r.round;
    t.inputTailSize = r.tail;
    t.inputTailPos = r.tail_at;
    t.meanVarRoundSize = t.bsCurLength = r.round_rows;
    t.meanVarTailSize = r.tail_rows;
    t.meanVarTailPos = r.tail_row_at;
}
inline uint32_t NormBuffers(bool reuse) { return reuse ? 2U : 3U; }
inline uint32_t RowsOf(const TensorShape &shape) { return Dim(shape, 0) * Dim(shape, 1); }
inline float Inverse(uint32_t n) { return n == 0U ? 0.0F : 1.0F / static_cast<float>(n); }
}  // namespace twin_tmp

// LayerNorm of [B, S, H, original H].
inline void GetLayerNormMaxMinTmpSize(const TensorShape &srcShape, const uint32_t, const bool isReuseSource, uint32_t &maxValue,
                                      uint32_t &minValue) {
    const uint32_t rows = twin_tmp::RowsOf(srcShape), width = twin_tmp::Dim(srcShape, 2);
    twin_tmp::Rows(TensorShape({rows, width}), width, twin_tmp::NormBuffers(isReuseSource), 8U * twin_tmp::Align(rows, 8U), maxValue,
                   minValue);
}
template <typename Tiling>
inline void GetLayerNormNDTilingInfo(const TensorShape &srcShape, const uint32_t stackBufferSize, const uint32_t,
                                     const bool isReuseSource, Tiling &tiling) {
    AscendC::tiling::LayerNormTiling t;
    t.bLength = twin_tmp::Dim(srcShape, 0);
    t.sLength = twin_tmp::Dim(srcShape, 1);
    t.hLength = twin_tmp::Dim(srcShape, 2);
    t.originalHLength = srcShape.GetDimNum() > 3 ? twin_tmp::Dim(srcShape, 3) : t.hLength;
    t.lastDimValueBack = twin_tmp::Inverse(t.originalHLength);
    twin_tmp::FillRounds(t, stackBufferSize, twin_tmp::NormBuffers(isReuseSource), t.bLength * t.sLength, t.hLength);
    ascendops::Give(t, tiling);
}
template <typename Tiling>
inline void GetLayerNormNDTillingInfo(const TensorShape &srcShape, const uint32_t stackBufferSize, const uint32_t typeSize,
                                      const bool isReuseSource, Tiling &tilling) {
    GetLayerNormNDTilingInfo(srcShape, stackBufferSize, typeSize, isReuseSource, tilling);
}

// LayerNorm of [A, R].
inline void GetLayerNormMaxMinTmpSize(const TensorShape &srcShape, const uint32_t, const bool isReuseSource, const bool, const bool,
                                      uint32_t &maxValue, uint32_t &minValue) {
    const uint32_t rows = twin_tmp::Dim(srcShape, 0), width = twin_tmp::Align(twin_tmp::Dim(srcShape, 1), 16U);
    twin_tmp::Rows(TensorShape({rows, width}), width, twin_tmp::NormBuffers(isReuseSource), 4U * twin_tmp::Align(rows, 8U), maxValue,
                   minValue);
}
template <typename Tiling>
inline void GetLayerNormNDTilingInfo(const TensorShape &srcShape, const uint32_t stackBufferSize, const uint32_t,
                                     const bool isReuseSource, const bool, Tiling &tiling) {
    AscendC::tiling::LayerNormSeparateTiling t;
    t.aLength = twin_tmp::Dim(srcShape, 0);
    t.rLength = twin_tmp::Dim(srcShape, 1);
    for (t.rHeadLength = 1; t.rHeadLength * 2U <= t.rLength; t.rHeadLength *= 2U) {
    }
    for (uint32_t n = t.rHeadLength; n > 64U; n /= 2U) {
        ++t.halfAddRepeatTimes;
    }
    const uint32_t buffers = twin_tmp::NormBuffers(isReuseSource), stats = twin_tmp::Align(t.aLength, 8U);
    const uint32_t width = twin_tmp::Align(t.rLength, 16U);
    const twin_tmp::Rounds r = twin_tmp::RoundsOf(stackBufferSize, stats, buffers, t.aLength, width);
    t.k2Rec = twin_tmp::Inverse(t.rHeadLength);
    t.k2RRec = t.rLength == 0U ? 0.0F : static_cast<float>(t.rHeadLength) / static_cast<float>(t.rLength);
    t.rValueBack = twin_tmp::Inverse(t.rLength);
    t.inputXSize = t.aLength * width;
    t.meanVarSize = t.aLength;
    t.numberOfTmpBuf = buffers;
    t.varianceTmpTensorSize = stats;
    t.tmpBufSize = r.buffer_floats;
    t.oneTmpSize = r.one;
    t.firstTmpStartPos = r.first;
    t.secondTmpStartPos = r.first + r.one;
    t.thirdTmpStartPos = r.first + 2U * r.one;
    t.loopRound = r.loop;
    t.inputRoundSize = t.arCurLength = r.round;
    t.inputTailSize = r.tail;
    t.inputTailPos = r.tail_at;
    t.meanVarRoundSize = t.aCurLength = r.round_rows;
    t.meanVarTailSize = r.tail_rows;
    t.meanVarTailPos = r.tail_row_at;
    ascendops::Give(t, tiling);
}
inline void GetNormalizeMaxMinTmpSize(const TensorShape &srcShape, const uint32_t, const uint32_t, const bool isReuseSource, const bool,
                                      const bool, uint32_t &maxValue, uint32_t &minValue) {
    GetLayerNormMaxMinTmpSize(srcShape, 4U, isReuseSource, true, false, maxValue, minValue);
}

inline bool GetRmsNormMaxMinTmpSize(const TensorShape &srcShape, const uint32_t, uint32_t &maxValue, uint32_t &minValue,
                                    const bool = false) {
    twin_tmp::Rows(srcShape, twin_tmp::LastDim(srcShape), 2U, 4U * twin_tmp::Align(twin_tmp::RowsOf(srcShape), 8U), maxValue, minValue);
    return twin_tmp::Count(srcShape) != 0U;
}
template <typename Tiling>
inline bool GetRmsNormTilingInfo(const TensorShape &srcShape, const TensorShape &originSrcShape, const uint32_t stackBufferByteSize,
                                 const uint32_t, Tiling &tiling, const bool = false) {
    AscendC::tiling::RmsNormTiling t;
    t.bLength = twin_tmp::Dim(srcShape, 0);
    t.sLength = twin_tmp::Dim(srcShape, 1);
    t.hLength = twin_tmp::Dim(srcShape, 2);
    t.originalHLength = twin_tmp::Dim(originSrcShape, 2);
    t.reciprocalOfHLength = twin_tmp::Inverse(t.originalHLength);
    const uint32_t rows = t.bLength * t.sLength;
    const twin_tmp::Rounds r = twin_tmp::RoundsOf(stackBufferByteSize, twin_tmp::Align(rows, 8U), 2U, rows, t.hLength);
    t.mainBshLength = r.round;
    t.mainBsLength = r.round_rows;
    t.mainBsLengthAlign = twin_tmp::Align(r.round_rows, 8U);
    t.loopRound = r.loop;
    t.inputTailPos = r.tail_at;
    t.tailBshLength = r.tail;
    t.tailBsLength = r.tail_rows;
    ascendops::Give(t, tiling);
    return r.round_rows != 0U;
}

inline bool GetDeepNormMaxMinTmpSize(const TensorShape &srcShape, const uint32_t typeSize, const bool isReuseSource, const bool,
                                     uint32_t &maxValue, uint32_t &minValue) {
    GetLayerNormMaxMinTmpSize(srcShape, typeSize, isReuseSource, maxValue, minValue);
    return twin_tmp::RowsOf(srcShape) != 0U;
}
template <typename Tiling>
inline bool GetDeepNormTilingInfo(const TensorShape &srcShape, const TensorShape &originSrcShape, const uint32_t stackBufferSize,
                                  const uint32_t, const bool isReuseSource, const bool, Tiling &tiling) {
    AscendC::tiling::DeepNormTiling t;
    t.bLength = twin_tmp::Dim(srcShape, 0);
    t.sLength = twin_tmp::Dim(srcShape, 1);
    t.hLength = twin_tmp::Dim(srcShape, 2);
    t.originalHLength = twin_tmp::Dim(originSrcShape, 2);
    t.lastDimValueBack = twin_tmp::Inverse(t.originalHLength);
    twin_tmp::FillRounds(t, stackBufferSize, twin_tmp::NormBuffers(isReuseSource), t.bLength * t.sLength, t.hLength);
    ascendops::Give(t, tiling);
    return t.meanVarRoundSize != 0U;
}
}  // namespace AscendC
