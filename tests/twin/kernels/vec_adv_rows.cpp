#include "kernel_tiling/kernel_tiling.h"

#include "vec_case.h"

// Operands beyond dst, a, b, c lie behind each other in one of them, each from a multiple of 32 bytes.
template <typename T>
struct Parts {
    LocalTensor<uint8_t> rest;
    uint32_t at = 0;

    template <typename U = T>
    LocalTensor<U> next(uint32_t elements) {
        const LocalTensor<U> part = rest[at].template ReinterpretCast<U>();
        at += (elements * sizeof(U) + 31) / 32 * 32;
        return part;
    }
};

// Rows: c.repeat, stored length: c.n, counted length: c.extra.
template <typename Tiling>
Tiling rows_of(const Case &c) {
    Tiling tiling;
    tiling.bLength = 1;
    tiling.sLength = c.repeat;
    tiling.hLength = c.n;
    tiling.originalHLength = c.extra;
    return tiling;
}

template <typename T>
inline void forward(const Case &c, Tensors &t) {
    Parts<T> out{t.t[0]}, weights{t.t[2]};
    const uint32_t all = c.n * c.repeat;
    const auto x = t.get<T>(1), y = out.next(all);
    const auto gamma = weights.next(c.n), beta = weights.next(c.n);
    const T eps = static_cast<T>(c.f);
    auto tmp = t.get<uint8_t>(3);
    if (c.op == 0 || c.op == 10) {
        LayerNormTiling tiling = rows_of<LayerNormTiling>(c);
        const auto mean = out.next(c.repeat), variance = out.next(c.repeat);
        if (c.op == 0) LayerNorm<T>(y, mean, variance, x, gamma, beta, eps, tiling);
        else LayerNorm<T, false>(y, mean, variance, x, gamma, beta, tmp, eps, tiling);
    } else if (c.op == 1) {
        LayerNormSeparateTiling tiling;
        const LayerNormPara para{(uint32_t)c.repeat, (uint32_t)c.extra, (uint32_t)c.n};
        const auto mean = out.template next<float>(c.repeat), rstd = out.template next<float>(c.repeat);
        LayerNorm<T, T>(y, mean, rstd, x, gamma, beta, c.f, tmp, para, tiling);
    } else if (c.op == 2) {
        RmsNormTiling tiling = rows_of<RmsNormTiling>(c);
        RmsNorm(y, x, gamma, tmp, eps, tiling);
    } else if (c.op == 3) {
        DeepNormTiling tiling = rows_of<DeepNormTiling>(c);
        const auto mean = out.next(c.repeat), rstd = out.next(c.repeat);
        DeepNorm<T>(y, mean, rstd, x, t.get<T>(3), beta, gamma, static_cast<T>(1.5f), eps, tiling);
    } else if (c.op == 4) {
        const auto mean = t.get<float>(3), variance = mean[8];
        constexpr static NormalizeConfig config{ReducePattern::AR, -1, true, false, false};
        const NormalizePara para{(uint32_t)c.repeat, (uint32_t)c.extra, (uint32_t)c.n};
        const auto rstd = out.template next<float>(c.repeat);
        Normalize<T, T, false, config>(y, rstd, mean, variance, x, gamma, beta, c.f, para);
    } else if (c.op == 5) {
        BatchNormTiling tiling;
        tiling.originalBLength = c.repeat;
        tiling.meanVarSize = c.n;
        const auto mean = out.next(c.n), variance = out.next(c.n);
        BatchNorm<T>(y, mean, variance, x, gamma, beta, eps, tiling);
    }
}

