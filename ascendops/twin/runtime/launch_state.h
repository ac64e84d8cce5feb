// One kernel launch: which blocks run, wait and have ended.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "core.h"
#include "report.h"

namespace ascendc_twin {

struct Launch {
    const TwinLaunch *in = nullptr;
    std::vector<Range> ranges;
    std::mutex mutex;
    std::condition_variable changed;
    uint32_t max_running = 1;
    uint32_t next_block = 0, started = 0, finished = 0;
    uint32_t running = 0;  // blocks that compute
    uint32_t waiting = 0;  // blocks in a barrier
    uint32_t arrived = 0, generation = 0;
    struct Waiter {
        std::function<bool()> met;  // what the block waits for
        bool released = false;
    };
    std::vector<Waiter *> waiters;  // blocks in IBWait and CrossCoreWaitFlag
    struct CrossFlag {
        std::vector<uint32_t> sets, waits;  // per block
    };
    CrossFlag cross[16];
    bool stop = false, deadlock = false, timed_out = false;
    std::vector<std::thread> threads;
    std::vector<Core *> live;
    Report report;

    void spawn();
    void work();
    void run_block(Core &core, uint32_t block);
    bool all_wait() const { return waiting > 0 && next_block >= in->block_dim && waiting == started - finished; }
};

// signals.cpp: crashes and time-outs inside blocks
constexpr size_t kAltStack = 1 << 16;
void install_signals();
void restore_signals();
void interrupt(std::thread &thread);
std::string crash_text(Private &p);
void add_stack_finding(Private &p, const char *id, const std::string &message);

}  // namespace ascendc_twin
