// Where blocks wait for each other: SyncAll, IBSet and IBWait.
#include <algorithm>

#include "launch_state.h"

namespace ascendc_twin {

namespace {

// Called with the mutex held: this block waits until `released` or the launch stops; other blocks may compute meanwhile.
template <typename Released>
bool wait_for(Launch &l, std::unique_lock<std::mutex> &lock, Released released) {
    ++l.waiting;
    --l.running;
    l.spawn();
    if (l.all_wait()) {
        l.deadlock = l.stop = true;
        l.changed.notify_all();
    }
    l.changed.wait(lock, [&] { return released() || l.stop; });
    if (released()) return true;  // who released this block has counted it as computing again
    --l.waiting;
    ++l.running;
    return false;
}

[[noreturn]] void end_waiting_block(Private &p, bool deadlock, const std::string &why) {
    const double limit = p.launch->in->timeout_s;
    finding_at(deadlock ? "DEADLOCK" : "HANG", p.api, p.pipe, p.pc,
               deadlock ? why : format("the block was still waiting after %g s", limit), true);
    abandon_block();
}

}  // namespace

void launch_barrier(Private &p, uint32_t used) {
    Launch &l = *p.launch;
    const uint32_t expected = used > 0 ? std::min(used, l.in->block_dim) : l.in->block_dim;
    bool released = true, deadlock = false;
    uint32_t came = 0, ended = 0;
    ++p.in_runtime;
    {
        std::unique_lock<std::mutex> lock(l.mutex);
        if (++l.arrived >= expected) {
            // the others compute again from now on, although their threads have not woken up yet
            l.waiting -= l.arrived - 1;
            l.running += l.arrived - 1;
            l.arrived = 0;
            ++l.generation;
            l.changed.notify_all();
        } else {
            const uint32_t generation = l.generation;
            released = wait_for(l, lock, [&] { return l.generation != generation; });
            deadlock = l.deadlock;
            came = l.arrived;
            ended = l.finished;
        }
    }
    --p.in_runtime;
    if (released) return;
    end_waiting_block(p, deadlock,
                      format("SyncAll waits for %u blocks, but only %u came: %u ended without calling it as often", expected, came, ended));
}

namespace {

// Called with the mutex held, after something that may let blocks go on; at most `most` of them do.
void release(Launch &l, size_t most) {
    for (Launch::Waiter *waiter : l.waiters) {
        if (most == 0) break;
        if (waiter->released || !waiter->met()) continue;
        waiter->released = true;
        --most;
        --l.waiting;
        ++l.running;
    }
    l.changed.notify_all();
}

// Called with the mutex held. True: the condition is met.
bool wait_until(Launch &l, std::unique_lock<std::mutex> &lock, std::function<bool()> met) {
    if (met()) return true;
    Launch::Waiter me;
    me.met = std::move(met);
    l.waiters.push_back(&me);
    const bool released = wait_for(l, lock, [&] { return me.released; });
    l.waiters.erase(std::find(l.waiters.begin(), l.waiters.end(), &me));
    return released;
}

}  // namespace

void ib_set(volatile int32_t *word) {
    Private &p = priv();
    ++p.in_runtime;
    {
        std::lock_guard<std::mutex> lock(p.launch->mutex);
        *word = 1;
        release(*p.launch, 1);
    }
    --p.in_runtime;
}

void ib_wait(volatile int32_t *word, int32_t block, int32_t event) {
    Private &p = priv();
    bool met = false, deadlock = false;
    ++p.in_runtime;
    {
        std::unique_lock<std::mutex> lock(p.launch->mutex);
        met = wait_until(*p.launch, lock, [word] { return *word == 1; });
        if (met) *word = 0;
        deadlock = p.launch->deadlock;
    }
    --p.in_runtime;
    if (!met) end_waiting_block(p, deadlock, format("IBWait(block %d, event %d) is answered by no IBSet", block, event));
}

void cross_set(uint32_t flag) {
    Private &p = priv();
    Launch &l = *p.launch;
    ++p.in_runtime;
    {
        std::lock_guard<std::mutex> lock(l.mutex);
        auto &sets = l.cross[flag % 16].sets;
        sets.resize(l.in->block_dim);
        ++sets[t_core->block_idx];
        release(l, l.waiters.size());
    }
    --p.in_runtime;
}

void cross_wait(uint32_t flag) {
    Private &p = priv();
    Launch &l = *p.launch;
    bool met = false, deadlock = false;
    ++p.in_runtime;
    {
        std::unique_lock<std::mutex> lock(l.mutex);
        auto &row = l.cross[flag % 16];
        row.sets.resize(l.in->block_dim);
        row.waits.resize(l.in->block_dim);
        const uint32_t needed = ++row.waits[t_core->block_idx];
        met = wait_until(l, lock, [&row, needed] { return *std::min_element(row.sets.begin(), row.sets.end()) >= needed; });
        deadlock = l.deadlock;
    }
    --p.in_runtime;
    if (!met) {
        end_waiting_block(p, deadlock, format("CrossCoreWaitFlag(%u) waits for a CrossCoreSetFlag<0>(%u) of every block", flag, flag));
    }
}

}  // namespace ascendc_twin