// c.repeat batches of c.i channels in c.extra groups; c.n elements per channel.
template <typename T>
inline void groups(const Case &c, Tensors &t) {
    Parts<T> out{t.t[0]}, weights{t.t[2]};
    GroupNormTiling tiling;
    tiling.n = c.repeat;
    tiling.g = c.extra;
    tiling.d = c.i / c.extra;
    tiling.hw = c.n;
    tiling.hwAlignSize = (c.n * sizeof(T) + 31) / 32 * 32 / sizeof(T);
    const auto y = out.next(c.repeat * c.i * tiling.hwAlignSize);
    const auto mean = out.next(c.repeat * c.extra), variance = out.next(c.repeat * c.extra);
    const auto gamma = weights.next(c.i), beta = weights.next(c.i);
    GroupNorm<T>(y, mean, variance, t.get<T>(1), gamma, beta, static_cast<T>(c.f), tiling);
}

template <typename T>
inline void backward(const Case &c, Tensors &t) {
    Parts<T> out{t.t[0]}, in{t.t[3]};
    const uint32_t all = c.n * c.repeat;
    if (c.op == 7) {
        LayerNormGradTiling tiling = rows_of<LayerNormGradTiling>(c);
        const auto dx = out.next(all), for_gamma = out.next(all);
        const auto variance = in.next(c.repeat), mean = in.next(c.repeat), gamma = in.next(c.n);
        LayerNormGrad<T>(dx, for_gamma, t.get<T>(1), t.get<T>(2), variance, mean, gamma, static_cast<T>(c.f), tiling);
    } else {
        LayerNormGradBetaTiling tiling = rows_of<LayerNormGradBetaTiling>(c);
        const auto d_gamma = out.next(c.n), d_beta = out.next(c.n);
        LayerNormGradBeta<T>(d_gamma, d_beta, t.get<T>(1), t.get<T>(2), tiling);
    }
}

// c.repeat updates with c.n elements, then the final statistics; the last update has only c.extra elements.
inline void welford(const Case &c, Tensors &t) {
    Parts<float> out{t.t[0]}, state{t.t[2]}, other{t.t[3]};
    auto mean = state.next(c.n), variance = state.next(c.n), next_mean = other.next(c.n), next_variance = other.next(c.n);
    const auto total = out.next(1), spread = out.next(1);
    constexpr static WelfordUpdateConfig keep{true};
    Duplicate(mean, 0.0f, c.n);
    Duplicate(variance, 0.0f, c.n);
    for (int32_t i = 1; i <= c.repeat; ++i) {
        const uint32_t computed = i == c.repeat ? c.extra : c.n;
        WelfordUpdate<float, float, false, keep>(next_mean, next_variance, mean, variance, t.get<float>(1)[(i - 1) * c.n],
                                                 WelfordUpdateParam{1, (uint32_t)c.n, computed, 1.0f / i});
        DataCopy(mean, next_mean, c.n);
        DataCopy(variance, next_variance, c.n);
    }
    const uint32_t left = c.n - c.extra, elements = c.n * c.repeat - left;
    WelfordFinalizePara para{(uint32_t)c.repeat, (uint32_t)c.n, (uint32_t)c.repeat, (uint32_t)c.extra, left ? c.repeat - 1u : 0u, left,
                             1.0f / c.n, 1.0f / elements};
    WelfordFinalize(total, spread, mean, variance, para);
}

extern "C" __global__ __aicore__ void vec_norms(GM_ADDR data, GM_ADDR params, int32_t count) {
    run_cases(data, params, count, [](const Case &c, Tensors &t) {
        if (c.op == 9) welford(c, t);
        else if (c.op == 6) c.dtype == 0 ? groups<half>(c, t) : groups<float>(c, t);
        else if (c.op >= 7 && c.op < 9) c.dtype == 0 ? backward<half>(c, t) : backward<float>(c, t);
        else c.dtype == 0 ? forward<half>(c, t) : forward<float>(c, t);
    });
}

