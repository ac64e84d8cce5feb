// The accesses of one core to global memory: those of now, for the order of its own pipes, and all of them, for the other cores.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core.h"
#include "gm_area.h"
#include "order.h"
#include "sites.h"

namespace ascendc_twin {

// What a core leaves behind for the comparison with others.
struct CoreLog;

enum class GmKind : uint8_t { COPY, SCALAR, ATOMIC, FLAG };  // FLAG: a scalar read past the data cache

struct GmAccess {
    GmArea area;
    uint32_t epoch = 0, op = 0;
    uint32_t view = 0;        // index of what the core knew of others
    uint32_t period = 0;      // changes whenever the core signals or learns
    uint16_t site = 0;
    PipeId pipe = PipeId::S;
    Rw rw = Rw::READ;
    GmKind kind = GmKind::COPY;
    bool unflushed = false;  // SCALAR writes: still in the data cache when the core signalled
};

class GmLog {
public:
    void start(Private &p);
    void add(Private &p, PipeId pipe, Rw rw, GmKind kind, const GmArea &area);
    // The core tells others what it has done (leave), learns from one of them, or has met others, itself among them.
    void leave(Private &p);
    void learn(const Signal &signal);
    void learn(const CoresView &found);
    // What a write to a line tells others, null if the last one told it; that the core has read one past its data cache, and which that was.
    std::shared_ptr<const CoresView> publishes(const Private &p, uint64_t line);
    void looks_at(uint64_t line) { looked_at_ = line; }
    uint64_t looked_at() { return std::exchange(looked_at_, 0); }
    void meet(std::shared_ptr<const CoresView> view);
    std::shared_ptr<const CoresView> view() const { return views_.back(); }
    uint32_t period() const { return period_; }

    // Moves what other cores must be compared with into `out`.
    void give(Private &p, CoreLog &out);

private:
    void check_pipes(Private &p, const GmAccess &access);
    void keep(const GmAccess &access);
    void remember(const GmAccess &access);

    struct Recent {
        static constexpr uint32_t kMost = 32;
        std::array<GmAccess, kMost> access;
        uint32_t count = 0;
    };
    Recent recent_[2][kPipes];             // reads, writes
    std::vector<GmAccess> all_;
    std::vector<int32_t> last_;            // index in all_ of a line's last access, by 2 * site + rw
    std::vector<std::shared_ptr<const CoresView>> views_;
    uint32_t period_ = 0, written_from_ = 0;
    uint64_t looked_at_ = 0, published_ = 0;  // lines
    uint64_t published_state_ = 0;
    std::shared_ptr<const CoresView> published_view_;
    uint32_t kept_[2] = {};
};

struct CoreLog {
    uint32_t core = 0, block = 0, sub_block = 0;
    const char *kind = "block";  // or the kind of core, where a kernel runs on two
    std::vector<GmAccess> all;
    std::vector<std::shared_ptr<const CoresView>> views;
    const Sites *sites = nullptr;  // of the thread that ran the core
};

// One access of an instruction; notes it for the checks and reports what is wrong with it inside this core.
void global_access(Private &p, PipeId pipe, const Span &span, Rw rw, const Walk &walk);
void global_scalar(Private &p, uint64_t at, uint32_t bytes, Rw rw);
}  // namespace ascendc_twin
