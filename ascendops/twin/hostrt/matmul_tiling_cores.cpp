// How the tiling of a Matmul object divides the work among cores.
#include <algorithm>

#include "tiling/matmul_tiling.h"

namespace matmul_tiling {

namespace {

int32_t ceil_div(int32_t a, int32_t b) {
    return (a + b - 1) / b;
}
int32_t up(int32_t a, int32_t b) {
    return ceil_div(a, b) * b;
}

}  // namespace

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
// Kernels with base blocks of their own choice count on parts that are one block wide, as long as those cost at most this much more.
constexpr double kOneBlockWide = 1.3;

// The cut with the least time of the busiest core: its products, and what it reads, weighed by the bandwidth that a product needs.
// Where several cost the same, M is cut before N. A matrix that the kernel brings to L1 itself (TSCM) is whole on every core.
int64_t MultiCoreMatmulTiling::Compute() {
    const int32_t whole[3] = {Whole(0), Whole(1), Whole(2)};
    if (dim_ <= 0 || whole[0] <= 0 || whole[1] <= 0 || whole[2] <= 0) return -1;
    const auto part = [this, &whole](int axis, int32_t pieces) {
        if (single_[axis] > 0) return single_[axis];
        if ((axis == 0 && a_.pos == TPosition::TSCM) || (axis == 1 && b_.pos == TPosition::TSCM)) return whole[axis];
        const int32_t unit = std::max(align_[axis], 16);
        int32_t size = std::min(up(ceil_div(whole[axis], pieces), unit), whole[axis]);
        if (most_single_[axis] > 0) size = std::min(size, most_single_[axis]);
        return size;
    };
    const auto blocks = [this](int axis, int32_t size) { return fixed_[axis] > 0 && size % fixed_[axis] == 0; };
    struct Cut {
        double time = 0;
        int32_t sizes[3] = {0, 0, 0};
    } best, wide;
    const int32_t most_k = split_k_ ? dim_ : 1;
    for (int32_t kd = 1; kd <= most_k; ++kd) {
        for (int32_t md = dim_ / kd; md >= 1; --md) {
            for (int32_t nd = 1; md * nd * kd <= dim_; ++nd) {
                const int32_t m = part(0, md), n = part(1, nd), k = split_k_ || single_[2] > 0 ? part(2, kd) : whole[2];
                if (split_k_ && single_[2] <= 0 && whole[2] % k != 0) continue;  // kernels add up equal parts of K
                const double cores = double(ceil_div(whole[0], m)) * ceil_div(whole[1], n) * ceil_div(whole[2], k);
                const double time = double(up(m, 16)) * up(n, 16) * k + 100.0 * k * (double(m) + n) + (kd > 1 ? 200.0 * m * n : 0) + kPerCore * cores;
                if (best.sizes[0] == 0 || time < best.time) best = {time, {m, n, k}};
                if (n != fixed_[1] || !blocks(0, m)) continue;
                if (wide.sizes[0] == 0 || time < wide.time) wide = {time, {m, n, k}};
            }
        }
    }
    const Cut &chosen = wide.sizes[0] != 0 && wide.time <= best.time * kOneBlockWide ? wide : best;
    for (int i = 0; i < 3; ++i) dims_[i] = ceil_div(whole[i], chosen.sizes[i]);
    const int32_t cores = dims_[0] * dims_[1] * (split_k_ ? dims_[2] : 1);
    return Split({chosen.sizes[0], chosen.sizes[1], chosen.sizes[2]}, cores);
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

}  // namespace matmul_tiling
