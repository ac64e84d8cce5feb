// BilinearInterpolation: blocks gathered by offset, times weights, summed over the horizontal repeats.
#include <algorithm>
#include <cstring>
#include <vector>

#include "vec_convert.h"
#include "vec_lanes.h"

namespace ascendc_twin {

namespace {

constexpr uint32_t HALVES = BLOCK / 2;   // in a block
constexpr uint32_t LANES = REPEAT / 2;   // in a repeat

uint32_t offset_of(const Span &offset, uint32_t j) {
    uint32_t bytes;
    std::memcpy(&bytes, offset.p + uint64_t{j} * 4, 4);
    return bytes;
}

// Adds one gathered repeat, times its weights, to the sums; each step is rounded to half, as Mul and Add do.
void add_repeat(float *sums, const Span &src, const Span &offset, const Span &weight, uint32_t index, bool first, bool each_block) {
    float x[LANES], w[LANES];
    for (uint32_t b = 0; b < 8; ++b) {
        half_to_float(src.p + offset_of(offset, index * 8 + b), x + b * HALVES, HALVES);
        std::fill_n(w + b * HALVES, HALVES, half_value(weight.p + 2 * (each_block ? index * 8 + b : index)));
    }
    for (uint32_t i = 0; i < LANES; ++i) {
        x[i] *= w[i];
    }
    round_to_half(x, LANES);
    for (uint32_t i = 0; i < LANES; ++i) {
        sums[i] = first ? x[i] : sums[i] + x[i];
    }
    round_to_half(sums, LANES);
}

bool touch_sources(Inst &inst, const Span &src, const Span &offset, const Span &weight, uint32_t repeats, bool each_block) {
    const uint64_t weights = uint64_t{repeats} * (each_block ? 8 : 1);
    const bool weighted = touch(inst, weight, Rw::READ, Walk{0, weights * 2, 1, 0, 1, 0});
    if (!touch(inst, offset, Rw::READ, Walk{0, uint64_t{repeats} * 32, 1, 0, 1, 0}) || !weighted) {
        return false;
    }
    for (uint32_t j = 0; j < repeats * 8; ++j) {
        const uint32_t at = offset_of(offset, j);
        if (at % BLOCK != 0) {
            finding("GATHER-ALIGN", "%s: offset %u is not a multiple of the 32 bytes of a block", inst.api, at);
        }
        if (!touch(inst, src, Rw::READ, Walk{at, BLOCK, 1, 0, 1, 0}, 0)) {
            return false;
        }
    }
    return true;
}

}  // namespace

void vec_bilinear(Inst &inst, const BilinearArgs &args, Lanes lanes) {
    const uint32_t repeats = args.horizontal * args.vertical;
    lanes.repeat = args.vertical;
    lanes.blk[0] = args.dst_blk;
    lanes.rep[0] = args.row_step * 2 / BLOCK;
    if (args.row_step % HALVES != 0) {
        finding("UB-ALIGN", "%s: vROffset is %u elements, which is no whole number of 32-byte blocks", inst.api, args.row_step);
    }
    if (args.vertical > 1 && args.row_step < LANES) {
        finding("UB-OVERLAP", "%s: vROffset is %u, so that rows of 128 elements overlap", inst.api, args.row_step);
    }
    Plan plan;
    if (repeats == 0 || !make_plan(inst, lanes, LANES, plan)) {
        return;
    }
    inst.cycles += 24.0 + 8.0 * repeats;
    inst.moved += uint64_t{repeats} * REPEAT;
    bool ok = touch_sources(inst, args.src, args.offset, args.weight, repeats, args.each_block);
    ok = touch(inst, args.work, Rw::WRITE, Walk{0, args.work_bytes, 1, 0, 1, 0}) && ok;
    ok = touch_lanes(inst, plan, 0, args.dst, Rw::WRITE, 2) && ok;
    if (!ok) {
        return;
    }
    std::vector<float> sums(uint64_t{args.vertical} * LANES);
    for (uint32_t r = 0; r < repeats; ++r) {
        add_repeat(&sums[uint64_t{r / args.horizontal} * LANES], args.src, args.offset, args.weight, r, r % args.horizontal == 0,
                   args.each_block);
    }
    const uint32_t size[4] = {2, 2, 2, 2};
    for_runs<4>(plan, size, [&](const int64_t(&off)[4], size_t n) {
        float_to_half(&sums[static_cast<size_t>(off[3] / 2)], args.dst.p + off[0], n);
    });
}

}  // namespace ascendc_twin
