// How the tiling of a Matmul object cuts one core's part into base blocks.
#include "tiling/matmul_tiling.h"

#include <algorithm>

#include "../include/ascendc_twin/matmul/split.h"

namespace matmul_tiling {

namespace {

int32_t bits_of(DataType type) {
    switch (type) {
        case DataType::DT_INT4: return 4;
        case DataType::DT_INT8:
        case DataType::DT_UINT8:
        case DataType::DT_BOOL: return 8;
        case DataType::DT_FLOAT:
        case DataType::DT_INT32:
        case DataType::DT_UINT32: return 32;
        default: return 16;
    }
}

}  // namespace

int64_t MatmulApiTilingBase::Split(const int32_t (&single)[3], int32_t cores) {
    using namespace ascendc_twin;
    for (int i = 0; i < 3; ++i) {
        if (single[i] <= 0 || Whole(i) <= 0) return -1;
    }
    if (bits_of(a_.type) != bits_of(b_.type)) return -1;
    const SplitTypes types{bits_of(a_.type), bits_of(b_.type), bits_of(bias_.type) / 8, a_.transposed, b_.transposed};
    SplitLimits limits{l1_, l0a_, l0b_, double_c_ ? l0c_ / 2 : l0c_, bt_};
    SplitShape fixed{fixed_[0], fixed_[1], fixed_[2]};
    const bool in_ub = c_.pos == TPosition::VECIN || c_.pos == TPosition::VECCALC || c_.pos == TPosition::VECOUT;
    SplitShape base = split_base({single[0], single[1], single[2]}, fixed, types, limits, has_bias_, in_ub ? ub_ / 3 : 0);
    const auto limited = [](int32_t base_size, int32_t most, int32_t fix) { return fix > 0 || most <= 0 ? base_size : std::min(base_size, std::max(most / 16 * 16, 16)); };
    base = {limited(base.m, most_[0], fixed.m), limited(base.n, most_[1], fixed.n), limited(base.k, most_[2], fixed.k)};
    const ascendc_twin::Split depths = split_l1({single[0], single[1], single[2]}, base, types, limits, has_bias_);
    const int64_t a = int64_t{base.m} * base.k * types.bits_a / 8, b = int64_t{base.k} * base.n * types.bits_b / 8;
    const bool fits = a <= l0a_ && b <= l0b_ && int64_t{base.m} * base.n * 4 <= limits.l0c && (!has_bias_ || int64_t{base.n} * types.bias_bytes <= bt_);
    if (!depths.fits || !fits) return -1;
    TCubeTiling &t = result_;
    t = TCubeTiling();
    t.usedCoreNum = cores;
    t.M = org_[0] > 0 ? org_[0] : Whole(0);
    t.N = org_[1] > 0 ? org_[1] : Whole(1);
    t.Ka = org_[2] > 0 ? org_[2] : Whole(2);
    t.Kb = org_[3] > 0 ? org_[3] : Whole(2);
    t.singleCoreM = single[0];
    t.singleCoreN = single[1];
    t.singleCoreK = single[2];
    t.baseM = base.m;
    t.baseN = base.n;
    t.baseK = base.k;
    t.depthA1 = depths.depth_a;
    t.depthB1 = depths.depth_b;
    t.stepM = depths.step_m;
    t.stepN = depths.step_n;
    t.stepKa = depths.step_ka;
    t.stepKb = depths.step_kb;
    t.dbL0A = depths.db_a;
    t.dbL0B = depths.db_b;
    t.dbL0C = double_c_ ? 2 : 1;
    t.isBias = has_bias_ ? 1 : 0;
    t.iterateOrder = order_;
    t.shareL1Size = static_cast<int32_t>(a * depths.depth_a + b * depths.depth_b);
    t.shareL0CSize = static_cast<int32_t>(int64_t{base.m} * base.n * 4 * t.dbL0C);
    t.batchM = t.batchN = t.singleBatchM = t.singleBatchN = 1;
    t.depthAL1CacheUB = t.depthBL1CacheUB = 0;
    int32_t *const layouts[3][5] = {{&t.ALayoutInfoB, &t.ALayoutInfoS, &t.ALayoutInfoN, &t.ALayoutInfoG, &t.ALayoutInfoD},
                                    {&t.BLayoutInfoB, &t.BLayoutInfoS, &t.BLayoutInfoN, &t.BLayoutInfoG, &t.BLayoutInfoD},
                                    {&t.CLayoutInfoB, &t.CLayoutInfoS1, &t.CLayoutInfoN, &t.CLayoutInfoG, &t.CLayoutInfoS2}};
    for (int i = 0; i < 5; ++i) {
        *layouts[0][i] = layout_a_[i];
        *layouts[1][i] = layout_b_[i];
        *layouts[2][i] = layout_c_[i];
    }
    t.BatchNum = batch_;
    return 0;
}

int64_t MatmulApiTiling::Compute() {
    return Split({Whole(0), Whole(1), Whole(2)}, 1);
}

}  // namespace matmul_tiling
