// Gradients of LayerNorm, and Welford's running mean and variance.

#include <cmath>

#include "adv_rows.h"

namespace ascendc_twin {

void vec_layer_norm_grad(Inst &inst, const LayerNormGradArgs &a) {
    const uint64_t all = uint64_t{a.rows} * a.stride;
    if (all == 0 || a.n == 0) {
        return;
    }
    charge_passes(inst, all, size_of(a.x.dt), 16);
    bool ok = reads(inst, a.dy, all);
    ok = reads(inst, a.x, all) && ok;
    ok = reads(inst, a.variance, a.rows) && ok;
    ok = reads(inst, a.mean, a.rows) && ok;
    ok = reads(inst, a.gamma, a.stride) && ok;
    ok = writes(inst, a.for_gamma, all) && ok;
    if (!writes(inst, a.dx, all) || !ok) {
        return;
    }
    std::vector<float> gamma(a.stride), g(a.stride), x(a.stride), room(a.stride);
    load_row(a.gamma, 0, gamma.data(), a.stride);
    const float scale = 1.0f / static_cast<float>(a.n);
    for (uint32_t r = 0; r < a.rows; ++r) {
        const uint64_t at = uint64_t{r} * a.stride;
        load_row(a.dy, at, g.data(), a.stride);
        load_row(a.x, at, x.data(), a.stride);
        const float mean = load_one(a.mean, r), rstd = 1.0f / std::sqrt(load_one(a.variance, r) + a.epsilon);
        for (uint32_t i = 0; i < a.stride; ++i) {
            g[i] *= gamma[i];
            x[i] -= mean;
            room[i] = g[i] * x[i];
        }
        const float d_variance = -0.5f * row_sum(room.data(), a.n) * rstd * rstd * rstd;
        const float d_mean = -row_sum(g.data(), a.n) * rstd + d_variance * scale * -2.0f * row_sum(x.data(), a.n);
        for (uint32_t i = 0; i < a.stride; ++i) {
            room[i] = x[i] * rstd;
            g[i] = g[i] * rstd + d_variance * 2.0f * scale * x[i] + d_mean * scale;
        }
        store_row(a.for_gamma, at, room.data(), a.stride);
        store_row(a.dx, at, g.data(), a.stride);
    }
}

void vec_layer_norm_grad_beta(Inst &inst, const Span &d_gamma, const Span &d_beta, const Span &for_gamma, const Span &dy,
                              uint32_t rows, uint32_t stride) {
    const uint64_t all = uint64_t{rows} * stride;
    if (all == 0) {
        return;
    }
    charge_passes(inst, all, size_of(dy.dt), 4);
    bool ok = reads(inst, for_gamma, all);
    ok = reads(inst, dy, all) && ok;
    ok = writes(inst, d_gamma, stride) && ok;
    if (!writes(inst, d_beta, stride) || !ok) {
        return;
    }
    std::vector<float> g(stride), f(stride), sum_gamma(stride), sum_beta(stride);
    for (uint32_t r = 0; r < rows; ++r) {
        load_row(dy, uint64_t{r} * stride, g.data(), stride);
        load_row(for_gamma, uint64_t{r} * stride, f.data(), stride);
        for (uint32_t i = 0; i < stride; ++i) {
            sum_gamma[i] += g[i] * f[i];
            sum_beta[i] += g[i];
        }
    }
    store_row(d_gamma, 0, sum_gamma.data(), stride);
    store_row(d_beta, 0, sum_beta.data(), stride);
}

void vec_welford_update(Inst &inst, const WelfordUpdateArgs &a) {
    const uint32_t all = a.in_place ? a.length : a.computed;
    if (all == 0) {
        return;
    }
    charge_passes(inst, all, 4, 6);
    bool ok = reads(inst, a.x, a.computed);
    ok = reads(inst, a.in_mean, all) && ok;
    ok = reads(inst, a.in_variance, all) && ok;
    ok = writes(inst, a.mean, all) && ok;
    if (!writes(inst, a.variance, all) || !ok) {
        return;
    }
    std::vector<float> x(a.computed), mean(all), variance(all);
    load_row(a.x, 0, x.data(), a.computed);
    load_row(a.in_mean, 0, mean.data(), all);
    load_row(a.in_variance, 0, variance.data(), all);
    for (uint32_t i = 0; i < a.computed; ++i) {
        const float before = x[i] - mean[i];
        mean[i] += before * a.reciprocal;
        variance[i] += before * (x[i] - mean[i]);
    }
    store_row(a.mean, 0, mean.data(), all);
    store_row(a.variance, 0, variance.data(), all);
}

void vec_welford_finalize(Inst &inst, const WelfordFinalizeArgs &a) {
    if (a.length == 0) {
        return;
    }
    charge_passes(inst, a.length, 4, 8);
    bool ok = reads(inst, a.in_mean, a.length);
    ok = reads(inst, a.in_variance, a.length) && ok;
    ok = reads(inst, a.counts, a.length) && ok;
    ok = writes(inst, a.mean, 1) && ok;
    if (!writes(inst, a.variance, 1) || !ok) {
        return;
    }
    std::vector<float> weight(a.length), mean(a.length), variance(a.length), room(a.length);
    load_row(a.in_mean, 0, mean.data(), a.length);
    load_row(a.in_variance, 0, variance.data(), a.length);
    const bool even = !a.counts.given && a.tail == 0;
    for (uint32_t i = 0; i < a.length; ++i) {
        int32_t count = static_cast<int32_t>(even ? a.updates : i < a.head_length ? a.head : a.tail);
        if (a.counts.given) std::memcpy(&count, a.counts.p + size_t{i} * 4, 4);
        weight[i] = static_cast<float>(count);
        room[i] = mean[i] * (even ? 1.0f : weight[i]);
    }
    const float total = row_sum(room.data(), a.length) * (even ? a.length_reciprocal : a.total_reciprocal);
    for (uint32_t i = 0; i < a.length; ++i) {
        room[i] = weight[i] * (mean[i] - total) * (mean[i] - total);
    }
    const float spread = (row_sum(variance.data(), a.length) + row_sum(room.data(), a.length)) * a.total_reciprocal;
    store_one(a.mean, 0, total);
    store_one(a.variance, 0, spread);
}

}  // namespace ascendc_twin
