// After a launch: accesses of different cores to the same bytes, or to the same cache line by scalar writes, that nothing orders.
#include "gm_race.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <tuple>

#include "data_cache.h"

namespace ascendc_twin {

namespace {

using ull = unsigned long long;

constexpr uint64_t kMostPairs = 20'000'000;  // a second or two of comparing; what lies behind is not looked at

struct Item {
    const CoreLog *core;
    const GmAccess *access;
    uint64_t lo, hi;  // hull; of scalar writes, the lines they belong to
};

const Sites::Site &site(const Item &i) {
    return (*i.core->sites)[i.access->site];
}

std::string who(const Item &i) {
    return format("%s %u", i.core->kind, i.core->block);
}

bool before(const Item &a, const Item &b) {
    const CoresView *view = b.core->views[b.access->view].get();
    return view != nullptr && view->size() > a.core->core &&
           (*view)[a.core->core][static_cast<size_t>(a.access->pipe)] >= a.access->epoch;
}

Writer writer(const Item &i) {
    return {i.core->core, i.access->period};
}

bool scalar_write(const Item &i) {
    return i.access->kind == GmKind::SCALAR && i.access->rw == Rw::WRITE;
}

class Races {
public:
    Races(const Range &range, std::vector<Item> items) : range_(range), items_(std::move(items)) {}

    void find(std::vector<Finding> &out) {
        std::stable_sort(items_.begin(), items_.end(), [](const Item &a, const Item &b) { return a.lo < b.lo; });
        std::vector<const Item *> active;
        uint64_t pairs = 0;
        for (const Item &item : items_) {
            active.erase(std::remove_if(active.begin(), active.end(), [&](const Item *a) { return a->hi <= item.lo; }), active.end());
            for (const Item *other : active) {
                if (other->core == item.core || (other->access->rw == Rw::READ && item.access->rw == Rw::READ)) continue;
                pairs += 1 + std::min(runs(*other), runs(item)) / 16;
                if (pairs > kMostPairs) return;
                compare(*other, item, out);
            }
            active.push_back(&item);
        }
    }

private:
    static uint64_t runs(const Item &i) { return uint64_t{i.access->area.n1} * i.access->area.n2; }

    // `b` is the one that the finding is about: the later line, or the later block.
    void compare(const Item &one, const Item &two, std::vector<Finding> &out) {
        const bool swap = std::make_pair(site(one).pc, one.core->core) > std::make_pair(site(two).pc, two.core->core);
        const Item &a = swap ? two : one, &b = swap ? one : two;
        const bool a_first = before(a, b), b_first = before(b, a);
        if (a_first || b_first) {
            if (a_first != b_first) ordered(a_first ? a : b, a_first ? b : a, out);
            return;
        }
        if (a.access->kind == GmKind::ATOMIC && b.access->kind == GmKind::ATOMIC) return;
        uint64_t lo = 0, hi = 0;
        if (!areas_meet(a.access->area, b.access->area, lo, hi)) {
            if ((scalar_write(a) && b.access->rw == Rw::WRITE) || (scalar_write(b) && a.access->rw == Rw::WRITE)) shared_line(a, b, out);
            return;
        }
        if (a.access->rw == Rw::WRITE && b.access->rw == Rw::WRITE) {
            writes(a, b, lo, hi, out);
        } else {
            read_and_write(a.access->rw == Rw::READ ? a : b, a.access->rw == Rw::READ ? b : a, lo, hi, out);
        }
    }

    // Start of the run of an area that holds a byte.
    static uint64_t run_of(const GmArea &area, uint64_t at) {
        for (uint32_t j = 0; j < area.n2; ++j) {
            const uint64_t row = offset(area.lo, area.s2 * j);
            const uint64_t i = area.n1 > 1 && area.s1 > 0 && at > row ? std::min<uint64_t>((at - row) / static_cast<uint64_t>(area.s1), area.n1 - 1) : 0;
            const uint64_t start = offset(row, area.s1 * static_cast<int64_t>(i));
            if (at >= start && at < start + area.run) return start;
        }
        return area.lo;
    }

    // A scalar write that stayed in the data cache when its core signalled.
    void ordered(const Item &first, const Item &later, std::vector<Finding> &out) {
        uint64_t lo = 0, hi = 0;
        if (!scalar_write(first) || !first.access->unflushed || later.access->rw != Rw::READ) return;
        if (!areas_meet(first.access->area, later.access->area, lo, hi)) return;
        add("DCACHE-DIRTY", later, first, out,
            format("%s on %s reads %s, which %s on %s at %s has written in its data cache only: call DataCacheCleanAndInvalid "
                   "before the blocks meet",
                   site(later).api, who(later).c_str(), place(lo).c_str(), site(first).api, who(first).c_str(), at(site(first).pc).c_str()));
    }

