// The data cache through which the scalar unit reads and writes global memory; copies do not see it.
//
// Source: the pages of DataCacheCleanAndInvalid and GlobalTensor::SetValue in the public Ascend C API documents (lines of 64 bytes,
// written back whole; no coherence with copies or other cores).
#pragma once

#include <array>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "core.h"

namespace ascendc_twin {

struct GmArea;

struct DataCache {
    static constexpr uint64_t kLine = 64;
    static constexpr size_t kLines = 512;  // 32 KB
    struct Line {
        uint64_t at = 0;     // address of its first byte; 0: empty
        uint64_t dirty = 0;  // a bit per byte that SetValue has written
        uint16_t site = 0;   // where it was cached or written
        bool stale = false;  // global memory has changed since
    };
    std::array<Line, kLines> lines;
    std::vector<uint16_t> used;
    std::unordered_set<uint64_t> cleaned;  // lines that the kernel has written back itself
    bool all_cleaned = false;

    void clear();
};

// Start of the line of an address: buffers start on one on the device, wherever they lie here.
uint64_t line_of(Private &p, uint64_t at);
// Whether a read of a line that starts at `line` finds what is in global memory, since the kernel has called DataCacheCleanAndInvalid for it before.
bool cache_looks_past(Private &p, uint64_t line);
void cache_scalar(Private &p, uint64_t line, uint64_t at, uint32_t bytes, Rw rw);
// A copy reads or writes global memory behind the cache.
void cache_bypassed(Private &p, const GmArea &area, Rw rw);
// Whether bytes of an area are written only in the cache.
bool cache_holds(Private &p, const GmArea &area);

}  // namespace ascendc_twin
