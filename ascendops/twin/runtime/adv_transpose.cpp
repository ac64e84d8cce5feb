// Layout changes between ND and NZ (fractals of 16 x 16) with the last axis split, merged or exchanged.
#include <algorithm>

#include "adv_rows.h"

namespace ascendc_twin {

namespace {

constexpr uint64_t FRACTAL = 16;

uint64_t up16(uint64_t n) { return (n + FRACTAL - 1) / FRACTAL * FRACTAL; }

// Element (row, column) of matrix number `which`, stored by columns of fractals.
uint64_t nz(uint64_t which, uint64_t rows, uint64_t columns, uint64_t row, uint64_t column) {
    return which * rows * up16(columns) + column / FRACTAL * rows * FRACTAL + row * FRACTAL + column % FRACTAL;
}

struct At {
    uint64_t b, n, s, d;
};

uint64_t source_of(const ReorderArgs &a, const At &i) {
    if (a.type == 7) {
        return i.b * a.n + i.n;
    }
    const bool merged = a.type == 3 || a.type == 4;  // [B, S, H]
    return merged ? nz(i.b, a.s, uint64_t{a.n} * a.d, i.s, i.n * a.d + i.d) : nz(i.b * a.n + i.n, a.s, a.d, i.s, i.d);
}

uint64_t target_of(const ReorderArgs &a, const At &i) {
    const uint64_t h = uint64_t{a.n} * a.d;
    switch (a.type) {
        case 1: return ((i.b * a.s + i.s) * a.n + i.n) * a.d + i.d;
        case 2: return nz(i.b * a.s + i.s, up16(a.n), a.d, i.n, i.d);
        case 3: return nz(i.b * a.n + i.n, a.s, a.d, i.s, i.d);
        case 4: return ((i.b * a.n + i.n) * a.s + i.s) * up16(a.d) + i.d;
        case 5: return (i.b * a.s + i.s) * up16(h) + i.n * a.d + i.d;
        case 6: return nz(i.b, a.s, h, i.s, i.n * a.d + i.d);
        default: return i.n * a.b + i.b;
    }
}

}  // namespace

void vec_reorder(Inst &inst, const ReorderArgs &a) {
    const uint64_t all = uint64_t{a.b} * a.n * a.s * a.d;
    if (all == 0) {
        return;
    }
    const uint32_t size = size_of(a.dst.dt);
    charge_passes(inst, all, size, 4);
    const At last{a.b - 1, a.n - 1, a.s - 1, a.d - 1};
    const uint64_t written = target_of(a, last) + 1;
    const bool ok = reads(inst, a.src, source_of(a, last) + 1);
    if (!writes(inst, a.dst, written) || !ok) {
        return;
    }
    std::vector<uint8_t> out(written * size);
    std::memcpy(out.data(), a.dst.p, out.size());  // padding of dst keeps its values
    for (uint64_t i = 0; i < all; ++i) {
        const At at{i / a.d / a.s / a.n, i / a.d / a.s % a.n, i / a.d % a.s, i % a.d};
        std::memcpy(out.data() + target_of(a, at) * size, a.src.p + source_of(a, at) * size, size);
    }
    std::memcpy(a.dst.p, out.data(), out.size());
}

void vec_trans_data(Inst &inst, const TransDataArgs &a) {
    const uint64_t channels = up16(a.c), batches = a.fractal ? up16(a.n) : a.n, plane = up16(a.hw);
    const uint64_t planes = uint64_t{a.n} * a.c * a.d * plane, blocks = batches * channels * a.d * a.hw;
    if (planes == 0) {
        return;
    }
    charge_passes(inst, blocks, 2, 4);
    const bool ok = reads(inst, a.src, a.to_planes ? blocks : planes);
    if (!writes(inst, a.dst, a.to_planes ? planes : blocks) || !ok) {
        return;
    }
    const auto block_at = [&](uint64_t n, uint64_t c, uint64_t d, uint64_t p) {
        const uint64_t c1 = c / FRACTAL, c0 = c % FRACTAL, groups = channels / FRACTAL;
        return a.fractal ? (((d * groups + c1) * a.hw + p) * batches + n) * FRACTAL + c0
                         : (((n * a.d + d) * groups + c1) * a.hw + p) * FRACTAL + c0;
    };
    for (uint64_t i = 0; i < blocks; ++i) {
        const uint64_t p = i % a.hw, d = i / a.hw % a.d, c = i / a.hw / a.d % channels, n = i / a.hw / a.d / channels;
        const uint64_t block = block_at(n, c, d, p) * 2, flat = (((n * a.c + c) * a.d + d) * plane + p) * 2;
        const bool real = n < a.n && c < a.c;
        if (a.to_planes && real) {
            std::memcpy(a.dst.p + flat, a.src.p + block, 2);
        } else if (!a.to_planes && real) {
            std::memcpy(a.dst.p + block, a.src.p + flat, 2);
        } else if (!a.to_planes) {
            std::memset(a.dst.p + block, 0, 2);
        }
    }
}

}  // namespace ascendc_twin
