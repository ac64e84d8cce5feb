// What the checks remember about one running core.
#pragma once

#include <unordered_map>

#include "data_cache.h"
#include "gm_log.h"
#include "order.h"
#include "shadow.h"
#include "sites.h"

namespace ascendc_twin {

// Findings of instructions that worked lane by lane on nothing but unwritten bytes: they count once something takes in the results.
struct PutOff {
    std::vector<Finding> findings;
    std::unordered_map<uint16_t, size_t> by_site;  // of such an instruction, or of one that worked on its results
};

struct Checker {
    Order order;
    Sites sites;
    Shadow shadow[kMems];  // of the local memories; [0] is unused
    bool ready[kMems] = {};
    struct SetAgain {
        uint8_t event;
        int32_t id;
        void *pc, *first;
    };
    std::vector<SetAgain> set_again;  // flags that were set twice before a wait
    PutOff put_off;
    GmLog gm;
    DataCache cache;
};

void checker_prepare(Private &p);
// One access of a local memory by an instruction.
void local_access(Private &p, PipeId pipe, const Span &span, Rw rw, const Walk &walk);
bool local_used(Private &p, Mem mem, uint64_t lo, uint64_t hi);  // whether an instruction has written any of these bytes
void local_scalar(Private &p, Mem mem, uint64_t at, uint32_t bytes, Rw rw);
// A conflict of two accesses that nothing orders. `what`: the bytes and where they lie; `other`: the earlier one.
struct Earlier {
    PipeId pipe;
    Rw rw;
    Sites::Site site;
};
void report_conflict(Private &p, PipeId pipe, Rw rw, const Earlier &earlier, const std::string &what);
// Bytes of a range that hold nothing, and the instruction that brought them there from other such bytes, if one did.
struct Unwritten {
    uint64_t bytes = 0;
    Sites::Site carried_by;
};
bool still_poisoned(const LocalMemory &m, uint64_t lo, uint64_t hi);
// What a read of a local memory found.
struct Reading {
    PipeId pipe;
    Mem mem;
    uint16_t site;
    uint64_t total = 0, unwritten = 0, first_unwritten = 0;
    uint64_t carried = 0;  // bytes of UB that an instruction computed from unwritten ones
    uint16_t carrier = 0;  // its site
};
void report_unwritten(Private &p, const Reading &r);
void report_carried(Private &p, const Reading &r);
Unwritten unwritten_in(Private &p, Mem mem, uint64_t at, uint64_t bytes);
struct ByteRange {
    uint64_t at, bytes;
};
std::vector<ByteRange> unwritten_parts(Private &p, Mem mem, uint64_t at, uint64_t bytes);
// What the running instruction wrote there was made of bytes that nobody wrote.
void mark_unwritten(Private &p, Mem mem, uint64_t at, uint64_t bytes);
// Accesses in its life are not reported for bytes that nobody wrote: who made it decides what they mean.
class Judge {
public:
    explicit Judge(Private &p) : p_(p), before_(p.judged) {
        p.judged = true;
        p.unwritten = false;
    }
    ~Judge() { p_.judged = before_; }
    Judge(const Judge &) = delete;
    Judge &operator=(const Judge &) = delete;
    // Whether there were such bytes since the last call.
    bool found() {
        const bool any = p_.unwritten;
        p_.unwritten = false;
        return any;
    }

private:
    Private &p_;
    bool before_;
};
// True, and counted once more: this finding is known already.
bool known_finding(Private &p, const char *id);

}  // namespace ascendc_twin
