// LayerNorm and its relatives, forward and backward, and Welford's statistics.

#include <cmath>

#include "adv_rows.h"

namespace ascendc_twin {

namespace {

bool norm_operands(Inst &inst, const NormArgs &a) {
    const uint64_t all = uint64_t{a.rows} * a.segments * a.stride;
    const uint64_t weights = a.groups != 0 ? uint64_t{a.groups} * a.segments : a.pad ? a.stride : a.n;
    const bool given = a.kind == NormArgs::GIVEN;
    bool ok = reads(inst, a.src, all);
    ok = reads(inst, a.add, all) && ok;
    ok = reads(inst, a.gamma, weights) && ok;
    ok = reads(inst, a.beta, weights) && ok;
    ok = (given ? reads(inst, a.mean, a.rows) : writes(inst, a.mean, a.rows)) && ok;
    ok = (given ? reads(inst, a.variance, a.rows) : writes(inst, a.variance, a.rows)) && ok;
    ok = writes(inst, a.rstd, a.rows) && ok;
    return writes(inst, a.dst, all) && ok;
}

struct Weights {
    std::vector<float> gamma, beta;
};

Weights load_weights(const NormArgs &a) {
    const size_t n = a.groups != 0 ? size_t{a.groups} * a.segments : a.pad ? a.stride : a.n;
    Weights w{std::vector<float>(n, 1.0f), std::vector<float>(n, 0.0f)};
    if (a.gamma.given) load_row(a.gamma, 0, w.gamma.data(), n);
    if (a.beta.given) load_row(a.beta, 0, w.beta.data(), n);
    return w;
}

struct Moments {
    float mean = 0, variance = 0;
};

// x: the counted elements of a row.
Moments moments_of(const NormArgs &a, uint32_t row, const float *x, size_t n, std::vector<float> &room) {
    if (a.kind == NormArgs::GIVEN) {
        return {load_one(a.mean, row), load_one(a.variance, row)};
    }
    const float scale = 1.0f / static_cast<float>(n);
    const float mean = a.kind == NormArgs::RMS ? 0.0f : row_sum(x, n) * scale;
#pragma GCC ivdep
    for (size_t i = 0; i < n; ++i) {
        room[i] = (x[i] - mean) * (x[i] - mean);
    }
    return {mean, row_sum(room.data(), n) * scale};
}

// The source of a row that is a single segment of floats, to be read where it is; else null.
const float *plain_row(const NormArgs &a, uint32_t row, const float *dst) {
    return dst != nullptr && a.segments == 1 && !a.add.given ? reinterpret_cast<const float *>(a.src.p) + uint64_t{row} * a.stride : nullptr;
}

void load_segments(const NormArgs &a, uint32_t row, uint32_t width, float *x, std::vector<float> &room) {
    for (uint32_t s = 0; s < a.segments; ++s) {
        const uint64_t at = (uint64_t{row} * a.segments + s) * a.stride;
        load_row(a.src, at, x + size_t{s} * width, width);
        if (a.add.given) {
            load_row(a.add, at, room.data(), width);
            for (size_t i = 0; i < width; ++i) {
                x[size_t{s} * width + i] = a.alpha * x[size_t{s} * width + i] + room[i];
            }
        }
    }
}

}  // namespace

void vec_norm(Inst &inst, const NormArgs &a) {
    const uint64_t all = uint64_t{a.rows} * a.segments * a.stride;
    if (all == 0 || a.n == 0) {
        return;
    }
    charge_passes(inst, all, size_of(a.src.dt), 10);
    if (!norm_operands(inst, a)) {
        return;
    }
    const Weights w = load_weights(a);
    const uint32_t width = a.pad ? a.stride : a.n;  // pad comes with a single segment
    std::vector<float> x(size_t{a.segments} * width), room(x.size());
    for (uint32_t r = 0; r < a.rows; ++r) {
        float *direct = float_row(a.dst, a.src, uint64_t{r} * a.segments * a.stride, all);
        const float *plain = plain_row(a, r, direct);
        if (!plain) {
            load_segments(a, r, width, x.data(), room);
        }
        const Moments m = moments_of(a, r, plain ? plain : x.data(), size_t{a.segments} * a.n, room);
        const float rstd = 1.0f / std::sqrt(m.variance + a.epsilon);
        for (uint32_t s = 0; s < a.segments; ++s) {
            float *y = plain ? direct : x.data() + size_t{s} * width;
            const float *in = plain ? plain : y;
            const size_t one = a.groups != 0 ? size_t{r % a.groups} * a.segments + s : 0;
            if (a.groups != 0) {
                for (uint32_t i = 0; i < width; ++i) y[i] = (in[i] - m.mean) * rstd * w.gamma[one] + w.beta[one];
            } else {
#pragma GCC ivdep
                for (uint32_t i = 0; i < width; ++i) y[i] = (in[i] - m.mean) * rstd * w.gamma[i] + w.beta[i];
            }
            if (!plain) store_row(a.dst, (uint64_t{r} * a.segments + s) * a.stride, y, width);
        }
        if (a.kind != NormArgs::GIVEN && a.mean.given) store_one(a.mean, r, m.mean);
        if (a.kind != NormArgs::GIVEN && a.variance.given) store_one(a.variance, r, m.variance);
        if (a.rstd.given) store_one(a.rstd, r, rstd);
    }
}

void vec_batch_norm(Inst &inst, const BatchNormArgs &a) {
    const uint64_t all = uint64_t{a.rows} * a.columns;
    if (all == 0) {
        return;
    }
    charge_passes(inst, all, size_of(a.src.dt), 10);
    bool ok = reads(inst, a.src, all);
    ok = reads(inst, a.gamma, a.rows) && ok;
    ok = reads(inst, a.beta, a.rows) && ok;
    ok = writes(inst, a.mean, a.columns) && ok;
    ok = writes(inst, a.variance, a.columns) && ok;
    if (!writes(inst, a.dst, all) || !ok) {
        return;
    }
    std::vector<float> x(all), gamma(a.rows), beta(a.rows), one(a.rows), mean(a.columns), variance(a.columns);
    load_row(a.src, 0, x.data(), all);
    load_row(a.gamma, 0, gamma.data(), a.rows);
    load_row(a.beta, 0, beta.data(), a.rows);
    const float scale = 1.0f / static_cast<float>(a.rows);
    for (uint32_t c = 0; c < a.columns; ++c) {
        for (uint32_t r = 0; r < a.rows; ++r) one[r] = x[size_t{r} * a.columns + c];
        mean[c] = row_sum(one.data(), a.rows) * scale;
        for (uint32_t r = 0; r < a.rows; ++r) one[r] = (one[r] - mean[c]) * (one[r] - mean[c]);
        variance[c] = row_sum(one.data(), a.rows) * scale;
        const float rstd = 1.0f / std::sqrt(variance[c] + a.epsilon);
        for (uint32_t r = 0; r < a.rows; ++r) {
            float &v = x[size_t{r} * a.columns + c];
            v = (v - mean[c]) * rstd * gamma[r] + beta[r];
        }
    }
    store_row(a.dst, 0, x.data(), all);
    store_row(a.mean, 0, mean.data(), a.columns);
    store_row(a.variance, 0, variance.data(), a.columns);
}

}  // namespace ascendc_twin
