// One kernel launch: which blocks run, wait and have ended.
#pragma once

#include <time.h>

#include <array>
#include <condition_variable>
#include <list>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "core.h"
#include "gm_log.h"
#include "gm_pages.h"
#include "published.h"
#include "report.h"

namespace ascendc_twin {

// A computation that a vector core has its cube core do (the Matmul object of a mixed kernel).
struct CubeJob {
    void (*run)(void *);
    void *argument;
    bool done = false;
    Signal asked{}, answered{};
};

struct Launch {
    const TwinLaunch *in = nullptr;
    uint32_t total = 0;    // cores of all blocks
    std::vector<Range> ranges;
    uint64_t gm_bytes = 0;  // of all of them
    std::mutex mutex;
    std::condition_variable changed;  // for cores that wait for each other
    std::condition_variable ended;    // for the launcher
    uint32_t max_running = 1;
    uint32_t next_core = 0, started = 0, finished = 0;
    uint32_t running = 0;  // cores that compute
    uint32_t waiting = 0;  // cores in a barrier
    struct Barrier {
        uint32_t arrived = 0, generation = 0;
        std::shared_ptr<CoresView> view;  // of those who have arrived
    };
    Barrier barriers[3];  // of the vector cores, the cube cores, all
    struct Waiter {
        std::function<bool()> met;  // what the block waits for
        bool released = false;
    };
    std::vector<Waiter *> waiters;  // blocks in IBWait and CrossCoreWaitFlag
    struct CrossFlags {  // of one core, per flag id
        std::array<uint32_t, 16> counter{};
        std::array<std::array<uint32_t, 16>, 3> sets{};               // per mode
        std::array<std::array<std::list<Signal>, 16>, 3> sent;        // per mode, of the sets that others have not matched yet
        std::array<std::list<std::vector<Signal>>, 16> signals;       // of the sets that `counter` counts
    };
    std::vector<CrossFlags> cross;            // per core
    std::vector<std::list<CubeJob *>> jobs;   // per block, for its cube core
    std::vector<uint8_t> vectors_ended;       // per block
    Published published;
    std::map<const volatile int32_t *, Signal> ib_signals;  // what the last IBSet on a word said
    struct Task {  // of communication: how often it was executed, and what each execution knew
        uint32_t done = 0;
        std::vector<Signal> finished;
    };
    std::map<std::pair<const void *, int>, Task> tasks;  // by context and handle
    bool stop = false, deadlock = false, timed_out = false;
    std::vector<std::thread> threads;
    std::vector<Core *> live;
    Report report;
    std::vector<std::unique_ptr<GmPages>> pages;  // of `ranges`, with checks on
    std::vector<CoreLog> logs;                    // of the blocks that have ended

    void spawn();
    void work();
    void run_block(Core &core, uint32_t number);
    bool all_wait() const { return waiting > 0 && next_core >= total && waiting == started - finished; }
    bool done() const { return finished == total || (stop && finished == started); }
    uint32_t per_block() const { return in->aic + in->aiv; }
    uint32_t cores_of(Core::Type type) const { return in->block_dim * (type == Core::AIC ? in->aic : in->aiv); }
};

// Called with the mutex held: cores whose condition is met by now go on; at most `most` of them.
void release(Launch &launch, size_t most = SIZE_MAX);
// Called with the mutex held: this core waits until the condition is met. False: the launch stops instead.
bool wait_until(Launch &launch, std::unique_lock<std::mutex> &lock, std::function<bool()> met);
// Reports why a wait that will never be answered ends this core, and ends it.
[[noreturn]] void end_waiting_block(Private &p, bool deadlock, const std::string &why);
// cross.cpp: flags between cores that nobody waited for
void cross_finish(Private &p);

// signals.cpp: crashes and time-outs inside blocks
constexpr size_t kAltStack = 1 << 16;
void install_signals();
void restore_signals();
void interrupt(std::thread &thread);
// Interrupts the thread that makes it after some seconds (never, for 0), and every 50 ms from then on, until it goes out of scope.
class Alarm {
public:
    explicit Alarm(double seconds);
    ~Alarm();
    Alarm(const Alarm &) = delete;
    Alarm &operator=(const Alarm &) = delete;
    bool set() const { return set_; }  // false: this system has no such alarm

private:
    timer_t timer_{};
    bool made_ = false, set_ = false;
};
std::string crash_text(Private &p);
// The finding that a crash is, and what to say about it; null: no other than a crash.
const char *crash_finding(Private &p, std::string &text);
// Fills in the stack of a signal, its own address first.
void record_stack(Private &p, void *context);
// Steps over the integer division that trapped, with the result of a unit that does not trap, and notes it; false where it
// cannot be read.
bool go_on_after_division(Private &p, void *context);
void add_stack_finding(Private &p, const char *id, const std::string &message);

}  // namespace ascendc_twin
