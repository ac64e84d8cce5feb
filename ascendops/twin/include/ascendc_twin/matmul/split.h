// How a matrix product is cut into base blocks and buffers, under the constraints of the TCubeTiling structure
// (asc-devkit, docs/zh/api, TCubeTiling结构体.md). The algorithm is the twin's own: for the same shape CANN's numbers may differ.
#pragma once

#include <cstdint>

namespace ascendc_twin {

struct SplitShape {
    int32_t m, n, k;
};
struct SplitTypes {
    int32_t bits_a, bits_b, bias_bytes;
    bool trans_a, trans_b;
};
struct SplitLimits {
    int64_t l1 = 512 * 1024, l0a = 64 * 1024, l0b = 64 * 1024, l0c = 128 * 1024, bt = 1024;
};
struct Split {
    int32_t depth_a = 1, depth_b = 1, step_m = 1, step_n = 1, step_ka = 1, step_kb = 1, db_a = 1, db_b = 1, db_c = 1;
    bool fits = false;
};

namespace split_detail {
constexpr int64_t up(int64_t x, int64_t to) {
    return (x + to - 1) / to * to;
}
constexpr int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}
constexpr int64_t most(int64_t a, int64_t b) {
    return a > b ? a : b;
}
}  // namespace split_detail

// Bytes of a block of A or B in L1, padded to fractals.
constexpr int64_t l1_block(int64_t rows, int64_t columns, int32_t bits) {
    const int64_t c0 = 256 / bits;
    return split_detail::up(rows, split_detail::most(16, c0)) * split_detail::up(columns, split_detail::most(16, c0)) * bits / 8;
}

// Depths in L1 and double buffers for given base blocks: K first, twice for double buffering, and whatever else fits in halves.
constexpr Split split_l1(const SplitShape &single, const SplitShape &base, const SplitTypes &types, const SplitLimits &limits, bool bias) {
    Split s;
    const int64_t a = l1_block(base.m, base.k, types.bits_a), b = l1_block(base.k, base.n, types.bits_b);
    const int64_t room = limits.l1 - (bias ? int64_t{base.n} * types.bias_bytes : 0);
    const int64_t steps = (single.k + base.k - 1) / base.k;
    s.fits = a + b <= room;
    s.db_a = a * 2 <= limits.l0a ? 2 : 1;
    s.db_b = b * 2 <= limits.l0b ? 2 : 1;
    if (!s.fits) return s;
    const int64_t pair = a + b;
    int64_t deep = split_detail::least(steps, room / pair / 2);  // with double buffers
    const int64_t twice = deep >= 1 ? 2 : 1;
    if (deep < 1) deep = 1;
    while (deep > 1 && steps % deep != 0) --deep;  // iterations over K of A and B stay multiples of each other
    s.step_ka = s.step_kb = static_cast<int32_t>(deep);
    s.depth_a = s.depth_b = static_cast<int32_t>(deep * twice);
    return s;
}

// The largest multiple of 16 up to `most` that divides `whole`, if it is no less than a quarter of `most`; else `most` itself.
constexpr int64_t even_block(int64_t whole, int64_t most) {
    whole = split_detail::up(whole, 16);
    if (whole <= most) return whole;
    for (int64_t block = most / 16 * 16; block * 4 >= most; block -= 16) {
        if (whole % block == 0) return block;
    }
    return most;
}

// Base blocks for one core's part. 0 in `fixed`: free. `c_bytes`: most bytes of a block of C, 0: no limit but L0C.
constexpr SplitShape split_base(const SplitShape &single, const SplitShape &fixed, const SplitTypes &types, const SplitLimits &limits, bool bias, int64_t c_bytes = 0) {
    using namespace split_detail;
    const int64_t bits = most(types.bits_a, types.bits_b), c0 = 256 / bits;
    const int64_t k_unit = types.trans_a || !types.trans_b ? most(16, c0) : c0;
    const int64_t most_c = c_bytes > 0 ? least(limits.l0c, c_bytes) : limits.l0c;
    int64_t widest = bias ? least(256, limits.bt / types.bias_bytes / 16 * 16) : 256, highest = single.n <= 128 ? 256 : 128;
    int64_t m = fixed.m, n = fixed.n;
    for (;;) {
        if (fixed.m <= 0) m = even_block(single.m, highest);
        if (fixed.n <= 0) n = even_block(single.n, widest);
        if (m * n * 4 <= most_c) break;
        if (fixed.n <= 0 && widest > 16 && (n >= m || fixed.m > 0)) {
            widest = up(least(widest, n) / 2, 16);
        } else if (fixed.m <= 0 && highest > 16) {
            highest = up(least(highest, m) / 2, 16);
        } else {
            break;
        }
    }
    int64_t k = fixed.k;
    if (k <= 0) {
        const int64_t by_a = limits.l0a / 2 * 8 / (m * types.bits_a), by_b = limits.l0b / 2 * 8 / (n * types.bits_b);
        k = most(least(least(by_a, by_b) / k_unit * k_unit, up(single.k, k_unit)), k_unit);
    }
    return {static_cast<int32_t>(m), static_cast<int32_t>(n), static_cast<int32_t>(k)};
}

}  // namespace ascendc_twin
