// Where cores wait for each other: SyncAll, IBSet and IBWait. Flags between cores are in cross.cpp.
#include <algorithm>

#include "launch_state.h"
#include "order.h"

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
        if (l.done()) l.ended.notify_all();
    }
    l.changed.wait(lock, [&] { return released() || l.stop; });
    if (released()) return true;  // who released this block has counted it as computing again
    --l.waiting;
    ++l.running;
    return false;
}

}  // namespace

[[noreturn]] void end_waiting_block(Private &p, bool deadlock, const std::string &why) {
    const double limit = p.launch->in->timeout_s;
    finding_at(deadlock ? "DEADLOCK" : "HANG", p.api, p.pipe, p.pc,
               deadlock ? why : format("the block was still waiting after %g s", limit), true);
    abandon_block();
}

void launch_barrier(Private &p, uint32_t used, bool vectors_only) {
    Launch &l = *p.launch;
    const bool cube = t_core->type == Core::AIC;
    Launch::Barrier &b = l.barriers[!vectors_only ? 2 : cube ? 1 : 0];
    const uint32_t all = !vectors_only ? l.total : l.cores_of(t_core->type);
    const uint32_t expected = used > 0 ? std::min(used, all) : all;
    bool released = true, deadlock = false;
    uint32_t came = 0;
    ++p.in_runtime;
    const Signal mine = signal_of(p, PipeId::ALL);
    std::shared_ptr<CoresView> view;
    {
        std::unique_lock<std::mutex> lock(l.mutex);
        if (b.view == nullptr) b.view = std::make_shared<CoresView>();
        view = b.view;
        join_meeting(mine, *view);
        if (++b.arrived >= expected) {
            // the others compute again from now on, although their threads have not woken up yet
            l.waiting -= b.arrived - 1;
            l.running += b.arrived - 1;
            b.arrived = 0;
            b.view = nullptr;
            ++b.generation;
            l.changed.notify_all();
        } else {
            const uint32_t generation = b.generation;
            released = wait_for(l, lock, [&] { return b.generation != generation; });
            deadlock = l.deadlock;
            came = b.arrived;
        }
    }
    if (released) leave_meeting(p, std::move(view));
    --p.in_runtime;
    if (released) return;
    end_waiting_block(p, deadlock,
                      format("SyncAll waits for %u blocks, but only %u came: %u ended without calling it as often", expected, came,
                             expected - came));
}

void release(Launch &l, size_t most) {
    bool any = false;
    for (Launch::Waiter *waiter : l.waiters) {
        if (most == 0) break;
        if (waiter->released || !waiter->met()) continue;
        waiter->released = any = true;
        --most;
        --l.waiting;
        ++l.running;
    }
    if (any) l.changed.notify_all();
}

bool wait_until(Launch &l, std::unique_lock<std::mutex> &lock, std::function<bool()> met) {
    if (met()) return true;
    Launch::Waiter me;
    me.met = std::move(met);
    l.waiters.push_back(&me);
    const bool released = wait_for(l, lock, [&] { return me.released; });
    l.waiters.erase(std::find(l.waiters.begin(), l.waiters.end(), &me));
    return released;
}

void ib_set(volatile int32_t *word) {
    Private &p = priv();
    ++p.in_runtime;
    {
        order_barrier(p, PipeId::ALL);  // IBSet and IBWait wait for all pipes themselves
        const Signal signal = signal_of(p, PipeId::ALL);
        std::lock_guard<std::mutex> lock(p.launch->mutex);
        p.launch->ib_signals[word] = signal;
        *word = 1;
        release(*p.launch, 1);
    }
    --p.in_runtime;
}

void ib_wait(volatile int32_t *word, int32_t block, int32_t event) {
    Private &p = priv();
    bool met = false, deadlock = false;
    ++p.in_runtime;
    order_barrier(p, PipeId::ALL);
    {
        std::unique_lock<std::mutex> lock(p.launch->mutex);
        met = wait_until(*p.launch, lock, [word] { return *word == 1; });
        if (met) {
            *word = 0;
            signal_taken(p, p.launch->ib_signals[word]);
        }
        deadlock = p.launch->deadlock;
    }
    --p.in_runtime;
    if (!met) end_waiting_block(p, deadlock, format("IBWait(block %d, event %d) is answered by no IBSet", block, event));
}

}  // namespace ascendc_twin
