// Reductions of one axis of a matrix, and running sums.
#include <algorithm>
#include <cstdint>

#include "adv_rows.h"

namespace ascendc_twin {

namespace {

float folded(Fold fold, float a, float b) {
    switch (fold) {
        case Fold::MAX: return b > a || b != b ? b : a;
        case Fold::MIN: return b < a || b != b ? b : a;
        case Fold::PROD: return a * b;
        case Fold::ANY: return a != 0.0f || b != 0.0f ? 1.0f : 0.0f;
        case Fold::ALL: return a != 0.0f && b != 0.0f ? 1.0f : 0.0f;
        default: return a + b;
    }
}

void load_numbers(const Span &span, uint64_t at, float *x, size_t n) {
    if (span.dt != Dt::U8) {
        load_row(span, at, x, n);
        return;
    }
    for (size_t i = 0; i < n; ++i) x[i] = span.p[at + i];
}
void store_number(const Span &span, uint64_t at, float value) {
    if (span.dt != Dt::U8) {
        store_one(span, at, value);
    } else {
        span.p[at] = static_cast<uint8_t>(value);
    }
}

// The result of n values; sums are trees of 64, the rest goes in order.
float fold_all(Fold fold, const float *x, size_t n) {
    if (fold == Fold::SUM || fold == Fold::MEAN) {
        return row_sum(x, n) * (fold == Fold::MEAN ? 1.0f / static_cast<float>(n) : 1.0f);
    }
    float result = fold == Fold::ANY || fold == Fold::ALL ? folded(fold, x[0], x[0]) : x[0];
    for (size_t i = 1; i < n; ++i) {
        result = folded(fold, result, x[i]);
    }
    return result;
}

}  // namespace

void vec_fold(Inst &inst, Fold fold, const Span &dst, const Span &src, uint32_t rows, uint32_t columns, uint32_t stride,
              bool by_row) {
    if (rows == 0 || columns == 0) {
        return;
    }
    charge_passes(inst, uint64_t{rows} * stride, size_of(src.dt), 2);
    const bool ok = reads(inst, src, uint64_t{rows - 1} * stride + columns);
    if (!writes(inst, dst, by_row ? rows : columns) || !ok) {
        return;
    }
    std::vector<float> x(uint64_t{rows} * columns), line(by_row ? columns : rows);
    for (uint32_t r = 0; r < rows; ++r) {
        load_numbers(src, uint64_t{r} * stride, x.data() + uint64_t{r} * columns, columns);
    }
    for (uint32_t i = 0; i < (by_row ? rows : columns); ++i) {
        for (uint32_t j = 0; j < line.size(); ++j) {
            line[j] = by_row ? x[uint64_t{i} * columns + j] : x[uint64_t{j} * columns + i];
        }
        store_number(dst, i, fold_all(fold, line.data(), line.size()));
    }
}

void vec_xor_sum(Inst &inst, const Span &dst, const Span &a, const Span &b, uint32_t n) {
    if (n == 0) {
        return;
    }
    charge_passes(inst, n, 2, 4);
    bool ok = reads(inst, a, n);
    ok = reads(inst, b, n) && ok;
    if (!writes(inst, dst, 1) || !ok) {
        return;
    }
    int64_t sum = 0;
    for (uint32_t i = 0; i < n; ++i) {
        int16_t x, y;
        std::memcpy(&x, a.p + size_t{i} * 2, 2);
        std::memcpy(&y, b.p + size_t{i} * 2, 2);
        sum += static_cast<int16_t>(x ^ y);
    }
    const auto result = static_cast<int16_t>(std::clamp<int64_t>(sum, INT16_MIN, INT16_MAX));
    std::memcpy(dst.p, &result, 2);
}

void vec_cumsum(Inst &inst, const Span &dst, const Operand &last, const Span &src, uint32_t rows, uint32_t columns,
                bool along_row) {
    const uint64_t all = uint64_t{rows} * columns;
    if (all == 0) {
        return;
    }
    charge_passes(inst, all, size_of(src.dt), 4);
    bool ok = reads(inst, src, all);
    ok = writes(inst, last, columns) && ok;
    if (!writes(inst, dst, all) || !ok) {
        return;
    }
    std::vector<float> x(all);
    load_row(src, 0, x.data(), all);
    for (uint64_t i = along_row ? 1 : columns; i < all; ++i) {
        if (!along_row || i % columns != 0) {
            x[i] += x[along_row ? i - 1 : i - columns];
        }
    }
    store_row(dst, 0, x.data(), all);
    if (last.given) {
        store_row(last, 0, x.data() + all - columns, columns);
    }
}

}  // namespace ascendc_twin
