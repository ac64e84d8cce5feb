// The tiling classes of the Matmul object.
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
int32_t ceil_div(int32_t a, int32_t b) {
    return (a + b - 1) / b;
}
int32_t up(int32_t a, int32_t b) {
    return ceil_div(a, b) * b;
}
void put(int32_t (&to)[5], int32_t b, int32_t s, int32_t n, int32_t g, int32_t d) {
    const int32_t from[5] = {b, s, n, g, d};
    std::copy(from, from + 5, to);
}

}  // namespace

MatmulApiTilingBase::MatmulApiTilingBase() : l1_(512 * 1024), l0c_(128 * 1024), ub_(192 * 1024), l0a_(64 * 1024), l0b_(64 * 1024) {}
MatmulApiTilingBase::MatmulApiTilingBase(const platform_ascendc::PlatformAscendC &platform) : MatmulApiTilingBase() {
    using platform_ascendc::CoreMemType;
    const auto read = [&platform](CoreMemType type, int64_t &to) {
        uint64_t size = 0;
        platform.GetCoreMemSize(type, size);
        if (size != 0) to = static_cast<int64_t>(size);
    };
    read(CoreMemType::L1, l1_);
    read(CoreMemType::L0_C, l0c_);
    read(CoreMemType::UB, ub_);
    read(CoreMemType::L0_A, l0a_);
    read(CoreMemType::L0_B, l0b_);
    read(CoreMemType::BT, bt_);
}
MatmulApiTilingBase::MatmulApiTilingBase(const PlatformInfo &platform) : MatmulApiTilingBase() {
    l1_ = static_cast<int64_t>(platform.l1Size);
    l0c_ = static_cast<int64_t>(platform.l0CSize);
    ub_ = static_cast<int64_t>(platform.ubSize);
    l0a_ = static_cast<int64_t>(platform.l0ASize);
    l0b_ = static_cast<int64_t>(platform.l0BSize);
}

int32_t MatmulApiTilingBase::SetAType(TPosition pos, CubeFormat format, DataType type, bool transposed) {
    a_ = {pos, format, type, transposed};
    return 0;
}
int32_t MatmulApiTilingBase::SetBType(TPosition pos, CubeFormat format, DataType type, bool transposed) {
    b_ = {pos, format, type, transposed};
    return 0;
}
int32_t MatmulApiTilingBase::SetCType(TPosition pos, CubeFormat format, DataType type) {
    c_ = {pos, format, type, false};
    return 0;
}
int32_t MatmulApiTilingBase::SetBiasType(TPosition pos, CubeFormat format, DataType type) {
    bias_ = {pos, format, type, false};
    return 0;
}
int32_t MatmulApiTilingBase::SetShape(int32_t m, int32_t n, int32_t k) {
    const int32_t from[3] = {m, n, k};
    std::copy(from, from + 3, shape_);
    return 0;
}
int32_t MatmulApiTilingBase::SetOrgShape(int32_t m, int32_t n, int32_t ka, int32_t kb) {
    const int32_t from[4] = {m, n, ka, kb};
    std::copy(from, from + 4, org_);
    return 0;
}
int32_t MatmulApiTilingBase::SetALayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d) {
    put(layout_a_, b, s, n, g, d);
    return 0;
}
int32_t MatmulApiTilingBase::SetBLayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d) {
    put(layout_b_, b, s, n, g, d);
    return 0;
}
int32_t MatmulApiTilingBase::SetCLayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d) {
    put(layout_c_, b, s, n, g, d);
    return 0;
}
int32_t MatmulApiTilingBase::SetBatchInfoForNormal(int32_t batchA, int32_t batchB, int32_t m, int32_t n, int32_t k) {
    put(layout_a_, batchA, m, 1, 1, k);
    put(layout_b_, batchB, n, 1, 1, k);
    put(layout_c_, std::max(batchA, batchB), m, 1, 1, n);
    return 0;
}
int32_t MatmulApiTilingBase::SetBatchNum(int32_t batch) {
    batch_ = batch;
    return 0;
}
int32_t MatmulApiTilingBase::EnableBias(bool on) {
    has_bias_ = on;
    return 0;
}
int32_t MatmulApiTilingBase::SetFixSplit(int32_t baseM, int32_t baseN, int32_t baseK) {
    const int32_t from[3] = {baseM, baseN, baseK};
    for (int i = 0; i < 3; ++i) fixed_[i] = std::max(from[i], 0);
    return 0;
}
int32_t MatmulApiTilingBase::SetBufferSpace(int32_t l1, int32_t l0c, int32_t ub, int32_t bt) {
    if (l1 >= 0) l1_ = std::min<int64_t>(l1_, l1);
    if (l0c >= 0) l0c_ = std::min<int64_t>(l0c_, l0c);
    if (ub >= 0) ub_ = std::min<int64_t>(ub_, ub);
    if (bt > 0) bt_ = std::min<int64_t>(bt_, bt);
    return 0;
}
int32_t MatmulApiTilingBase::SetTraverse(MatrixTraverse order) {
    order_ = order == MatrixTraverse::FIRSTN ? 1 : 0;
    return 0;
}
int32_t MatmulApiTilingBase::SetSplitRange(int32_t maxM, int32_t maxN, int32_t maxK, int32_t, int32_t, int32_t) {
    const int32_t from[3] = {maxM, maxN, maxK};
    for (int i = 0; i < 3; ++i) most_[i] = std::max(from[i], 0);
    return 0;
}
int32_t MatmulApiTilingBase::SetDoubleBuffer(bool, bool, bool c, bool, bool, bool) {
    double_c_ = c;
    return 0;
}
void MatmulApiTilingBase::SetMatmulConfigParams(int32_t, bool, ScheduleType, MatrixTraverse order, bool) {
    if (order != MatrixTraverse::NOSET) SetTraverse(order);
}
void MatmulApiTilingBase::SetMatmulConfigParams(const MatmulConfigParams &params) {
    SetMatmulConfigParams(params.mmConfigType, params.enableL1CacheUB, params.scheduleType, params.traverse, params.enVecND2NZ);
}
int32_t MatmulApiTilingBase::SetSparse(bool on) {
    sparse_ = on;
    return 0;
}

