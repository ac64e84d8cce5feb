// Flags between the pipes of a core, and barriers. Instructions run in program order here; the flags say whether they may.
#include <algorithm>
#include <cstring>

#include "checker.h"
#include "order.h"
#include "pipe_state.h"

namespace ascendc_twin {

namespace {

struct EventRow {
    const char *name;
    PipeId src, dst;
};

// In the order of HardEvent.
const EventRow kTable[] = {
    {"MTE2_MTE1", PipeId::MTE2, PipeId::MTE1}, {"MTE1_MTE2", PipeId::MTE1, PipeId::MTE2}, {"MTE1_M", PipeId::MTE1, PipeId::M},
    {"M_MTE1", PipeId::M, PipeId::MTE1},       {"MTE2_V", PipeId::MTE2, PipeId::V},       {"V_MTE2", PipeId::V, PipeId::MTE2},
    {"MTE3_V", PipeId::MTE3, PipeId::V},       {"V_MTE3", PipeId::V, PipeId::MTE3},       {"M_V", PipeId::M, PipeId::V},
    {"V_M", PipeId::V, PipeId::M},             {"V_V", PipeId::V, PipeId::V},             {"MTE3_MTE1", PipeId::MTE3, PipeId::MTE1},
    {"MTE1_MTE3", PipeId::MTE1, PipeId::MTE3}, {"MTE1_V", PipeId::MTE1, PipeId::V},       {"MTE2_M", PipeId::MTE2, PipeId::M},
    {"M_MTE2", PipeId::M, PipeId::MTE2},       {"V_MTE1", PipeId::V, PipeId::MTE1},       {"M_FIX", PipeId::M, PipeId::FIX},
    {"FIX_M", PipeId::FIX, PipeId::M},         {"MTE3_MTE2", PipeId::MTE3, PipeId::MTE2}, {"MTE2_MTE3", PipeId::MTE2, PipeId::MTE3},
    {"S_V", PipeId::S, PipeId::V},             {"V_S", PipeId::V, PipeId::S},             {"S_MTE2", PipeId::S, PipeId::MTE2},
    {"MTE2_S", PipeId::MTE2, PipeId::S},       {"S_MTE3", PipeId::S, PipeId::MTE3},       {"MTE3_S", PipeId::MTE3, PipeId::S},
    {"MTE2_FIX", PipeId::MTE2, PipeId::FIX},   {"FIX_MTE2", PipeId::FIX, PipeId::MTE2},   {"FIX_S", PipeId::FIX, PipeId::S},
    {"M_S", PipeId::M, PipeId::S},             {"FIX_MTE3", PipeId::FIX, PipeId::MTE3},   {"MTE1_FIX", PipeId::MTE1, PipeId::FIX},
    {"FIX_MTE1", PipeId::FIX, PipeId::MTE1},   {"FIX_FIX", PipeId::FIX, PipeId::FIX},
};
constexpr size_t kRows = sizeof kTable / sizeof *kTable;
static_assert(kRows < kEvents, "one row per HardEvent");

// Whether it is an error turns out when the kernel ends: as many waits must have come.
void note_set_again(Private &p, const Checker::SetAgain &again) {
    auto &all = p.checker->set_again;
    const auto same = [&again](const Checker::SetAgain &a) { return a.event == again.event && a.id == again.id && a.pc == again.pc; };
    ++p.in_runtime;
    if (std::none_of(all.begin(), all.end(), same)) all.push_back(again);
    --p.in_runtime;
}

void report_set_again(Private &p) {
    if (!t_core->checks) return;
    for (const Checker::SetAgain &a : p.checker->set_again) {
        const bool left = p.flags[a.event][a.id].count > 0;
        finding_at(left ? "FLAG-DOUBLE" : "FLAG-TWICE", "SetFlag", event_src(a.event), a.pc,
                   format("SetFlag<%s>(%d) again before a WaitFlag: it was set at %s%s", event_name(a.event), a.id, at(a.first).c_str(),
                          left ? ", and there are fewer WaitFlags than SetFlags" : ""));
    }
}

void perform_set(Private &p, uint8_t event, int32_t id, bool queue, void *pc) {
    Flag &flag = p.flags[event][id];
    if (flag.count > 0 && event_src(event) != event_dst(event) && t_core->checks) {
        if (queue || flag.queue) {
            finding_at("FLAG-SHARED", "SetFlag", event_src(event), pc,
                       format("SetFlag<%s>(%d) again before a WaitFlag: it was set at %s; one of the two belongs to a TQue: take ids from "
                              "AllocEventID or FetchEventID", event_name(event), id, at(flag.pc).c_str()));
        } else {
            note_set_again(p, {event, id, pc, flag.pc});
        }
    }
    ++flag.count;
    flag.queue = queue;
    flag.pc = pc;
    order_set(p, event, flag);
}

// Runs the flag operations of a pipe until one of its waits is not answered. True: something ran.
bool drain(Private &p, int pipe) {
    bool progress = false;
    auto &queue = p.pending[pipe];
    while (!queue.empty()) {
        const Private::Pending op = queue.front();
        if (op.wait) {
            Flag &flag = p.flags[op.event][op.id];
            if (flag.count == 0) break;
            --flag.count;
            order_wait(p, op.event, flag);
        } else {
            perform_set(p, op.event, op.id, op.queue, op.pc);
        }
        queue.pop_front();
        progress = true;
    }
    return progress;
}

void drain_all(Private &p) {
    bool progress = true;
    while (progress) {
        progress = false;
        for (int pipe = 0; pipe < kPipes; ++pipe) progress |= drain(p, pipe);
    }
}

bool report_blocked(Private &p) {
    bool any = false;
    for (auto &queue : p.pending) {
        if (queue.empty()) continue;
        any = true;
        const Private::Pending &op = queue.front();
        finding_at("FLAG-UNPAIRED", "WaitFlag", event_dst(op.event), op.pc,
                   format("WaitFlag<%s>(%d) hangs: no SetFlag<%s>(%d) answers it, so pipe %s never goes on", event_name(op.event), op.id,
                          event_name(op.event), op.id, pipe_name(event_dst(op.event))),
                   true);
        queue.clear();
    }
    return any;
}

bool valid(uint8_t event, int32_t id, const char *what) {
    if (event >= kRows) {
        finding("FLAG-EVENT", "%s: there is no event between these two pipes", what);
        return false;
    }
    if (id < 0 || id >= kIds) {
        finding("FLAG-EVENT", "%s<%s>(%d): event ids are 0 to %d", what, event_name(event), id, kIds - 1);
        return false;
    }
    return true;
}

}  // namespace

const char *event_name(uint8_t event) {
    return event < kRows ? kTable[event].name : "?";
}
PipeId event_src(uint8_t event) {
    return event < kRows ? kTable[event].src : PipeId::ALL;
}
PipeId event_dst(uint8_t event) {
    return event < kRows ? kTable[event].dst : PipeId::ALL;
}

void flag_set_on(Private &p, uint8_t event, int32_t id, bool queue) {
    trace_sync(p, "SetFlag", 1, static_cast<uint8_t>(event_src(event)), event, id, p.pc);
    auto &waiting = p.pending[static_cast<int>(event_src(event))];
    if (waiting.empty()) {
        perform_set(p, event, id, queue, p.pc);
    } else {
        waiting.push_back({false, event, id, queue, p.pc});
    }
    if (!p.pending[static_cast<int>(event_dst(event))].empty()) drain_all(p);
}

void flag_wait_on(Private &p, uint8_t event, int32_t id, bool queue) {
    trace_sync(p, "WaitFlag", 2, static_cast<uint8_t>(event_dst(event)), event, id, p.pc);
    auto &waiting = p.pending[static_cast<int>(event_dst(event))];
    Flag &flag = p.flags[event][id];
    if (waiting.empty() && flag.count > 0) {
        --flag.count;
        order_wait(p, event, flag);
        return;
    }
    waiting.push_back({true, event, id, queue, p.pc});
    if (event_dst(event) == PipeId::S) {  // the scalar unit itself waits: nothing after this line is ever issued
        report_blocked(p);
        abandon_block();
    }
}

void flag_set(uint8_t event, int32_t id) {
    Private &p = priv();
    TWIN_SITE("SetFlag", PipeId::S);
    if (p.stop) abandon_block();
    if (valid(event, id, "SetFlag")) flag_set_on(p, event, id, false);
}

void flag_wait(uint8_t event, int32_t id) {
    Private &p = priv();
    TWIN_SITE("WaitFlag", PipeId::S);
    if (p.stop) abandon_block();
    if (valid(event, id, "WaitFlag")) flag_wait_on(p, event, id, false);
}

void pipe_barrier_on(PipeId pipe) {
    Private &p = priv();
    TWIN_SITE("PipeBarrier", pipe);
    if (p.stop) abandon_block();
    trace_sync(p, "PipeBarrier", 3, static_cast<uint8_t>(pipe), 0, 0, p.pc);
    order_barrier(p, pipe);
    if (pipe == PipeId::ALL && report_blocked(p)) abandon_block();
}

void sync_all(uint32_t used, bool hardware, bool vectors_only) {
    Private &p = priv();
    if (p.stop) abandon_block();
    const TwinLaunch &in = launch_input(*p.launch);
    if (in.block_dim > in.cores) {
        finding("SYNC-CORES", "SyncAll with block_dim %u on %u cores hangs: a barrier needs all blocks at once", in.block_dim, in.cores);
    }
    constexpr int kAivOnly = 0;  // KERNEL_TYPE_AIV_ONLY
    if (hardware && p.task_type == kAivOnly) {
        finding("SYNC-TASK-TYPE",
                "SyncAll() without workspace in a kernel declared KERNEL_TYPE_AIV_ONLY: declare KERNEL_TYPE_MIX_AIV_1_0, or pass a "
                "workspace of block_dim x 32 bytes");
    }
    if (report_blocked(p)) abandon_block();
    order_barrier(p, PipeId::ALL);
    trace_sync(p, "SyncAll", 4, static_cast<uint8_t>(PipeId::ALL), 0, 0, p.pc);
    launch_barrier(p, used, vectors_only);
}

void pipes_finish(Private &p) {
    pipes_close(p);
    report_blocked(p);
    report_set_again(p);
    for (size_t event = 0; event < kRows; ++event) {
        for (int id = 0; id < kIds; ++id) {
            Flag &flag = p.flags[event][id];
            if (flag.count > 0 && !flag.queue) {
                finding_at("FLAG-LEFT", "SetFlag", event_src(static_cast<uint8_t>(event)), flag.pc,
                           format("SetFlag<%s>(%d) is never waited for: the flag stays set when the kernel ends", kTable[event].name, id));
            }
        }
    }
}

}  // namespace ascendc_twin
