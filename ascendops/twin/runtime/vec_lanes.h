// From the lanes of a vector instruction to contiguous runs of memory, and to the accesses that touch() checks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "ascendc_twin/vec_engine.h"
#include "core.h"

namespace ascendc_twin {

constexpr uint32_t BLOCK = 32;
constexpr uint32_t REPEAT = 256;

inline uint32_t size_of(Dt dt) {
    switch (dt) {
        case Dt::I8: case Dt::U8: case Dt::BOOL: case Dt::I4: return 1;
        case Dt::I16: case Dt::U16: case Dt::F16: case Dt::BF16: return 2;
        case Dt::I32: case Dt::U32: case Dt::F32: return 4;
        default: return 8;
    }
}

// Lanes with the mask and repeat rules applied. `per` lanes make one repeat.
struct Plan {
    Lanes::Kind kind = Lanes::COUNT;
    uint32_t per = 64;
    uint64_t n = 0;  // COUNT, COUNTER: all elements; MASK_N: lanes per repeat
    uint64_t bits[2] = {0, 0};
    uint32_t repeat = 1;  // COUNTER: the last may be partial
    // [3] is a dense operand that stands for the lane number.
    uint32_t blk[4] = {1, 1, 1, 1};
    uint32_t rep[4] = {8, 8, 8, 8};

