// Global memory inside one core: which copies nothing orders, and the log for the comparison with other cores.
#include "gm_log.h"

#include <algorithm>
#include <cstring>

#include "checker.h"
#include "data_cache.h"
#include "gm_pages.h"
#include "published.h"

namespace ascendc_twin {

namespace {

using ull = unsigned long long;

constexpr uint32_t kMostKept[2] = {1 << 14, 1 << 17};  // reads, writes of one core that do not follow a pattern

// Whether the copy that is being checked writes to [lo, hi) what is there already.
bool rewrites(const Private &p, const GmArea &area, uint64_t lo, uint64_t hi) {
    if (p.copy_from == nullptr || area.n2 != 1) return false;
    const uint64_t i = area.n1 > 1 && area.s1 > 0 ? (lo - area.lo) / static_cast<uint64_t>(area.s1) : 0;
    const uint8_t *from = p.copy_from + i * p.copy_step + (lo - offset(area.lo, area.s1 * static_cast<int64_t>(i)));
    return memcmp(reinterpret_cast<const void *>(lo), from, hi - lo) == 0;
}

}  // namespace

void GmLog::start(Private &) {
    for (auto &row : recent_) {
        for (Recent &recent : row) recent.count = 0;
    }
    all_.clear();
    last_.clear();
    views_.assign(1, nullptr);
    period_ = written_from_ = 0;
    looked_at_ = published_ = published_state_ = 0;
    kept_[0] = kept_[1] = 0;
}

void GmLog::check_pipes(Private &p, const GmAccess &access) {
    Checker &c = *p.checker;
    for (int kind = access.rw == Rw::WRITE ? 0 : 1; kind < 2; ++kind) {
        for (int i = 0; i < kPipes - 1; ++i) {
            const auto pipe = static_cast<PipeId>(i);
            const Recent &recent = recent_[kind][i];
            if (recent.count == 0 || (pipe == access.pipe && (kind == 0 || ordered_by_hardware(pipe)))) continue;
            const uint32_t oldest = recent.count > Recent::kMost ? recent.count - Recent::kMost : 0;
            for (uint32_t n = recent.count; n-- > oldest;) {
                const GmAccess &before = recent.access[n % Recent::kMost];
                if (c.order.before(pipe, before.epoch, access.pipe)) break;  // and so are the ones before it
                if (before.op == access.op || (before.kind == GmKind::ATOMIC && access.kind == GmKind::ATOMIC)) continue;
                uint64_t lo = 0, hi = 0;
                if (!areas_meet(before.area, access.area, lo, hi)) continue;
                if (pipe == access.pipe && rewrites(p, access.area, lo, hi)) continue;
                if (ordered_by_compiler(pipe, access.pipe)) {
                    c.order.join(pipe, access.pipe);
                    break;
                }
                if (known_finding(p, pipe == access.pipe ? "SYNC-BARRIER" : "SYNC-HAZARD")) return;
                report_conflict(p, access.pipe, access.rw, {pipe, before.rw, c.sites[before.site]},
                                format("%llu bytes of global memory at %s", static_cast<ull>(hi - lo), gm_describe(p, lo).c_str()));
                return;
            }
        }
    }
}

void GmLog::remember(const GmAccess &access) {
    Recent &recent = recent_[access.rw == Rw::WRITE ? 1 : 0][static_cast<int>(access.pipe)];
    if (access.pipe == PipeId::S && recent.count > 0) {  // a loop over elements
        GmAccess &last = recent.access[(recent.count - 1) % Recent::kMost];
        if (last.epoch == access.epoch && last.site == access.site && last.area.lo + last.area.run == access.area.lo && last.area.n1 == 1) {
            last.area.run += access.area.run;
            last.op = access.op;
            return;
        }
    }
    recent.access[recent.count++ % Recent::kMost] = access;
}

namespace {

bool same_shape(const GmAccess &a, const GmAccess &b) {
    return a.period == b.period && a.pipe == b.pipe && a.kind == b.kind && a.area.run == b.area.run && a.site == b.site;
}

// Makes `last` cover `next` too where the two form a pattern.
bool extend(GmAccess &last, const GmAccess &next) {
    if (!same_shape(last, next)) return false;
    GmArea &a = last.area;
    const GmArea &b = next.area;
    const auto ahead = static_cast<int64_t>(b.lo - a.lo);
    if (b.n2 == 1 && b.n1 == 1) {
        if (a.n2 != 1) return false;
        if (a.n1 == 1) a.s1 = ahead;
        if (ahead == 0 || (a.n1 > 1 && ahead >= 0 && a.s1 > 0 && ahead % a.s1 == 0 && ahead / a.s1 < a.n1)) return true;
        if (ahead != a.s1 * static_cast<int64_t>(a.n1)) return false;
        ++a.n1;
        return true;
    }
    if (b.n2 != 1 || a.n1 != b.n1 || a.s1 != b.s1) return false;
    if (a.n2 == 1) a.s2 = ahead;
    if (ahead == 0) return true;
    if (ahead != a.s2 * static_cast<int64_t>(a.n2)) return false;
    ++a.n2;
    return true;
}

}  // namespace

void GmLog::keep(const GmAccess &access) {
    const size_t slot = size_t{access.site} * 2 + (access.rw == Rw::WRITE ? 1 : 0);
    if (slot >= last_.size()) last_.resize(slot + 64, -1);
    if (last_[slot] >= 0 && extend(all_[static_cast<size_t>(last_[slot])], access)) {
        all_[static_cast<size_t>(last_[slot])].epoch = access.epoch;
        return;
    }
    uint32_t &kept = kept_[access.rw == Rw::WRITE ? 1 : 0];
    if (kept == kMostKept[access.rw == Rw::WRITE ? 1 : 0]) return;
    ++kept;
    last_[slot] = static_cast<int32_t>(all_.size());
    all_.push_back(access);
}

void GmLog::add(Private &p, PipeId pipe, Rw rw, GmKind kind, const GmArea &area) {
    GmAccess access;
    access.area = area;
    access.op = p.op;
    access.view = static_cast<uint32_t>(views_.size()) - 1;
    access.period = period_;
    access.site = p.checker->sites.number(p.pc, p.api);
    access.pipe = pipe;
    access.rw = rw;
    access.kind = kind;
    check_pipes(p, access);
    access.epoch = p.checker->order.epoch(pipe);
    remember(access);
    if (t_core->block_dim > 1 || t_core->mixed) keep(access);
}

void GmLog::leave(Private &p) {
    for (size_t i = written_from_; i < all_.size(); ++i) {
        if (all_[i].kind == GmKind::SCALAR && all_[i].rw == Rw::WRITE) all_[i].unflushed = cache_holds(p, all_[i].area);
    }
    written_from_ = static_cast<uint32_t>(all_.size());
    ++period_;
}

void GmLog::learn(const Signal &signal) {
    auto view = std::make_shared<CoresView>();
    if (views_.back()) *view = *views_.back();
    merge_signal(signal, *view);
    meet(std::move(view));
}

void GmLog::learn(const CoresView &found) {
    const std::shared_ptr<const CoresView> known = views_.back(), both = merged(found, known ? *known : CoresView());
    if (known == nullptr || *both != *known) meet(both);
}

std::shared_ptr<const CoresView> GmLog::publishes(const Private &p, uint64_t line) {
    const uint64_t state = uint64_t{p.checker->order.changes()} << 32 | views_.size();
    if (state == published_state_ && line == published_) return nullptr;
    published_ = line;
    if (state != published_state_) {
        ++period_;
        published_state_ = state;
        Signal signal;
        signal.core = p.number;
        signal.view = view();
        signal.clocks = p.checker->order.seen(PipeId::S);
        auto all = std::make_shared<CoresView>();
        merge_signal(signal, *all);
        published_view_ = all;
    }
    return published_view_;
}

void GmLog::meet(std::shared_ptr<const CoresView> view) {
    views_.push_back(std::move(view));
    ++period_;
}

void GmLog::give(Private &p, CoreLog &out) {
    leave(p);
    out.core = p.number;
    out.block = t_core->block_idx;
    if (t_core->mixed) out.kind = t_core->type == Core::AIC ? "cube core" : "vector core";
    out.sub_block = t_core->sub_block_idx;
    out.all.swap(all_);
    out.views.swap(views_);
    out.sites = &p.checker->sites;
}

namespace {

GmArea area_of(const Span &span, const Walk &w) {
    return {span.addr + static_cast<uint64_t>(w.off), w.run, w.n1 > 1 ? w.s1 : 0, w.n2 > 1 ? w.s2 : 0, w.n1, w.n2};
}

// Reads of a buffer without contents, and what is written to it.
void check_contents(Private &p, const GmArea &area, bool reads, bool writes) {
    const Range *range = gm_range(p, area.hull_lo(), area.hull_hi() - area.hull_lo());
    if (range == nullptr || !(range->flags & TWIN_BUFFER_UNDEFINED)) return;
    uint64_t missing = 0, total = 0;
    for (uint32_t j = 0; j < area.n2; ++j) {
        for (uint32_t i = 0; i < area.n1; ++i) {
            const uint64_t at = offset(area.lo, area.s1 * i + area.s2 * j);
            if (reads) missing += gm_unwritten(*range, at, area.run);
            if (writes) gm_mark(*range, at, area.run);
            total += area.run;
        }
    }
    const bool all = missing == total;
    if (missing == 0 || (!all && missing < 32)) return;  // less is a length rounded up
    const char *id = all ? "GM-UNINIT" : "UNINIT-PART";
    if (known_finding(p, id)) return;
    finding(id, "%s reads %llu bytes from %s, and %s%llu of them hold nothing yet: no instruction has written them in this launch", p.api,
            static_cast<ull>(total), gm_describe(p, area.lo).c_str(), all ? "all " : "", static_cast<ull>(missing));
}

// operator() may as well be assigned to: what an element holds that nobody has written is not what the kernel wants.
bool assigns(Private &p, uint64_t at, uint32_t bytes) {
    if (p.api[0] != 'o') return false;
    const Range *range = gm_range(p, at, bytes);
    return range != nullptr && (range->flags & TWIN_BUFFER_UNDEFINED) && gm_unwritten(*range, at, bytes) == bytes;
}

}  // namespace

void global_access(Private &p, PipeId pipe, const Span &span, Rw rw, const Walk &walk) {
    if (pipe == PipeId::ALL) return;
    const GmArea area = area_of(span, walk);
    const bool atomic = rw == Rw::WRITE && t_core->atomic != 0;
    ++p.in_runtime;
    take_published(p);
    check_contents(p, area, rw == Rw::READ || atomic, rw == Rw::WRITE);
    cache_bypassed(p, area, rw);
    p.checker->gm.add(p, pipe, rw, atomic ? GmKind::ATOMIC : GmKind::COPY, area);
    --p.in_runtime;
}

void global_scalar(Private &p, uint64_t at, uint32_t bytes, Rw rw) {
    GmArea area;
    area.lo = at;
    area.run = bytes;
    ++p.in_runtime;
    take_published(p);
    if (rw == Rw::READ && assigns(p, at, bytes)) {
        rw = Rw::WRITE;
        gm_written(p, reinterpret_cast<const uint8_t *>(at), bytes);
    }
    check_contents(p, area, rw == Rw::READ, rw == Rw::WRITE);
    const uint64_t line = line_of(p, at);
    const bool past_cache = strstr(p.api, "GmByPassDCache") != nullptr, fresh = past_cache || (rw == Rw::READ && cache_looks_past(p, line));
    if (!past_cache) {  // that is how blocks talk to each other: a flag, and what it stands for
        cache_scalar(p, line, at, bytes, rw);
        p.checker->gm.add(p, PipeId::S, rw, fresh ? GmKind::FLAG : GmKind::SCALAR, area);
    }
    if (t_core->block_dim > 1 || t_core->mixed) {
        if (rw == Rw::WRITE) publish_line(p, line);
        else if (fresh) p.checker->gm.looks_at(line);
    }
    --p.in_runtime;
}

}  // namespace ascendc_twin
