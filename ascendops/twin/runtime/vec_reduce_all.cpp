// Reductions to a single result. Sums follow the order of the hardware: a binary tree of neighbours inside a repeat, rounded to
// the element type at each node; the count form then adds the repeats in order, the mask forms go on with trees.

#include "order_api.h"
#include "vec_reduce_rows.h"

namespace ascendc_twin {

namespace {

template <bool HALF>
void sum_in_order(const Plan &plan, uint8_t *dst, const Span &src) {
    float sums[BATCH_LANES], total = 0;
    for (uint32_t r = 0; r < plan.repeat; r += BATCH) {
        const uint32_t count = std::min<uint32_t>(BATCH, plan.repeat - r);
        row_sums<HALF>(plan, src, r, count, sums);
        for (uint32_t i = 0; i < count; ++i) {
            total = r + i == 0 ? sums[i] : round_one<HALF>(total + sums[i]);
        }
    }
    store_value<HALF>(dst, total);
    core().acc_val = total;
}

template <bool HALF>
void sum_by_trees(const Plan &plan, uint8_t *dst, const Span &src, const Span &work) {
    Plan first = plan;
    first.rep[0] = 1;
    reduce_repeat<HALF>(Reduce::SUM, first, work.p, HALF ? 2 : 4, src, ONLY_VALUE);
    for (uint64_t left = plan.repeat; left > 1; left = (left + plan.per - 1) / plan.per) {
        Plan next = dense_plan(left, plan.per);
        next.rep[0] = 1;
        reduce_repeat<HALF>(Reduce::SUM, next, work.p, HALF ? 2 : 4, work, ONLY_VALUE);
    }
    std::memmove(dst, work.p, HALF ? 2 : 4);
}

// The (value, lane) pairs of the first pass go to work, as on the hardware; their indices count from the start of src.
template <bool HALF>
void extreme_of_all(Reduce op, const Plan &plan, uint8_t *dst, const Span &src, const Span &work, bool with_index) {
    constexpr uint32_t size = HALF ? 2 : 4;
    Row row;
    bool seen = false;
    float best = 0;
    uint64_t index = 0;
    std::memset(row.x, 0, sizeof row.x);
    for (uint32_t r = 0; r < plan.repeat; ++r) {
        uint32_t lane = 0;
        load_row<HALF>(plan, src, r, row);
        if (!row_extreme(row, op == Reduce::MIN, 0, row.per, lane)) {
            continue;
        }
        const float value = row.x[lane];
        if (!seen || order_key(value, op == Reduce::MIN) > order_key(best, op == Reduce::MIN)) {
            best = value;
            index = uint64_t{r} * plan.rep[1] * BLOCK / size + lane;
            seen = true;
        }
        if (work.p + uint64_t{r} * 2 * size != src.p) {
            store_extreme<HALF>(work.p + uint64_t{r} * 2 * size, VALUE_INDEX, value, lane);
        }
    }
    store_value<HALF>(dst, best);
    if (with_index) {
        if (HALF && index > 0xffff) {
            finding("REDUCE-INDEX", "the index %llu does not fit the 16 bits of a half", static_cast<unsigned long long>(index));
        }
        store_index<HALF>(dst + size, static_cast<uint32_t>(index));
    }
    core().peak_val = best;
    core().peak_idx = static_cast<uint32_t>(index);
}

// Elements of the work buffer that the mask forms and the extremes use.
uint64_t work_elements(Reduce op, const Plan &plan, uint32_t size, bool with_index) {
    const uint64_t block = BLOCK / size;
    const auto aligned = [block](uint64_t n) { return (n + block - 1) / block * block; };
    if (op == Reduce::SUM) {
        return aligned(plan.repeat);
    }
    uint64_t total = aligned(uint64_t{plan.repeat} * 2);
    for (uint64_t left = uint64_t{plan.repeat} * 2; with_index && left > 2;) {
        left = (left + plan.per - 1) / plan.per * 2;
        total += aligned(left);
    }
    return total;
}

}  // namespace

void vec_reduce_all(Inst &inst, Reduce op, const Span &dst, const Span &src, const Span &work, const Lanes &lanes,
                    bool with_index) {
    const uint32_t size = size_of(src.dt);
    Plan plan;
    if (!reducible(inst, src) || !make_plan(inst, lanes, REPEAT / size, plan)) {
        return;
    }
    const bool counted = plan.kind == Lanes::COUNT;
    bool ok = touch_lanes(inst, plan, 1, src, Rw::READ, size);
    if (counted) {
        plan = dense_plan(plan.n, plan.per);
    }
    const bool in_order = op == Reduce::SUM && counted;
    if (!in_order) {
        const Walk used{0, work_elements(op, plan, size, with_index) * size, 1, 0, 1, 0};
        ok = touch(inst, work, Rw::WRITE, used) && ok;
        inst.cycles += 3 * row_cycles(op, size == 2);
    }
    const uint32_t unit = with_index ? 2 * size : size;
    ok = touch(inst, dst, Rw::WRITE, Walk{0, unit, 1, 0, 1, 0}, unit) && ok;
    result_by_scalar();
    charge(inst, plan, row_cycles(op, size == 2), size);
    if (!ok) {
        return;
    }
    const bool half = size == 2;
    if (in_order) {
        half ? sum_in_order<true>(plan, dst.p, src) : sum_in_order<false>(plan, dst.p, src);
    } else if (op == Reduce::SUM) {
        half ? sum_by_trees<true>(plan, dst.p, src, work) : sum_by_trees<false>(plan, dst.p, src, work);
    } else {
        half ? extreme_of_all<true>(op, plan, dst.p, src, work, with_index)
             : extreme_of_all<false>(op, plan, dst.p, src, work, with_index);
    }
}

void vec_accumulate(Inst &inst, const Span &src, const Lanes &lanes) {
    const uint32_t size = size_of(src.dt);
    Plan plan;
    if (!reducible(inst, src) || !make_plan(inst, lanes, REPEAT / size, plan) || !touch_lanes(inst, plan, 1, src, Rw::READ, size)) {
        return;
    }
    charge(inst, plan, row_cycles(Reduce::SUM, size == 2), size);
    uint8_t unused[4];
    size == 2 ? sum_in_order<true>(plan, unused, src) : sum_in_order<false>(plan, unused, src);
}

void vec_reduce_rows(Inst &inst, const Span &dst, const Span &src, uint32_t rows, uint32_t stride, uint32_t n, float scale) {
    const uint32_t size = size_of(src.dt);
    if (!reducible(inst, src) || rows == 0 || n == 0) {
        return;
    }
    bool ok = touch(inst, src, Rw::READ, Walk{0, uint64_t{n} * size, rows, int64_t{stride} * size, 1, 0});
    ok = touch(inst, dst, Rw::WRITE, Walk{0, uint64_t{rows} * size, 1, 0, 1, 0}) && ok;
    const Plan plan = dense_plan(n, REPEAT / size);
    for (uint32_t r = 0; r < rows; ++r) {
        charge(inst, plan, row_cycles(Reduce::SUM, size == 2), size);
        if (!ok) {
            continue;
        }
        Span row = src;
        row.p += uint64_t{r} * stride * size;
        uint8_t *out = dst.p + uint64_t{r} * size;
        if (size == 2) {
            sum_in_order<true>(plan, out, row);
            store_value<true>(out, half_value(out) * scale);
        } else {
            float total;
            sum_in_order<false>(plan, out, row);
            std::memcpy(&total, out, 4);
            store_value<false>(out, total * scale);
        }
    }
}

}  // namespace ascendc_twin