constexpr SoftMaxShapeInfo SIXTEEN_ROWS{16, 64, 16, 64};
constexpr SoftMaxTiling IN_ROUNDS = SoftMaxFlashV2TilingFunc(SIXTEEN_ROWS, 2, 4, 4096, true);
static_assert(IN_ROUNDS.srcM == 16 && IN_ROUNDS.splitM > 0 && IN_ROUNDS.splitM < 16, "a small buffer takes several rounds");
static_assert(SoftMaxFlashV2TilingFuncImpl(16, 64, 2, 4, 1024, true).splitM == IN_ROUNDS.splitM, "the workspace in floats");
static_assert(IN_ROUNDS.rangeM * IN_ROUNDS.splitM + IN_ROUNDS.tailM == 16, "which cover all rows");

template <typename T>
inline void softmaxes(const Case &c, Tensors &t) {
    Parts<T> out{t.t[0]};
    SoftMaxTiling tiling;
    tiling.srcM = c.repeat;
    tiling.srcK = c.n;
    const SoftMaxShapeInfo shape{(uint32_t)c.repeat, (uint32_t)c.n, (uint32_t)c.repeat, (uint32_t)c.extra};
    const uint32_t stat = c.repeat * 32 / sizeof(T);
    const auto tmp = t.get<uint8_t>(3);
    switch (c.op) {
        case 0: SoftmaxGrad<T>(t.get<T>(0), t.get<T>(1), t.get<T>(2), tiling, false, shape); break;
        case 1: SoftmaxGradFront<T>(t.get<T>(0), t.get<T>(1), t.get<T>(2), tmp, tiling, shape); break;
        case 2: {
            LogSoftMaxTiling log;
            log.srcM = c.repeat;
            log.srcK = c.n;
            const auto y = out.next(c.n * c.repeat), sum = out.next(stat), max = out.next(stat);
            LogSoftMax<T>(y, sum, max, t.get<T>(1), tmp, log);
            break;
        }
        case 3: {  // two halves of the columns, one after the other
            const auto y = out.next(c.n * c.repeat), sum = out.next(stat), max = out.next(stat), scale = out.next(stat);
            SoftmaxFlash<T>(y, sum, max, t.get<T>(1), scale, sum, max, tiling);
            SoftmaxFlash<T>(y, sum, max, t.get<T>(2), scale, sum, max, tmp, tiling, true);
            break;
        }
        case 4: {
            DataCopy(t.get<T>(0), t.get<T>(1), c.n * c.repeat);
            const bool found = AdjustSoftMaxRes<T, T>(t.get<T>(0), t.get<T>(2), (uint32_t)c.i, static_cast<T>(c.f), shape);
            if (!found) t.get<T>(0).SetValue(0, static_cast<T>(-99));
            break;
        }
        default: break;
    }
}
// Flash 3, twice: the second call updates the first one's statistics.
inline void flash3(const Case &c, Tensors &t) {
    Parts<float> out{t.t[0]}, in{t.t[3]};
    SoftMaxTiling tiling;
    SoftMaxParams params{(uint32_t)c.repeat, (uint32_t)c.n, (uint32_t)c.repeat, (uint32_t)c.n, 1, 8, c.f};
    const uint32_t stat = c.repeat * 8;
    const auto y = out.next<half>(c.n * c.repeat), scale = out.next<half>(stat * 2);
    const auto mean = out.next(stat), sum = out.next(stat), max = out.next(stat);
    const auto mean1 = in.next(stat), sum1 = in.next(stat), max1 = in.next(stat);
    SoftmaxFlashV3<half, float>(y, mean1, sum1, max1, t.get<half>(1), scale, mean1, sum1, max1, tiling, params);
    params.loopCnt = 2;
    SoftmaxFlashV3<half, float, true>(y, mean, sum, max, t.get<half>(2), scale, mean1, sum1, max1, tiling, params);
}

extern "C" __global__ __aicore__ void vec_softmaxes(GM_ADDR data, GM_ADDR params, int32_t count) {
    run_cases(data, params, count, [](const Case &c, Tensors &t) {
        if (c.op == 5) flash3(c, t);
        else c.dtype == 0 ? softmaxes<half>(c, t) : softmaxes<float>(c, t);
    });
}
