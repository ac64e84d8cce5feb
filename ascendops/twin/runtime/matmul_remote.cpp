// Which core computes a call of a Matmul object: its own, the cube core of its block, or none.
#include <algorithm>

#include "launch_state.h"
#include "matmul_block.h"

namespace ascendc_twin {

MmWhere mm_where(bool cube_only) {
    const Core &me = *t_core;
    if (me.type != Core::AIV) return MmWhere::HERE;
    if (!me.mixed) {
        finding("CORE-MEMORY", "a Matmul object in a kernel that runs on vector cores only: nothing computes it");
        return MmWhere::NOWHERE;
    }
    return cube_only ? MmWhere::NOWHERE : MmWhere::ON_CUBE_CORE;
}

namespace {

struct Remote {
    CubeJob job;
    void (*run)(void *);
    void *argument;
    const char *api;
    void *pc;
    std::vector<uint8_t> copy;
    const Mm *owner;
};

void run_remote(void *argument) {
    auto &remote = *static_cast<Remote *>(argument);
    Private &p = priv();
    Site site(remote.api, PipeId::M, remote.pc);  // findings name the vector core's line
    remote.run(remote.argument);
    (void)p;
}

thread_local std::vector<std::unique_ptr<Remote>> t_pending;

}  // namespace

__attribute__((noinline)) void mm_remote(const char *api, void (*run)(void *), void *argument) {
    mm_wait(nullptr);
    Remote remote{{run_remote, nullptr, false}, run, argument, api, priv().depth > 0 ? priv().pc : __builtin_return_address(0), {}, nullptr};
    remote.job.argument = &remote;
    cube_submit(remote.job);
    cube_wait(remote.job);
}

__attribute__((noinline)) void mm_remote_async(const char *api, void (*run)(void *), const void *argument, uint64_t bytes, const Mm *owner) {
    auto remote = std::make_unique<Remote>(Remote{{run_remote, nullptr, false}, run, nullptr, api, priv().depth > 0 ? priv().pc : __builtin_return_address(0), {}, owner});
    const auto *from = static_cast<const uint8_t *>(argument);
    remote->copy.assign(from, from + bytes);
    remote->argument = remote->copy.data();
    remote->job.argument = remote.get();
    cube_submit(remote->job);
    t_pending.push_back(std::move(remote));
}

void mm_wait(const Mm *owner) {
    const auto wanted = [owner](const std::unique_ptr<Remote> &remote) { return owner == nullptr || remote->owner == owner; };
    for (auto &remote : t_pending) {
        if (wanted(remote)) cube_wait(remote->job);
    }
    t_pending.erase(std::remove_if(t_pending.begin(), t_pending.end(), wanted), t_pending.end());
}

void mm_dual(bool cube) {
    if (cube) {
        cross_set(2, 10);
    } else {
        cross_wait(10);
    }
}

}  // namespace ascendc_twin
