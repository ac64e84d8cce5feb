// Communication tasks of a kernel that runs as the only rank: each is a copy from its send to its receive buffer.
#include "ascendc_twin/rt_hccl.h"

#include <cstring>

#include "gm_pages.h"
#include "launch_state.h"
#include "order.h"

namespace ascendc_twin {

void hccl_commit(Inst &inst, const void *group, int handle, const HcclTask &task, uint32_t times, int64_t server) {
    Private &p = priv();
    Launch &l = *p.launch;
    const Core &me = *t_core;
    const uint32_t number = me.type == Core::AIV ? me.group * l.in->aiv + me.sub_block_idx : me.group;
    if (number != static_cast<uint32_t>(server)) return;
    {
        std::lock_guard<std::mutex> lock(l.mutex);
        if (l.tasks[{group, handle}].done >= times) return;  // the block's other core has committed it
    }
    const uint64_t i = times - 1;
    const Span from{const_cast<uint8_t *>(task.send) + i * task.send_step, reinterpret_cast<uint64_t>(task.send) + i * task.send_step, UINT64_MAX >> 1, -1, Mem::GM, Dt::U8};
    const Span to{task.recv + i * task.recv_step, reinterpret_cast<uint64_t>(task.recv) + i * task.recv_step, UINT64_MAX >> 1, -1, Mem::GM, Dt::U8};
    Walk all;
    all.run = task.bytes;
    if (touch(inst, from, Rw::READ, all, 0) && touch(inst, to, Rw::WRITE, all, 0) && from.p != to.p) {
        std::vector<uint8_t> copy(from.p, from.p + task.bytes);
        put_global(to.p, copy.data(), copy.size());
    }
    ++p.in_runtime;
    {
        std::lock_guard<std::mutex> lock(l.mutex);
        Launch::Task &shared = l.tasks[{group, handle}];
        ++shared.done;
        shared.finished.push_back(signal_of(p, PipeId::ALL));
        release(l);
    }
    --p.in_runtime;
}

void hccl_wait(const void *group, int handle, uint32_t times) {
    Private &p = priv();
    Launch &l = *p.launch;
    bool met = false, deadlock = false;
    ++p.in_runtime;
    {
        std::unique_lock<std::mutex> lock(l.mutex);
        Launch::Task &shared = l.tasks[{group, handle}];
        met = wait_until(l, lock, [&shared, times] { return shared.done >= times; });
        if (met) signal_taken(p, shared.finished[times - 1]);
        deadlock = l.deadlock;
    }
    --p.in_runtime;
    if (!met) {
        end_waiting_block(p, deadlock, format("Hccl::Wait(%d) for execution %u of the task hangs: it was committed %u times", handle, times,
                                              l.tasks[{group, handle}].done));
    }
}

uint32_t hccl_done(const void *group, int handle) {
    Launch &l = *priv().launch;
    std::lock_guard<std::mutex> lock(l.mutex);
    return l.tasks[{group, handle}].done;
}

// The start of what contexts hold on a device: rank 0 of 1, and no windows.
uint8_t *hccl_context(uint32_t group) {
    struct Context {
        uint64_t workspace, workspace_bytes;
        uint32_t rank, ranks;
        uint64_t window_bytes;
        uint64_t windows[480];
    };
    static Context contexts[2] = {{0, 0, 0, 1, 0, {}}, {0, 0, 0, 1, 0, {}}};
    return reinterpret_cast<uint8_t *>(&contexts[group % 2]);
}

}  // namespace ascendc_twin
