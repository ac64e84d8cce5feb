// Areas of global memory: their hulls, and whether two have bytes in common.
#include "gm_area.h"

#include <algorithm>

namespace ascendc_twin {

namespace {

constexpr uint64_t kMostRuns = 1 << 16;

// A run against every run of an area.
bool run_meets(uint64_t lo, uint64_t hi, const GmArea &b, uint64_t &from, uint64_t &to) {
    for (uint32_t j = 0; j < b.n2; ++j) {
        const uint64_t row = offset(b.lo, b.s2 * j);
        uint32_t first = 0, last = b.n1;
        if (b.s1 > 0) {  // only the runs around lo can meet
            const auto step = static_cast<uint64_t>(b.s1);
            first = lo > row + b.run ? static_cast<uint32_t>(std::min<uint64_t>((lo - row - b.run) / step, b.n1)) : 0;
            last = hi > row ? static_cast<uint32_t>(std::min<uint64_t>((hi - row + step - 1) / step, b.n1)) : 0;
        }
        for (uint32_t i = first; i < last; ++i) {
            const uint64_t at = offset(row, b.s1 * i);
            if (at >= hi || lo >= at + b.run) continue;
            from = std::max(lo, at);
            to = std::min(hi, at + b.run);
            return true;
        }
    }
    return false;
}

GmArea joined(const GmArea &a) {
    GmArea b = a;
    if (b.n1 > 1 && b.s1 == static_cast<int64_t>(b.run)) {
        b.run *= b.n1;
        b.n1 = 1;
    }
    if (b.n1 == 1 && b.n2 > 1) {
        b.n1 = b.n2;
        b.s1 = b.s2;
        b.n2 = 1;
        if (b.s1 == static_cast<int64_t>(b.run)) {
            b.run *= b.n1;
            b.n1 = 1;
        }
    }
    return b;
}

// Equal strides whose runs fall between each other never meet.
bool interleaved(const GmArea &a, const GmArea &b) {
    if (a.n2 != 1 || b.n2 != 1 || a.n1 == 1 || b.n1 == 1 || a.s1 != b.s1 || a.s1 <= 0) return false;
    const auto step = static_cast<uint64_t>(a.s1);
    const uint64_t ahead = b.lo >= a.lo ? (b.lo - a.lo) % step : (step - (a.lo - b.lo) % step) % step;
    return ahead >= a.run && ahead + b.run <= step;
}

}  // namespace

uint64_t GmArea::hull_lo() const {
    return offset(lo, std::min<int64_t>(0, s1 * static_cast<int64_t>(n1 - 1)) + std::min<int64_t>(0, s2 * static_cast<int64_t>(n2 - 1)));
}

uint64_t GmArea::hull_hi() const {
    return offset(lo, std::max<int64_t>(0, s1 * static_cast<int64_t>(n1 - 1)) + std::max<int64_t>(0, s2 * static_cast<int64_t>(n2 - 1))) + run;
}

bool areas_meet(const GmArea &x, const GmArea &y, uint64_t &lo, uint64_t &hi) {
    if (x.hull_lo() >= y.hull_hi() || y.hull_lo() >= x.hull_hi()) return false;
    GmArea a = joined(x), b = joined(y);
    if (interleaved(a, b)) return false;
    if (uint64_t{a.n1} * a.n2 > uint64_t{b.n1} * b.n2) std::swap(a, b);
    if (uint64_t{a.n1} * a.n2 * b.n2 > kMostRuns) return false;  // too many to compare one by one
    for (uint32_t j = 0; j < a.n2; ++j) {
        for (uint32_t i = 0; i < a.n1; ++i) {
            const uint64_t at = offset(a.lo, a.s1 * i + a.s2 * j);
            if (run_meets(at, at + a.run, b, lo, hi)) return true;
        }
    }
    return false;
}

}  // namespace ascendc_twin
