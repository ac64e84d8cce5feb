// What the reductions share: one repeat as floats, trees of neighbours, extremes, and how results are stored.
#pragma once

#include <climits>
#include <cstring>

#include "vec_lanes.h"
#include "vec_loops.h"
#include "vec_sums.h"

namespace ascendc_twin {

constexpr uint32_t MAX_LANES = 128;
static_assert(BATCH_LANES == BATCH * MAX_LANES, "room for the lanes of a batch");

// The lanes of one repeat as floats; inactive lanes are 0. `active` has one bit per lane.
struct Row {
    float x[MAX_LANES];
    uint64_t active[2];
    uint32_t per;

    bool whole() const { return active[0] == ~uint64_t{0} && (per <= 64 || active[1] == ~uint64_t{0}); }
};

// The lanes of repeat r as `per` floats.
template <bool HALF>
inline void load_lanes(const Plan &plan, const Span &src, uint32_t r, float *x) {
    constexpr uint32_t size = HALF ? 2 : 4;
    const uint64_t active[2] = {plan.word(r, 0), HALF ? plan.word(r, 64) : 0};
    const bool prefix = plan.kind != Lanes::MASK_BITS;
    const uint32_t n = prefix ? static_cast<uint32_t>(plan.lanes_in(r)) : plan.per;
    const uint8_t *base = src.p + int64_t{r} * plan.rep[1] * BLOCK;
    const uint32_t group = prefix && plan.blk[1] == 1 ? n : BLOCK / size;
    for (uint32_t lane = 0; lane < n; lane += group) {
        const uint32_t m = std::min(group, n - lane);
        if (!prefix && ((active[lane / 64] >> (lane % 64)) & ((1ull << group) - 1)) == 0) {
            std::memset(x + lane, 0, m * sizeof(float));
            continue;
        }
        const uint8_t *p = base + int64_t{lane * size / BLOCK} * plan.blk[1] * BLOCK;
        if (HALF) {
            half_to_float(p, x + lane, m);
        } else {
            std::memcpy(x + lane, p, m * sizeof(float));
        }
    }
    for (uint32_t lane = n; lane < plan.per; ++lane) {
        x[lane] = 0.0f;
    }
    if (!prefix) {
        for (uint32_t lane = 0; lane < plan.per; ++lane) {
            x[lane] = ((active[lane / 64] >> (lane % 64)) & 1u) != 0 ? x[lane] : 0.0f;
        }
    }
}

template <bool HALF>
inline void load_row(const Plan &plan, const Span &src, uint32_t r, Row &row) {
    row.per = plan.per;
    row.active[0] = plan.word(r, 0);
    row.active[1] = HALF ? plan.word(r, 64) : 0;
    load_lanes<HALF>(plan, src, r, row.x);
}

template <bool HALF>
inline float round_one(float x) {
    return HALF ? half_rounded(x) : x;
}

// Whether repeats [r, r + count) are whole and follow each other in memory.
inline bool contiguous(const Plan &plan, uint32_t r, uint32_t count, uint32_t size) {
    const bool joined = plan.blk[1] == 1 && plan.rep[1] * BLOCK == plan.per * size;
    return plan.kind != Lanes::MASK_BITS && joined && plan.lanes_in(r + count - 1) == plan.per;
}

// Sums of `count` (at most BATCH) repeats from r on.
template <bool HALF>
inline void row_sums(const Plan &plan, const Span &src, uint32_t r, uint32_t count, float (&sums)[BATCH_LANES]) {
    if (contiguous(plan, r, count, HALF ? 2 : 4)) {
        repeat_sums(src.p + uint64_t{r} * REPEAT, count, HALF, sums);
        return;
    }
    for (uint32_t i = 0; i < count; ++i) {
        load_lanes<HALF>(plan, src, r + i, sums + i * plan.per);
    }
    tree_sums(sums, sums, size_t{count} * plan.per, plan.per, HALF);
}

// Floats as integers of the same order (-0 equals +0), so that the largest key is the result; NaN beats everything.
inline int32_t order_key(float value, bool smallest) {
    const int32_t bits = static_cast<int32_t>(float_bits(value + 0.0f));
    const int32_t key = bits ^ ((bits >> 31) & INT_MAX);
    return value != value ? INT_MAX : (smallest ? ~key : key);
}

// Lane of the first extreme of lanes [first, first + n); false: no active lane.
inline bool row_extreme(const Row &row, bool smallest, uint32_t first, uint32_t n, uint32_t &lane) {
    int32_t keys[MAX_LANES];
    int32_t best = INT_MIN;
    for (uint32_t i = 0; i < n; ++i) {
        keys[i] = order_key(row.x[first + i], smallest);
    }
    if (!row.whole()) {
        for (uint32_t i = 0; i < n; ++i) {
            const bool on = ((row.active[(first + i) / 64] >> ((first + i) % 64)) & 1u) != 0;
            keys[i] = on ? keys[i] : INT_MIN;
        }
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

inline uint32_t result_bytes(Reduce op, int order, uint32_t size) {
    if (op == Reduce::SUM || order == ONLY_VALUE) {
        return size;
    }
    return order == ONLY_INDEX ? 4 : 2 * size;
}

template <bool HALF>
inline void store_extreme(uint8_t *p, int order, float value, uint32_t index) {
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

// Whether the results of a batch may be written after all its repeats are read.
inline bool behind_source(const Plan &plan, const uint8_t *dst, uint32_t unit, const Span &src) {
    const uint64_t rows = plan.repeat - 1, step = uint64_t{plan.rep[1]} * BLOCK;
    const bool before = dst + rows * plan.rep[0] * unit + unit <= src.p;
    const bool after = dst >= src.p + rows * step + 8 * uint64_t{std::max(1u, plan.blk[1])} * BLOCK;
    return before || after || (dst == src.p && uint64_t{plan.rep[0]} * unit <= step && unit <= step);
}

template <bool HALF>
inline void sum_repeats(const Plan &plan, uint8_t *dst, uint32_t unit, const Span &src) {
    const uint32_t most = behind_source(plan, dst, unit, src) ? uint32_t{BATCH} : 1;
    float sums[BATCH_LANES];
    for (uint32_t r = 0; r < plan.repeat; r += most) {
        const uint32_t count = std::min(most, plan.repeat - r);
        row_sums<HALF>(plan, src, r, count, sums);
        for (uint32_t i = 0; i < count; ++i) {
            store_value<HALF>(dst + uint64_t{r + i} * plan.rep[0] * unit, sums[i]);
        }
    }
}

template <bool HALF>
inline void reduce_repeat(Reduce op, const Plan &plan, uint8_t *dst, uint32_t unit, const Span &src, int order) {
    if (op == Reduce::SUM) {
        sum_repeats<HALF>(plan, dst, unit, src);
        return;
    }
    Row row;
    bool seen = false;
    Core &c = core();
    for (uint32_t r = 0; r < plan.repeat; ++r) {
        uint8_t *out = dst + uint64_t{r} * plan.rep[0] * unit;
        load_row<HALF>(plan, src, r, row);
        uint32_t lane = 0;
        if (!row_extreme(row, op == Reduce::MIN, 0, row.per, lane)) {
            continue;
        }
        store_extreme<HALF>(out, order, row.x[lane], lane);
        const bool better = op == Reduce::MIN ? row.x[lane] < c.peak_val : row.x[lane] > c.peak_val;
        if (!seen || better) {
            c.peak_val = row.x[lane];
            c.peak_idx = r * row.per + lane;  // of a dense source: the documented use
            seen = true;
        }
    }
}

// A plan over n contiguous elements, repeat by repeat.
inline Plan dense_plan(uint64_t n, uint32_t per) {
    Plan plan;
    plan.kind = Lanes::COUNTER;
    plan.per = per;
    plan.n = n;
    plan.repeat = static_cast<uint32_t>((n + per - 1) / per);
    return plan;
}

inline bool reducible(Inst &inst, const Span &src) {
    if (src.dt == Dt::F16 || src.dt == Dt::F32) {
        return true;
    }
    finding("UNSUPPORTED-DTYPE", "%s: no instruction for this element type", inst.api);
    return false;
}

inline double row_cycles(Reduce op, bool half) { return op == Reduce::SUM ? (half ? 7 : 3) : 7; }

}  // namespace ascendc_twin
