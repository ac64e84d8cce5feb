// Rows of floating elements as floats: loading, storing, statistics, sums; and the checks of dense operands.
#pragma once

#include <cstring>
#include <vector>

#include "ascendc_twin/adv_engine.h"
#include "vec_lanes.h"
#include "vec_loops.h"

namespace ascendc_twin {

inline void load_row(const Span &span, uint64_t at, float *x, size_t n) {
    const uint8_t *p = span.p + at * size_of(span.dt);
    switch (span.dt) {
        case Dt::F16: load_floats<Dt::F16>(p, x, n); break;
        case Dt::BF16: load_floats<Dt::BF16>(p, x, n); break;
        default: load_floats<Dt::F32>(p, x, n); break;
    }
}
inline void store_row(const Span &span, uint64_t at, const float *x, size_t n) {
    uint8_t *p = span.p + at * size_of(span.dt);
    switch (span.dt) {
        case Dt::F16: store_floats<Dt::F16>(x, p, n); break;
        case Dt::BF16: store_floats<Dt::BF16>(x, p, n); break;
        default: store_floats<Dt::F32>(x, p, n); break;
    }
}
// Where row `at` of float operands can be read and written in place: dst is src, or lies apart from it. Else null.
inline float *float_row(const Span &dst, const Span &src, uint64_t at, uint64_t all) {
    const uint64_t bytes = all * sizeof(float);
    const bool apart = dst.p == src.p || dst.p + bytes <= src.p || src.p + bytes <= dst.p;
    return dst.dt == Dt::F32 && src.dt == Dt::F32 && apart ? reinterpret_cast<float *>(dst.p) + at : nullptr;
}

inline float load_one(const Span &span, uint64_t at) {
    float value;
    load_row(span, at, &value, 1);
    return value;
}
inline void store_one(const Span &span, uint64_t at, float value) { store_row(span, at, &value, 1); }

// A statistic of a row fills one 32-byte block, or is one element (dense).
inline void store_stat(const Span &span, uint32_t row, float value, bool dense = false) {
    float block[BLOCK / 2];
    const uint32_t n = dense ? 1 : BLOCK / size_of(span.dt);
    std::fill(block, block + n, value);
    store_row(span, uint64_t{row} * n, block, n);
}
inline float load_stat(const Span &span, uint32_t row, bool dense = false) {
    return load_one(span, uint64_t{row} * (dense ? 1 : BLOCK / size_of(span.dt)));
}

// The maximum; NaN if there is one.
float row_max(const float *x, size_t n);
// out[i] = exp(x[i] - top); out may be x.
void exp_row(const float *x, float top, float *out, size_t n);
// Trees of 64, added in order.
float row_sum(const float *x, size_t n);

// The first n elements of an operand; an operand that was not given needs no check.
inline bool reads(Inst &inst, const Span &span, uint64_t n) {
    return touch(inst, span, Rw::READ, Walk{0, n * size_of(span.dt), 1, 0, 1, 0});
}
inline bool writes(Inst &inst, const Span &span, uint64_t n) {
    return touch(inst, span, Rw::WRITE, Walk{0, n * size_of(span.dt), 1, 0, 1, 0});
}
inline bool reads(Inst &inst, const Operand &o, uint64_t n) { return !o.given || reads(inst, static_cast<const Span &>(o), n); }
inline bool writes(Inst &inst, const Operand &o, uint64_t n) { return !o.given || writes(inst, static_cast<const Span &>(o), n); }
inline uint64_t stats(uint32_t rows, const Span &span) { return uint64_t{rows} * (BLOCK / size_of(span.dt)); }

// A function that passes `passes` times over n elements.
inline void charge_passes(Inst &inst, uint64_t n, uint32_t size, uint32_t passes) {
    inst.cycles += 24.0 * passes + static_cast<double>(n * 4) / REPEAT * passes;
    inst.moved += n * size;
}

}  // namespace ascendc_twin
