// Vector clocks of the pipes of a core and of the cores of a launch.
#include "order.h"

#include <algorithm>
#include <cstring>

#include "checker.h"
#include "fault.h"
#include "order_api.h"
#include "published.h"

namespace ascendc_twin {

void Order::reset() {
    std::fill(std::begin(now_), std::end(now_), 1);
    memset(known_, 0, sizeof known_);
}

void Order::release(PipeId from, uint32_t *clock) {
    ++changes_;
    const int src = index(from);
    for (int i = 0; i < kPipes; ++i) clock[i] = std::max(clock[i], known_[src][i]);
    clock[src] = std::max(clock[src], now_[src]++);
}

void Order::acquire(PipeId to, const uint32_t *clock) {
    ++changes_;
    const auto learn = [clock](uint32_t *known, int except) {
        for (int i = 0; i < kPipes; ++i) {
            if (i != except) known[i] = std::max(known[i], clock[i]);
        }
    };
    learn(known_[index(to)], -1);
    if (to != PipeId::S) return;
    for (auto &known : known_) learn(known, index(PipeId::S));
}

void Order::join(PipeId from, PipeId to) {
    uint32_t clock[kPipes] = {};
    release(from, clock);
    acquire(to, clock);
}

void Order::barrier(PipeId pipe) {
    ++changes_;
    if (pipe != PipeId::ALL) {
        const int i = index(pipe);
        known_[i][i] = now_[i]++;
        return;
    }
    for (auto &known : known_) memcpy(known, now_, sizeof now_);
    for (uint32_t &epoch : now_) ++epoch;
}

Clocks Order::seen(PipeId pipe) const {
    Clocks clocks;
    std::copy(std::begin(known_[index(pipe)]), std::end(known_[index(pipe)]), clocks.begin());
    clocks[static_cast<size_t>(pipe)] = now_[index(pipe)];
    return clocks;
}

Clocks Order::departing(PipeId pipe) {
    ++changes_;
    Clocks clocks{};
    if (pipe == PipeId::ALL) {
        std::copy(std::begin(now_), std::end(now_), clocks.begin());
        for (uint32_t &epoch : now_) ++epoch;
    } else {
        release(pipe, clocks.data());
        // the scalar unit has issued the signal, so its own accesses came before; whether they left the data cache is another check
        clocks[static_cast<size_t>(PipeId::S)] = now_[index(PipeId::S)]++;
    }
    return clocks;
}

void result_by_scalar() {
    if (!t_core->checks) return;
    Order &order = priv().checker->order;
    order.join(PipeId::V, PipeId::S);
    order.join(PipeId::S, PipeId::V);
    order.join(PipeId::S, PipeId::MTE3);
}

void order_set(Private &p, uint8_t event, Flag &flag) {
    if (t_core->checks) p.checker->order.release(event_src(event), flag.clock);
}

void order_wait(Private &p, uint8_t event, const Flag &flag) {
    if (fault_here(kLostWait, ++p.waits)) return;
    if (t_core->checks) p.checker->order.acquire(event_dst(event), flag.clock);
}

void order_barrier(Private &p, PipeId pipe) {
    if (t_core->checks) p.checker->order.barrier(pipe);
}

std::shared_ptr<const CoresView> merged(const CoresView &a, const CoresView &b) {
    auto both = std::make_shared<CoresView>(std::max(a.size(), b.size()));
    for (const CoresView *one : {&a, &b}) {
        for (size_t core = 0; core < one->size(); ++core) {
            for (size_t i = 0; i < (*one)[core].size(); ++i) (*both)[core][i] = std::max((*both)[core][i], (*one)[core][i]);
        }
    }
    return both;
}

void merge_signal(const Signal &signal, CoresView &view) {
    const auto merge = [&view](size_t core, const Clocks &clocks) {
        if (view.size() <= core) view.resize(core + 1);
        for (size_t i = 0; i < clocks.size(); ++i) view[core][i] = std::max(view[core][i], clocks[i]);
    };
    if (signal.view) {
        for (size_t core = 0; core < signal.view->size(); ++core) merge(core, (*signal.view)[core]);
    }
    merge(signal.core, signal.clocks);
}

Signal signal_of(Private &p, PipeId pipe) {
    Signal signal;
    if (!t_core->checks) return signal;
    take_published(p);
    GmLog &log = p.checker->gm;
    signal.core = p.number;
    signal.view = log.view();
    log.leave(p);
    signal.clocks = p.checker->order.departing(pipe);
    return signal;
}

Signal signal_of_message(Private &p) {
    if (t_core->checks) {
        p.checker->order.join(PipeId::S, PipeId::MTE3);
        p.checker->order.barrier(PipeId::MTE3);
    }
    return signal_of(p, PipeId::MTE3);
}

void signal_taken(Private &p, const Signal &signal) {
    if (!t_core->checks) return;
    if (signal.core == p.number) {
        p.checker->order.acquire(PipeId::S, signal.clocks.data());
    } else {
        p.checker->gm.learn(signal);
        // What the sender knew of this core is complete: a signal there and back orders this core's own pipes.
        if (signal.view != nullptr && signal.view->size() > p.number) p.checker->order.acquire(PipeId::S, (*signal.view)[p.number].data());
    }
}

void join_meeting(const Signal &mine, CoresView &view) {
    if (t_core->checks) merge_signal(mine, view);
}

void leave_meeting(Private &p, std::shared_ptr<const CoresView> view) {
    if (t_core->checks) p.checker->gm.meet(std::move(view));
}

bool ordered_by_hardware(PipeId pipe) {
    if (pipe == PipeId::V) return t_core->npu_arch >= 3510;
    // Copies into one place need a barrier, as the page of PipeBarrier says of these two; nothing of the kind is said of the cube's pipes.
    return pipe != PipeId::MTE2 && pipe != PipeId::MTE3;
}

bool ordered_by_compiler(PipeId a, PipeId b) {
    if (!t_core->auto_sync || t_core->type == Core::AIC) return false;
    const auto moves = [](PipeId pipe) { return pipe == PipeId::V || pipe == PipeId::MTE2 || pipe == PipeId::MTE3; };
    return (a == PipeId::V && b == PipeId::V) || (a == PipeId::S && moves(b)) || (b == PipeId::S && moves(a));
}

}  // namespace ascendc_twin