    uint64_t lanes_in(uint32_t r) const {
        if (kind == Lanes::COUNTER) {
            return std::min<uint64_t>(per, n - uint64_t{r} * per);
        }
        return kind == Lanes::MASK_N ? n : per;
    }
    uint64_t repeats() const { return kind == Lanes::COUNT ? (n + per - 1) / per : repeat; }
    // Bits of lanes [first, first + 64) of repeat r, lane `first` lowest; first is a multiple of 64.
    uint64_t word(uint32_t r, uint32_t first) const {
        if (kind == Lanes::MASK_BITS) {
            return bits[first / 64];
        }
        const uint64_t active = lanes_in(r);
        if (active <= first) {
            return 0;
        }
        return active - first >= 64 ? ~0ull : (1ull << (active - first)) - 1;
    }
    bool active(uint32_t r, uint32_t lane) const { return (word(r, lane & ~63u) >> (lane & 63u)) & 1u; }
};

// False: the instruction does nothing (count, mask or repeat is 0).
bool make_plan(const Inst &inst, const Lanes &lanes, uint32_t per, Plan &plan);

// Bytes from the start of operand k to the end of its last lane; COUNT and MASK_N only.
inline int64_t reach(const Plan &plan, int k, uint32_t size) {
    const int64_t bytes = static_cast<int64_t>(plan.n) * size;
    if (plan.kind == Lanes::COUNT) return bytes;
    const int64_t last_block = (bytes - 1) / BLOCK;
    const int64_t one = plan.blk[k] == 0 ? std::min<int64_t>(bytes, BLOCK)  // one block again and again
                                         : last_block * BLOCK * plan.blk[k] + bytes - last_block * BLOCK;
    return int64_t{plan.repeat - 1} * plan.rep[k] * BLOCK + one;
}

// Checks every access of operand k of the plan, whose elements have `size` bytes.
bool check_lanes(Inst &inst, const Plan &plan, int k, const Span &span, Rw rw, uint32_t size);
inline bool touch_lanes(Inst &inst, const Plan &plan, int k, const Span &span, Rw rw, uint32_t size) {
    const Private &p = priv();
    const bool simple = p.plain && p.owns(span.mem) && (plan.kind == Lanes::COUNT || plan.kind == Lanes::MASK_N);
    return simple ? p.inside(span, 0, reach(plan, k, size)) : check_lanes(inst, plan, k, span, rw, size);
}

// Whether operand k ends in its buffer with the lanes of `named`, and past it, but inside the memory, with those of `whole`.
bool only_leaves_buffer(const Plan &named, const Plan &whole, int k, const Span &span, uint32_t size);

// Reports a source that overlaps dst by parts (contiguous operands only; `size`: bytes of an element).
void report_overlap(const Inst &inst, const Plan &plan, const Span &dst, uint32_t dst_size, const Span &src, uint32_t src_size);
inline void note_overlap(const Inst &inst, const Plan &plan, const Span &dst, uint32_t dst_size, const Span &src, uint32_t src_size) {
    if (plan.kind == Lanes::COUNT && dst.mem == src.mem && t_core->checks) report_overlap(inst, plan, dst, dst_size, src, src_size);
}

// In the saturation mode of the CTRL register: infinities among the half or bfloat16 results become the largest numbers, NaN becomes 0.
void saturate_results(const Plan &plan, const Span &dst);
inline bool saturates(Dt dt) {
    constexpr int64_t keeps_specials = int64_t{1} << 48;
    return (dt == Dt::F16 || dt == Dt::BF16) && (t_core->control & keeps_specials) == 0 && t_core->npu_arch != 2002;
}
inline void saturate_floats(const Plan &plan, const Span &dst) {
    if (saturates(dst.dt)) saturate_results(plan, dst);
}

// The cycle model: a head per instruction and `per_repeat` cycles for each repeat.
inline void charge(Inst &inst, const Plan &plan, double per_repeat, uint32_t bytes_per_lane) {
    if (!t_core->trace) return;
    inst.cycles += 24.0 + static_cast<double>(plan.repeats()) * per_repeat;
    const uint64_t lanes = plan.kind == Lanes::MASK_N ? plan.n * plan.repeat : plan.kind == Lanes::MASK_BITS
                               ? uint64_t{plan.per} * plan.repeat : plan.n;
    inst.moved += lanes * bytes_per_lane;
}

// Calls run(offsets, n, count, step) for every group of rows of contiguous active lanes, in instruction order: `count` rows of n
// lanes; offsets[k] is the byte offset of the first row in operand k, whose elements have size[k] bytes, and step[k] leads to the
// next row.
template <int NOPS, typename F>
void for_rows(const Plan &plan, const uint32_t (&size)[NOPS], F &&run) {
    int64_t off[NOPS] = {}, step[NOPS] = {};
    if (plan.kind == Lanes::COUNT) {
        run(off, static_cast<size_t>(plan.n), 1u, step);
        return;
    }
    uint32_t widest = 1;
    bool dense = plan.kind != Lanes::MASK_BITS;
    for (int k = 0; k < NOPS; ++k) {
        widest = std::max(widest, size[k]);
        dense = dense && plan.blk[k] == 1;
    }
    if (dense) {
        bool whole = plan.kind == Lanes::COUNTER || plan.n == plan.per;
        for (int k = 0; k < NOPS; ++k) {
            step[k] = int64_t{plan.rep[k]} * BLOCK;
            whole = whole && plan.rep[k] * BLOCK == plan.per * size[k];
        }
        if (whole) {
            run(off, static_cast<size_t>(plan.kind == Lanes::COUNTER ? plan.n : plan.n * plan.repeat), 1u, step);
            return;
        }
        const uint64_t lanes = plan.lanes_in(0);
        const uint32_t last = plan.repeat - 1, full = plan.lanes_in(last) == lanes ? plan.repeat : last;
        if (full != 0) {
            run(off, static_cast<size_t>(lanes), full, step);
        }
        if (full != plan.repeat) {
            for (int k = 0; k < NOPS; ++k) {
                off[k] = int64_t{last} * step[k];
            }
            run(off, static_cast<size_t>(plan.lanes_in(last)), 1u, step);
        }
        return;
    }
    const uint32_t group = BLOCK / widest;
    for (uint32_t r = 0; r < plan.repeat; ++r) {
        for (uint32_t lane = 0; lane < plan.per; lane += group) {
            uint64_t bits = (plan.word(r, lane & ~63u) >> (lane & 63u)) & ((1ull << group) - 1);
            uint32_t skip = 0;
            while (bits != 0) {
                const uint32_t zeros = static_cast<uint32_t>(__builtin_ctzll(bits));
                bits >>= zeros;
                skip += zeros;
                const uint32_t ones = static_cast<uint32_t>(__builtin_ctzll(~bits));
                for (int k = 0; k < NOPS; ++k) {
                    const uint32_t byte = lane * size[k];
                    off[k] = (int64_t{r} * plan.rep[k] + int64_t{byte / BLOCK} * plan.blk[k]) * BLOCK + byte % BLOCK +
                             int64_t{skip} * size[k];
                }
                run(off, static_cast<size_t>(ones), 1u, step);
                bits >>= ones;
                skip += ones;
            }
        }
    }
}

// The same, one row at a time: run(offsets, n).
template <int NOPS, typename F>
void for_runs(const Plan &plan, const uint32_t (&size)[NOPS], F &&run) {
    for_rows<NOPS>(plan, size, [&](const int64_t(&first)[NOPS], size_t n, uint32_t count, const int64_t(&step)[NOPS]) {
        int64_t off[NOPS];
        for (uint32_t r = 0; r < count; ++r) {
            for (int k = 0; k < NOPS; ++k) {
                off[k] = first[k] + int64_t{r} * step[k];
            }
            run(off, n);
        }
    });
}

}  // namespace ascendc_twin
