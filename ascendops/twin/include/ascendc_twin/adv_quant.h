// Quantisation: AscendQuant, AscendDequant, AscendAntiQuant, CastDequant.
#pragma once

#include "ascendc_twin/adv_engine.h"
#include "ascendc_twin/vec_cast.h"
#include "ascendc_twin/vec_mask.h"

namespace AscendC {

struct AscendQuantConfig {
    constexpr AscendQuantConfig(const uint32_t calcCountIn, const uint32_t offsetCountIn, const uint32_t scaleCountIn,
                                const uint32_t workLocalSizeIn)
        : calcCount(calcCountIn), offsetCount(offsetCountIn), scaleCount(scaleCountIn), workLocalSize(workLocalSizeIn) {}
    uint32_t calcCount = 0;
    uint32_t offsetCount = 0;
    uint32_t scaleCount = 0;
    uint32_t workLocalSize = 0;
};
constexpr AscendQuantConfig ASCEND_QUANT_DEFAULT_CFG = {0, 0, 0, 0};

enum class DeQuantMode { DEQUANT_WITH_SINGLE_ROW = 0, DEQUANT_WITH_MULTI_ROW };

struct DequantParams {
    uint32_t m;
    uint32_t n;
    uint32_t calCount;
};

struct AntiQuantShapeInfo {
    uint32_t offsetHeight{0};
    uint32_t offsetWidth{0};
    uint32_t scaleHeight{0};
    uint32_t scaleWidth{0};
};

struct VdeqInfo {
    VdeqInfo() = default;
    VdeqInfo(const float scales[VDEQ_TENSOR_SIZE], const int16_t offsets[VDEQ_TENSOR_SIZE], const bool signs[VDEQ_TENSOR_SIZE]) {
        for (uint32_t i = 0; i < VDEQ_TENSOR_SIZE; ++i) {
            vdeqScale[i] = scales[i];
            vdeqOffset[i] = offsets[i];
            vdeqSignMode[i] = signs[i];
        }
    }

