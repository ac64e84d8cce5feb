// Reads of local memory that nobody wrote, and of results of such bytes.
#include <algorithm>
#include <cstring>

#include "checker.h"

namespace ascendc_twin {

namespace {

using ull = unsigned long long;

bool reduces(const char *api) {
    return strstr(api, "Reduce") != nullptr || !strcmp(api, "Sum");
}

std::string nobody_wrote(const Private &p, const Reading &r) {
    return format("%s reads %llu bytes of %s, and %s%llu of them (from address %llu on) were never written", p.api, static_cast<ull>(r.total),
                  mem_name(r.mem), r.unwritten == r.total ? "all " : "", static_cast<ull>(r.unwritten), static_cast<ull>(r.first_unwritten));
}

// Until something else than lane by lane work takes in the results, it may be the padding of a tile.
void put_off(Private &p, const Reading &r) {
    p.put_off = true;
    if (known_finding(p, "UNINIT-READ")) return;
    PutOff &waiting = p.checker->put_off;
    const auto [entry, is_new] = waiting.by_site.emplace(r.site, waiting.findings.size());
    if (!is_new) {
        ++waiting.findings[entry->second].count;
        return;
    }
    finding("UNINIT-READ", "%s", nobody_wrote(p, r).c_str());
    waiting.findings.push_back(std::move(p.findings.back()));
    p.findings.pop_back();
}

void confirm(Private &p, size_t which) {
    PutOff &waiting = p.checker->put_off;
    p.findings.push_back(waiting.findings[which]);
    for (auto entry = waiting.by_site.begin(); entry != waiting.by_site.end();) {
        entry = entry->second == which ? waiting.by_site.erase(entry) : std::next(entry);
    }
}

}  // namespace

bool still_poisoned(const LocalMemory &m, uint64_t lo, uint64_t hi) {
    if (!m.poisoned || hi > m.size) return false;
    const uint8_t poison[2] = {kPoison & 0xff, kPoison >> 8};
    for (uint64_t i = lo; i < hi; ++i) {
        if (m.base[i] != poison[i % 2]) return false;
    }
    return true;
}

void report_unwritten(Private &p, const Reading &r) {
    const bool whole = r.unwritten == r.total, reducing = reduces(p.api), wrong = whole || reducing;
    // Vector instructions work on padding all the time; what leaves the core is worth a word.
    if (p.beyond || (!wrong && (r.pipe == PipeId::V || r.unwritten < 32))) return;
    if (whole && !reducing && p.carries) return put_off(p, r);
    const char *id = wrong ? "UNINIT-READ" : "UNINIT-PART";
    if (!known_finding(p, id)) finding(id, "%s", nobody_wrote(p, r).c_str());
}

// A reduction mixes its elements; anything else works on padding all the time.
void report_carried(Private &p, const Reading &r) {
    if (p.beyond) return;
    auto &waiting = p.checker->put_off.by_site;
    const auto earlier = waiting.find(r.carrier);
    if (earlier != waiting.end() && p.carries) {
        waiting.emplace(r.site, earlier->second);
    } else if (earlier != waiting.end() && (r.carried >= 32 || r.pipe == PipeId::S)) {
        confirm(p, earlier->second);
    }
    if (!reduces(p.api) || r.unwritten != 0 || known_finding(p, "UNINIT-CARRIED")) return;
    const Sites::Site &carrier = p.checker->sites[r.carrier];
    finding("UNINIT-CARRIED", "%s reads %llu bytes of UB, and %llu of them are results of bytes that were never written, from %s at %s", p.api,
            static_cast<ull>(r.total), static_cast<ull>(r.carried), carrier.api, at(carrier.pc).c_str());
}

Unwritten unwritten_in(Private &p, Mem mem, uint64_t at, uint64_t bytes) {
    Unwritten found;
    const Checker &c = *p.checker;
    const int i = static_cast<int>(mem);
    if (!c.ready[i] || !c.shadow[i].covers(at + bytes)) return found;
    Shadow &shadow = p.checker->shadow[i];
    for (uint64_t from = shadow.start(at); from < at + bytes; from = shadow[from].end) {
        const Shadow::Segment &s = shadow[from];
        const uint64_t lo = std::max(from, at), hi = std::min<uint64_t>(s.end, at + bytes);
        if (s.writer != Shadow::kNobody || (s.op == 0 && !still_poisoned(p.mem[i], lo, hi))) continue;
        found.bytes += hi - lo;
        if (s.op != 0) found.carried_by = c.sites[s.site];
    }
    return found;
}

std::vector<ByteRange> unwritten_parts(Private &p, Mem mem, uint64_t at, uint64_t bytes) {
    std::vector<ByteRange> parts;
    const int i = static_cast<int>(mem);
    if (!p.checker->ready[i] || !p.checker->shadow[i].covers(at + bytes)) return parts;
    Shadow &shadow = p.checker->shadow[i];
    for (uint64_t from = shadow.start(at); from < at + bytes; from = shadow[from].end) {
        const Shadow::Segment &s = shadow[from];
        const uint64_t lo = std::max(from, at), hi = std::min<uint64_t>(s.end, at + bytes);
        if (s.writer != Shadow::kNobody || (s.op == 0 && !still_poisoned(p.mem[i], lo, hi))) continue;
        parts.push_back({lo, hi - lo});
    }
    return parts;
}

void mark_unwritten(Private &p, Mem mem, uint64_t at, uint64_t bytes) {
    const int i = static_cast<int>(mem);
    if (!p.checker->ready[i] || !p.checker->shadow[i].covers(at + bytes)) return;
    Shadow &shadow = p.checker->shadow[i];
    shadow.split(at);
    shadow.split(at + bytes);
    for (uint64_t from = at; from < at + bytes; from = shadow[from].end) shadow[from].unwrite();
}

}  // namespace ascendc_twin