    void writes(const Item &a, const Item &b, uint64_t lo, uint64_t hi, std::vector<Finding> &out) {
        const bool atomic = a.access->kind == GmKind::ATOMIC || b.access->kind == GmKind::ATOMIC;
        const bool same = !atomic && range_.pages != nullptr && gm_same_values(*range_.pages, lo, hi, writer(a), writer(b));
        add(same ? "GM-SAME-WRITE" : "GM-RACE", b, a, out,
            format("%s on %s and %s on %s (at %s) both write %llu bytes at %s, %s", site(b).api, who(b).c_str(), site(a).api,
                   who(a).c_str(), at(site(a).pc).c_str(), static_cast<ull>(hi - lo), place(lo).c_str(),
                   same ? "with the same values" : "and nothing orders the blocks: divide the work so that each byte has one block, add with "
                                                   "SetAtomicAdd, or put SyncAll between"));
    }

    void read_and_write(const Item &read, const Item &write, uint64_t lo, uint64_t hi, std::vector<Finding> &out) {
        if (read.access->kind == GmKind::FLAG && scalar_write(write)) return ordered(write, read, out);  // a flag that is polled
        const GmArea &area = read.access->area;
        const uint64_t start = run_of(area, lo);
        const bool edge = area.run > 32 && hi - lo < 32 && (hi == start + area.run || lo == start);
        add(edge ? "GM-RACE-EDGE" : "GM-RACE", read, write, out,
            format("%s on %s reads %llu bytes at %s that %s on %s writes at %s, and nothing orders the blocks: put SyncAll, or "
                   "IBSet and IBWait, between",
                   site(read).api, who(read).c_str(), static_cast<ull>(hi - lo), place(lo).c_str(), site(write).api, who(write).c_str(),
                   at(site(write).pc).c_str()));
    }

    void shared_line(const Item &a, const Item &b, std::vector<Finding> &out) {
        const Item &scalar = scalar_write(b) ? b : a, &other = scalar_write(b) ? a : b;
        uint64_t lo = 0, hi = 0;
        if (!lines_meet(scalar.access->area, other.access->area, lo, hi)) return;
        add("GM-LINE", scalar, other, out,
            format("%s on %s and %s on %s (at %s) write into the same 64-byte line at %s; the data cache writes lines back "
                   "whole, so one of the two is lost: keep scalar writes of different blocks 64 bytes apart",
                   site(scalar).api, who(scalar).c_str(), site(other).api, who(other).c_str(), at(site(other).pc).c_str(), place(lo).c_str()));
    }

    // Whether `other` has a byte in a line that a scalar write belongs to.
    bool lines_meet(const GmArea &scalar, const GmArea &other, uint64_t &lo, uint64_t &hi) const {
        const uint32_t runs = scalar.s1 == static_cast<int64_t>(scalar.run) ? 1 : scalar.n1;
        for (uint32_t i = 0; i < runs; ++i) {
            const uint64_t start = scalar.lo + static_cast<uint64_t>(scalar.s1 * i), ahead = (start - range_.begin) % DataCache::kLine;
            const uint64_t bytes = runs == 1 ? scalar.run * scalar.n1 : scalar.run;
            GmArea lines;
            lines.lo = start - ahead;
            lines.run = (ahead + bytes + DataCache::kLine - 1) / DataCache::kLine * DataCache::kLine;
            if (areas_meet(lines, other, lo, hi)) return true;
        }
        return false;
    }

    std::string place(uint64_t at) const {
        return format("byte %llu of %s", static_cast<ull>(at - range_.begin), range_.name);
    }

    void add(const char *id, const Item &at, const Item &other, std::vector<Finding> &out, const std::string &message) {
        void *pc = site(at).pc, *other_pc = site(other).pc;
        if (!seen_.emplace(id, std::min(pc, other_pc), std::max(pc, other_pc)).second) {
            for (Finding &f : out) {
                if (!strcmp(f.id, id) && ((f.pcs[0] == inside(pc) && f.other == inside(other_pc)) ||
                                          (f.pcs[0] == inside(other_pc) && f.other == inside(pc)))) {
                    ++f.count;
                }
            }
            return;
        }
        Finding f{id, message, site(at).api, at.access->pipe, {inside(pc)}, at.core->block, at.core->sub_block, 1, {}};
        f.other = inside(other_pc);
        out.push_back(f);
    }

    static void *inside(void *pc) { return pc != nullptr ? static_cast<char *>(pc) - 1 : nullptr; }

    const Range &range_;
    std::vector<Item> items_;
    std::set<std::tuple<std::string, void *, void *>> seen_;
};

}  // namespace

std::vector<Finding> races_between_cores(std::vector<CoreLog> &logs, const std::vector<Range> &ranges) {
    std::sort(logs.begin(), logs.end(), [](const CoreLog &a, const CoreLog &b) { return a.core < b.core; });
    std::vector<Finding> out;
    for (const Range &range : ranges) {
        if (range.pages != nullptr) gm_sort(*range.pages);
        std::vector<Item> items;
        bool written = false;
        for (const CoreLog &log : logs) {
            for (const GmAccess &access : log.all) {
                if (access.area.lo < range.begin || access.area.lo >= range.end) continue;
                Item item{&log, &access, access.area.hull_lo(), access.area.hull_hi()};
                if (scalar_write(item)) {
                    item.lo -= (item.lo - range.begin) % DataCache::kLine;
                    item.hi += DataCache::kLine;
                }
                written |= access.rw == Rw::WRITE;
                items.push_back(item);
            }
        }
        if (written) Races(range, std::move(items)).find(out);
    }
    return out;
}

}  // namespace ascendc_twin
