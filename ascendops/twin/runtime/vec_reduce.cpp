// Reductions with one result per repeat, per 32-byte block or per pair of lanes.

#include "vec_reduce_rows.h"

namespace ascendc_twin {

namespace {

template <bool HALF>
void reduce_block(Reduce op, const Plan &plan, uint8_t *dst, const Span &src) {
    constexpr uint32_t size = HALF ? 2 : 4, group = BLOCK / size;
    Row row;
    for (uint32_t r = 0; r < plan.repeat; ++r) {
        load_row<HALF>(plan, src, r, row);
        uint8_t *out = dst + uint64_t{r} * plan.rep[0] * 8 * size;
        if (op == Reduce::SUM) {
            tree_sums(row.x, row.x, HALF ? 128 : 64, HALF ? 16 : 8, HALF);
        }
        for (uint32_t b = 0; b < 8; ++b) {
            const uint32_t first = b * group;
            uint32_t lane = 0;
            if (((row.active[first / 64] >> (first % 64)) & ((1ull << group) - 1)) == 0) {
                continue;
            }
            if (op == Reduce::SUM) {
                store_value<HALF>(out + b * size, row.x[b]);
            } else if (row_extreme(row, op == Reduce::MIN, first, group, lane)) {
                store_value<HALF>(out + b * size, row.x[lane]);
            }
        }
    }
}

template <bool HALF>
void reduce_pair(const Plan &plan, uint8_t *dst, const Span &src) {
    constexpr uint32_t size = HALF ? 2 : 4;
    Row row;
    for (uint32_t r = 0; r < plan.repeat; ++r) {
        load_row<HALF>(plan, src, r, row);
        uint8_t *out = dst + uint64_t{r} * plan.rep[0] * (REPEAT / 2);
        tree_sums(row.x, row.x, HALF ? 128 : 64, 2, HALF);
        for (uint32_t i = 0; i < plan.per / 2; ++i) {
            if (((row.active[2 * i / 64] >> (2 * i % 64)) & 3u) != 0) {
                store_value<HALF>(out + i * size, row.x[i]);
            }
        }
    }
}

}  // namespace

void vec_reduce_repeat(Inst &inst, Reduce op, const Span &dst, const Span &src, const Lanes &lanes, int order) {
    const uint32_t size = size_of(src.dt), unit = result_bytes(op, order, size);
    Plan plan;
    if (!reducible(inst, src) || !make_plan(inst, lanes, REPEAT / size, plan)) {
        return;
    }
    bool ok = touch_lanes(inst, plan, 1, src, Rw::READ, size);
    ok = touch(inst, dst, Rw::WRITE, Walk{0, unit, plan.repeat, int64_t{plan.rep[0]} * unit, 1, 0}, unit) && ok;
    charge(inst, plan, row_cycles(op, size == 2), size);
    if (ok) {
        size == 2 ? reduce_repeat<true>(op, plan, dst.p, unit, src, order) : reduce_repeat<false>(op, plan, dst.p, unit, src, order);
    }
}

void vec_reduce_block(Inst &inst, Reduce op, const Span &dst, const Span &src, const Lanes &lanes) {
    const uint32_t size = size_of(src.dt), unit = 8 * size;
    Plan plan;
    if (!reducible(inst, src) || !make_plan(inst, lanes, REPEAT / size, plan)) {
        return;
    }
    // Blocks without an active lane are not written.
    const uint32_t group = BLOCK / size;
    uint32_t blocks = 0;
    for (uint32_t b = 0; b < 8; ++b) {
        blocks = ((plan.word(0, b * group & ~63u) >> (b * group & 63u)) & ((1ull << group) - 1)) != 0 ? b + 1 : blocks;
    }
    bool ok = touch_lanes(inst, plan, 1, src, Rw::READ, size);
    ok = touch(inst, dst, Rw::WRITE, Walk{0, uint64_t{blocks} * size, plan.repeat, int64_t{plan.rep[0]} * unit, 1, 0}, unit) && ok;
    charge(inst, plan, size == 2 ? 7 : 1, size);
    if (ok) {
        size == 2 ? reduce_block<true>(op, plan, dst.p, src) : reduce_block<false>(op, plan, dst.p, src);
    }
}

void vec_reduce_pair(Inst &inst, const Span &dst, const Span &src, const Lanes &lanes) {
    const uint32_t size = size_of(src.dt);
    Plan plan;
    if (!reducible(inst, src) || !make_plan(inst, lanes, REPEAT / size, plan)) {
        return;
    }
    const uint64_t lanes_used = plan.kind == Lanes::MASK_BITS ? plan.per : std::min<uint64_t>(plan.n, plan.per);
    const Walk out{0, (lanes_used + 1) / 2 * size, plan.repeat, int64_t{plan.rep[0]} * (REPEAT / 2), 1, 0};
    bool ok = touch_lanes(inst, plan, 1, src, Rw::READ, size);
    ok = touch(inst, dst, Rw::WRITE, out) && ok;
    charge(inst, plan, size == 2 ? 7 : 1, size);
    if (ok) {
        size == 2 ? reduce_pair<true>(plan, dst.p, src) : reduce_pair<false>(plan, dst.p, src);
    }
}

}  // namespace ascendc_twin
