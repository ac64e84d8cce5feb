// Gradients and variants of SoftMax.

#include <cmath>

#include "adv_rows.h"
#include "vec_math.h"

namespace ascendc_twin {

namespace {

// x = exp(x - top); the sum of the first n.
float exponentials(float *x, uint32_t k, uint32_t n, float top) {
    exp_row(x, top, x, k);
    return row_sum(x, n);
}

}  // namespace

void vec_softmax_grad(Inst &inst, const SoftmaxGradArgs &a) {
    const uint64_t all = uint64_t{a.m} * a.k;
    if (all == 0 || a.n == 0) {
        return;
    }
    charge_passes(inst, all, size_of(a.src.dt), 5);
    bool ok = reads(inst, a.grad, all);
    ok = reads(inst, a.src, all) && ok;
    if (!writes(inst, a.dst, a.front ? stats(a.m, a.dst) : all) || !ok) {
        return;
    }
    std::vector<float> grad(a.k), x(a.k), room(a.k);
    for (uint32_t r = 0; r < a.m; ++r) {
        const uint64_t at = uint64_t{r} * a.k;
        load_row(a.grad, at, grad.data(), a.k);
        load_row(a.src, at, x.data(), a.k);
        for (uint32_t i = 0; i < a.k; ++i) {
            room[i] = grad[i] * x[i];
        }
        const float sum = row_sum(room.data(), a.n);
        if (a.front) {
            store_stat(a.dst, r, sum);
            continue;
        }
        for (uint32_t i = 0; i < a.k; ++i) {
            room[i] = (grad[i] - sum) * x[i];
        }
        store_row(a.dst, at, room.data(), a.k);
    }
}

void vec_log_softmax(Inst &inst, const Span &dst, const Span &sum, const Span &max, const Span &src, uint32_t m, uint32_t k,
                     uint32_t n) {
    const uint64_t all = uint64_t{m} * k;
    if (all == 0 || n == 0) {
        return;
    }
    charge_passes(inst, all, size_of(src.dt), 8);
    bool ok = reads(inst, src, all);
    ok = writes(inst, sum, stats(m, sum)) && ok;
    ok = writes(inst, max, stats(m, max)) && ok;
    if (!writes(inst, dst, all) || !ok) {
        return;
    }
    std::vector<float> x(k);
    for (uint32_t r = 0; r < m; ++r) {
        load_row(src, uint64_t{r} * k, x.data(), k);
        const float top = row_max(x.data(), n), total = exponentials(x.data(), k, n, top);
        for (uint32_t i = 0; i < k; ++i) {
            x[i] = std::log10(x[i] / total);
        }
        store_row(dst, uint64_t{r} * k, x.data(), k);
        store_stat(sum, r, total);
        store_stat(max, r, top);
    }
}

bool vec_adjust_softmax(Inst &inst, const Span &res, const Span &max, uint32_t from, float to, uint32_t m, uint32_t k,
                        bool dense_max) {
    const uint64_t all = uint64_t{m} * k;
    if (all == 0) {
        return false;
    }
    charge_passes(inst, all, size_of(res.dt), 1);
    const bool ok = reads(inst, max, dense_max ? m : stats(m, max));
    if (!writes(inst, res, all) || !ok) {
        return false;
    }
    const uint32_t size = size_of(max.dt), step = dense_max ? 1 : BLOCK / size;
    const std::vector<float> row(k, to);
    bool found = false;
    for (uint32_t r = 0; r < m; ++r) {
        uint32_t bits = 0;
        std::memcpy(&bits, max.p + uint64_t{r} * step * size, size);
        if (bits == from) {
            found = true;
            store_row(res, uint64_t{r} * k, row.data(), k);
        }
    }
    return found;
}

namespace {

bool v3_operands(Inst &inst, const SoftmaxV3Args &a) {
    const uint64_t all = uint64_t{a.m} * a.k;
    bool ok = reads(inst, a.src, all);
    ok = writes(inst, a.dst, all) && ok;
    ok = writes(inst, a.mean, stats(a.m, a.mean)) && ok;
    ok = writes(inst, a.sum, stats(a.m, a.sum)) && ok;
    ok = writes(inst, a.max, stats(a.m, a.max)) && ok;
    if (!a.update) {
        return ok;
    }
    ok = writes(inst, a.exp_max, stats(a.m, a.exp_max)) && ok;
    ok = reads(inst, a.in_mean, stats(a.m, a.in_mean)) && ok;
    ok = reads(inst, a.in_sum, stats(a.m, a.in_sum)) && ok;
    return reads(inst, a.in_max, stats(a.m, a.in_max)) && ok;
}

// The part whose mean column c counts towards, of 8: the first 512 columns are folded by eights to 64 sums, the others are added to these 64
// as they come (the pseudocode of SoftmaxFlashV3's page; asc-devkit's example has the same reference).
uint32_t part_of(uint32_t c) { return c < 512 ? c / 64 : c % 64 / 8; }

// Takes (mean of the row - mean of its part) * scale off every element; the mean of the row.
float centre_parts(float *x, const SoftmaxV3Args &a, float scale) {
    const uint32_t width = a.k / a.parts;
    const float mean = row_sum(x, a.k) / static_cast<float>(a.k);
    std::vector<float> part(std::max(a.parts, 8U));
    for (uint32_t c = 0; c < a.k; ++c) {
        part[part_of(c)] += x[c];
    }
    for (uint32_t p = 0; p < a.parts; ++p) {
        const float shift = (mean - part[p] / static_cast<float>(a.base)) * scale;
        for (uint32_t i = 0; i < width; ++i) {
            x[size_t{p} * width + i] -= shift;
        }
    }
    return mean;
}

}  // namespace

void vec_softmax_v3(Inst &inst, const SoftmaxV3Args &a) {
    if (a.m == 0 || a.k == 0 || a.parts == 0 || a.base == 0) {
        return;
    }
    charge_passes(inst, uint64_t{a.m} * a.k, size_of(a.src.dt), 12);
    if (!v3_operands(inst, a)) {
        return;
    }
    const float scale = a.alpha / (1.0f - a.alpha);
    std::vector<float> row(a.k);
    for (uint32_t r = 0; r < a.m; ++r) {
        float *x = row.data();
        load_row(a.src, uint64_t{r} * a.k, x, a.k);
        const float here = centre_parts(x, a, scale);
        const float before = a.update ? load_stat(a.in_mean, r) : 0.0f;
        const float loop = static_cast<float>(a.loop);
        const float mean = a.update ? (here + before * (loop - 1.0f)) / loop : here;
        const float shift = (here - mean) * scale;
        float top = shift + row_max(x, a.k), carried = 0;
        if (a.update) {
            carried = load_stat(a.in_max, r) + (before - mean) * scale;
            top = std::max(top, carried);
        }
        float sum = exponentials(x, a.k, a.k, top - shift);
        if (a.update) {
            const float factor = exp_f(carried - top);
            sum += factor * load_stat(a.in_sum, r);
            store_stat(a.exp_max, r, factor);
        }
        store_row(a.dst, uint64_t{r} * a.k, x, a.k);
        store_stat(a.mean, r, mean);
        store_stat(a.sum, r, sum);
        store_stat(a.max, r, top);
    }
}

}  // namespace ascendc_twin