    float vdeqScale[VDEQ_TENSOR_SIZE] = {0};
    int16_t vdeqOffset[VDEQ_TENSOR_SIZE] = {0};
    bool vdeqSignMode[VDEQ_TENSOR_SIZE] = {false};
};

TWIN_API void SetDeqScale(float scale, int16_t offset, bool signMode) { ascendc_twin::core().deq[0] = {scale, offset, signMode}; }
template <typename T>
TWIN_API void SetDeqScale(const LocalTensor<T> &, const VdeqInfo &vdeqInfo) {
    for (uint32_t i = 0; i < VDEQ_TENSOR_SIZE; ++i) {
        ascendc_twin::core().deq[i] = {vdeqInfo.vdeqScale[i], vdeqInfo.vdeqOffset[i], vdeqInfo.vdeqSignMode[i]};
    }
}

// int16 to 8 bits, or int32 to half, with what SetDeqScale set.
template <typename T, typename U, bool isVecDeq = true, bool halfBlock = true>
TWIN_API void CastDequant(const LocalTensor<T> &dst, const LocalTensor<U> &src, const uint32_t count) {
    if constexpr (std::is_same_v<PrimT<U>, int32_t>) {
        TWIN_REQUIRE_TYPE("CastDequant", T, half);
        Cast(dst, src, RoundMode::CAST_NONE, count);
    } else {
        TWIN_REQUIRE_TYPE("CastDequant", T, int8_t, uint8_t);
        TWIN_REQUIRE_TYPE("CastDequant", U, int16_t);
        ascendc_twin::Inst inst("CastDequant", ascendc_twin::PipeId::V);
        ascendc_twin::vec_cast_dequant(inst, dst.span(), src.span(), isVecDeq, halfBlock ? 1 : 0, count);
    }
}
// The name of CANN 8.
template <typename T1, typename T2, bool isVecDeq = true, bool halfBlock = true>
TWIN_API void CastDeq(const LocalTensor<T1> &dst, const LocalTensor<T2> &src, const uint32_t calCount) {
    CastDequant<T1, T2, isVecDeq, halfBlock>(dst, src, calCount);
}

namespace twin_detail {
TWIN_API ascendc_twin::QuantValue quant_scalar(float value) {
    ascendc_twin::QuantValue result;
    result.scalar = value;
    return result;
}
template <typename T>
TWIN_API ascendc_twin::QuantValue quant_tensor(const LocalTensor<T> &values, uint32_t count) {
    ascendc_twin::QuantValue result;
    result.tensor = values.span();
    result.period = count != 0 ? count : 1;
    return result;
}
template <typename T>
TWIN_API void quant(const LocalTensor<int8_t> &dst, const LocalTensor<T> &src, const ascendc_twin::QuantValue &scale,
                    const ascendc_twin::QuantValue &offset, uint32_t count) {
    TWIN_REQUIRE_TYPE("AscendQuant", T, half, float);
    ascendc_twin::Inst inst("AscendQuant", ascendc_twin::PipeId::V);
    ascendc_twin::vec_quant(inst, dst.span(), src.span(), scale, offset, count);
}
}  // namespace twin_detail

// The four forms (with and without a temporary buffer, with and without counts) of each combination of scale and offset.
#define TWIN_QUANT_HEAD template <typename T, bool isReuseSource = false, const AscendQuantConfig &config = ASCEND_QUANT_DEFAULT_CFG>
#define TWIN_QUANT(API, SCALE, OFFSET, COUNTS, SCALE_VALUE, OFFSET_VALUE, SCALE_ALL, OFFSET_ALL)                                 \
    TWIN_QUANT_HEAD TWIN_API void API(const LocalTensor<int8_t> &dstTensor, const LocalTensor<T> &srcTensor,        \
                                              SCALE, OFFSET, COUNTS const uint32_t calCount) {                              \
        twin_detail::quant(dstTensor, srcTensor, SCALE_VALUE, OFFSET_VALUE, calCount);                                      \
    }                                                                                                                       \
    TWIN_QUANT_HEAD TWIN_API void API(const LocalTensor<int8_t> &dstTensor, const LocalTensor<T> &srcTensor,        \
                                              const LocalTensor<uint8_t> &, SCALE, OFFSET, COUNTS const uint32_t calCount) { \
        twin_detail::quant(dstTensor, srcTensor, SCALE_VALUE, OFFSET_VALUE, calCount);                                      \
    }                                                                                                                       \
    TWIN_QUANT_HEAD TWIN_API void API(const LocalTensor<int8_t> &dstTensor, const LocalTensor<T> &srcTensor,        \
                                              SCALE, OFFSET) {                                                              \
        twin_detail::quant(dstTensor, srcTensor, SCALE_ALL, OFFSET_ALL, srcTensor.GetSize());                               \
    }                                                                                                                       \
    TWIN_QUANT_HEAD TWIN_API void API(const LocalTensor<int8_t> &dstTensor, const LocalTensor<T> &srcTensor,        \
                                              const LocalTensor<uint8_t> &, SCALE, OFFSET) {                                \
        twin_detail::quant(dstTensor, srcTensor, SCALE_ALL, OFFSET_ALL, srcTensor.GetSize());                               \
    }
#define TWIN_NO_COUNT
#define TWIN_SCALE_COUNT const uint32_t scaleCount,
#define TWIN_BOTH_COUNTS const uint32_t scaleCount, const uint32_t offsetCount,

TWIN_QUANT(AscendQuant, const float scale, const float offset, TWIN_NO_COUNT, twin_detail::quant_scalar(scale), twin_detail::quant_scalar(offset),
           twin_detail::quant_scalar(scale), twin_detail::quant_scalar(offset))
TWIN_QUANT(AscendQuant, const LocalTensor<T> &scaleTensor, const T offset, TWIN_SCALE_COUNT, twin_detail::quant_tensor(scaleTensor, scaleCount),
           twin_detail::quant_scalar(static_cast<float>(offset)), twin_detail::quant_tensor(scaleTensor, scaleTensor.GetSize()),
           twin_detail::quant_scalar(static_cast<float>(offset)))
TWIN_QUANT(AscendQuant, const LocalTensor<T> &scaleTensor, const LocalTensor<T> &offsetTensor, TWIN_BOTH_COUNTS,
           twin_detail::quant_tensor(scaleTensor, scaleCount), twin_detail::quant_tensor(offsetTensor, offsetCount),
           twin_detail::quant_tensor(scaleTensor, scaleTensor.GetSize()),
           twin_detail::quant_tensor(offsetTensor, offsetTensor.GetSize()))
#undef TWIN_QUANT
#undef TWIN_QUANT_HEAD
#undef TWIN_NO_COUNT
#undef TWIN_SCALE_COUNT
#undef TWIN_BOTH_COUNTS

namespace twin_detail {
template <typename D, DeQuantMode mode>
TWIN_API void dequant(const LocalTensor<D> &dst, const LocalTensor<int32_t> &src, const ascendc_twin::QuantValue &scale, DequantParams p) {
    TWIN_REQUIRE_TYPE("AscendDequant", D, half, bfloat16_t, float);
    constexpr uint32_t block = ONE_BLK_SIZE / sizeof(D);
    if (mode == DeQuantMode::DEQUANT_WITH_SINGLE_ROW && p.m == 1 && p.calCount != 0 && p.calCount % block == 0 && p.n % p.calCount == 0) {
        p = {p.n / p.calCount, p.calCount, p.calCount};
    }
    ascendc_twin::Inst inst("AscendDequant", ascendc_twin::PipeId::V);
    ascendc_twin::vec_dequant(inst, dst.span(), src.span(), scale, p.m, p.n, (p.n + block - 1) / block * block, p.calCount);
}
}  // namespace twin_detail

template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
TWIN_API void AscendDequant(const LocalTensor<dstT> &dstTensor, const LocalTensor<int32_t> &srcTensor, const LocalTensor<scaleT> &deqScale,
                            DequantParams params) {
    TWIN_REQUIRE_TYPE("AscendDequant", scaleT, uint64_t, float, bfloat16_t);
    twin_detail::dequant<dstT, mode>(dstTensor, srcTensor, twin_detail::quant_tensor(deqScale, params.calCount), params);
}
template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
TWIN_API void AscendDequant(const LocalTensor<dstT> &dstTensor, const LocalTensor<int32_t> &srcTensor, const LocalTensor<scaleT> &deqScale,
                            const LocalTensor<uint8_t> &, DequantParams params) {
    AscendDequant<dstT, scaleT, mode>(dstTensor, srcTensor, deqScale, params);
}
// One row as long as srcTensor, of which the first calCount (or as many as there are scales) repeat.
template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
TWIN_API void AscendDequant(const LocalTensor<dstT> &dstTensor, const LocalTensor<int32_t> &srcTensor, const LocalTensor<scaleT> &deqScale,
                            const uint32_t calCount) {
    AscendDequant<dstT, scaleT, mode>(dstTensor, srcTensor, deqScale, DequantParams{1, srcTensor.GetSize(), calCount});
}
template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
TWIN_API void AscendDequant(const LocalTensor<dstT> &dstTensor, const LocalTensor<int32_t> &srcTensor, const LocalTensor<scaleT> &deqScale,
                            const LocalTensor<uint8_t> &, const uint32_t calCount) {
    AscendDequant<dstT, scaleT, mode>(dstTensor, srcTensor, deqScale, calCount);
}
template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
TWIN_API void AscendDequant(const LocalTensor<dstT> &dstTensor, const LocalTensor<int32_t> &srcTensor, const LocalTensor<scaleT> &deqScale) {
    AscendDequant<dstT, scaleT, mode>(dstTensor, srcTensor, deqScale, deqScale.GetSize());
}
template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
TWIN_API void AscendDequant(const LocalTensor<dstT> &dstTensor, const LocalTensor<int32_t> &srcTensor, const LocalTensor<scaleT> &deqScale,
                            const LocalTensor<uint8_t> &) {
    AscendDequant<dstT, scaleT, mode>(dstTensor, srcTensor, deqScale, deqScale.GetSize());
}
template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
TWIN_API void AscendDequant(const LocalTensor<dstT> &dstTensor, const LocalTensor<int32_t> &srcTensor, const scaleT deqScale,
                            DequantParams params) {
    TWIN_REQUIRE_TYPE("AscendDequant", scaleT, float, bfloat16_t);
    twin_detail::dequant<dstT, mode>(dstTensor, srcTensor, twin_detail::quant_scalar(static_cast<float>(deqScale)), params);
}
template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
TWIN_API void AscendDequant(const LocalTensor<dstT> &dstTensor, const LocalTensor<int32_t> &srcTensor, const scaleT deqScale,
                            const LocalTensor<uint8_t> &, DequantParams params) {
    AscendDequant<dstT, scaleT, mode>(dstTensor, srcTensor, deqScale, params);
}

}  // namespace AscendC
