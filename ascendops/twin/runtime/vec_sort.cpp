// Sorting by descending score: records of 8 bytes (score in the low bytes, a uint32 index in the high four), or region proposals of
// 8 elements, of which element 4 is the score.
#include <algorithm>
#include <climits>
#include <cstring>
#include <utility>
#include <vector>

#include "vec_convert.h"
#include "vec_lanes.h"

namespace ascendc_twin {

namespace {

constexpr uint32_t RECORD = 8;
constexpr uint32_t SORT_WIDTH = 32;
constexpr uint32_t PROPOSALS = 16;  // of one repeat
constexpr uint32_t FIELDS = 8;      // elements of a proposal
constexpr uint32_t Y1 = 1, SCORE = 4, LABEL = 5;

// Where the score of a sorted element is.
struct Layout {
    uint32_t bytes = RECORD;
    uint32_t score = 0;
    Dt dt = Dt::F32;
};

Layout layout_of(Dt dt, bool proposals) {
    const uint32_t size = dt == Dt::F16 ? 2 : 4;
    return proposals ? Layout{FIELDS * size, SCORE * size, dt} : Layout{RECORD, 0, dt};
}

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

// Sorts n elements from src into dst, which may be the same.
void sort_run(uint8_t *dst, const uint8_t *src, uint32_t n, const Layout &layout) {
    std::vector<uint8_t> copy(src, src + uint64_t{n} * layout.bytes);
    std::vector<std::pair<int32_t, uint32_t>> order(n);
    for (uint32_t i = 0; i < n; ++i) {
        order[i] = {score_key(score_at(copy.data() + uint64_t{i} * layout.bytes + layout.score, layout.dt)), i};
    }
    std::stable_sort(order.begin(), order.end(), [](const auto &a, const auto &b) { return a.first > b.first; });
    for (uint32_t i = 0; i < n; ++i) {
        std::memcpy(dst + uint64_t{i} * layout.bytes, copy.data() + uint64_t{order[i].second} * layout.bytes, layout.bytes);
    }
}

bool sortable(Inst &inst, const Span &span) {
    if (span.dt == Dt::F16 || span.dt == Dt::F32) {
        return true;
    }
    finding("UNSUPPORTED-DTYPE", "%s: scores are half or float", inst.api);
    return false;
}

// One merge of up to four queues. Equal scores: the lower queue first. Returns the number of records written.
uint32_t merge_once(uint8_t *dst, const uint8_t *const src[4], const uint32_t length[4], uint32_t valid, const Layout &layout,
                    bool suspend, uint32_t taken[4]) {
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
            const int32_t key = score_key(score_at(src[q] + uint64_t{taken[q]} * layout.bytes + layout.score, layout.dt));
            if (best < 0 || key > best_key) {
                best = q;
                best_key = key;
            }
        }
        if (best < 0 || (suspend && exhausted)) {
            return written;
        }
        std::memcpy(dst + uint64_t{written} * layout.bytes, src[best] + uint64_t{taken[best]} * layout.bytes, layout.bytes);
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
    const Layout layout = layout_of(dst.dt, args.proposals);
    inst.cycles += 24.0 + static_cast<double>(total) * repeat;
    inst.moved += uint64_t{total} * repeat * layout.bytes;
    bool ok = true;
    for (int q = 0; q < 4; ++q) {
        const Walk used{0, uint64_t{length[q]} * layout.bytes, repeat, int64_t{total} * layout.bytes, 1, 0};
        ok = (length[q] == 0 || touch(inst, args.src[q], Rw::READ, used, std::min(layout.bytes, BLOCK))) && ok;
    }
    const Walk all{0, uint64_t{total} * repeat * layout.bytes, 1, 0, 1, 0};
    if (!touch(inst, dst, Rw::WRITE, all, args.proposals ? layout.bytes : BLOCK) || !ok) {
        return;
    }
    for (uint32_t r = 0; r < repeat; ++r) {
        const uint64_t skip = uint64_t{r} * total * layout.bytes;
        const uint8_t *const src[4] = {args.src[0].p + skip, args.src[1].p + skip, args.src[2].p + skip, args.src[3].p + skip};
        merge_once(dst.p + skip, src, length, args.valid, layout, args.suspend, taken);
    }
    for (int q = 0; q < 4; ++q) {
        core().merged[q] = static_cast<uint16_t>(taken[q]);
    }
}

void vec_full_sort(Inst &inst, const Span &dst, uint32_t n, bool proposals) {
    const Layout layout = layout_of(dst.dt, proposals);
    if (!touch(inst, dst, Rw::WRITE, Walk{0, uint64_t{n} * layout.bytes, 1, 0, 1, 0}) || !sortable(inst, dst)) {
        return;
    }
    sort_run(dst.p, dst.p, n, layout);
    inst.cycles += 24.0 + 2.0 * n;
}

void vec_sort16(Inst &inst, const Span &dst, const Span &src, uint32_t repeat) {
    if (repeat == 0 || !sortable(inst, src)) {
        return;
    }
    const Layout layout = layout_of(src.dt, true);
    const Walk all{0, uint64_t{repeat} * PROPOSALS * layout.bytes, 1, 0, 1, 0};
    inst.cycles += 24.0 + 16.0 * repeat;
    inst.moved += all.run;
    if (!touch(inst, src, Rw::READ, all) || !touch(inst, dst, Rw::WRITE, all)) {
        return;
    }
    for (uint32_t r = 0; r < repeat; ++r) {
        const uint64_t at = uint64_t{r} * PROPOSALS * layout.bytes;
        sort_run(dst.p + at, src.p + at, PROPOSALS, layout);
    }
}

namespace {

// One field of every proposal, to or from a dense tensor. The bytes of the field are touched, not those around it.
void move_field(Inst &inst, const Span &proposals, const Span &dense, uint32_t repeat, uint32_t field, bool put) {
    if (field > LABEL) {
        finding("SORT-RANGE", "%s: modeNumber is %u, but the fields of a proposal are 0 to 5", inst.api, field);
        return;
    }
    if (repeat > 255) {
        finding("SORT-RANGE", "%s: repeatTime is %u, but at most 255 are possible", inst.api, repeat);
    }
    if (repeat == 0 || !sortable(inst, proposals)) {
        return;
    }
    const uint32_t size = size_of(proposals.dt), n = repeat * PROPOSALS;
    inst.cycles += 24.0 + 16.0 * repeat;
    inst.moved += uint64_t{n} * size;
    const Walk fields{int64_t{field} * size, size, n, int64_t{FIELDS} * size, 1, 0}, row{0, uint64_t{n} * size, 1, 0, 1, 0};
    const bool ok = touch(inst, dense, put ? Rw::READ : Rw::WRITE, row);
    if ((proposals.addr % BLOCK) != 0) {
        finding("UB-ALIGN", "%s: the proposals start at byte %llu of the memory, which is not a multiple of %u", inst.api,
                static_cast<unsigned long long>(proposals.addr), BLOCK);
    }
    if (!touch(inst, proposals, put ? Rw::WRITE : Rw::READ, fields, 0) || !ok) {
        return;
    }
    for (uint32_t i = 0; i < n; ++i) {
        uint8_t *at = proposals.p + (uint64_t{i} * FIELDS + field) * size;
        put ? std::memcpy(at, dense.p + uint64_t{i} * size, size) : std::memcpy(dense.p + uint64_t{i} * size, at, size);
    }
}

}  // namespace

void vec_put_field(Inst &inst, const Span &proposals, const Span &src, uint32_t repeat, uint32_t field) {
    move_field(inst, proposals, src, repeat, field, true);
}

void vec_take_field(Inst &inst, const Span &dst, const Span &proposals, uint32_t repeat, uint32_t field) {
    move_field(inst, proposals, dst, repeat, field, false);
}

// Proposals of float keep the index in the label; those of half the low half of it in y1 and the high half in the label.
void vec_proposal_index(Inst &inst, const Span &proposals, const Span &index, uint32_t repeat, bool put) {
    const uint32_t size = size_of(proposals.dt), n = repeat * PROPOSALS;
    if (n == 0 || !touch(inst, index, put ? Rw::READ : Rw::WRITE, Walk{0, uint64_t{n} * 4, 1, 0, 1, 0}) || !sortable(inst, proposals)) {
        return;
    }
    const int64_t step = int64_t{FIELDS} * size;
    const Rw rw = put ? Rw::WRITE : Rw::READ;
    bool ok = touch(inst, proposals, rw, Walk{int64_t{LABEL} * size, size, n, step, 1, 0}, 0);
    ok = (size == 4 || touch(inst, proposals, rw, Walk{int64_t{Y1} * size, size, n, step, 1, 0}, 0)) && ok;
    for (uint32_t i = 0; ok && i < n; ++i) {
        uint8_t *record = proposals.p + i * step, *word = index.p + uint64_t{i} * 4;
        uint8_t *low = record + (size == 4 ? LABEL : Y1) * size, *high = record + LABEL * size;
        put ? std::memcpy(low, word, size) : std::memcpy(word, low, size);
        if (size == 2) {
            put ? std::memcpy(high, word + 2, size) : std::memcpy(word + 2, high, size);
        }
    }
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
