// Accesses of local memories that nothing orders.
#include <algorithm>
#include <cstring>

#include "checker.h"

namespace ascendc_twin {

namespace {

using ull = unsigned long long;

struct Accessing {
    Private &p;
    Checker &checker;
    PipeId pipe;
    Rw rw;
    Mem mem;
    uint16_t site;
    int me;
    uint8_t others;         // bit per pipe that a write must come after
    bool in_order;          // the hardware orders what this pipe does
    const uint32_t *known;  // epochs of the pipes that are complete for this one
    Reading seen = {};
};

Accessing accessing(Private &p, PipeId pipe, Rw rw, Mem mem) {
    Checker &c = *p.checker;
    const int me = static_cast<int>(pipe);
    const auto others = static_cast<uint8_t>(rw == Rw::READ ? 0 : ~(1u << me));
    const uint16_t site = c.sites.number(p.pc, p.api);
    return {p, c, pipe, rw, mem, site, me, others, ordered_by_hardware(pipe), c.order.known(pipe), {pipe, mem, site}};
}

// Whether the last write comes before this instruction, or belongs to it.
inline bool after_writer(const Accessing &a, const Shadow::Segment &s) {
    if (s.epoch <= a.known[s.writer]) return true;
    return s.writer != Shadow::kNobody && (s.op == a.p.op || (s.writer == a.me && a.in_order));
}

// Whether nothing about the segment needs a second look.
inline bool settled(const Accessing &a, const Shadow::Segment &s) {
    if (!after_writer(a, s)) return false;
    for (unsigned readers = s.readers & a.others; readers != 0; readers &= readers - 1) {
        const int reader = __builtin_ctz(readers);
        if (s.read_epoch[reader] > a.known[reader] && s.read_op != a.p.op) return false;
    }
    return true;
}

const char *verb(Rw rw) {
    return rw == Rw::READ ? "reads" : "writes";
}

// The compiler's edge is put in where it covers the pair; everything else is reported.
void unordered(Accessing &a, PipeId earlier, Rw earlier_rw, uint16_t site, uint64_t lo, uint64_t hi) {
    if (ordered_by_compiler(earlier, a.pipe)) {
        a.checker.order.join(earlier, a.pipe);
        return;
    }
    if (known_finding(a.p, earlier == a.pipe ? "SYNC-BARRIER" : "SYNC-HAZARD")) return;
    report_conflict(a.p, a.pipe, a.rw, {earlier, earlier_rw, a.checker.sites[site]},
                    format("%llu bytes at %s address %llu", static_cast<ull>(hi - lo), mem_name(a.mem), static_cast<ull>(lo)));
}

__attribute__((noinline)) void look_again(Accessing &a, const Shadow::Segment &s, uint64_t lo, uint64_t hi) {
    const Order &order = a.checker.order;
    if (s.writer == Shadow::kNobody) {
        const bool carried = s.op != 0;  // written, but with bytes that nobody wrote
        if (a.rw == Rw::READ && carried && a.mem == Mem::UB) {
            a.seen.carried += hi - lo;
            if (a.seen.carried == hi - lo || a.checker.put_off.by_site.count(s.site) != 0) a.seen.carrier = s.site;
        } else if (a.rw == Rw::READ && (carried || still_poisoned(a.p.mem[static_cast<int>(a.mem)], lo, hi))) {
            if (a.seen.unwritten == 0) a.seen.first_unwritten = lo;
            a.seen.unwritten += hi - lo;
        }
    } else if (const auto writer = static_cast<PipeId>(s.writer); s.op != a.p.op && !order.before(writer, s.epoch, a.pipe)) {
        if (writer != a.pipe || !ordered_by_hardware(a.pipe)) unordered(a, writer, Rw::WRITE, s.site, lo, hi);
    }
    if (a.rw == Rw::READ || s.readers == 0 || s.read_op == a.p.op) return;
    for (int i = 0; i < kPipes - 1; ++i) {  // a pipe starts its instructions in order, so it has read before it writes again
        const auto reader = static_cast<PipeId>(i);
        if (reader == a.pipe || !(s.readers >> i & 1) || order.before(reader, s.read_epoch[i], a.pipe)) continue;
        unordered(a, reader, Rw::READ, s.read_site[i], lo, hi);
    }
}

inline void check_segment(Accessing &a, const Shadow::Segment &s, uint64_t lo, uint64_t hi) {
    if (!settled(a, s)) look_again(a, s, lo, hi);
}

inline void read_by(const Accessing &a, Shadow::Segment &s, uint32_t epoch) {
    s.readers |= static_cast<uint8_t>(1u << a.me);
    s.read_epoch[a.me] = epoch;
    s.read_site[a.me] = a.site;
}

inline void written(const Accessing &a, Shadow::Segment &s) {
    s.epoch = a.checker.order.epoch(a.pipe);
    s.op = a.p.op;
    s.site = a.site;
    s.writer = static_cast<uint8_t>(a.pipe);
    s.readers = 0;
}

void note_read(Accessing &a, Shadow &shadow, uint64_t lo, uint64_t hi) {
    const int me = a.me;
    for (uint64_t at = shadow.start(lo); at < hi;) {
        Shadow::Segment *s = &shadow[at];
        uint64_t end = s->end;
        check_segment(a, *s, std::max(at, lo), std::min(end, hi));
        const uint32_t epoch = a.checker.order.epoch(a.pipe);
        const bool noted = (s->readers >> me & 1) && s->read_epoch[me] == epoch;
        if (!noted) {
            if (at < lo) {
                shadow.split(lo);
                s = &shadow[at = lo];
            }
            if (end > hi) {
                shadow.split(hi);
                end = hi;
            }
            read_by(a, *s, epoch);
        }
        s->read_op = a.p.op;
        at = end;
    }
}

void note_write(Accessing &a, Shadow &shadow, uint64_t lo, uint64_t hi) {
    for (uint64_t at = shadow.start(lo), end; at < hi; at = end) {
        const Shadow::Segment &s = shadow[at];
        end = s.end;
        check_segment(a, s, std::max(at, lo), std::min(end, hi));
    }
    shadow.split(lo);
    Shadow::Segment &s = shadow[lo];
    if (s.end != hi) {
        shadow.split(hi);
        shadow.unite(lo, hi);
    }
    written(a, s);
    if (a.pipe != PipeId::S || lo == 0) return;
    const uint64_t previous = shadow.start(lo - 1);
    const Shadow::Segment &before = shadow[previous];  // a loop of SetValue makes one segment
    if (before.writer == s.writer && before.epoch == s.epoch && before.site == s.site && before.readers == 0) shadow.merge_back(lo, previous);
}

Shadow *shadow_of(Private &p, Mem mem, uint64_t end) {
    const int i = static_cast<int>(mem);
    Checker &c = *p.checker;
    if (!c.ready[i]) {
        c.ready[i] = true;
        c.shadow[i].prepare(p.mem[i].limit);
    }
    return c.shadow[i].covers(end) ? &c.shadow[i] : nullptr;
}

void note(Accessing &a, Shadow &shadow, uint64_t lo, uint64_t bytes) {
    a.seen.total += bytes;
    if (a.rw == Rw::READ) {
        note_read(a, shadow, lo, lo + bytes);
    } else {
        note_write(a, shadow, lo, lo + bytes);
    }
}

// Most rows are just a segment already, and in order: a shorter way to the same as note().
inline bool noted(Accessing &a, Shadow &shadow, uint64_t lo, uint64_t hi) {
    Shadow::Segment *s = shadow.exactly(lo, hi);
    if (s == nullptr || !settled(a, *s)) return false;
    if (a.rw == Rw::READ) {
        const uint32_t epoch = a.checker.order.epoch(a.pipe);
        if (!(s->readers >> a.me & 1) || s->read_epoch[a.me] != epoch) read_by(a, *s, epoch);
        s->read_op = a.p.op;
    } else {
        written(a, *s);
    }
    a.seen.total += hi - lo;
    return true;
}

}  // namespace

bool known_finding(Private &p, const char *id) {
    void *inside = p.pc ? static_cast<char *>(p.pc) - 1 : nullptr;
    for (Finding &f : p.findings) {
        if (strcmp(f.id, id) != 0 || f.pcs.front() != inside) continue;
        ++f.count;
        return true;
    }
    return false;
}

void report_conflict(Private &p, PipeId pipe, Rw rw, const Earlier &earlier, const std::string &what) {
    const bool one_pipe = pipe == earlier.pipe;
    const std::string fix =
        one_pipe ? format("put PipeBarrier<PIPE_%s>() between them", pipe_name(pipe))
                 : format("use EnQue and DeQue, or SetFlag and WaitFlag<%s_%s>", pipe_name(earlier.pipe), pipe_name(pipe));
    ++p.in_runtime;
    finding(one_pipe ? "SYNC-BARRIER" : "SYNC-HAZARD", "%s on pipe %s %s %s that %s on pipe %s %s at %s, and nothing orders the two: %s",
            p.api, pipe_name(pipe), verb(rw), what.c_str(), earlier.site.api, pipe_name(earlier.pipe), verb(earlier.rw),
            at(earlier.site.pc).c_str(), fix.c_str());
    if (!p.findings.empty()) p.findings.back().other = earlier.site.pc ? static_cast<char *>(earlier.site.pc) - 1 : nullptr;
    --p.in_runtime;
}

void local_access(Private &p, PipeId pipe, const Span &span, Rw rw, const Walk &w) {
    if (pipe == PipeId::ALL) return;
    const int64_t base = static_cast<int64_t>(span.addr) + w.off;
    const int64_t last = base + w.s1 * static_cast<int64_t>(w.n1 - 1) + w.s2 * static_cast<int64_t>(w.n2 - 1);
    ++p.in_runtime;
    if (Shadow *shadow = shadow_of(p, span.mem, static_cast<uint64_t>(std::max(base, last)) + w.run)) {
        Accessing a = accessing(p, pipe, rw, span.mem);
        const uint64_t row = w.run * w.n1;
        const bool joined = w.n1 == 1 || w.s1 == static_cast<int64_t>(w.run), all = joined && (w.n2 == 1 || w.s2 == static_cast<int64_t>(row));
        const uint64_t run = all ? row * w.n2 : w.run;
        const uint32_t n1 = all ? 1 : w.n1, n2 = all ? 1 : w.n2;
        for (uint32_t j = 0; j < n2; ++j) {
            for (uint32_t i = 0; i < n1; ++i) {
                const auto lo = static_cast<uint64_t>(base + w.s1 * i + w.s2 * j);
                if (!noted(a, *shadow, lo, lo + run)) note(a, *shadow, lo, run);
            }
        }
        if (a.seen.unwritten != 0 && p.judged) p.unwritten = true;
        p.holes |= a.seen.unwritten + a.seen.carried != 0;
        if (a.seen.unwritten != 0 && !p.judged) report_unwritten(p, a.seen);
        if (a.seen.carried != 0) report_carried(p, a.seen);
    }
    --p.in_runtime;
}

bool local_used(Private &p, Mem mem, uint64_t lo, uint64_t hi) {
    Shadow *shadow = shadow_of(p, mem, hi);
    if (shadow == nullptr) return false;
    for (uint64_t at = shadow->start(lo); at < hi; at = (*shadow)[at].end) {
        if ((*shadow)[at].writer != Shadow::kNobody) return true;
    }
    return false;
}

void local_scalar(Private &p, Mem mem, uint64_t at, uint32_t bytes, Rw rw) {
    ++p.in_runtime;
    if (Shadow *shadow = shadow_of(p, mem, at + bytes)) {
        Accessing a = accessing(p, PipeId::S, rw, mem);
        note(a, *shadow, at, bytes);
        const bool reference = p.api[0] == 'o';  // operator() may as well be assigned to
        if (a.seen.unwritten != 0 && reference) {
            Accessing write = accessing(p, PipeId::S, Rw::WRITE, mem);
            note(write, *shadow, at, bytes);
        } else if (a.seen.unwritten != 0) {
            report_unwritten(p, a.seen);
        }
        if (a.seen.carried != 0 && !reference) report_carried(p, a.seen);
    }
    --p.in_runtime;
}

void checker_prepare(Private &p) {
    if (p.checker == nullptr) p.checker = new Checker();
    Checker &c = *p.checker;
    c.order.reset();
    std::fill(std::begin(c.ready), std::end(c.ready), false);
    c.gm.start(p);
    c.cache.clear();
    c.cache.cleaned.clear();
    c.cache.all_cleaned = false;
    c.set_again.clear();
    c.put_off = {};
}

}  // namespace ascendc_twin
