// Global memory as all cores of a launch see it: who wrote which page first, what changed on pages of several cores, and which
// bytes of a buffer without contents were written.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

#include "core.h"

namespace ascendc_twin {

// A write of one core to a page that another core has written too.
struct SharedWrite {
    uint64_t lo, hi;
    uint64_t changed_lo, changed_hi;  // bytes that had another value before; equal: none
    uint32_t core, order;
    uint32_t period;  // GmAccess::period of the access
};

// The pages of one buffer.
struct GmPages {
    static constexpr uint64_t kPage = 4096;

    uint64_t begin = 0, end = 0;
    std::vector<uint32_t> owner;    // core number + 1 of the first writer, per page; the top bit: and others
    struct Free {
        void operator()(uint64_t *words) const { free(words); }
    };
    std::unique_ptr<uint64_t[], Free> written;  // a bit per byte; null: the buffer has contents from the start
    std::mutex mutex;
    std::vector<SharedWrite> shared;

    GmPages(uint64_t begin_, uint64_t end_, bool undefined);
    uint64_t page(uint64_t address) const { return (address - begin) / kPage; }
};

// Writes of a core, with checks on: copies the bytes and remembers what they changed.
void gm_write(Private &p, uint8_t *dst, const void *src, uint64_t bytes);
// The same where the bytes are combined with what is there (atomics): nothing is copied.
void gm_written(Private &p, const uint8_t *dst, uint64_t bytes);
// Bytes of a buffer without contents have some from now on.
void gm_mark(const Range &range, uint64_t at, uint64_t bytes);
// Bytes of [at, at + bytes) of a buffer without contents that nobody has written yet.
uint64_t gm_unwritten(const Range &range, uint64_t at, uint64_t bytes);
// Sorts the shared writes, which gm_same_values() needs.
void gm_sort(GmPages &pages);
// Whether two cores, each in one period, wrote the same values to [lo, hi): the later one changed nothing.
struct Writer {
    uint32_t core, period;
    bool wrote(const SharedWrite &w) const { return w.core == core && w.period == period; }
};
bool gm_same_values(const GmPages &pages, uint64_t lo, uint64_t hi, Writer a, Writer b);

}  // namespace ascendc_twin
