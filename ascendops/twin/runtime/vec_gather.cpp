// Instructions with an address per element: Gather, Scatter, Gatherb, and the packing GatherMask.
#include <cstring>
#include <vector>

#include "vec_lanes.h"

namespace ascendc_twin {

namespace {

// Byte offsets of the active lanes of a plan; false (and a finding) when one is not a multiple of the element size.
struct Offsets {
    uint64_t low = UINT64_MAX;
    uint64_t high = 0;  // of the first byte after the last element
    bool aligned = true;
};

inline uint64_t offset_at(const Span &offset, uint64_t lane, uint32_t base) {
    uint32_t bytes;
    std::memcpy(&bytes, offset.p + lane * 4, 4);
    return uint64_t{bytes} + base;
}

Offsets range_of(const Plan &plan, const Span &offset, uint32_t base, uint32_t size) {
    Offsets range;
    const uint32_t sizes[4] = {size, size, size, size};
    for_runs<4>(plan, sizes, [&](const int64_t(&off)[4], size_t n) {
        for (size_t i = 0; i < n; ++i) {
            const uint64_t at = offset_at(offset, static_cast<uint64_t>(off[3]) / size + i, base);
            range.low = std::min(range.low, at);
            range.high = std::max(range.high, at + size);
            range.aligned = range.aligned && at % size == 0;
        }
    });
    return range;
}

// Lanes of all repeats: the offsets are consumed without gaps, including those of inactive lanes.
uint64_t offsets_used(const Plan &plan) {
    if (plan.kind == Lanes::COUNT || plan.kind == Lanes::COUNTER) {
        return plan.n;
    }
    return uint64_t{plan.per} * (plan.repeat - 1) + (plan.kind == Lanes::MASK_N ? plan.n : plan.per);
}

// The tensor of `far` operands is addressed by offsets; `near` is laid out by the plan as operand `k`.
void indexed(Inst &inst, bool gather, const Span &near, int k, const Span &far, const Span &offset, uint32_t base,
             const Lanes &lanes) {
    const uint32_t size = size_of(near.dt);
    Plan plan;
    if (!make_plan(inst, lanes, REPEAT / size, plan)) {
        return;
    }
    charge(inst, plan, size == 2 ? 24 : 12, size);
    bool ok = touch(inst, offset, Rw::READ, Walk{0, offsets_used(plan) * 4, 1, 0, 1, 0});
    ok = touch_lanes(inst, plan, k, near, gather ? Rw::WRITE : Rw::READ, size) && ok;
    if (!ok) {
        return;
    }
    const Offsets range = range_of(plan, offset, base, size);
    if (!range.aligned) {
        finding("GATHER-ALIGN", "%s: an offset is not a multiple of the %u bytes of an element", inst.api, size);
    }
    const Walk reach{static_cast<int64_t>(range.low), range.high - range.low, 1, 0, 1, 0};
    if (!touch(inst, far, gather ? Rw::READ : Rw::WRITE, reach, 0)) {
        return;
    }
    const uint32_t sizes[4] = {size, size, size, size};
    for_runs<4>(plan, sizes, [&](const int64_t(&off)[4], size_t n) {
        for (size_t i = 0; i < n; ++i) {
            const uint64_t at = offset_at(offset, static_cast<uint64_t>(off[3]) / size + i, base);
            uint8_t *element = near.p + off[k] + i * size;
            gather ? std::memcpy(element, far.p + at, size) : std::memcpy(far.p + at, element, size);
        }
    });
}

}  // namespace

void vec_gather(Inst &inst, const Span &dst, const Span &src, const Span &offset, uint32_t base, const Lanes &lanes) {
    indexed(inst, true, dst, 0, src, offset, base, lanes);
}

void vec_scatter(Inst &inst, const Span &dst, const Span &src, const Span &offset, uint32_t base, const Lanes &lanes) {
    indexed(inst, false, src, 1, dst, offset, base, lanes);
}

void vec_gatherb(Inst &inst, const Span &dst, const Span &src, const Span &offset, uint32_t repeat, uint32_t dst_blk,
                 uint32_t dst_rep) {
    if (repeat == 0) {
        return;
    }
    const uint32_t blk = dst_blk == 0 ? 1 : dst_blk;
    const Walk blocks{0, BLOCK, 8, int64_t{blk} * BLOCK, repeat, int64_t{dst_rep} * BLOCK};
    inst.cycles += 24.0 + 2.1 * repeat;
    inst.moved += uint64_t{repeat} * REPEAT;
    if (!touch(inst, offset, Rw::READ, Walk{0, uint64_t{repeat} * 32, 1, 0, 1, 0}) || !touch(inst, dst, Rw::WRITE, blocks)) {
        return;
    }
    for (uint32_t j = 0; j < repeat * 8; ++j) {
        const uint64_t at = offset_at(offset, j, 0);
        if (!touch(inst, src, Rw::READ, Walk{static_cast<int64_t>(at), BLOCK, 1, 0, 1, 0}, 0)) {
            return;
        }
        std::memmove(dst.p + (uint64_t{j / 8} * dst_rep + uint64_t{j % 8} * blk) * BLOCK, src.p + at, BLOCK);
    }
}

namespace {

// Whether the fixed pattern 1..7 keeps element j of a repeat.
inline bool fixed_keeps(uint8_t pattern, uint32_t j) {
    switch (pattern) {
        case 1: return j % 2 == 0;
        case 2: return j % 2 == 1;
        case 3: case 4: case 5: case 6: return j % 4 == pattern - 3u;
        default: return true;
    }
}

bool touch_gather_mask(Inst &inst, const Span &src, const GatherMaskArgs &args, uint32_t size, uint32_t each) {
    const uint32_t bytes = each * size;
    const int64_t rep = int64_t{args.src_rep} * BLOCK;
    bool ok = true;
    if (args.blk == 1) {
        ok = touch(inst, src, Rw::READ, Walk{0, bytes, args.repeat, rep, 1, 0});
    } else {
        const uint32_t full = bytes / BLOCK;
        const int64_t blk = int64_t{args.blk} * BLOCK;
        ok = full == 0 || touch(inst, src, Rw::READ, Walk{0, BLOCK, full, blk, args.repeat, rep});
        ok = (bytes % BLOCK == 0 || touch(inst, src, Rw::READ, Walk{full * blk, bytes % BLOCK, args.repeat, rep, 1, 0})) && ok;
    }
    if (args.pattern) {
        const Walk bits{0, (each + 7) / 8, args.repeat, int64_t{args.pattern_rep} * BLOCK, 1, 0};
        ok = touch(inst, *args.pattern, Rw::READ, bits) && ok;
    }
    return ok;
}

}  // namespace

uint64_t vec_gather_mask(Inst &inst, const Span &dst, const Span &src, const GatherMaskArgs &args) {
    const uint32_t size = size_of(src.dt);
    const uint32_t each = args.counter ? args.mask : REPEAT / size;
    lanes_of_count(0, true);  // the instruction leaves the normal mask mode
    if (!args.pattern && (args.fixed < 1 || args.fixed > 7)) {
        finding("GATHER-PATTERN", "%s: the fixed pattern is %u, but the patterns are 1 to 7", inst.api, args.fixed);
        return 0;
    }
    core().rsvd_cnt = 0;
    if (args.repeat == 0 || each == 0 || !touch_gather_mask(inst, src, args, size, each)) {
        return 0;
    }
    inst.cycles += 24.0 + 2.0 * args.repeat * ((each * size + REPEAT - 1) / REPEAT);
    // dst may be src: the packed position never passes the element that is read.
    std::vector<uint8_t> kept;
    kept.reserve(uint64_t{each} * args.repeat * size);
    for (uint32_t r = 0; r < args.repeat; ++r) {
        const uint8_t *bits = args.pattern ? args.pattern->p + uint64_t{r} * args.pattern_rep * BLOCK : nullptr;
        for (uint32_t j = 0; j < each; ++j) {
            if (bits ? ((bits[j / 8] >> (j % 8)) & 1u) == 0 : !fixed_keeps(args.fixed, j)) {
                continue;
            }
            const uint32_t byte = j * size;
            const uint64_t at = (uint64_t{r} * args.src_rep + uint64_t{byte / BLOCK} * args.blk) * BLOCK + byte % BLOCK;
            kept.insert(kept.end(), src.p + at, src.p + at + size);
        }
    }
    if (!kept.empty() && touch(inst, dst, Rw::WRITE, Walk{0, kept.size(), 1, 0, 1, 0})) {
        std::memcpy(dst.p, kept.data(), kept.size());
    }
    inst.moved += kept.size();
    core().rsvd_cnt = static_cast<int64_t>(kept.size() / size);
    return kept.size() / size;
}

}  // namespace ascendc_twin
