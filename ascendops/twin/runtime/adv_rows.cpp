// Maximum and sum of a row of floats.
#include "adv_rows.h"

#include "vec_math.h"
#include "vec_sums.h"

namespace ascendc_twin {

namespace {

float max_in_order(const float *x, size_t n) {
    float best = x[0];
    for (size_t i = 1; i < n; ++i) {
        best = (x[i] > best || x[i] != x[i]) ? x[i] : best;
    }
    return best;
}

}  // namespace

float row_max(const float *x, size_t n) {
    constexpr size_t LANES = 32;
    if (n < 2 * LANES) {
        return max_in_order(x, n);
    }
    float best[LANES];
    uint32_t unordered[LANES] = {};
    std::memcpy(best, x, sizeof best);
    const size_t whole = n / LANES * LANES;
    for (size_t i = 0; i < whole; i += LANES) {
        for (size_t j = 0; j < LANES; ++j) {
            best[j] = x[i + j] > best[j] ? x[i + j] : best[j];
            unordered[j] |= x[i + j] != x[i + j] ? 1u : 0u;
        }
    }
    float top = max_in_order(best, LANES);
    uint32_t odd = 0;
    for (size_t j = 0; j < LANES; ++j) {
        odd |= unordered[j];
    }
    for (size_t i = whole; i < n; ++i) {
        top = x[i] > top ? x[i] : top;
        odd |= x[i] != x[i] ? 1u : 0u;
    }
    // Which zero or which NaN comes out is decided by their order.
    return odd != 0 || top == 0 ? max_in_order(x, n) : top;
}

void exp_row(const float *x, float top, float *out, size_t n) {
    size_t i = 0;
    for (; i + PAIR <= n; i += PAIR) store_pair(exp_of(load_pair(x + i) - top), out + i);
    for (; i < n; ++i) out[i] = exp_f(x[i] - top);
}

float row_sum(const float *x, size_t n) {
    constexpr size_t TREE = 64, MOST = BATCH * TREE;
    float room[MOST], sums[BATCH_LANES], total = 0;
    for (size_t i = 0; i < n; i += MOST) {
        size_t m = std::min(MOST, n - i);
        const float *from = x + i;
        if (m % TREE != 0) {
            const size_t padded = (m + TREE - 1) / TREE * TREE;
            std::memcpy(room, from, m * sizeof(float));
            std::fill(room + m, room + padded, 0.0f);
            m = padded;
            from = room;
        }
        repeat_sums(reinterpret_cast<const uint8_t *>(from), m / TREE, false, sums);
        for (size_t j = 0; j < m / TREE; ++j) {
            total = i == 0 && j == 0 ? sums[j] : total + sums[j];
        }
    }
    return total;
}

}  // namespace ascendc_twin
