// Which accesses of different pipes nothing orders: a vector clock per pipe, moved along by flags and barriers.
#include <algorithm>
#include <cstring>

#include "core.h"
#include "fault.h"

namespace ascendc_twin {

namespace {

constexpr size_t kRecords = 96;  // per buffer; the oldest is forgotten beyond that

struct Record {
    uint64_t lo, hi;
    PipeId pipe;
    Rw rw;
    uint32_t clock;
    void *pc;
    const char *api;
};

struct Hazards {
    uint32_t now[kPipes] = {};             // operations issued on each pipe
    uint32_t known[kPipes][kPipes] = {};   // known[a][b]: operations of b that are complete before the next one of a
    std::vector<std::vector<Record>> per_buffer;
};

Hazards &hazards(Private &p) {
    return *static_cast<Hazards *>(p.hazard);
}

std::vector<Record> &records(Hazards &h, const Span &span) {
    const size_t slot = span.buf >= 0 ? static_cast<size_t>(span.buf) + kMems : static_cast<size_t>(span.mem);
    if (slot >= h.per_buffer.size()) h.per_buffer.resize(slot + 1);
    return h.per_buffer[slot];
}

void report(const Record &before, PipeId pipe, Rw rw, uint64_t lo, uint64_t hi) {
    finding("SYNC-HAZARD",
            "%s on pipe %s %s %llu bytes that %s on pipe %s %s at %s, and nothing orders the two: use EnQue and DeQue, or SetFlag and "
            "WaitFlag<%s_%s>",
            priv().api, pipe_name(pipe), rw == Rw::READ ? "reads" : "writes",
            static_cast<unsigned long long>(std::min(hi, before.hi) - std::max(lo, before.lo)), before.api, pipe_name(before.pipe),
            before.rw == Rw::READ ? "reads" : "writes", at(before.pc).c_str(), pipe_name(before.pipe), pipe_name(pipe));
}

void note(Hazards &h, std::vector<Record> &list, PipeId pipe, Rw rw, uint64_t lo, uint64_t hi) {
    const Private &p = priv();
    const int me = static_cast<int>(pipe);
    Record *same = nullptr;
    for (Record &r : list) {
        if (r.lo >= hi || r.hi <= lo) continue;
        if (r.pipe == pipe) {
            if (r.lo == lo && r.hi == hi && r.rw == rw) same = &r;
            continue;
        }
        if (r.rw == Rw::READ && rw == Rw::READ) continue;
        if (t_core->auto_sync && (pipe == PipeId::S || r.pipe == PipeId::S)) continue;
        if (h.known[me][static_cast<int>(r.pipe)] < r.clock) report(r, pipe, rw, lo, hi);
    }
    const uint32_t clock = ++h.now[me];
    if (same != nullptr) {
        same->clock = clock;
        same->pc = p.pc;
        same->api = p.api;
        return;
    }
    if (list.size() >= kRecords) list.erase(list.begin(), list.begin() + kRecords / 4);
    list.push_back({lo, hi, pipe, rw, clock, p.pc, p.api});
}

}  // namespace

void hazard_reset(Private &p) {
    if (p.hazard == nullptr) p.hazard = new Hazards();
    Hazards &h = hazards(p);
    memset(h.now, 0, sizeof h.now);
    memset(h.known, 0, sizeof h.known);
    h.per_buffer.clear();
}

void hazard_free(Private &p) {
    delete static_cast<Hazards *>(p.hazard);
    p.hazard = nullptr;
}

// A strided walk is recorded run by run when it has few runs, and else not at all: its hull would give false alarms.
void hazard_access(Private &p, PipeId pipe, const Span &span, Rw rw, const Walk &w) {
    if (pipe == PipeId::ALL || (pipe == PipeId::S && t_core->auto_sync)) return;
    ++p.in_runtime;
    Hazards &h = hazards(p);
    auto &list = records(h, span);
    const bool row = w.n1 == 1 || w.s1 == static_cast<int64_t>(w.run);
    const uint64_t length = w.run * w.n1;
    if (row && (w.n2 == 1 || w.s2 == static_cast<int64_t>(length))) {
        const uint64_t lo = span.addr + static_cast<uint64_t>(w.off);
        note(h, list, pipe, rw, lo, lo + length * w.n2);
    } else if (uint64_t{w.n1} * w.n2 <= 8) {
        for (uint32_t j = 0; j < w.n2; ++j) {
            for (uint32_t i = 0; i < w.n1; ++i) {
                const uint64_t lo = span.addr + static_cast<uint64_t>(w.off + w.s1 * i + w.s2 * j);
                note(h, list, pipe, rw, lo, lo + w.run);
            }
        }
    }
    --p.in_runtime;
}

void hazard_set(Private &p, uint8_t event, Flag &flag) {
    const Hazards &h = hazards(p);
    const int src = static_cast<int>(event_src(event));
    for (int i = 0; i < kPipes; ++i) flag.clock[i] = std::max(flag.clock[i], h.known[src][i]);
    flag.clock[src] = std::max(flag.clock[src], h.now[src]);
}

void hazard_wait(Private &p, uint8_t event, const Flag &flag) {
    if (fault_here(kLostWait, ++p.waits)) return;
    Hazards &h = hazards(p);
    const int dst = static_cast<int>(event_dst(event));
    for (int i = 0; i < kPipes; ++i) h.known[dst][i] = std::max(h.known[dst][i], flag.clock[i]);
}

void hazard_barrier(Private &p, PipeId pipe) {
    if (pipe != PipeId::ALL) return;
    Hazards &h = hazards(p);
    for (auto &known : h.known) memcpy(known, h.now, sizeof h.now);
    for (auto &list : h.per_buffer) list.clear();
}

}  // namespace ascendc_twin
