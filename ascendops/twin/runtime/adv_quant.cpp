// Quantisation of floating values to int8 and back.
#include <algorithm>
#include <cmath>

#include "adv_rows.h"

namespace ascendc_twin {

namespace {

// The parameter for element i; the uint64 form holds a float in its low half.
float parameter(const QuantValue &value, uint64_t i) {
    if (!value.tensor.given) {
        return value.scalar;
    }
    const uint64_t at = i / value.every % value.period;
    if (value.tensor.dt != Dt::U64) {
        return load_one(value.tensor, at);
    }
    float low;
    std::memcpy(&low, value.tensor.p + at * 8, 4);
    return low;
}

int8_t to_int8(float value) {
    return value != value ? 0 : static_cast<int8_t>(std::clamp(rint_f(value), -128.0f, 127.0f));
}

}  // namespace

void vec_quant(Inst &inst, const Span &dst, const Span &src, const QuantValue &scale, const QuantValue &offset, uint64_t n) {
    if (n == 0) {
        return;
    }
    charge_passes(inst, n, size_of(src.dt), 4);
    bool ok = reads(inst, src, n);
    ok = reads(inst, scale.tensor, std::min(scale.period, n)) && ok;
    ok = reads(inst, offset.tensor, std::min(offset.period, n)) && ok;
    if (!writes(inst, dst, n) || !ok) {
        return;
    }
    for (uint64_t i = 0; i < n; ++i) {
        const float x = half_rounded(load_one(src, i)), s = half_rounded(parameter(scale, i));
        const float y = half_rounded(half_rounded(x * s) + half_rounded(parameter(offset, i)));
        dst.p[i] = static_cast<uint8_t>(to_int8(y));
    }
}

void vec_dequant(Inst &inst, const Span &dst, const Span &src, const QuantValue &scale, uint32_t rows, uint32_t stride,
                 uint32_t dst_stride, uint32_t n) {
    if (rows == 0 || n == 0) {
        return;
    }
    charge_passes(inst, uint64_t{rows} * stride, 4, 3);
    bool ok = reads(inst, src, uint64_t{rows - 1} * stride + n);
    ok = reads(inst, scale.tensor, n) && ok;
    if (!writes(inst, dst, uint64_t{rows - 1} * dst_stride + n) || !ok) {
        return;
    }
    std::vector<float> row(n);
    for (uint32_t r = 0; r < rows; ++r) {
        for (uint32_t i = 0; i < n; ++i) {
            int32_t value;
            std::memcpy(&value, src.p + (uint64_t{r} * stride + i) * 4, 4);
            row[i] = static_cast<float>(value) * parameter(scale, i);
        }
        store_row(dst, uint64_t{r} * dst_stride, row.data(), n);
    }
}

void vec_anti_quant(Inst &inst, const AntiQuantArgs &a) {
    const uint64_t all = uint64_t{a.rows} * a.columns;
    if (all == 0) {
        return;
    }
    charge_passes(inst, all, 1, 5);
    bool ok = reads(inst, a.src, a.src.dt == Dt::I4 ? all / 2 : all);
    ok = reads(inst, a.scale.tensor, uint64_t{a.scale_rows} * a.scale_columns) && ok;
    ok = reads(inst, a.offset.tensor, uint64_t{a.offset_rows} * a.offset_columns) && ok;
    if (!writes(inst, a.dst, all) || !ok) {
        return;
    }
    const bool in_half = a.dst.dt == Dt::F16;
    const auto at = [&a](uint32_t r, uint32_t c, uint32_t rows, uint32_t columns) {
        return uint64_t{r} * rows / a.rows * columns + uint64_t{c} * columns / a.columns;
    };
    for (uint64_t i = 0; i < all; ++i) {
        const auto r = static_cast<uint32_t>(i / a.columns), c = static_cast<uint32_t>(i % a.columns);
        const auto packed = static_cast<int8_t>(a.src.dt == Dt::I4 ? a.src.p[i / 2] >> (i % 2 * 4) << 4 : a.src.p[i]);
        const auto x = static_cast<float>(a.src.dt == Dt::I4 ? packed >> 4 : packed);
        const float scale = a.scale.tensor.given ? load_one(a.scale.tensor, at(r, c, a.scale_rows, a.scale_columns)) : a.scale.scalar;
        const float offset =
            a.offset.tensor.given ? load_one(a.offset.tensor, at(r, c, a.offset_rows, a.offset_columns)) : a.offset.scalar;
        const float moved = in_half ? half_rounded(x + offset) : x + offset;
        store_one(a.dst, i, scale * moved);
    }
}

void vec_cast_dequant(Inst &inst, const Span &dst, const Span &src, bool per_lane, int half_block, uint64_t count) {
    if (count == 0) {
        return;
    }
    charge_passes(inst, count, 2, 1);
    // 16 results per block of the source; they fill one half of a block of dst.
    const auto target = [half_block](uint64_t i) { return i / 16 * BLOCK + (half_block != 0 ? 16 : 0) + i % 16; };
    const bool ok = reads(inst, src, count);
    if (!writes(inst, dst, target(count - 1) + 1) || !ok) {
        return;
    }
    for (uint64_t i = 0; i < count; ++i) {
        const Core::Deq &deq = core().deq[per_lane ? i % 16 : 0];
        int16_t value;
        std::memcpy(&value, src.p + i * 2, 2);
        const float result = rint_f(static_cast<float>(value) * deq.scale + static_cast<float>(deq.offset));
        dst.p[target(i)] = deq.sign ? static_cast<uint8_t>(to_int8(result))
                                    : static_cast<uint8_t>(std::clamp(result, 0.0f, 255.0f));
    }
}

}  // namespace ascendc_twin
