// Internal state of the runtime library: one Private per running block, one Launch per kernel launch.
#pragma once

#include <csetjmp>
#include <cstdarg>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ascendc_twin/launch.h"
#include "ascendc_twin/rt.h"
#include "ascendc_twin/rt_pipe.h"

namespace ascendc_twin {

constexpr int kMems = 8;
constexpr int kEvents = 36;  // HardEvent values, rounded up
constexpr int kIds = 8;      // event ids of one HardEvent
constexpr int kPipes = 8;
constexpr uint16_t kPoison = 0x7fd5;  // NaN as float, half and bfloat16

enum class BufState : uint8_t { FREE, OCCUPIED, ENQUE, DEQUE, PLAIN };

// One buffer that InitBuffer made.
struct Buffer {
    Mem mem;
    uint8_t pos;
    BufState state;
    uint8_t free_event;
    int8_t enque_id, free_id;  // event ids held while queued, while free
    uint8_t enque_event;
    uint32_t addr, bytes;
    uint32_t que;       // number of the queue it belongs to
    uint32_t slot;      // its place in that queue
    void *init_pc;      // where InitBuffer was called
    void *state_pc;     // where the state last changed
};

struct LocalMemory {
    uint8_t *base = nullptr;
    uint64_t size = 0;   // of the hardware
    uint64_t room = 0;   // that may be accessed here (more than size after a capacity finding)
    uint64_t limit = 0;  // reserved address space
    uint64_t used = 0, high = 0;
    bool poisoned = false;
};

struct Finding {
    const char *id;
    std::string message;
    const char *api;
    PipeId pipe;
    std::vector<void *> pcs;  // innermost first; return addresses already moved into the call
    uint32_t block, sub_block;
    uint64_t count = 1;
    std::vector<uint32_t> blocks;
    void *other = nullptr;  // the other access of a conflict
    std::vector<void *> callers;  // calls around pcs.front(), innermost first; only of the first time it happened
};

// What InitBuffer gave beyond the end of a memory, or out of what an API keeps for itself: harmless until an instruction goes there.
struct Surplus {
    const char *id;  // of the finding then
    Mem mem;
    uint64_t lo, hi;
    const char *api;
    void *pc;
    std::string message;
    bool live, touched;
};

struct Access {
    Mem mem;
    Rw rw;
    int32_t buf;
    uint64_t lo, hi;
};

struct Event {
    const char *api;
    void *pc;
    uint8_t pipe;
    uint8_t kind;  // 0 instruction, 1 set flag, 2 wait flag, 3 pipe barrier, 4 barrier of all blocks
    uint8_t event;
    int8_t id;
    double cycles;
    uint64_t moved;
    uint32_t runs;
    uint32_t first_access, accesses;
};

struct Flag {
    int count = 0;       // SetFlags not yet waited for
    bool queue = false;  // set by a TQue
    void *pc = nullptr;
    uint32_t clock[kPipes] = {};
};

struct Launch;

struct Private {
    LocalMemory mem[kMems];
    std::vector<Buffer> bufs;
    size_t epoch_first = 0;  // first buffer of the current epoch
    std::vector<Surplus> surplus;
    uint32_t queues = 0;
    uint32_t epoch = 0;  // counts TPipe::Init and Reset, so that queues of an earlier pipe are recognised
    std::vector<Finding> findings;
    std::vector<Event> events;
    std::vector<Access> accesses;
    std::deque<std::unique_ptr<uint8_t[]>> kept;

    // the instruction being executed: the outermost one is the user's line
    int depth = 0;
    const char *api = "";
    PipeId pipe = PipeId::S;
    void *pc = nullptr;
    size_t inst_access = 0;
    uint32_t op = 0;  // counts the outermost instructions

    // Whether bytes [lo, hi) behind the start of a local operand lie in their memory.
    bool inside(const Span &s, int64_t lo, int64_t hi) const {
        const LocalMemory &m = mem[static_cast<int>(s.mem)];
        const auto start = static_cast<int64_t>(s.addr);
        return start + lo >= 0 && start + hi <= static_cast<int64_t>(m.room) && m.base != nullptr && s.p == m.base + s.addr;
    }
    bool owns(Mem memory) const { return owned >> static_cast<int>(memory) & 1; }

    Flag flags[kEvents][kIds];
    uint8_t held[kEvents] = {};  // bit per event id given out by AllocEventID
    struct Pending {
        bool wait;
        uint8_t event;
        int32_t id;
        bool queue;
        void *pc;
    };
    std::deque<Pending> pending[kPipes];  // flag operations of a pipe from the first unanswered WaitFlag on
    bool pipe_open = false;

