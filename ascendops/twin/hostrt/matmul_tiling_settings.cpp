// What a kernel's author tells the tiling of a Matmul object.
#include <algorithm>

#include "tiling/matmul_tiling.h"

namespace matmul_tiling {

namespace {

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
int32_t MatmulApiTilingBase::Whole(int axis) const {
    return shape_[axis] > 0 ? shape_[axis] : org_[axis];
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

}  // namespace matmul_tiling
