// What the reductions share: one repeat as floats, trees of neighbours, extremes, and how results are stored.
#pragma once

#include <climits>
#include <cstring>

#include "vec_lanes.h"
#include "vec_loops.h"

namespace ascendc_twin {

constexpr uint32_t MAX_LANES = 128;

// The lanes of one repeat as floats; inactive lanes are 0. `active` has one bit per lane.
struct Row {
    float x[MAX_LANES];
    uint64_t active[2];
    uint32_t per;
};

template <bool HALF>
inline void load_row(const Plan &plan, const Span &src, uint32_t r, Row &row) {
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
            round_to_half(sums, N / 2);
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
inline bool row_extreme(const Row &row, bool smallest, uint32_t first, uint32_t n, uint32_t &lane) {
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

template <bool HALF>
inline void reduce_repeat(Reduce op, const Plan &plan, uint8_t *dst, uint32_t unit, const Span &src, int order) {
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
