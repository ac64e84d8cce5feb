// First writers of pages, and which writes changed bytes that another core had written.
#include "gm_pages.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "checker.h"

namespace ascendc_twin {

namespace {

constexpr size_t kMostShared = 1 << 20;
constexpr uint32_t kSeveral = 1u << 31;  // in GmPages::owner: other cores have written the page as well

std::mutex g_locks[256];
std::atomic<uint32_t> g_order{0};

std::mutex &lock_of(uint64_t address) {
    return g_locks[address / GmPages::kPage % 256];
}

void mark(GmPages &pages, uint64_t lo, uint64_t hi) {
    for (uint64_t bit = lo - pages.begin; bit < hi - pages.begin;) {
        const uint64_t last = std::min(hi - pages.begin, (bit / 64 + 1) * 64), count = last - bit;
        pages.written[bit / 64] |= (count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << bit % 64;
        bit = last;
    }
}

// Where [dst, dst + bytes) and src differ: the first and the last such byte.
void compare(const uint8_t *dst, const uint8_t *src, uint64_t bytes, SharedWrite &write) {
    write.changed_lo = write.changed_hi = write.lo;
    if (memcmp(dst, src, bytes) == 0) return;
    uint64_t first = 0, last = bytes;
    while (dst[first] == src[first]) ++first;
    while (dst[last - 1] == src[last - 1]) --last;
    write.changed_lo = write.lo + first;
    write.changed_hi = write.lo + last;
}

// One piece that lies in one page; src null: it is combined elsewhere and counts as changed.
void write_piece(GmPages &pages, const Private &p, uint8_t *dst, const uint8_t *src, uint64_t bytes) {
    const uint32_t core = p.number;
    const auto at = reinterpret_cast<uint64_t>(dst);
    std::lock_guard<std::mutex> lock(lock_of(pages.page(at) * GmPages::kPage + pages.begin));
    uint32_t &owner = pages.owner[pages.page(at)];
    if (owner == 0) owner = core + 1;
    if ((owner & ~kSeveral) != core + 1) owner |= kSeveral;
    if (owner & kSeveral) {
        SharedWrite write{at, at + bytes, at, at + bytes, core, 0, p.checker->gm.period()};
        if (src != nullptr) compare(dst, src, bytes, write);
        write.order = ++g_order;
        std::lock_guard<std::mutex> list(pages.mutex);
        if (pages.shared.size() < kMostShared) pages.shared.push_back(write);
    }
    if (src != nullptr) memcpy(dst, src, bytes);
}

void write_all(Private &p, uint8_t *dst, const uint8_t *src, uint64_t bytes) {
    const Range *range = gm_range(p, reinterpret_cast<uint64_t>(dst), bytes);
    if (range == nullptr || range->pages == nullptr) {
        if (src != nullptr) memmove(dst, src, bytes);
        return;
    }
    GmPages &pages = *range->pages;
    ++p.in_runtime;
    while (bytes != 0) {
        const uint64_t in_page = (reinterpret_cast<uint64_t>(dst) - pages.begin) % GmPages::kPage;
        const uint64_t step = std::min(bytes, GmPages::kPage - in_page);
        write_piece(pages, p, dst, src, step);
        dst += step;
        if (src != nullptr) src += step;
        bytes -= step;
    }
    --p.in_runtime;
}

bool meets(const SharedWrite &w, uint64_t lo, uint64_t hi) {
    return w.lo < hi && lo < w.hi;
}

}  // namespace

GmPages::GmPages(uint64_t begin_, uint64_t end_, bool undefined) : begin(begin_), end(end_) {
    owner.assign((end - begin) / kPage + 1, 0);
    // calloc: a workspace is mostly large and hardly used, and pages that are not touched cost nothing
    if (undefined) written.reset(static_cast<uint64_t *>(calloc((end - begin) / 64 + 1, sizeof(uint64_t))));
}

void gm_mark(const Range &range, uint64_t at, uint64_t bytes) {
    if (range.pages == nullptr || range.pages->written == nullptr) return;
    GmPages &pages = *range.pages;
    const uint64_t end = std::min(at + bytes, pages.end);
    while (at < end) {
        const uint64_t start = pages.begin + pages.page(at) * GmPages::kPage, last = std::min(end, start + GmPages::kPage);
        std::lock_guard<std::mutex> lock(lock_of(start));
        mark(pages, at, last);
        at = last;
    }
}

void gm_write(Private &p, uint8_t *dst, const void *src, uint64_t bytes) {
    write_all(p, dst, static_cast<const uint8_t *>(src), bytes);
}

void put_global(uint8_t *dst, const void *src, uint64_t bytes) {
    if (t_core->checks) {
        gm_write(priv(), dst, src, bytes);
    } else {
        memcpy(dst, src, bytes);
    }
}

void gm_written(Private &p, const uint8_t *dst, uint64_t bytes) {
    write_all(p, const_cast<uint8_t *>(dst), nullptr, bytes);
}

uint64_t gm_unwritten(const Range &range, uint64_t at, uint64_t bytes) {
    if (range.pages == nullptr || range.pages->written == nullptr) return 0;
    const GmPages &pages = *range.pages;
    uint64_t missing = 0;
    for (uint64_t bit = at - pages.begin, end = bit + bytes; bit < end;) {
        const uint64_t last = std::min(end, (bit / 64 + 1) * 64), count = last - bit;
        const uint64_t mask = (count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << bit % 64;
        missing += count - static_cast<uint64_t>(__builtin_popcountll(pages.written[bit / 64] & mask));
        bit = last;
    }
    return missing;
}

void gm_sort(GmPages &pages) {
    std::sort(pages.shared.begin(), pages.shared.end(), [](const SharedWrite &x, const SharedWrite &y) { return x.lo < y.lo; });
}

namespace {

// [lo, hi) lies in one page. The writes of its cores are in the list from the second core on; the first core's came before.
bool same_in_page(const GmPages &pages, uint64_t lo, uint64_t hi, Writer a, Writer b) {
    const uint64_t page = pages.page(lo), start = pages.begin + page * GmPages::kPage;
    const uint32_t first = pages.owner[page] & ~kSeveral;
    const auto from = std::lower_bound(pages.shared.begin(), pages.shared.end(), start,
                                       [](const SharedWrite &w, uint64_t at) { return w.lo < at; });
    const auto of_these = [&](const SharedWrite &w) { return (a.wrote(w) || b.wrote(w)) && meets(w, lo, hi); };
    uint32_t earliest = UINT32_MAX, count = 0;
    bool listed = false;
    for (auto w = from; w != pages.shared.end() && w->lo < hi; ++w) {
        if (!of_these(*w)) continue;
        ++count;
        earliest = std::min(earliest, w->order);
        listed |= w->core + 1 == first;
    }
    const bool came_first = (first == a.core + 1 || first == b.core + 1) && !listed;
    if (count < (came_first ? 1u : 2u)) return false;
    for (auto w = from; w != pages.shared.end() && w->lo < hi; ++w) {
        if (!of_these(*w) || (!came_first && w->order == earliest)) continue;
        if (w->changed_lo < w->changed_hi && w->changed_lo < hi && w->changed_hi > lo) return false;
    }
    return true;
}

}  // namespace

bool gm_same_values(const GmPages &pages, uint64_t lo, uint64_t hi, Writer a, Writer b) {
    while (lo < hi) {
        const uint64_t end = std::min(hi, pages.begin + (pages.page(lo) + 1) * GmPages::kPage);
        if (!same_in_page(pages, lo, end, a, b)) return false;
        lo = end;
    }
    return true;
}

}  // namespace ascendc_twin
