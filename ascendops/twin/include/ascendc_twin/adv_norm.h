// Normalisations: LayerNorm, RmsNorm, DeepNorm, GroupNorm, BatchNorm, Normalize, and the gradients of LayerNorm.
#pragma once

#include "ascendc_twin/adv_engine.h"
#include "ascendc_twin/vec_common.h"

namespace AscendC {

enum class ReducePattern : uint32_t { AR = 0, RA = 1, R = 2, ARA = 3, ARAR = 4 };

struct LayerNormConfig {
    bool isNoBeta = false;
    bool isNoGamma = false;
    bool isOnlyOutput = false;
    bool isOutputRstd = true;
};
constexpr LayerNormConfig LNCFG_NORM = {};

struct LayerNormPara {
    uint32_t aLength;
    uint32_t rLength;
    uint32_t rLengthWithPadding;
};

struct LayerNormGradShapeInfo {
    DataFormat dataFormat = DataFormat::ND;
};

struct NormalizeConfig {
    ReducePattern reducePattern = ReducePattern::AR;
    int32_t aLength = -1;
    bool isNoBeta = false;
    bool isNoGamma = false;
    bool isOnlyOutput = false;
};
constexpr NormalizeConfig NLCFG_NORM = {};

struct NormalizePara {
    uint32_t aLength;
    uint32_t rLength;
    uint32_t rLengthWithPadding;
};

}  // namespace AscendC

namespace ascendc_twin {

// Rows of a [B, S, H] tensor whose last axis is padded to a whole number of blocks.
template <typename Tiling>
TWIN_API NormArgs bsh_rows(NormArgs::Kind kind, const Span &dst, const Span &src, const Tiling &tiling, float epsilon) {
    NormArgs args;
    args.kind = kind;
    args.dst = dst;
    args.src = src;
    args.rows = tiling.bLength * tiling.sLength;
    args.stride = tiling.hLength;
    args.n = tiling.originalHLength != 0 ? tiling.originalHLength : tiling.hLength;
    args.pad = true;
    args.epsilon = epsilon;
    return args;
}
// Rows of an [A, R] tensor.
template <typename Para>
TWIN_API NormArgs ar_rows(NormArgs::Kind kind, const Span &dst, const Span &src, const Para &para, float epsilon) {
    NormArgs args;
    args.kind = kind;
    args.dst = dst;
    args.src = src;
    args.rows = para.aLength;
    args.stride = para.rLengthWithPadding;
    args.n = para.rLength;
    args.epsilon = epsilon;
    return args;
}

}  // namespace ascendc_twin

