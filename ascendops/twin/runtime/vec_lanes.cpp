// Mask, repeat and stride rules of vector instructions, and the mask state of the core.
#include "vec_lanes.h"

#include "fault.h"

namespace ascendc_twin {

namespace {

// One element or one repeat less, as a planted fault.
Lanes shorter(const Lanes &lanes) {
    Lanes less = lanes;
    if (less.repeat > 1 && less.kind != Lanes::COUNT && less.kind != Lanes::COUNTER) {
        --less.repeat;
    } else if (less.n > 0) {
        --less.n;
    }
    return less;
}

}  // namespace

static bool plan_of(const Inst &inst, const Lanes &lanes, uint32_t per, Plan &plan) {
    plan.kind = lanes.kind;
    plan.per = per;
    plan.n = lanes.n;
    plan.repeat = lanes.repeat;
    for (int k = 0; k < 3; ++k) {
        plan.blk[k] = lanes.blk[k];
        plan.rep[k] = lanes.rep[k];
    }
    switch (lanes.kind) {
        case Lanes::COUNT:
            return lanes.n != 0;
        case Lanes::COUNTER:
            plan.repeat = static_cast<uint32_t>((lanes.n + per - 1) / per);
            return lanes.n != 0;
        case Lanes::MASK_N:
            if (lanes.n > per) {
                finding("MASK-RANGE", "%s: mask is %llu, but one repeat has %u elements of this type", inst.api,
                        static_cast<unsigned long long>(lanes.n), per);
                plan.n = per;
            }
            return plan.n != 0 && plan.repeat != 0;
        default:
            break;
    }
    const uint64_t valid[2] = {per >= 64 ? ~0ull : (1ull << per) - 1, per > 64 ? ~0ull : 0};
    plan.bits[0] = lanes.bits[0] & valid[0];
    plan.bits[1] = lanes.bits[1] & valid[1];
    if (plan.bits[0] == valid[0] && plan.bits[1] == valid[1]) {
        plan.kind = Lanes::MASK_N;
        plan.n = per;
    }
    return (plan.bits[0] | plan.bits[1]) != 0 && plan.repeat != 0;
}

bool make_plan(const Inst &inst, const Lanes &asked, uint32_t per, Plan &plan) {
    if (fault_here(kShortInstruction, priv().instructions)) return plan_of(inst, shorter(asked), per, plan);
    return plan_of(inst, asked, per, plan);
}

// One operand of `repeats` repeats starting at byte `off`, `bytes` contiguous bytes of lanes in each.
static bool touch_repeats(Inst &inst, const Plan &plan, int k, const Span &span, Rw rw, int64_t off, uint32_t bytes,
                          uint32_t repeats) {
    const int64_t rep = int64_t{plan.rep[k]} * BLOCK;
    if (plan.blk[k] == 1 || bytes <= BLOCK) {
        const bool joined = rep == bytes;
        const Walk walk{off, joined ? uint64_t{bytes} * repeats : bytes, joined ? 1 : repeats, rep, 1, 0};
        return touch(inst, span, rw, walk);
    }
    const int64_t blk = int64_t{plan.blk[k]} * BLOCK;
    bool ok = touch(inst, span, rw, Walk{off, BLOCK, bytes / BLOCK, blk, repeats, rep});
    if (bytes % BLOCK != 0) {
        ok = touch(inst, span, rw, Walk{off + bytes / BLOCK * blk, bytes % BLOCK, repeats, rep, 1, 0}) && ok;
    }
    return ok;
}

bool check_lanes(Inst &inst, const Plan &plan, int k, const Span &span, Rw rw, uint32_t size) {
    if (plan.kind == Lanes::COUNT) {
        return touch(inst, span, rw, Walk{0, plan.n * size, 1, 0, 1, 0});
    }
    const uint32_t full = plan.per * size;
    if (plan.kind == Lanes::MASK_N) {
        return touch_repeats(inst, plan, k, span, rw, 0, static_cast<uint32_t>(plan.n) * size, plan.repeat);
    }
    if (plan.kind == Lanes::COUNTER) {
        const uint32_t whole = static_cast<uint32_t>(plan.n / plan.per);
        const uint32_t rest = static_cast<uint32_t>(plan.n % plan.per) * size;
        bool ok = whole == 0 || touch_repeats(inst, plan, k, span, rw, 0, full, whole);
        if (rest != 0) {
            ok = touch_repeats(inst, plan, k, span, rw, int64_t{whole} * plan.rep[k] * BLOCK, rest, 1) && ok;
        }
        return ok;
    }
    bool ok = true;
    const uint32_t group = std::max(1u, BLOCK / size);
    for (uint32_t lane = 0; lane < plan.per; lane += group) {
        const uint64_t bits = (plan.word(0, lane & ~63u) >> (lane & 63u)) & ((1ull << group) - 1);
        if (bits == 0) {
            continue;
        }
        const uint32_t last = 63u - static_cast<uint32_t>(__builtin_clzll(bits));
        const int64_t off = int64_t{lane / group} * plan.blk[k] * BLOCK;
        ok = touch(inst, span, rw, Walk{off, (last + 1) * size, plan.repeat, int64_t{plan.rep[k]} * BLOCK, 1, 0}) && ok;
    }
    return ok;
}

bool only_leaves_buffer(const Plan &named, const Plan &whole, int k, const Span &span, uint32_t size) {
    const Private &p = priv();
    if (!core().checks || span.buf < 0 || static_cast<size_t>(span.buf) >= p.bufs.size()) return false;
    const Buffer &b = p.bufs[span.buf];
    const auto start = static_cast<int64_t>(span.addr), end = static_cast<int64_t>(b.addr) + b.bytes;
    const int64_t last = start + reach(whole, k, size);
    return start + reach(named, k, size) <= end && last > end && last <= static_cast<int64_t>(p.mem[static_cast<int>(span.mem)].size);
}

void report_overlap(const Inst &inst, const Plan &plan, const Span &dst, uint32_t dst_size, const Span &src, uint32_t src_size) {
    const int64_t ahead = static_cast<int64_t>(dst.addr) - static_cast<int64_t>(src.addr);
    const int64_t dst_end = ahead + static_cast<int64_t>(plan.n * dst_size), src_end = static_cast<int64_t>(plan.n * src_size);
    if (ahead >= src_end || dst_end <= 0) {
        return;
    }
    // A destination at or before the source is read before it is overwritten, unless both fall into one repeat.
    const bool widens = dst_size > src_size;
    const bool same_repeat = ahead != 0 && ahead > -static_cast<int64_t>(REPEAT) && ahead < static_cast<int64_t>(REPEAT);
    const bool next_repeat = ahead > 0 && ahead < 2 * static_cast<int64_t>(REPEAT);
    const bool more_than_one = plan.n > plan.per;
    if (widens ? (more_than_one || ahead != 0) : (same_repeat || (next_repeat && more_than_one))) {
        finding("UB-OVERLAP", "%s: dst starts %lld bytes %s a source and overlaps it", inst.api,
                static_cast<long long>(ahead < 0 ? -ahead : ahead), ahead < 0 ? "before" : "after");
    }
}

Lanes lanes_of_register(uint32_t repeat) {
    const Core &c = core();
    Lanes lanes;
    lanes.repeat = repeat;
    if (c.counter_mode) {
        lanes.kind = Lanes::COUNTER;
        lanes.n = c.mask_reg[0];
    } else {
        lanes.kind = Lanes::MASK_BITS;
        lanes.bits[0] = c.mask_reg[0];
        lanes.bits[1] = c.mask_reg[1];
    }
    return lanes;
}

static uint64_t low_bits(uint64_t n) { return n >= 64 ? ~0ull : (1ull << n) - 1; }

Lanes lanes_of_mask(uint64_t mask, uint32_t repeat, bool set_mask) {
    Core &c = core();
    if (!set_mask) {
        return lanes_of_register(repeat);
    }
    Lanes lanes;
    lanes.n = mask;
    lanes.repeat = repeat;
    if (c.counter_mode) {
        lanes.kind = Lanes::COUNTER;
        c.mask_reg[0] = mask;
        c.mask_reg[1] = 0;
    } else {
        lanes.kind = Lanes::MASK_N;
        c.mask_reg[0] = low_bits(mask);
        c.mask_reg[1] = mask > 64 ? low_bits(mask - 64) : 0;
    }
    return lanes;
}

Lanes lanes_of_bits(const uint64_t *mask, uint32_t per, uint32_t repeat, bool set_mask) {
    Core &c = core();
    if (set_mask) {
        c.mask_reg[0] = mask[0];
        c.mask_reg[1] = per > 64 && !c.counter_mode ? mask[1] : 0;
    }
    return lanes_of_register(repeat);
}

Lanes lanes_of_count(uint64_t count, bool set_mask) {
    if (!set_mask) {
        return lanes_of_register(1);
    }
    Core &c = core();
    c.counter_mode = false;
    c.mask_reg[0] = c.mask_reg[1] = ~0ull;
    Lanes lanes;
    lanes.n = count;
    return lanes;
}

void saturate_results(const Plan &plan, const Span &dst) {
    const uint16_t infinity = dst.dt == Dt::F16 ? 0x7c00 : 0x7f80;
    const uint32_t size[1] = {2};
    for_runs<1>(plan, size, [&](const int64_t(&off)[1], size_t n) {
        uint16_t *x = reinterpret_cast<uint16_t *>(dst.p + off[0]);
        for (size_t i = 0; i < n; ++i) {
            const uint16_t magnitude = x[i] & 0x7fff;
            x[i] = magnitude < infinity ? x[i] : magnitude == infinity ? static_cast<uint16_t>(x[i] - 1) : uint16_t{0};
        }
    });
}

}  // namespace ascendc_twin
