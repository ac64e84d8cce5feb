// Reductions of one axis of a matrix (Pattern::Reduce::AR, RA), ReduceXorSum and CumSum.
#pragma once

#include "ascendc_twin/adv_engine.h"
#include "ascendc_twin/vec_reduce.h"

namespace AscendC {

// A: the axis that is kept, R: the one that is reduced.
namespace Pattern {
namespace Reduce {
struct AR {};
struct RA {};
}  // namespace Reduce
}  // namespace Pattern

enum class CumSumAlgorithm { CUMSUM_ALGORITHM_LINEBYLINE = 0, CUMSUM_ALGORITHM_SKLANSKY = 1 };
struct CumSumConfig {
    bool isLastAxis{true};
    bool isReuseSource{false};
    bool outputLastRow{false};
    CumSumAlgorithm algorithm{CumSumAlgorithm::CUMSUM_ALGORITHM_LINEBYLINE};
};
constexpr CumSumConfig defaultCumSumConfig = {true, false, false, CumSumAlgorithm::CUMSUM_ALGORITHM_LINEBYLINE};

struct CumSumInfo {
    uint32_t outter{0};
    uint32_t inner{0};
};

namespace twin_detail {
// The rows are padded to whole blocks.
template <typename T, typename Axes>
TWIN_API void fold_axis(const char *api, ascendc_twin::Fold fold, const LocalTensor<T> &dst, const LocalTensor<T> &src,
                        const uint32_t shape[], bool padded) {
    static_assert(ascendc_twin::one_of<Axes, Pattern::Reduce::AR, Pattern::Reduce::RA>, "the patterns of matrices are AR and RA");
    constexpr uint32_t block = ONE_BLK_SIZE / sizeof(T);
    ascendc_twin::Inst inst(api, ascendc_twin::PipeId::V);
    const uint32_t stride = padded ? (shape[1] + block - 1) / block * block : shape[1];
    ascendc_twin::vec_fold(inst, fold, dst.span(), src.span(), shape[0], shape[1], stride, std::is_same_v<Axes, Pattern::Reduce::AR>);
}
}  // namespace twin_detail

#define TWIN_REDUCE_AXIS(API, FOLD, ...)                                                                                   \
    template <class T, class pattern, bool isReuseSource = false>                                                          \
    TWIN_API void API(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const uint32_t srcShape[],         \
                      bool srcInnerPad) {                                                                                  \
        TWIN_NOT_ON_310P(#API " of an axis", T);                                                                           \
        TWIN_REQUIRE_TYPE(#API, T, __VA_ARGS__);                                                                           \
        twin_detail::fold_axis<T, pattern>(#API, ascendc_twin::Fold::FOLD, dstTensor, srcTensor, srcShape, srcInnerPad);   \
    }                                                                                                                      \
    template <class T, class pattern, bool isReuseSource = false>                                                          \
    TWIN_API void API(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const LocalTensor<uint8_t> &,      \
                      const uint32_t srcShape[], bool srcInnerPad) {                                                       \
        API<T, pattern, isReuseSource>(dstTensor, srcTensor, srcShape, srcInnerPad);                                       \
    }

TWIN_REDUCE_AXIS(ReduceSum, SUM, float)
TWIN_REDUCE_AXIS(ReduceMean, MEAN, float)
TWIN_REDUCE_AXIS(ReduceProd, PROD, float)
TWIN_REDUCE_AXIS(ReduceMax, MAX, half, float)
TWIN_REDUCE_AXIS(ReduceMin, MIN, half, float)
TWIN_REDUCE_AXIS(ReduceAny, ANY, uint8_t, float)
TWIN_REDUCE_AXIS(ReduceAll, ALL, uint8_t, float)

template <typename T, bool isReuseSource = false>
TWIN_API void ReduceXorSum(const LocalTensor<T> &dstTensor, const LocalTensor<T> &src0Tensor, const LocalTensor<T> &src1Tensor,
                           const uint32_t calCount) {
    TWIN_REQUIRE_TYPE("ReduceXorSum", T, int16_t);
    ascendc_twin::Inst inst("ReduceXorSum", ascendc_twin::PipeId::V);
    ascendc_twin::vec_xor_sum(inst, dstTensor.span(), src0Tensor.span(), src1Tensor.span(), calCount);
}
template <typename T, bool isReuseSource = false>
TWIN_API void ReduceXorSum(const LocalTensor<T> &dstTensor, const LocalTensor<T> &src0Tensor, const LocalTensor<T> &src1Tensor,
                           const LocalTensor<uint8_t> &, const uint32_t calCount) {
    ReduceXorSum<T, isReuseSource>(dstTensor, src0Tensor, src1Tensor, calCount);
}

template <typename T, const CumSumConfig &config = defaultCumSumConfig>
TWIN_API void CumSum(const LocalTensor<T> &dstTensor, const LocalTensor<T> &lastRowTensor, const LocalTensor<T> &srcTensor,
                     const CumSumInfo &cumSumInfo) {
    TWIN_REQUIRE_TYPE("CumSum", T, half, float);
    static_assert(config.algorithm == CumSumAlgorithm::CUMSUM_ALGORITHM_LINEBYLINE, "CumSum: this algorithm is for Ascend 950 only");
    ascendc_twin::Inst inst("CumSum", ascendc_twin::PipeId::V);
    ascendc_twin::Operand last;
    if (config.outputLastRow) last = lastRowTensor.span();
    ascendc_twin::vec_cumsum(inst, dstTensor.span(), last, srcTensor.span(), cumSumInfo.outter, cumSumInfo.inner, config.isLastAxis);
}
template <typename T, const CumSumConfig &config = defaultCumSumConfig>
TWIN_API void CumSum(const LocalTensor<T> &dstTensor, const LocalTensor<T> &lastRowTensor, const LocalTensor<T> &srcTensor,
                     const LocalTensor<uint8_t> &, const CumSumInfo &cumSumInfo) {
    CumSum<T, config>(dstTensor, lastRowTensor, srcTensor, cumSumInfo);
}

}  // namespace AscendC
#undef TWIN_REDUCE_AXIS
