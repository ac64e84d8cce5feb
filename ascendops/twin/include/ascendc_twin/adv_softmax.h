// Gradients and variants of SoftMax.
#pragma once

#include "ascendc_twin/adv_engine.h"
#include "ascendc_twin/adv_rows.h"
#include "kernel_tiling/kernel_tiling.h"
#include "kernel_tiling/softmax_rounds.h"

namespace AscendC {

struct SoftMaxParams {
    uint32_t srcM;
    uint32_t srcK;
    uint32_t oriSrcM;
    uint32_t oriSrcK;
    uint32_t loopCnt;
    uint32_t splitMeanCnt;
    float alpha;
};

// Tiling data that a kernel computes itself.
inline constexpr tiling::SoftMaxTiling SoftMaxFlashV2TilingFunc(const SoftMaxShapeInfo &shapeInfo, const uint32_t dataTypeSize1,
                                                                const uint32_t, const uint32_t localWorkSpaceSize, const bool = false,
                                                                const bool = false, const bool = false, const bool = false) {
    return tiling::SoftmaxRounds<tiling::SoftMaxTiling>(shapeInfo.srcM, shapeInfo.srcK, dataTypeSize1, localWorkSpaceSize, 2);
}
// The same from plain sizes; the workspace in elements of `dataTypeSize2` bytes.
inline constexpr tiling::SoftMaxTiling SoftMaxFlashV2TilingFuncImpl(const uint32_t srcM, const uint32_t srcK, const uint32_t dataTypeSize1,
                                                                    const uint32_t dataTypeSize2, const uint32_t localWorkSpaceSize, const bool = false,
                                                                    const bool = false, const bool = false, const bool = false) {
    return tiling::SoftmaxRounds<tiling::SoftMaxTiling>(srcM, srcK, dataTypeSize1, localWorkSpaceSize * dataTypeSize2, 2);
}

template <typename T = void, bool isReuseSource = false, bool isBasicBlock = false, typename D, typename S, typename Tiling>
TWIN_API void SoftmaxFlash(const LocalTensor<D> &dstTensor, const LocalTensor<S> &sumTensor, const LocalTensor<S> &maxTensor,
                           const LocalTensor<D> &srcTensor, const LocalTensor<D> &expMaxTensor, const LocalTensor<S> &inSumTensor,
                           const LocalTensor<S> &inMaxTensor, const Tiling &tiling, bool isUpdate = false,
                           const SoftMaxShapeInfo &softmaxShapeInfo = {}) {
    using ascendc_twin::SoftmaxArgs;
    TWIN_REQUIRE_TYPE("SoftmaxFlash", D, half, float);
    ascendc_twin::Inst inst("SoftmaxFlash", ascendc_twin::PipeId::V);
    const ascendc_twin::Span sum = sumTensor.span(), max = maxTensor.span();
    auto args = ascendc_twin::softmax_args(isUpdate ? SoftmaxArgs::FLASH_V1_UPDATE : SoftmaxArgs::FLASH_V1, dstTensor.span(),
                                           srcTensor.span(), tiling, softmaxShapeInfo);
    args.sum = &sum;
    args.max = &max;
    const ascendc_twin::Span scale = expMaxTensor.span(), before_sum = inSumTensor.span(), before_max = inMaxTensor.span();
    if (isUpdate) {
        args.exp_max = &scale;
        args.in_sum = &before_sum;
        args.in_max = &before_max;
    }
    ascendc_twin::vec_softmax(inst, args);
}
template <typename T = void, bool isReuseSource = false, bool isBasicBlock = false, typename D, typename S, typename Tiling>
TWIN_API void SoftmaxFlash(const LocalTensor<D> &dstTensor, const LocalTensor<S> &sumTensor, const LocalTensor<S> &maxTensor,
                           const LocalTensor<D> &srcTensor, const LocalTensor<D> &expMaxTensor, const LocalTensor<S> &inSumTensor,
                           const LocalTensor<S> &inMaxTensor, const LocalTensor<uint8_t> &, const Tiling &tiling,
                           bool isUpdate = false, const SoftMaxShapeInfo &softmaxShapeInfo = {}) {
    SoftmaxFlash<T, isReuseSource, isBasicBlock>(dstTensor, sumTensor, maxTensor, srcTensor, expMaxTensor, inSumTensor, inMaxTensor,
                                                 tiling, isUpdate, softmaxShapeInfo);
}

namespace twin_detail {
template <typename T, typename Tiling>
TWIN_API void softmax_grad(const char *api, const LocalTensor<T> &dst, const LocalTensor<T> &grad, const LocalTensor<T> &src,
                           const Tiling &tiling, bool front, const SoftMaxShapeInfo &shape) {
    ascendc_twin::Inst inst(api, ascendc_twin::PipeId::V);
    const auto rows = ascendc_twin::softmax_args(ascendc_twin::SoftmaxArgs::SOFTMAX, dst.span(), src.span(), tiling, shape);
    ascendc_twin::vec_softmax_grad(inst, {dst.span(), grad.span(), src.span(), rows.m, rows.k, rows.n, front});
}
}  // namespace twin_detail

template <typename T, bool isReuseSource = false, bool isDataFormatNZ = false, typename Tiling>
TWIN_API void SoftmaxGrad(const LocalTensor<T> &dstTensor, const LocalTensor<T> &gradTensor, const LocalTensor<T> &srcTensor,
                          const Tiling &tiling, bool isFront = false, const SoftMaxShapeInfo &softmaxShapeInfo = {}) {
    static_assert(!isDataFormatNZ, "SoftmaxGrad: the twin has the ND layout only");
    TWIN_REQUIRE_TYPE("SoftmaxGrad", T, half, float);
    twin_detail::softmax_grad("SoftmaxGrad", dstTensor, gradTensor, srcTensor, tiling, isFront, softmaxShapeInfo);
}
template <typename T, bool isReuseSource = false, bool isDataFormatNZ = false, typename Tiling>
TWIN_API void SoftmaxGrad(const LocalTensor<T> &dstTensor, const LocalTensor<T> &gradTensor, const LocalTensor<T> &srcTensor,
                          const LocalTensor<uint8_t> &, const Tiling &tiling, bool isFront = false,
                          const SoftMaxShapeInfo &softmaxShapeInfo = {}) {
    SoftmaxGrad<T, isReuseSource, isDataFormatNZ>(dstTensor, gradTensor, srcTensor, tiling, isFront, softmaxShapeInfo);
}

template <typename T, bool isBasicBlock = false, bool isDataFormatNZ = false, typename Tiling>
TWIN_API void SoftmaxGradFront(const LocalTensor<T> &dstTensor, const LocalTensor<T> &gradTensor, const LocalTensor<T> &srcTensor,
                               const Tiling &tiling, const SoftMaxShapeInfo &softmaxShapeInfo = {}) {
    static_assert(!isDataFormatNZ, "SoftmaxGradFront: the twin has the ND layout only");
    TWIN_REQUIRE_TYPE("SoftmaxGradFront", T, half, float);
    twin_detail::softmax_grad("SoftmaxGradFront", dstTensor, gradTensor, srcTensor, tiling, true, softmaxShapeInfo);
}
template <typename T, bool isBasicBlock = false, bool isDataFormatNZ = false, typename Tiling>
TWIN_API void SoftmaxGradFront(const LocalTensor<T> &dstTensor, const LocalTensor<T> &gradTensor, const LocalTensor<T> &srcTensor,
                               const LocalTensor<uint8_t> &, const Tiling &tiling, const SoftMaxShapeInfo &softmaxShapeInfo = {}) {
    SoftmaxGradFront<T, isBasicBlock, isDataFormatNZ>(dstTensor, gradTensor, srcTensor, tiling, softmaxShapeInfo);
}

// log10 of the softmax, as documented.
template <typename T, bool isReuseSource = false, bool isDataFormatNZ = false, typename Tiling>
TWIN_API void LogSoftMax(const LocalTensor<T> &dst, const LocalTensor<T> &sumTensor, const LocalTensor<T> &maxTensor,
                         const LocalTensor<T> &src, const LocalTensor<uint8_t> &, const Tiling &tiling,
                         const SoftMaxShapeInfo &softmaxShapeInfo = {}) {
    static_assert(!isDataFormatNZ, "LogSoftMax: the twin has the ND layout only");
    TWIN_REQUIRE_TYPE("LogSoftMax", T, half, float);
    ascendc_twin::Inst inst("LogSoftMax", ascendc_twin::PipeId::V);
    const auto rows = ascendc_twin::softmax_args(ascendc_twin::SoftmaxArgs::SOFTMAX, dst.span(), src.span(), tiling, softmaxShapeInfo);
    ascendc_twin::vec_log_softmax(inst, dst.span(), sumTensor.span(), maxTensor.span(), src.span(), rows.m, rows.k, rows.n);
}

// `from` has the bits of a maximum; stepSizeMode 0: one maximum per 32-byte block, else one per element.
template <typename T1, typename T2, bool isDataFormatNZ = false, uint8_t stepSizeMode = 0>
TWIN_API bool AdjustSoftMaxRes(const LocalTensor<T1> &softMaxRes, const LocalTensor<T2> &maxTensor, const uint32_t from, const T1 to,
                               const SoftMaxShapeInfo &softmaxShapeInfo) {
    static_assert(!isDataFormatNZ, "AdjustSoftMaxRes: the twin has the ND layout only");
    TWIN_REQUIRE_TYPE("AdjustSoftMaxRes", T1, half, float);
    TWIN_REQUIRE_TYPE("AdjustSoftMaxRes", T2, half, float);
    ascendc_twin::Inst inst("AdjustSoftMaxRes", ascendc_twin::PipeId::V);
    return ascendc_twin::vec_adjust_softmax(inst, softMaxRes.span(), maxTensor.span(), from, static_cast<float>(to),
                                            softmaxShapeInfo.srcM, softmaxShapeInfo.srcK, stepSizeMode != 0);
}

template <typename T, typename U, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false,
          bool isDataFormatNZ = false, const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG, typename Tiling>
TWIN_API void SoftmaxFlashV3(const LocalTensor<T> &dstTensor, const LocalTensor<U> &meanTensor, const LocalTensor<U> &expSumTensor,
                             const LocalTensor<U> &maxTensor, const LocalTensor<T> &srcTensor, const LocalTensor<T> &expMaxTensor,
                             const LocalTensor<U> &inMeanTensor, const LocalTensor<U> &inExpSumTensor, const LocalTensor<U> &inMaxTensor,
                             const Tiling &, const SoftMaxParams &params) {
    TWIN_NOT_ON_310P("SoftmaxFlashV3", T);
    TWIN_REQUIRE_TYPE("SoftmaxFlashV3", T, half);
    TWIN_REQUIRE_TYPE("SoftmaxFlashV3", U, float);
    ascendc_twin::Inst inst("SoftmaxFlashV3", ascendc_twin::PipeId::V);
    ascendc_twin::SoftmaxV3Args args{dstTensor.span(), meanTensor.span(), expSumTensor.span(), maxTensor.span(), srcTensor.span(),
                                     {}, {}, {}, {}, params.srcM, params.srcK, params.splitMeanCnt, params.loopCnt,
                                     params.splitMeanCnt != 0 ? params.srcK / params.splitMeanCnt : 0, params.alpha, isUpdate};
    if (isUpdate) {
        args.exp_max = expMaxTensor.span();
        args.in_mean = inMeanTensor.span();
        args.in_sum = inExpSumTensor.span();
        args.in_max = inMaxTensor.span();
    }
    ascendc_twin::vec_softmax_v3(inst, args);
}
template <typename T, typename U, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false,
          bool isDataFormatNZ = false, const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG, typename Tiling>
TWIN_API void SoftmaxFlashV3(const LocalTensor<T> &dstTensor, const LocalTensor<U> &meanTensor, const LocalTensor<U> &expSumTensor,
                             const LocalTensor<U> &maxTensor, const LocalTensor<T> &srcTensor, const LocalTensor<T> &expMaxTensor,
                             const LocalTensor<U> &inMeanTensor, const LocalTensor<U> &inExpSumTensor, const LocalTensor<U> &inMaxTensor,
                             const LocalTensor<uint8_t> &, const Tiling &tiling, const SoftMaxParams &params) {
    TWIN_NOT_ON_310P("SoftmaxFlashV3", T);
    SoftmaxFlashV3<T, U, isUpdate, isReuseSource, isBasicBlock, isDataFormatNZ, config>(
        dstTensor, meanTensor, expSumTensor, maxTensor, srcTensor, expMaxTensor, inMeanTensor, inExpSumTensor, inMaxTensor, tiling, params);
}

}  // namespace AscendC