int64_t MatmulApiTilingBase::Split(const int32_t (&single)[3], int32_t cores) {
    using namespace ascendc_twin;
    for (int i = 0; i < 3; ++i) {
        if (single[i] <= 0 || shape_[i] <= 0) return -1;
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
    t.M = org_[0] > 0 ? org_[0] : shape_[0];
    t.N = org_[1] > 0 ? org_[1] : shape_[1];
    t.Ka = org_[2] > 0 ? org_[2] : shape_[2];
    t.Kb = org_[3] > 0 ? org_[3] : shape_[2];
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

int64_t MatmulApiTilingBase::GetTiling(TCubeTiling &tiling) {
    const int64_t status = Compute();
    if (status == 0) tiling = result_;
    return status;
}

int64_t MatmulApiTilingBase::GetTiling(optiling::TCubeTiling &tiling) {
    const int64_t status = Compute();
    if (status != 0) return status;
    const TCubeTiling &t = result_;
#define ASCENDOPS_COPY(FIELD) tiling.set_##FIELD(t.FIELD)
    ASCENDOPS_COPY(usedCoreNum);
    ASCENDOPS_COPY(M);
    ASCENDOPS_COPY(N);
    ASCENDOPS_COPY(Ka);
    ASCENDOPS_COPY(Kb);
    ASCENDOPS_COPY(singleCoreM);
    ASCENDOPS_COPY(singleCoreN);
    ASCENDOPS_COPY(singleCoreK);
    ASCENDOPS_COPY(baseM);
    ASCENDOPS_COPY(baseN);
    ASCENDOPS_COPY(baseK);
    ASCENDOPS_COPY(depthA1);
    ASCENDOPS_COPY(depthB1);
    ASCENDOPS_COPY(stepM);
    ASCENDOPS_COPY(stepN);
    ASCENDOPS_COPY(isBias);
    ASCENDOPS_COPY(transLength);
    ASCENDOPS_COPY(iterateOrder);
    ASCENDOPS_COPY(shareMode);
    ASCENDOPS_COPY(shareL1Size);
    ASCENDOPS_COPY(shareL0CSize);
    ASCENDOPS_COPY(shareUbSize);
    ASCENDOPS_COPY(batchM);
    ASCENDOPS_COPY(batchN);
    ASCENDOPS_COPY(singleBatchM);
    ASCENDOPS_COPY(singleBatchN);
    ASCENDOPS_COPY(stepKa);
    ASCENDOPS_COPY(stepKb);
    ASCENDOPS_COPY(depthAL1CacheUB);
    ASCENDOPS_COPY(depthBL1CacheUB);
    ASCENDOPS_COPY(dbL0A);
    ASCENDOPS_COPY(dbL0B);
    ASCENDOPS_COPY(dbL0C);
    ASCENDOPS_COPY(ALayoutInfoB);
    ASCENDOPS_COPY(ALayoutInfoS);
    ASCENDOPS_COPY(ALayoutInfoN);
    ASCENDOPS_COPY(ALayoutInfoG);
    ASCENDOPS_COPY(ALayoutInfoD);
    ASCENDOPS_COPY(BLayoutInfoB);
    ASCENDOPS_COPY(BLayoutInfoS);
    ASCENDOPS_COPY(BLayoutInfoN);
    ASCENDOPS_COPY(BLayoutInfoG);
    ASCENDOPS_COPY(BLayoutInfoD);
    ASCENDOPS_COPY(CLayoutInfoB);
    ASCENDOPS_COPY(CLayoutInfoS1);
    ASCENDOPS_COPY(CLayoutInfoN);
    ASCENDOPS_COPY(CLayoutInfoG);
    ASCENDOPS_COPY(CLayoutInfoS2);
    ASCENDOPS_COPY(BatchNum);
#undef ASCENDOPS_COPY
    return 0;
}

int64_t MatmulApiTiling::Compute() {
    return Split({shape_[0], shape_[1], shape_[2]}, 1);
}

int32_t MultiCoreMatmulTiling::SetDim(int32_t dim) {
    dim_ = dim;
    return dim > 0 ? 0 : -1;
}
int32_t MultiCoreMatmulTiling::SetSingleShape(int32_t m, int32_t n, int32_t k) {
    const int32_t from[3] = {m, n, k};
    for (int i = 0; i < 3; ++i) single_[i] = std::max(from[i], 0);
    return 0;
}
int32_t MultiCoreMatmulTiling::SetSingleRange(int32_t maxM, int32_t maxN, int32_t maxK, int32_t, int32_t, int32_t) {
    const int32_t from[3] = {maxM, maxN, maxK};
    for (int i = 0; i < 3; ++i) most_single_[i] = std::max(from[i], 0);
    return 0;
}
int32_t MultiCoreMatmulTiling::SetAlignSplit(int32_t m, int32_t n, int32_t k) {
    const int32_t from[3] = {m, n, k};
    for (int i = 0; i < 3; ++i) align_[i] = std::max(from[i], 0);
    return 0;
}
int32_t MultiCoreMatmulTiling::GetSingleShape(int32_t &m, int32_t &n, int32_t &k) {
    m = result_.singleCoreM;
    n = result_.singleCoreN;
    k = result_.singleCoreK;
    return 0;
}
int32_t MultiCoreMatmulTiling::GetCoreNum(int32_t &dim, int32_t &mDim, int32_t &nDim) {
    dim = result_.usedCoreNum;
    mDim = dims_[0];
    nDim = dims_[1];
    return 0;
}

// Starting a core costs as much as this many products.
constexpr double kPerCore = 1.5e5;

// The cut with the least time of the busiest core: its products, and what it reads, weighed by the bandwidth that a product needs.
int64_t MultiCoreMatmulTiling::Compute() {
    if (dim_ <= 0 || shape_[0] <= 0 || shape_[1] <= 0 || shape_[2] <= 0) return -1;
    const auto part = [this](int axis, int32_t pieces) {
        if (single_[axis] > 0) return single_[axis];
        const int32_t unit = std::max(align_[axis], 16);
        int32_t size = std::min(up(ceil_div(shape_[axis], pieces), unit), shape_[axis]);
        if (most_single_[axis] > 0) size = std::min(size, most_single_[axis]);
        return size;
    };
    const int32_t most_k = split_k_ ? dim_ : 1;
    double best = 0;
    int32_t chosen[3] = {0, 0, 0};
    for (int32_t kd = 1; kd <= most_k; ++kd) {
        for (int32_t md = 1; md * kd <= dim_; ++md) {
            for (int32_t nd = 1; md * nd * kd <= dim_; ++nd) {
                const int32_t m = part(0, md), n = part(1, nd), k = split_k_ || single_[2] > 0 ? part(2, kd) : shape_[2];
                if (split_k_ && single_[2] <= 0 && shape_[2] % k != 0) continue;  // kernels add up equal parts of K
                const double cores = double(ceil_div(shape_[0], m)) * ceil_div(shape_[1], n) * ceil_div(shape_[2], k);
                const double time = double(up(m, 16)) * up(n, 16) * k + 100.0 * k * (double(m) + n) + (kd > 1 ? 200.0 * m * n : 0) + kPerCore * cores;
                if (chosen[0] != 0 && time >= best) continue;
                best = time;
                const int32_t sizes[3] = {m, n, k};
                std::copy(sizes, sizes + 3, chosen);
            }
        }
    }
    for (int i = 0; i < 3; ++i) dims_[i] = ceil_div(shape_[i], chosen[i]);
    const int32_t cores = dims_[0] * dims_[1] * (split_k_ ? dims_[2] : 1);
    return Split({chosen[0], chosen[1], chosen[2]}, cores);
}

int32_t BatchMatmulTiling::SetBatch(int32_t batchM, int32_t batchN) {
    batches_[0] = batchM;
    batches_[1] = batchN;
    return 0;
}
int32_t BatchMatmulTiling::SetSingleBatch(int32_t m, int32_t n) {
    single_batches_[0] = m;
    single_batches_[1] = n;
    return 0;
}
int32_t BatchMatmulTiling::GetCoreNum(int32_t &dim, int32_t &mDim, int32_t &nDim, int32_t &batchCoreM, int32_t &batchCoreN) {
    MultiCoreMatmulTiling::GetCoreNum(dim, mDim, nDim);
    batchCoreM = single_batches_[0] > 0 ? ceil_div(batches_[0], single_batches_[0]) : 1;
    batchCoreN = single_batches_[1] > 0 ? ceil_div(batches_[1], single_batches_[1]) : 1;
    return 0;
}

int32_t MatmulGetTmpBufSizeV2(TCubeTiling &tiling, SysTilingTempBufSize &size) {
    size.ubSize = tiling.shareUbSize;
    size.l1Size = tiling.shareL1Size;
    size.l0cSize = tiling.shareL0CSize;
    return 0;
}
int32_t MatmulGetTmpBufSize(optiling::TCubeTiling &tiling, SysTilingTempBufSize &size) {
    size.ubSize = tiling.get_shareUbSize();
    size.l1Size = tiling.get_shareL1Size();
    size.l0cSize = tiling.get_shareL0CSize();
    return 0;
}
int32_t MultiCoreMatmulGetTmpBufSize(optiling::TCubeTiling &tiling, SysTilingTempBufSize &size) {
    return MatmulGetTmpBufSize(tiling, size);
}
int32_t MultiCoreMatmulGetTmpBufSizeV2(TCubeTiling &tiling, SysTilingTempBufSize &size) {
    return MatmulGetTmpBufSizeV2(tiling, size);
}
int32_t BatchMatmulGetTmpBufSize(optiling::TCubeTiling &tiling, SysTilingTempBufSize &size) {
    return MatmulGetTmpBufSize(tiling, size);
}
int32_t BatchMatmulGetTmpBufSizeV2(TCubeTiling &tiling, SysTilingTempBufSize &size) {
    return MatmulGetTmpBufSizeV2(tiling, size);
}

}  // namespace matmul_tiling
