// Reductions. Sums follow the order of the hardware: a binary tree of neighbours inside a repeat, rounded to the element type
// at each node; the count form then adds the repeats in order, the mask forms go on with trees.
#pragma GCC optimize("no-math-errno,no-trapping-math")

#include <climits>
#include <cstring>

#include "vec_lanes.h"
#include "vec_loops.h"

namespace ascendc_twin {

namespace {

constexpr uint32_t MAX_LANES = 128;

// The lanes of one repeat as floats; inactive lanes are 0. `active` has one bit per lane.
struct Row {
    float x[MAX_LANES];
    uint64_t active[2];
    uint32_t per;
};

template <bool HALF>
void load_row(const Plan &plan, const Span &src, uint32_t r, Row &row) {
    constexpr uint32_t size = HALF ? 2 : 4;
    row.per = plan.per;
    row.active[0] = plan.word(r, 0);
    row.active[1] = HALF ? plan.word(r, 64) : 0;
    const bool prefix = plan.kind != Lanes::MASK_BITS;
    const uint32_t n = prefix ? static_cast<uint32_t>(plan.lanes_in(r)) : plan.per;
    const uint8_t *base = src.p + int64_t{r} * plan.rep[1] * BLOCK;
    const uint32_t group = prefix && plan.blk[1] == 1 ? n : BLOCK / size;
    for (uint32_t lane = 0; lane < n; lane += group) {
        const uint32_t m = std::min(group, n - lane);
        if (!prefix && ((row.active[lane / 64] >> (lane % 64)) & ((1ull << group) - 1)) == 0) {
            std::memset(row.x + lane, 0, m * sizeof(float));
            continue;
        }
        const uint8_t *p = base + int64_t{lane * size / BLOCK} * plan.blk[1] * BLOCK;
        if (HALF) {
            half_to_float(p, row.x + lane, m);
        } else {
            std::memcpy(row.x + lane, p, m * sizeof(float));
        }
    }
    for (uint32_t lane = n; lane < plan.per; ++lane) {
        row.x[lane] = 0.0f;
    }
    if (!prefix) {
        for (uint32_t lane = 0; lane < plan.per; ++lane) {
            row.x[lane] = ((row.active[lane / 64] >> (lane % 64)) & 1u) != 0 ? row.x[lane] : 0.0f;
        }
    }
}

template <bool HALF>
inline float round_one(float x) {
    return HALF ? half_rounded(x) : x;
}

// x[0..N) to N / 2 sums of neighbours, and so on down to LEFT values.
template <bool HALF, uint32_t N, uint32_t LEFT>
inline void tree(float *x) {
    if constexpr (N > LEFT) {
        float sums[N / 2];
        for (uint32_t i = 0; i < N / 2; ++i) {
            sums[i] = x[2 * i] + x[2 * i + 1];
        }
        if constexpr (HALF) {
            round_to_half(sums);
        }
        std::memcpy(x, sums, sizeof sums);
        tree<HALF, N / 2, LEFT>(x);
    }
}
template <bool HALF>
inline float row_sum(Row &row) {
    tree<HALF, HALF ? 128 : 64, 1>(row.x);
    return row.x[0];
}

// Floats as integers of the same order (-0 equals +0), so that the largest key is the result; NaN beats everything.
inline int32_t order_key(float value, bool smallest) {
    const int32_t bits = static_cast<int32_t>(float_bits(value + 0.0f));
    const int32_t key = bits ^ ((bits >> 31) & INT_MAX);
    return value != value ? INT_MAX : (smallest ? ~key : key);
}

// Lane of the first extreme of lanes [first, first + n); false: no active lane.
bool row_extreme(const Row &row, bool smallest, uint32_t first, uint32_t n, uint32_t &lane) {
    int32_t keys[MAX_LANES];
    int32_t best = INT_MIN;
    for (uint32_t i = 0; i < n; ++i) {
        const bool on = ((row.active[(first + i) / 64] >> ((first + i) % 64)) & 1u) != 0;
        keys[i] = on ? order_key(row.x[first + i], smallest) : INT_MIN;
    }
    for (uint32_t i = 0; i < n; ++i) {
        best = keys[i] > best ? keys[i] : best;
    }
    if (best == INT_MIN) {
        return false;
    }
    uint32_t at = 0;
    while (keys[at] != best) {
        ++at;
    }
    lane = first + at;
    return true;
}

template <bool HALF>
inline void store_value(uint8_t *p, float value) {
    if constexpr (HALF) {
        const uint16_t bits = half_pattern(value);
        std::memcpy(p, &bits, 2);
    } else {
        std::memcpy(p, &value, 4);
    }
}
// An index in the width of the element type, as raw bits.
template <bool HALF>
inline void store_index(uint8_t *p, uint32_t index) {
    std::memcpy(p, &index, HALF ? 2 : 4);
}

// Numbering of AscendC::ReduceOrder.
enum Order : int { VALUE_INDEX = 0, INDEX_VALUE, ONLY_VALUE, ONLY_INDEX };

uint32_t result_bytes(Reduce op, int order, uint32_t size) {
    if (op == Reduce::SUM || order == ONLY_VALUE) {
        return size;
    }
    return order == ONLY_INDEX ? 4 : 2 * size;
}

template <bool HALF>
void store_extreme(uint8_t *p, int order, float value, uint32_t index) {
    constexpr uint32_t size = HALF ? 2 : 4;
    switch (order) {
        case VALUE_INDEX:
            store_value<HALF>(p, value);
            return store_index<HALF>(p + size, index);
        case INDEX_VALUE:
            store_index<HALF>(p, index);
            return store_value<HALF>(p + size, value);
        case ONLY_VALUE:
            return store_value<HALF>(p, value);
        default:
            std::memcpy(p, &index, 4);
    }
}

template <bool HALF>
void reduce_repeat(Reduce op, const Plan &plan, uint8_t *dst, uint32_t unit, const Span &src, int order) {
    Row row;
    bool seen = false;
    Core &c = core();
    for (uint32_t r = 0; r < plan.repeat; ++r) {
        uint8_t *out = dst + uint64_t{r} * plan.rep[0] * unit;
        load_row<HALF>(plan, src, r, row);
        if (op == Reduce::SUM) {
            store_value<HALF>(out, row_sum<HALF>(row));
            continue;
        }
        uint32_t lane = 0;
        if (!row_extreme(row, op == Reduce::MIN, 0, row.per, lane)) {
            continue;
        }
        store_extreme<HALF>(out, order, row.x[lane], lane);
        const bool better = op == Reduce::MIN ? row.x[lane] < c.peak_val : row.x[lane] > c.peak_val;
        if (!seen || better) {
            c.peak_val = row.x[lane];
            c.peak_idx = lane;
            seen = true;
        }
    }
}

template <bool HALF>
void reduce_block(Reduce op, const Plan &plan, uint8_t *dst, const Span &src) {
    constexpr uint32_t size = HALF ? 2 : 4, group = BLOCK / size;
    Row row;
    for (uint32_t r = 0; r < plan.repeat; ++r) {
        load_row<HALF>(plan, src, r, row);
        uint8_t *out = dst + uint64_t{r} * plan.rep[0] * 8 * size;
        if (op == Reduce::SUM) {
            tree<HALF, HALF ? 128 : 64, 8>(row.x);
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
        tree<HALF, HALF ? 128 : 64, HALF ? 64 : 32>(row.x);
        for (uint32_t i = 0; i < plan.per / 2; ++i) {
            if (((row.active[2 * i / 64] >> (2 * i % 64)) & 3u) != 0) {
                store_value<HALF>(out + i * size, row.x[i]);
            }
        }
    }
}

// A plan over n contiguous elements, repeat by repeat.
Plan dense_plan(uint64_t n, uint32_t per) {
    Plan plan;
    plan.kind = Lanes::COUNTER;
    plan.per = per;
    plan.n = n;
    plan.repeat = static_cast<uint32_t>((n + per - 1) / per);
    return plan;
}

template <bool HALF>
void sum_in_order(const Plan &plan, uint8_t *dst, const Span &src) {
    Row row;
    float total = 0;
    for (uint32_t r = 0; r < plan.repeat; ++r) {
        load_row<HALF>(plan, src, r, row);
        const float sum = row_sum<HALF>(row);
        total = r == 0 ? sum : round_one<HALF>(total + sum);
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

bool reducible(Inst &inst, const Span &src) {
    if (src.dt == Dt::F16 || src.dt == Dt::F32) {
        return true;
    }
    finding("UNSUPPORTED-DTYPE", "%s: no instruction for this element type", inst.api);
    return false;
}

double row_cycles(Reduce op, bool half) { return op == Reduce::SUM ? (half ? 7 : 3) : 7; }

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
