// Sorting by descending score. A sorted element is 8 bytes: the score in the low bytes, a uint32 index in the high four.
#include <algorithm>
#include <climits>
#include <cstring>

#include "vec_convert.h"
#include "vec_lanes.h"

namespace ascendc_twin {

namespace {

constexpr uint32_t RECORD = 8;
constexpr uint32_t SORT_WIDTH = 32;

inline float score_at(const uint8_t *p, Dt dt) {
    float value;
    std::memcpy(&value, p, 4);
    return dt == Dt::F16 ? half_value(p) : value;
}

// Order of scores as integers; NaN comes first, -0 equals +0.
inline int32_t score_key(float value) {
    const int32_t bits = static_cast<int32_t>(float_bits(value + 0.0f));
    return value != value ? INT_MAX : bits ^ ((bits >> 31) & INT_MAX);
}

struct Entry {
    int32_t key;
    uint8_t record[RECORD];
};

bool sortable(Inst &inst, const Span &span) {
    if (span.dt == Dt::F16 || span.dt == Dt::F32) {
        return true;
    }
    finding("UNSUPPORTED-DTYPE", "%s: scores are half or float", inst.api);
    return false;
}

// One merge of up to four queues. Equal scores: the lower queue first. Returns the number of records written.
uint32_t merge_once(uint8_t *dst, const uint8_t *const src[4], const uint32_t length[4], uint32_t valid, Dt dt, bool suspend,
                    uint32_t taken[4]) {
    uint32_t written = 0;
    for (int q = 0; q < 4; ++q) {
        taken[q] = 0;
    }
    for (;;) {
        int best = -1;
        int32_t best_key = INT_MIN;
        bool exhausted = false;
        for (int q = 0; q < 4; ++q) {
            if (((valid >> q) & 1u) == 0) {
                continue;
            }
            if (taken[q] == length[q]) {
                exhausted = true;
                continue;
            }
            const int32_t key = score_key(score_at(src[q] + taken[q] * RECORD, dt));
            if (best < 0 || key > best_key) {
                best = q;
                best_key = key;
            }
        }
        if (best < 0 || (suspend && exhausted)) {
            return written;
        }
        std::memcpy(dst + uint64_t{written} * RECORD, src[best] + uint64_t{taken[best]} * RECORD, RECORD);
        ++taken[best];
        ++written;
    }
}

}  // namespace

void vec_sort32(Inst &inst, const Span &dst, const Span &src, const Span &index, uint32_t repeat) {
    if (repeat == 0 || !sortable(inst, src)) {
        return;
    }
    const uint32_t size = size_of(src.dt);
    const uint64_t n = uint64_t{repeat} * SORT_WIDTH;
    inst.cycles += 24.0 + 16.0 * repeat;
    inst.moved += n * RECORD;
    bool ok = touch(inst, src, Rw::READ, Walk{0, n * size, 1, 0, 1, 0});
    ok = touch(inst, index, Rw::READ, Walk{0, n * 4, 1, 0, 1, 0}) && ok;
    if (!touch(inst, dst, Rw::WRITE, Walk{0, n * RECORD, 1, 0, 1, 0}) || !ok) {
        return;
    }
    for (uint32_t r = 0; r < repeat; ++r) {
        Entry entries[SORT_WIDTH];
        for (uint32_t i = 0; i < SORT_WIDTH; ++i) {
            const uint64_t at = uint64_t{r} * SORT_WIDTH + i;
            std::memset(entries[i].record, 0, RECORD);
            std::memcpy(entries[i].record, src.p + at * size, size);
            std::memcpy(entries[i].record + 4, index.p + at * 4, 4);
            entries[i].key = score_key(score_at(entries[i].record, src.dt));
        }
        std::stable_sort(entries, entries + SORT_WIDTH, [](const Entry &a, const Entry &b) { return a.key > b.key; });
        for (uint32_t i = 0; i < SORT_WIDTH; ++i) {
            std::memcpy(dst.p + (uint64_t{r} * SORT_WIDTH + i) * RECORD, entries[i].record, RECORD);
        }
    }
}

void vec_merge(Inst &inst, const Span &dst, const MergeArgs &args, uint32_t taken[4]) {
    uint32_t length[4], total = 0;
    bool equal = true;
    for (int q = 0; q < 4; ++q) {
        length[q] = ((args.valid >> q) & 1u) != 0 ? args.length[q] : 0;
        total += length[q];
        equal = equal && args.length[q] == args.length[0];
        taken[q] = 0;
        if (length[q] > 4095) {
            finding("SORT-RANGE", "%s: queue %d has %u elements; at most 4095 are possible", inst.api, q, length[q]);
        }
    }
    if (args.valid != 3 && args.valid != 7 && args.valid != 15) {
        finding("SORT-RANGE", "%s: validBit is %u, not 3, 7 or 15", inst.api, args.valid);
    }
    // More than one repeat works on four queues of equal length that follow each other.
    const bool repeats = equal && args.valid == 15 && !args.suspend;
    const uint32_t repeat = repeats ? args.repeat : std::min(args.repeat, 1u);
    if (args.repeat > 1 && !repeats) {
        finding("SORT-RANGE", "%s: repeatTimes is %u, but only four queues of equal length can repeat", inst.api, args.repeat);
    }
    if (repeat == 0 || total == 0 || !sortable(inst, dst)) {
        return;
    }
    inst.cycles += 24.0 + static_cast<double>(total) * repeat;
    inst.moved += uint64_t{total} * repeat * RECORD;
    bool ok = true;
    for (int q = 0; q < 4; ++q) {
        const Walk used{0, uint64_t{length[q]} * RECORD, repeat, int64_t{total} * RECORD, 1, 0};
        ok = (length[q] == 0 || touch(inst, args.src[q], Rw::READ, used, 8)) && ok;
    }
    if (!touch(inst, dst, Rw::WRITE, Walk{0, uint64_t{total} * repeat * RECORD, 1, 0, 1, 0}) || !ok) {
        return;
    }
    for (uint32_t r = 0; r < repeat; ++r) {
        const uint64_t skip = uint64_t{r} * total * RECORD;
        const uint8_t *const src[4] = {args.src[0].p + skip, args.src[1].p + skip, args.src[2].p + skip, args.src[3].p + skip};
        merge_once(dst.p + skip, src, length, args.valid, dst.dt, args.suspend, taken);
    }
    for (int q = 0; q < 4; ++q) {
        core().merged[q] = static_cast<uint16_t>(taken[q]);
    }
}

void vec_full_sort(Inst &inst, const Span &dst, uint32_t n) {
    if (!touch(inst, dst, Rw::WRITE, Walk{0, uint64_t{n} * RECORD, 1, 0, 1, 0}) || !sortable(inst, dst)) {
        return;
    }
    Entry *entries = new Entry[n];
    for (uint32_t i = 0; i < n; ++i) {
        std::memcpy(entries[i].record, dst.p + uint64_t{i} * RECORD, RECORD);
        entries[i].key = score_key(score_at(entries[i].record, dst.dt));
    }
    std::stable_sort(entries, entries + n, [](const Entry &a, const Entry &b) { return a.key > b.key; });
    for (uint32_t i = 0; i < n; ++i) {
        std::memcpy(dst.p + uint64_t{i} * RECORD, entries[i].record, RECORD);
    }
    delete[] entries;
    inst.cycles += 24.0 + 2.0 * n;
}

void vec_extract(Inst &inst, const Span &value, const Span &index, const Span &sorted, uint32_t repeat) {
    const uint32_t size = size_of(value.dt);
    const uint64_t n = uint64_t{repeat} * SORT_WIDTH;
    if (n == 0) {
        return;
    }
    bool ok = touch(inst, sorted, Rw::READ, Walk{0, n * RECORD, 1, 0, 1, 0});
    ok = touch(inst, value, Rw::WRITE, Walk{0, n * size, 1, 0, 1, 0}) && ok;
    ok = touch(inst, index, Rw::WRITE, Walk{0, n * 4, 1, 0, 1, 0}) && ok;
    inst.cycles += 48.0 + 8.0 * repeat;
    for (uint64_t i = 0; ok && i < n; ++i) {
        std::memcpy(value.p + i * size, sorted.p + i * RECORD, size);
        std::memcpy(index.p + i * 4, sorted.p + i * RECORD + 4, 4);
    }
}

}  // namespace ascendc_twin