namespace AscendC {

template <typename T, bool isReuseSource = false, typename Tiling>
TWIN_API void LayerNorm(const LocalTensor<T> &output, const LocalTensor<T> &outputMean, const LocalTensor<T> &outputVariance,
                        const LocalTensor<T> &inputX, const LocalTensor<T> &gamma, const LocalTensor<T> &beta, const T epsilon,
                        const Tiling &tiling) {
    TWIN_REQUIRE_TYPE("LayerNorm", T, half, float);
    ascendc_twin::Inst inst("LayerNorm", ascendc_twin::PipeId::V);
    auto args = ascendc_twin::bsh_rows(ascendc_twin::NormArgs::LAYER, output.span(), inputX.span(), tiling, static_cast<float>(epsilon));
    args.gamma = gamma.span();
    args.beta = beta.span();
    args.mean = outputMean.span();
    args.variance = outputVariance.span();
    ascendc_twin::vec_norm(inst, args);
}
template <typename T, bool isReuseSource = false, typename Tiling>
TWIN_API void LayerNorm(const LocalTensor<T> &output, const LocalTensor<T> &outputMean, const LocalTensor<T> &outputVariance,
                        const LocalTensor<T> &inputX, const LocalTensor<T> &gamma, const LocalTensor<T> &beta,
                        const LocalTensor<uint8_t> &, const T epsilon, const Tiling &tiling) {
    LayerNorm<T, isReuseSource>(output, outputMean, outputVariance, inputX, gamma, beta, epsilon, tiling);
}
// The form for [A, R] that also gives 1 / sqrt(variance + epsilon).
template <typename U, typename T, bool isReuseSource = false, const LayerNormConfig &config = LNCFG_NORM, typename Tiling>
TWIN_API void LayerNorm(const LocalTensor<T> &output, const LocalTensor<float> &outputMean, const LocalTensor<float> &outputRstd,
                        const LocalTensor<T> &inputX, const LocalTensor<U> &gamma, const LocalTensor<U> &beta, const float epsilon,
                        const LayerNormPara &para, const Tiling &) {
    TWIN_REQUIRE_TYPE("LayerNorm", T, half, float);
    TWIN_REQUIRE_TYPE("LayerNorm", U, half, float);
    static_assert(config.isOutputRstd, "LayerNorm: the variance instead of rstd is an output of Ascend 950 only");
    ascendc_twin::Inst inst("LayerNorm", ascendc_twin::PipeId::V);
    auto args = ascendc_twin::ar_rows(ascendc_twin::NormArgs::LAYER, output.span(), inputX.span(), para, epsilon);
    if (!config.isNoGamma) args.gamma = gamma.span();
    if (!config.isNoBeta) args.beta = beta.span();
    if (!config.isOnlyOutput) {
        args.mean = outputMean.span();
        args.rstd = outputRstd.span();
    }
    ascendc_twin::vec_norm(inst, args);
}
template <typename U, typename T, bool isReuseSource = false, const LayerNormConfig &config = LNCFG_NORM, typename Tiling>
TWIN_API void LayerNorm(const LocalTensor<T> &output, const LocalTensor<float> &outputMean, const LocalTensor<float> &outputRstd,
                        const LocalTensor<T> &inputX, const LocalTensor<U> &gamma, const LocalTensor<U> &beta, const float epsilon,
                        const LocalTensor<uint8_t> &, const LayerNormPara &para, const Tiling &tiling) {
    LayerNorm<U, T, isReuseSource, config>(output, outputMean, outputRstd, inputX, gamma, beta, epsilon, para, tiling);
}

template <typename U, typename T, bool isReuseSource = false, const NormalizeConfig &config = NLCFG_NORM>
TWIN_API void Normalize(const LocalTensor<T> &output, const LocalTensor<float> &outputRstd, const LocalTensor<float> &inputMean,
                        const LocalTensor<float> &inputVariance, const LocalTensor<T> &inputX, const LocalTensor<U> &gamma,
                        const LocalTensor<U> &beta, const float epsilon, const NormalizePara &para) {
    TWIN_REQUIRE_TYPE("Normalize", T, half, float);
    TWIN_REQUIRE_TYPE("Normalize", U, half, float);
    static_assert(config.reducePattern == ReducePattern::AR, "Normalize: the last axis is the one that is reduced");
    ascendc_twin::Inst inst("Normalize", ascendc_twin::PipeId::V);
    auto args = ascendc_twin::ar_rows(ascendc_twin::NormArgs::GIVEN, output.span(), inputX.span(), para, epsilon);
    if (config.aLength != -1) args.rows = static_cast<uint32_t>(config.aLength);
    if (!config.isNoGamma) args.gamma = gamma.span();
    if (!config.isNoBeta) args.beta = beta.span();
    args.mean = inputMean.span();
    args.variance = inputVariance.span();
    if (!config.isOnlyOutput) args.rstd = outputRstd.span();
    ascendc_twin::vec_norm(inst, args);
}
template <typename U, typename T, bool isReuseSource = false, const NormalizeConfig &config = NLCFG_NORM>
TWIN_API void Normalize(const LocalTensor<T> &output, const LocalTensor<float> &outputRstd, const LocalTensor<float> &inputMean,
                        const LocalTensor<float> &inputVariance, const LocalTensor<T> &inputX, const LocalTensor<U> &gamma,
                        const LocalTensor<U> &beta, const LocalTensor<uint8_t> &, const float epsilon, const NormalizePara &para) {
    Normalize<U, T, isReuseSource, config>(output, outputRstd, inputMean, inputVariance, inputX, gamma, beta, epsilon, para);
}

template <typename T, bool isBasicBlock = false, typename Tiling>
TWIN_API void RmsNorm(const LocalTensor<T> &dstLocal, const LocalTensor<T> &srcLocal, const LocalTensor<T> &gammaLocal,
                      const T epsilon, const Tiling &tiling) {
    TWIN_REQUIRE_TYPE("RmsNorm", T, half, float);
    ascendc_twin::Inst inst("RmsNorm", ascendc_twin::PipeId::V);
    auto args = ascendc_twin::bsh_rows(ascendc_twin::NormArgs::RMS, dstLocal.span(), srcLocal.span(), tiling, static_cast<float>(epsilon));
    args.gamma = gammaLocal.span();
    ascendc_twin::vec_norm(inst, args);
}
template <typename T, bool isBasicBlock = false, typename Tiling>
TWIN_API void RmsNorm(const LocalTensor<T> &dstLocal, const LocalTensor<T> &srcLocal, const LocalTensor<T> &gammaLocal,
                      const LocalTensor<uint8_t> &, const T epsilon, const Tiling &tiling) {
    RmsNorm<T, isBasicBlock>(dstLocal, srcLocal, gammaLocal, epsilon, tiling);
}

// LayerNorm of alpha * src + gx.
template <typename T, bool isReuseSrc = false, bool isBasicBlock = false, typename Tiling>
TWIN_API void DeepNorm(const LocalTensor<T> &dstLocal, const LocalTensor<T> &meanLocal, const LocalTensor<T> &rstdLocal,
                       const LocalTensor<T> &srcLocal, const LocalTensor<T> &gxLocal, const LocalTensor<T> &betaLocal,
                       const LocalTensor<T> &gammaLocal, const T alpha, const T epsilon, const Tiling &tiling) {
    TWIN_REQUIRE_TYPE("DeepNorm", T, half, float);
    ascendc_twin::Inst inst("DeepNorm", ascendc_twin::PipeId::V);
    auto args = ascendc_twin::bsh_rows(ascendc_twin::NormArgs::LAYER, dstLocal.span(), srcLocal.span(), tiling, static_cast<float>(epsilon));
    args.add = gxLocal.span();
    args.alpha = static_cast<float>(alpha);
    args.gamma = gammaLocal.span();
    args.beta = betaLocal.span();
    args.mean = meanLocal.span();
    args.variance = rstdLocal.span();  // despite the name: the values in the example of its page are variances
    ascendc_twin::vec_norm(inst, args);
}
template <typename T, bool isReuseSrc = false, bool isBasicBlock = false, typename Tiling>
TWIN_API void DeepNorm(const LocalTensor<T> &dstLocal, const LocalTensor<T> &meanLocal, const LocalTensor<T> &rstdLocal,
                       const LocalTensor<T> &srcLocal, const LocalTensor<T> &gxLocal, const LocalTensor<T> &betaLocal,
                       const LocalTensor<T> &gammaLocal, const LocalTensor<uint8_t> &, const T alpha, const T epsilon,
                       const Tiling &tiling) {
    DeepNorm<T, isReuseSrc, isBasicBlock>(dstLocal, meanLocal, rstdLocal, srcLocal, gxLocal, betaLocal, gammaLocal, alpha, epsilon, tiling);
}

template <typename T, bool isReuseSource = false, typename Tiling>
TWIN_API void GroupNorm(const LocalTensor<T> &output, const LocalTensor<T> &outputMean, const LocalTensor<T> &outputVariance,
                        const LocalTensor<T> &inputX, const LocalTensor<T> &gamma, const LocalTensor<T> &beta, const T epsilon,
                        const Tiling &tiling) {
    TWIN_NOT_ON_310P("GroupNorm", T);
    TWIN_REQUIRE_TYPE("GroupNorm", T, half, float);
    ascendc_twin::Inst inst("GroupNorm", ascendc_twin::PipeId::V);
    ascendc_twin::NormArgs args;
    args.dst = output.span();
    args.src = inputX.span();
    args.rows = tiling.n * tiling.g;
    args.groups = tiling.g;
    args.segments = tiling.d;
    args.n = tiling.hw;
    args.stride = tiling.hwAlignSize;
    args.epsilon = static_cast<float>(epsilon);
    args.gamma = gamma.span();
    args.beta = beta.span();
    args.mean = outputMean.span();
    args.variance = outputVariance.span();
    ascendc_twin::vec_norm(inst, args);
}
template <typename T, bool isReuseSource = false, typename Tiling>
TWIN_API void GroupNorm(const LocalTensor<T> &output, const LocalTensor<T> &outputMean, const LocalTensor<T> &outputVariance,
                        const LocalTensor<T> &inputX, const LocalTensor<T> &gamma, const LocalTensor<T> &beta,
                        const LocalTensor<uint8_t> &, const T epsilon, const Tiling &tiling) {
    TWIN_NOT_ON_310P("GroupNorm", T);
    GroupNorm<T, isReuseSource>(output, outputMean, outputVariance, inputX, gamma, beta, epsilon, tiling);
}

// Over the first axis of [B, S, H]; gamma and beta have one element per B.
template <typename T, bool isReuseSource = false, bool isBasicBlock = false, typename Tiling>
TWIN_API void BatchNorm(const LocalTensor<T> &output, const LocalTensor<T> &outputMean, const LocalTensor<T> &outputVariance,
                        const LocalTensor<T> &inputX, const LocalTensor<T> &gamm, const LocalTensor<T> &beta, const T epsilon,
                        const Tiling &tiling) {
    TWIN_REQUIRE_TYPE("BatchNorm", T, half, float);
    ascendc_twin::Inst inst("BatchNorm", ascendc_twin::PipeId::V);
    ascendc_twin::vec_batch_norm(inst, {output.span(), outputMean.span(), outputVariance.span(), inputX.span(), gamm.span(), beta.span(),
                                        tiling.originalBLength, tiling.meanVarSize, static_cast<float>(epsilon)});
}
template <typename T, bool isReuseSource = false, bool isBasicBlock = false, typename Tiling>
TWIN_API void BatchNorm(const LocalTensor<T> &output, const LocalTensor<T> &outputMean, const LocalTensor<T> &outputVariance,
                        const LocalTensor<T> &inputX, const LocalTensor<T> &gamm, const LocalTensor<T> &beta,
                        const LocalTensor<uint8_t> &, const T epsilon, const Tiling &tiling) {
    BatchNorm<T, isReuseSource, isBasicBlock>(output, outputMean, outputVariance, inputX, gamm, beta, epsilon, tiling);
}

}  // namespace AscendC
