// Tilings that are known to the compiler.
#pragma once

#include "ascendc_twin/matmul/config.h"
#include "ascendc_twin/matmul/split.h"
#include "ascendc_twin/rt_matmul.h"
#include "kernel_tiling/kernel_tiling.h"

namespace AscendC {

struct MatmulApiStaticTiling {
    int32_t usedCoreNum = -1, M = -1, N = -1, Ka = -1, Kb = -1;
    int32_t singleCoreM = -1, singleCoreN = -1, singleCoreK = -1, baseM = -1, baseN = -1, baseK = -1;
    int32_t depthA1 = -1, depthB1 = -1, stepM = -1, stepN = -1, isBias = -1, transLength = -1, iterateOrder = -1;
    int32_t shareMode = -1, shareL1Size = -1, shareL0CSize = -1, shareUbSize = -1, stepKa = -1, stepKb = -1;
    int32_t depthAL1CacheUB = -1, depthBL1CacheUB = -1, dbL0A = -1, dbL0B = -1, dbL0C = -1;
    int32_t ALayoutInfoB = -1, ALayoutInfoS = -1, ALayoutInfoN = -1, ALayoutInfoG = -1, ALayoutInfoD = -1;
    int32_t BLayoutInfoB = -1, BLayoutInfoS = -1, BLayoutInfoN = -1, BLayoutInfoG = -1, BLayoutInfoD = -1;
    int32_t CLayoutInfoB = -1, CLayoutInfoS1 = -1, CLayoutInfoN = -1, CLayoutInfoG = -1, CLayoutInfoS2 = -1;
    int32_t BatchNum = -1, mxTypePara = -1;
    MatmulConfig cfg = CFG_NORM;
};

constexpr MatmulConfig ToMatmulConfig(const MatmulConfig &config) {
    return config;
}
constexpr MatmulConfig ToMatmulConfig(const MatmulApiStaticTiling &tiling) {
    return tiling.cfg;
}

namespace twin_detail {

template <typename T>
constexpr int32_t size_in_bits() {
    return ascendc_twin::dt_of<T> == ascendc_twin::Dt::I4 ? 4 : static_cast<int32_t>(sizeof(T)) * 8;
}

// The numbers that a configuration with MatmulShapeParams leaves open, by the same rules as the tiling on the host.
constexpr void complete(MatmulApiStaticTiling &t, const ascendc_twin::Split &s) {
    t.depthA1 = s.depth_a;
    t.depthB1 = s.depth_b;
    t.stepM = s.step_m;
    t.stepN = s.step_n;
    t.stepKa = s.step_ka;
    t.stepKb = s.step_kb;
    t.dbL0A = s.db_a;
    t.dbL0B = s.db_b;
    t.dbL0C = s.db_c;
}

inline ascendc_twin::MmTiling runtime_tiling(const TCubeTiling &t) {
    ascendc_twin::MmTiling out;
    out.M = t.M;
    out.N = t.N;
    out.Ka = t.Ka;
    out.Kb = t.Kb;
    out.singleCoreM = t.singleCoreM;
    out.singleCoreN = t.singleCoreN;
    out.singleCoreK = t.singleCoreK;
    out.baseM = t.baseM;
    out.baseN = t.baseN;
    out.baseK = t.baseK;
    out.depthA1 = t.depthA1;
    out.depthB1 = t.depthB1;
    out.stepM = t.stepM;
    out.stepN = t.stepN;
    out.isBias = t.isBias;
    out.iterateOrder = t.iterateOrder;
    out.dbL0A = t.dbL0A;
    out.dbL0B = t.dbL0B;
    out.dbL0C = t.dbL0C;
    const int32_t a[5] = {t.ALayoutInfoB, t.ALayoutInfoS, t.ALayoutInfoN, t.ALayoutInfoG, t.ALayoutInfoD};
    const int32_t b[5] = {t.BLayoutInfoB, t.BLayoutInfoS, t.BLayoutInfoN, t.BLayoutInfoG, t.BLayoutInfoD};
    const int32_t c[5] = {t.CLayoutInfoB, t.CLayoutInfoS1, t.CLayoutInfoN, t.CLayoutInfoG, t.CLayoutInfoS2};
    for (int i = 0; i < 5; ++i) {
        out.layout_a[i] = a[i];
        out.layout_b[i] = b[i];
        out.layout_c[i] = c[i];
    }
    out.BatchNum = t.BatchNum;
    return out;
}

// What the compiler knows about a tiling replaces the numbers that came from the host.
inline void merge(ascendc_twin::MmTiling &, const MatmulConfig &config) {
    (void)config;
}
inline void merge_config(ascendc_twin::MmTiling &out, const MatmulConfig &config) {
    if (config.singleCoreM != 0) out.singleCoreM = static_cast<int32_t>(config.singleCoreM);
    if (config.singleCoreN != 0) out.singleCoreN = static_cast<int32_t>(config.singleCoreN);
    if (config.singleCoreK != 0) out.singleCoreK = static_cast<int32_t>(config.singleCoreK);
    if (config.basicM != 0) out.baseM = static_cast<int32_t>(config.basicM);
    if (config.basicN != 0) out.baseN = static_cast<int32_t>(config.basicN);
    if (config.basicK != 0) out.baseK = static_cast<int32_t>(config.basicK);
}
inline void merge(ascendc_twin::MmTiling &out, const MatmulApiStaticTiling &t) {
    const auto take = [](int32_t &to, int32_t from) {
        if (from != -1) to = from;
    };
    take(out.M, t.M);
    take(out.N, t.N);
    take(out.Ka, t.Ka);
    take(out.Kb, t.Kb);
    take(out.singleCoreM, t.singleCoreM);
    take(out.singleCoreN, t.singleCoreN);
    take(out.singleCoreK, t.singleCoreK);
    take(out.baseM, t.baseM);
    take(out.baseN, t.baseN);
    take(out.baseK, t.baseK);
    take(out.depthA1, t.depthA1);
    take(out.depthB1, t.depthB1);
    take(out.isBias, t.isBias);
    take(out.iterateOrder, t.iterateOrder);
    take(out.dbL0A, t.dbL0A);
    take(out.dbL0B, t.dbL0B);
    take(out.dbL0C, t.dbL0C);
}

}  // namespace twin_detail

// A whole tiling from a configuration with MatmulShapeParams.
template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE>
constexpr MatmulApiStaticTiling GetMatmulApiTiling(const MatmulConfig &config, int32_t l1Size = TOTAL_L1_SIZE) {
    MatmulApiStaticTiling t;
    t.cfg = config;
    if (config.singleCoreM == 0 || config.basicM == 0) return t;
    t.singleCoreM = static_cast<int32_t>(config.singleCoreM);
    t.singleCoreN = static_cast<int32_t>(config.singleCoreN);
    t.singleCoreK = static_cast<int32_t>(config.singleCoreK);
    t.baseM = static_cast<int32_t>(config.basicM);
    t.baseN = static_cast<int32_t>(config.basicN);
    t.baseK = static_cast<int32_t>(config.basicK);
    t.isBias = config.enableSetBias ? 1 : 0;
    t.iterateOrder = config.iterateOrder == IterateOrder::ORDER_N ? 1 : 0;
    ascendc_twin::SplitLimits limits;
    limits.l1 = l1Size;
    const ascendc_twin::SplitTypes types{twin_detail::size_in_bits<typename A_TYPE::T>(), twin_detail::size_in_bits<typename B_TYPE::T>(),
                                         static_cast<int32_t>(sizeof(typename BIAS_TYPE::T)), A_TYPE::isTrans, B_TYPE::isTrans};
    twin_detail::complete(t, ascendc_twin::split_l1({t.singleCoreM, t.singleCoreN, t.singleCoreK}, {t.baseM, t.baseN, t.baseK}, types, limits, config.enableSetBias));
    return t;
}

}  // namespace AscendC
