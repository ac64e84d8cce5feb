// Instructions that move or make values without computing: Duplicate, CreateVecIndex, Copy, Brcb.

#include <cstring>

#include "vec_convert.h"
#include "vec_lanes.h"

namespace ascendc_twin {

namespace {

// The bit pattern of a scalar in an element type; integers and floats wider than the type are already in range.
uint64_t pattern_of(Dt dt, const Scalar &value) {
    switch (dt) {
        case Dt::F16: return half_pattern(value.f);
        case Dt::BF16: return float_to_bf16_bits<RINT>(value.f);
        case Dt::F32: return float_bits(value.f);
        default: return static_cast<uint64_t>(value.i);
    }
}

template <typename T>
void fill_loop(uint8_t *d, uint64_t pattern, size_t n) {
    T *dst = reinterpret_cast<T *>(d);
    const T value = static_cast<T>(pattern);
    for (size_t i = 0; i < n; ++i) {
        dst[i] = value;
    }
}

void fill_run(uint8_t *d, uint32_t size, uint64_t pattern, size_t n) {
    switch (size) {
        case 1: return fill_loop<uint8_t>(d, pattern, n);
        case 2: return fill_loop<uint16_t>(d, pattern, n);
        case 4: return fill_loop<uint32_t>(d, pattern, n);
        default: return fill_loop<uint64_t>(d, pattern, n);
    }
}

// first + i * step, each element rounded once.
void index_run(uint8_t *d, Dt dt, uint64_t start, size_t n, const Scalar &first, const Scalar &step) {
    for (size_t j = 0; j < n; ++j) {
        const uint64_t i = start + j;
        const double f = static_cast<double>(first.f) + static_cast<double>(i) * static_cast<double>(step.f);
        Scalar value;
        value.f = static_cast<float>(f);
        value.i = first.i + static_cast<int64_t>(i) * step.i;
        const uint64_t pattern = pattern_of(dt, value);
        std::memcpy(d + j * size_of(dt), &pattern, size_of(dt));
    }
}

}  // namespace

void vec_fill(Inst &inst, const Span &dst, const Scalar &value, const Lanes &lanes) {
    const uint32_t size = size_of(dst.dt);
    Plan plan;
    if (!make_plan(inst, lanes, REPEAT / size, plan) || !touch_lanes(inst, plan, 0, dst, Rw::WRITE, size)) {
        return;
    }
    charge(inst, plan, 1, size);
    const uint64_t pattern = pattern_of(dst.dt, value);
    const uint32_t sizes[1] = {size};
    for_runs<1>(plan, sizes, [&](const int64_t(&off)[1], size_t n) { fill_run(dst.p + off[0], size, pattern, n); });
}

void vec_index(Inst &inst, const Span &dst, const Scalar &first, const Scalar &step, const Lanes &lanes) {
    const uint32_t size = size_of(dst.dt);
    Plan plan;
    if (!make_plan(inst, lanes, REPEAT / size, plan) || !touch_lanes(inst, plan, 0, dst, Rw::WRITE, size)) {
        return;
    }
    charge(inst, plan, 2, size);
    const uint32_t sizes[4] = {size, size, size, size};
    for_runs<4>(plan, sizes, [&](const int64_t(&off)[4], size_t n) {
        index_run(dst.p + off[0], dst.dt, static_cast<uint64_t>(off[3]) / size, n, first, step);
    });
}

// In counter mode the mask is the elements of each repeat, as many as it says, and the repeats count (the page of Copy with a mask).
void vec_copy(Inst &inst, const Span &dst, const Span &src, const Lanes &lanes) {
    const uint32_t size = size_of(dst.dt);
    Plan plan;
    Lanes each = lanes;
    uint32_t per = REPEAT / size;
    if (lanes.kind == Lanes::COUNTER) {
        each.kind = Lanes::MASK_N;
        per = std::max(per, static_cast<uint32_t>(lanes.n));
    }
    if (!make_plan(inst, each, per, plan)) {
        return;
    }
    const bool readable = touch_lanes(inst, plan, 1, src, Rw::READ, size);
    if (!touch_lanes(inst, plan, 0, dst, Rw::WRITE, size) || !readable) {
        return;
    }
    charge(inst, plan, 1, size);
    const uint32_t sizes[2] = {size, size};
    for_runs<2>(plan, sizes,
                [&](const int64_t(&off)[2], size_t n) { std::memmove(dst.p + off[0], src.p + off[1], n * size); });
}

void vec_brcb(Inst &inst, const Span &dst, const Span &src, uint32_t repeat, uint32_t dst_blk, uint32_t dst_rep) {
    if (repeat == 0) {
        return;
    }
    const uint32_t size = size_of(dst.dt), blk = dst_blk == 0 ? 1 : dst_blk;
    const Walk blocks{0, BLOCK, 8, int64_t{blk} * BLOCK, repeat, int64_t{dst_rep} * BLOCK};
    const bool readable = touch(inst, src, Rw::READ, Walk{0, uint64_t{8} * repeat * size, 1, 0, 1, 0});
    if (!touch(inst, dst, Rw::WRITE, blocks) || !readable) {
        return;
    }
    inst.cycles += 24.0 + repeat;
    inst.moved += uint64_t{repeat} * REPEAT;
    for (uint32_t r = 0; r < repeat; ++r) {
        uint8_t elements[8 * 8];
        std::memcpy(elements, src.p + uint64_t{r} * 8 * size, 8 * size);
        for (uint32_t j = 0; j < 8; ++j) {
            uint64_t pattern = 0;
            std::memcpy(&pattern, elements + j * size, size);
            fill_run(dst.p + (uint64_t{r} * dst_rep + uint64_t{j} * blk) * BLOCK, size, pattern, BLOCK / size);
        }
    }
}

}  // namespace ascendc_twin
