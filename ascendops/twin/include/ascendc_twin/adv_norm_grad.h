// Gradients of LayerNorm, and Welford's running mean and variance.
#pragma once

#include "ascendc_twin/adv_norm.h"

namespace AscendC {

struct WelfordUpdateConfig {
    constexpr WelfordUpdateConfig(const bool isInplaceIn) : isInplace(isInplaceIn) {}
    bool isInplace = false;
};
constexpr WelfordUpdateConfig WFUPDATE_DEFAULT_CFG = {false};

struct WelfordUpdateParam {
    uint32_t rnLength;
    uint32_t abLength;
    uint32_t abComputeLength;
    float nRec;
};

struct WelfordFinalizePara {
    uint32_t rnLength;
    uint32_t abLength;
    uint32_t headCount;
    uint32_t headCountLength;
    uint32_t tailCount;
    uint32_t tailCountLength;
    float abRec;
    float rRec;
};

template <typename T, bool isReuseSource = false, typename Tiling>
TWIN_API void LayerNormGrad(const LocalTensor<T> &outputPdX, const LocalTensor<T> &resForGamma, const LocalTensor<T> &inputDy,
                            const LocalTensor<T> &inputX, const LocalTensor<T> &inputVariance, const LocalTensor<T> &inputMean,
                            const LocalTensor<T> &inputGamma, T epsilon, const Tiling &tiling,
                            const LayerNormGradShapeInfo &shapeInfo = {}) {
    TWIN_REQUIRE_TYPE("LayerNormGrad", T, half, float);
    static_cast<void>(shapeInfo);
    ascendc_twin::Inst inst("LayerNormGrad", ascendc_twin::PipeId::V);
    ascendc_twin::vec_layer_norm_grad(
        inst, {outputPdX.span(), resForGamma.span(), inputDy.span(), inputX.span(), inputVariance.span(), inputMean.span(),
               inputGamma.span(), tiling.bLength * tiling.sLength, tiling.hLength,
               tiling.originalHLength != 0 ? tiling.originalHLength : tiling.hLength, static_cast<float>(epsilon)});
}
template <typename T, bool isReuseSource = false, typename Tiling>
TWIN_API void LayerNormGrad(const LocalTensor<T> &outputPdX, const LocalTensor<T> &resForGamma, const LocalTensor<T> &inputDy,
                            const LocalTensor<T> &inputX, const LocalTensor<T> &inputVariance, const LocalTensor<T> &inputMean,
                            const LocalTensor<T> &inputGamma, const LocalTensor<uint8_t> &, T epsilon, const Tiling &tiling,
                            const LayerNormGradShapeInfo &shapeInfo = {}) {
    LayerNormGrad<T, isReuseSource>(outputPdX, resForGamma, inputDy, inputX, inputVariance, inputMean, inputGamma, epsilon, tiling,
                                    shapeInfo);
}

template <typename T, bool isReuseSource = false, typename Tiling>
TWIN_API void LayerNormGradBeta(const LocalTensor<T> &outputPdGamma, const LocalTensor<T> &outputPdBeta,
                                const LocalTensor<T> &resForGamma, const LocalTensor<T> &inputDy, const Tiling &tiling) {
    TWIN_REQUIRE_TYPE("LayerNormGradBeta", T, half, float);
    ascendc_twin::Inst inst("LayerNormGradBeta", ascendc_twin::PipeId::V);
    ascendc_twin::vec_layer_norm_grad_beta(inst, outputPdGamma.span(), outputPdBeta.span(), resForGamma.span(), inputDy.span(),
                                           tiling.bLength * tiling.sLength, tiling.hLength);
}
template <typename T, bool isReuseSource = false, typename Tiling>
TWIN_API void LayerNormGradBeta(const LocalTensor<T> &outputPdGamma, const LocalTensor<T> &outputPdBeta,
                                const LocalTensor<T> &resForGamma, const LocalTensor<T> &inputDy, const LocalTensor<uint8_t> &,
                                const Tiling &tiling) {
    LayerNormGradBeta<T, isReuseSource>(outputPdGamma, outputPdBeta, resForGamma, inputDy, tiling);
}

template <typename T, typename U, bool isReuseSource = false, const WelfordUpdateConfig &config = WFUPDATE_DEFAULT_CFG>
TWIN_API void WelfordUpdate(const LocalTensor<U> &outputMean, const LocalTensor<U> &outputVariance, const LocalTensor<U> &inputMean,
                            const LocalTensor<U> &inputVariance, const LocalTensor<T> &inputX, const WelfordUpdateParam &para) {
    TWIN_REQUIRE_TYPE("WelfordUpdate", T, half, float);
    TWIN_REQUIRE_TYPE("WelfordUpdate", U, float);
    ascendc_twin::Inst inst("WelfordUpdate", ascendc_twin::PipeId::V);
    ascendc_twin::vec_welford_update(inst, {outputMean.span(), outputVariance.span(), inputMean.span(), inputVariance.span(), inputX.span(),
                                            para.abLength, para.abComputeLength, para.nRec, config.isInplace});
}
template <typename T, typename U, bool isReuseSource = false, const WelfordUpdateConfig &config = WFUPDATE_DEFAULT_CFG>
TWIN_API void WelfordUpdate(const LocalTensor<U> &outputMean, const LocalTensor<U> &outputVariance, const LocalTensor<U> &inputMean,
                            const LocalTensor<U> &inputVariance, const LocalTensor<T> &inputX, const LocalTensor<uint8_t> &,
                            const WelfordUpdateParam &para) {
    WelfordUpdate<T, U, isReuseSource, config>(outputMean, outputVariance, inputMean, inputVariance, inputX, para);
}

namespace twin_detail {
TWIN_API ascendc_twin::WelfordFinalizeArgs welford_args(const LocalTensor<float> &outputMean, const LocalTensor<float> &outputVariance,
                                                        const LocalTensor<float> &inputMean, const LocalTensor<float> &inputVariance,
                                                        const WelfordFinalizePara &p) {
    return {outputMean.span(), outputVariance.span(), inputMean.span(), inputVariance.span(), {}, p.abLength, p.rnLength,
            p.headCount, p.headCountLength, p.tailCount, p.tailCountLength, p.abRec, p.rRec};
}
}  // namespace twin_detail

template <bool isReuseSource = false>
TWIN_API void WelfordFinalize(const LocalTensor<float> &outputMean, const LocalTensor<float> &outputVariance,
                              const LocalTensor<float> &inputMean, const LocalTensor<float> &inputVariance,
                              const WelfordFinalizePara &para) {
    ascendc_twin::Inst inst("WelfordFinalize", ascendc_twin::PipeId::V);
    ascendc_twin::vec_welford_finalize(inst, twin_detail::welford_args(outputMean, outputVariance, inputMean, inputVariance, para));
}
template <bool isReuseSource = false>
TWIN_API void WelfordFinalize(const LocalTensor<float> &outputMean, const LocalTensor<float> &outputVariance,
                              const LocalTensor<float> &inputMean, const LocalTensor<float> &inputVariance,
                              const LocalTensor<uint8_t> &, const WelfordFinalizePara &para) {
    WelfordFinalize<isReuseSource>(outputMean, outputVariance, inputMean, inputVariance, para);
}
template <bool isReuseSource = false>
TWIN_API void WelfordFinalize(const LocalTensor<float> &outputMean, const LocalTensor<float> &outputVariance,
                              const LocalTensor<float> &inputMean, const LocalTensor<float> &inputVariance,
                              const LocalTensor<int32_t> &counts, const WelfordFinalizePara &para) {
    ascendc_twin::Inst inst("WelfordFinalize", ascendc_twin::PipeId::V);
    auto args = twin_detail::welford_args(outputMean, outputVariance, inputMean, inputVariance, para);
    args.counts = counts.span();
    ascendc_twin::vec_welford_finalize(inst, args);
}
template <bool isReuseSource = false>
TWIN_API void WelfordFinalize(const LocalTensor<float> &outputMean, const LocalTensor<float> &outputVariance,
                              const LocalTensor<float> &inputMean, const LocalTensor<float> &inputVariance,
                              const LocalTensor<int32_t> &counts, const LocalTensor<uint8_t> &, const WelfordFinalizePara &para) {
    WelfordFinalize<isReuseSource>(outputMean, outputVariance, inputMean, inputVariance, counts, para);
}

}  // namespace AscendC