    std::vector<std::pair<const void *, uint64_t>> ub_arrays;  // by declaration, their offsets in UB
    uint64_t pad_value = 0;
    bool pad_value_set = false;
    int task_type = -1;
    uint32_t number = 0;  // of this core in the launch
    uint8_t *system_workspace = nullptr;
    uint64_t keys_asked[32] = {};
    uint32_t key_count = 0;
    bool key_matched = false, key_asked = false;
    size_t last_range = 0;
    bool plain = false;     // no checks, no trace and no planted fault: operands are only kept inside their memories
    uint8_t owned = 0;      // bit per Mem: what this core has without a second look
    bool streams = false;  // the launch's buffers are larger than the caches
    bool may_clip = false;  // a copy is being checked, which can move less
    const uint8_t *copy_from = nullptr;  // where a copy that is being checked takes its bytes from, and how far apart its runs are
    uint64_t copy_step = 0;
    bool beyond = false;   // the operand leaves its buffer, as a finding says
    bool judged = false, unwritten = false;  // checker.h: Judge
    bool holes = false;  // an instruction has read bytes that nobody wrote, or results of such bytes
    bool carries = false, put_off = false;  // vec_carry.h; all of a source is unwritten, and it depends on the use of dst whether that is wrong
    bool gm_clip = false;  // the instruction leaves a GM buffer: only its bytes inside are moved

    Launch *launch = nullptr;
    sigjmp_buf jump;
    volatile bool active = false;      // between sigsetjmp and the end of the block
    volatile int in_runtime = 0;       // a signal must not unwind now
    volatile bool stop = false;        // end at the next instruction
    int signal = 0;
    void *fault = nullptr;
    bool fault_writes = false;
    void *crash_pcs[48];
    int crash_depth = 0;

    uint64_t instructions = 0, waits = 0;  // so far, for fault.h

    struct CubeState *cube = nullptr;  // cube_state.h
    struct Checker *checker = nullptr;  // checker.h: what is known about the accesses of this core
};

enum Unwind { kAbandoned = 1, kCrashed = 2, kStopped = 3 };

struct Range {
    uint64_t begin, end;
    const char *name;
    uint32_t flags = 0;             // TwinBufferFlag
    struct GmPages *pages = nullptr;  // who wrote what (gm_pages.h); null with checks="off"
};

extern thread_local Core *t_core __attribute__((tls_model("initial-exec")));

inline Private &priv() {
    return *t_core->priv;
}

// Marks a call of a runtime function that is no Inst, for the location of findings.
class Site {
public:
    Site(const char *api, PipeId pipe, void *pc) : p_(t_core->priv) {
        if (p_->depth++ == 0) {
            p_->api = api;
            p_->pipe = pipe;
            p_->pc = pc;
            ++p_->op;
        }
    }
    ~Site() { --p_->depth; }
    Site(const Site &) = delete;
    Site &operator=(const Site &) = delete;

private:
    Private *p_;
};
#define TWIN_SITE(api, pipe) Site site(api, pipe, __builtin_return_address(0))

// Text that Python replaces by the file and line of a return address.
std::string at(void *pc);
// The calls around the function that `pc` lies in, innermost first; none where that has returned already.
std::vector<void *> callers_of(void *pc);
// `fatal`: the block ends because of it, so it is reported even with checks off.
void finding_at(const char *id, const char *api, PipeId pipe, void *pc, const std::string &message, bool fatal = false);
std::string format(const char *format, ...) __attribute__((format(printf, 1, 2)));

// local memories
void arena_prepare(Private &p, const TwinLaunch &launch);
void poison(LocalMemory &memory);
const char *mem_name(Mem mem);
Mem mem_of_position(uint8_t pos);
const char *position_name(uint8_t pos);
const char *event_name(uint8_t event);
const char *pipe_name(PipeId pipe);
PipeId event_src(uint8_t event);
PipeId event_dst(uint8_t event);
bool is_local(const Private &p, uint64_t host, Mem &mem);
// Whether the running core has this memory. An instruction on another one does nothing: in a mixed kernel the compiler leaves it
// out of the code of that core; elsewhere it is reported.
bool core_has(Mem mem);
uint8_t owned_memories(const Core &core);  // bit per Mem

// surplus.cpp: bytes [lo, hi) that lie beyond a memory are touched: reports whose they are, and lets them be accessed
void surplus_touched(Private &p, Mem mem, int64_t lo, int64_t hi);

// global memory: the range that holds [p, p + bytes), or null
const Range *gm_range(Private &p, uint64_t begin, uint64_t bytes);
// the buffer that holds an address, or null; and whether an access that ends behind it stays in its padding
const Range *gm_owner(Private &p, uint64_t address);
bool only_padding(const Range &r, uint64_t end, Rw rw);
// Bytes from `begin` on that lie in one buffer, at most `bytes`; 0: none does.
uint64_t gm_inside(Private &p, uint64_t begin, uint64_t bytes);
std::string gm_describe(Private &p, uint64_t address);

void pipes_finish(Private &p);  // end of a block: leaks, unpaired flags
void trace_sync(Private &p, const char *api, uint8_t kind, uint8_t pipe, uint8_t event, int id, void *pc);

// cube_load.cpp: registers of the cube unit as a kernel finds them
void cube_reset(Private &p);

// atomic.cpp: combines a run into global memory by the atomic mode
void atomic_run(uint8_t *dst, const uint8_t *src, uint64_t bytes);

// launch.cpp
void launch_barrier(Private &p, uint32_t used, bool vectors_only);
const std::vector<Range> &launch_ranges(const Launch &launch);
const TwinLaunch &launch_input(const Launch &launch);

}  // namespace ascendc_twin
