// Scalar accesses of global memory that the data cache keeps from the copies, and the other way round.
#include "data_cache.h"

#include <algorithm>

#include "checker.h"

namespace ascendc_twin {

uint64_t line_of(Private &p, uint64_t at) {
    const Range *range = gm_range(p, at, 1);
    const uint64_t base = range != nullptr ? range->begin : 0;
    return base + (at - base) / DataCache::kLine * DataCache::kLine;
}

namespace {

uint64_t bits_of(uint64_t line, uint64_t lo, uint64_t hi) {
    const uint64_t from = std::max(lo, line) - line, to = std::min(hi, line + DataCache::kLine) - line;
    if (from >= to) return 0;
    return (to - from == 64 ? ~uint64_t{0} : (uint64_t{1} << (to - from)) - 1) << from;
}

// Which bytes of a line an area covers.
uint64_t covered(const GmArea &area, uint64_t line) {
    if (line + DataCache::kLine <= area.hull_lo() || line >= area.hull_hi()) return 0;
    GmArea one;
    one.lo = line;
    one.run = DataCache::kLine;
    uint64_t lo = 0, hi = 0;
    return areas_meet(one, area, lo, hi) ? bits_of(line, lo, hi) : 0;
}

DataCache::Line &slot(DataCache &cache, uint64_t line) {
    return cache.lines[line / DataCache::kLine % DataCache::kLines];
}

}  // namespace

void DataCache::clear() {
    for (const uint16_t i : used) lines[i] = Line();
    used.clear();
}

bool cache_looks_past(Private &p, uint64_t line) {
    DataCache &cache = p.checker->cache;
    return slot(cache, line).at != line && (cache.all_cleaned || cache.cleaned.count(line) != 0);
}

void cache_scalar(Private &p, uint64_t address, uint64_t at, uint32_t bytes, Rw rw) {
    DataCache &cache = p.checker->cache;
    DataCache::Line &line = slot(cache, address);
    if (line.at != address) {
        if (line.at == 0) cache.used.push_back(static_cast<uint16_t>(&line - cache.lines.data()));
        line = DataCache::Line();
        line.at = address;
        line.site = p.checker->sites.number(p.pc, p.api);
    }
    if (rw == Rw::WRITE) {
        line.dirty |= bits_of(address, at, at + bytes);
        line.site = p.checker->sites.number(p.pc, p.api);
    } else if (line.stale && !(line.dirty & bits_of(address, at, at + bytes)) && !known_finding(p, "DCACHE-STALE")) {
        finding("DCACHE-STALE",
                "%s reads %s from the data cache, where its line is since %s; a copy has changed it in global memory meanwhile: call "
                "DataCacheCleanAndInvalid before",
                p.api, gm_describe(p, at).c_str(), ascendc_twin::at(p.checker->sites[line.site].pc).c_str());
    }
}

void cache_bypassed(Private &p, const GmArea &area, Rw rw) {
    DataCache &cache = p.checker->cache;
    for (const uint16_t i : cache.used) {
        DataCache::Line &line = cache.lines[i];
        const uint64_t bytes = covered(area, line.at);
        if (bytes == 0) continue;
        if (rw == Rw::WRITE) {
            line.stale = true;
            if (line.dirty == 0 || known_finding(p, "GM-LINE")) continue;
            finding("GM-LINE",
                    "%s writes %s, whose 64-byte line is changed in the data cache since %s: when that line is written back it destroys "
                    "this copy; call DataCacheCleanAndInvalid between the two",
                    p.api, gm_describe(p, line.at).c_str(), at(p.checker->sites[line.site].pc).c_str());
        } else if ((line.dirty & bytes) != 0 && !known_finding(p, "DCACHE-DIRTY")) {
            finding("DCACHE-DIRTY",
                    "%s reads %s, which %s at %s has written in the data cache only: call DataCacheCleanAndInvalid between the two", p.api,
                    gm_describe(p, line.at).c_str(), p.checker->sites[line.site].api, at(p.checker->sites[line.site].pc).c_str());
        }
    }
}

bool cache_holds(Private &p, const GmArea &area) {
    for (const uint16_t i : p.checker->cache.used) {
        const DataCache::Line &line = p.checker->cache.lines[i];
        if (line.dirty != 0 && (line.dirty & covered(area, line.at)) != 0) return true;
    }
    return false;
}

void cache_flush(const void *address, bool entire) {
    if (!t_core->checks) return;
    Private &p = priv();
    DataCache &cache = p.checker->cache;
    ++p.in_runtime;
    if (entire) {
        cache.clear();
        cache.all_cleaned = true;
    } else {
        const uint64_t line = line_of(p, reinterpret_cast<uint64_t>(address));
        cache.cleaned.insert(line);
        if (slot(cache, line).at == line) {
            slot(cache, line) = DataCache::Line();
            const auto i = static_cast<uint16_t>(&slot(cache, line) - cache.lines.data());
            cache.used.erase(std::find(cache.used.begin(), cache.used.end(), i));
        }
    }
    --p.in_runtime;
}

}  // namespace ascendc_twin
