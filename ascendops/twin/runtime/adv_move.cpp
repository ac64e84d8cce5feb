// TopK, Pad, DropOut.
#include <algorithm>
#include <climits>

#include "adv_rows.h"

namespace ascendc_twin {

namespace {

// Order of scores as integers; NaN comes first, -0 equals +0.
int32_t order_key(float value, bool largest) {
    const int32_t bits = static_cast<int32_t>(float_bits((largest ? value : -value) + 0.0f));
    return value != value ? INT_MAX : bits ^ ((bits >> 31) & INT_MAX);
}

uint32_t padded(uint32_t n, uint32_t size) { return (n * size + BLOCK - 1) / BLOCK * BLOCK / size; }

}  // namespace

void vec_top_k(Inst &inst, const TopKArgs &a) {
    const uint64_t all = uint64_t{a.outer} * a.inner;
    if (all == 0 || a.k == 0) {
        return;
    }
    if (a.k > a.n || a.n > a.inner) {
        finding("SORT-RANGE", "%s: k is %u, n %u and inner %u; needed is 1 <= k <= n <= inner", inst.api, a.k, a.n, a.inner);
        return;
    }
    inst.cycles += 48.0 + 4.0 * static_cast<double>(all);
    inst.moved += all * size_of(a.src.dt);
    const uint32_t value_row = a.small ? a.k : padded(a.k, size_of(a.value.dt)), index_row = a.small ? a.k : padded(a.k, 4);
    bool ok = reads(inst, a.src, all);
    ok = reads(inst, a.src_index, a.small ? all : a.inner) && ok;
    ok = reads(inst, a.finish, a.outer) && ok;
    ok = writes(inst, a.index, uint64_t{a.outer - 1} * index_row + a.k) && ok;
    if (!writes(inst, a.value, uint64_t{a.outer - 1} * value_row + a.k) || !ok) {
        return;
    }
    std::vector<float> x(a.n);
    std::vector<uint32_t> order(a.n);
    for (uint32_t r = 0; r < a.outer; ++r) {
        load_row(a.src, uint64_t{r} * a.inner, x.data(), a.n);
        for (uint32_t i = 0; i < a.n; ++i) order[i] = i;
        std::stable_sort(order.begin(), order.end(), [&](uint32_t i, uint32_t j) {
            return order_key(x[i], a.largest) > order_key(x[j], a.largest);
        });
        for (uint32_t i = 0; i < a.k; ++i) {
            auto index = static_cast<int32_t>(order[i]);
            const uint64_t from = (a.small ? uint64_t{r} * a.inner : 0) + order[i];
            if (a.src_index.given) std::memcpy(&index, a.src_index.p + from * 4, 4);
            if (a.finish.given && a.finish.p[r] != 0) index = static_cast<int32_t>(a.n);
            std::memcpy(a.index.p + (uint64_t{r} * index_row + i) * 4, &index, 4);
            store_one(a.value, uint64_t{r} * value_row + i, x[order[i]]);
        }
    }
}

void vec_pad(Inst &inst, const PadArgs &a) {
    if (a.rows == 0 || a.dst_stride == 0) {
        return;
    }
    const uint32_t size = size_of(a.dst.dt);
    charge_passes(inst, uint64_t{a.rows} * a.dst_stride, size, 4);
    const bool ok = reads(inst, a.src, uint64_t{a.rows - 1} * a.src_stride + a.width);
    if (!writes(inst, a.dst, uint64_t{a.rows} * a.dst_stride) || !ok) {
        return;
    }
    const auto value = static_cast<float>(a.value);
    const uint32_t bits = a.dst.dt == Dt::F16 ? half_pattern(value) : a.dst.dt == Dt::F32 ? float_bits(value)
                                                                                          : static_cast<uint32_t>(a.value);
    std::vector<uint8_t> out(uint64_t{a.rows} * a.dst_stride * size);
    for (uint64_t i = 0; i < out.size(); i += size) {
        std::memcpy(out.data() + i, &bits, size);
    }
    for (uint32_t r = 0; r < a.rows; ++r) {
        std::memcpy(out.data() + (uint64_t{r} * a.dst_stride + a.left) * size, a.src.p + uint64_t{r} * a.src_stride * size,
                    uint64_t{std::min(a.width, a.dst_stride - std::min(a.left, a.dst_stride))} * size);
    }
    std::memcpy(a.dst.p, out.data(), out.size());
}

void vec_drop_out(Inst &inst, const Span &dst, const Span &src, const Span &mask, float keep, uint32_t rows, uint32_t columns,
                  uint32_t mask_columns, bool bits) {
    const uint64_t all = uint64_t{rows} * columns;
    if (all == 0) {
        return;
    }
    charge_passes(inst, all, size_of(src.dt), 3);
    const uint64_t used = bits ? (columns + 7) / 8 : columns;
    bool ok = reads(inst, src, all);
    ok = touch(inst, mask, Rw::READ, Walk{0, used, rows, int64_t{mask_columns}, 1, 0}) && ok;
    if (!writes(inst, dst, all) || !ok) {
        return;
    }
    const float scale = 1.0f / keep;
    for (uint64_t i = 0; i < all; ++i) {
        const uint64_t column = i % columns;
        const uint8_t flag = mask.p[i / columns * mask_columns + (bits ? column / 8 : column)];
        const bool kept = bits ? ((flag >> (column % 8)) & 1u) != 0 : flag != 0;
        store_one(dst, i, kept ? load_one(src, i) * scale : 0.0f);
    }
}

}  // namespace ascendc_twin
