// Runs the blocks of a launch as threads.
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "checker.h"
#include "fault.h"
#include "gm_race.h"
#include "guard.h"
#include "launch_state.h"
#include "pipe_state.h"

namespace ascendc_twin {

const std::vector<Range> &launch_ranges(const Launch &launch) {
    return launch.ranges;
}
const TwinLaunch &launch_input(const Launch &launch) {
    return *launch.in;
}

namespace {

constexpr uint64_t kCaches = 24 << 20;  // bytes of buffers beyond which results would push each other out of the caches

std::mutex g_launch;  // one launch at a time: signal handlers belong to the process
thread_local Report t_report;     // of this thread's last launch
thread_local std::string t_text;  // and its JSON
std::vector<Core *> g_spare;  // cores whose memories can be used again
std::mutex g_spare_mutex;

Core *take_core() {
    std::lock_guard<std::mutex> lock(g_spare_mutex);
    if (!g_spare.empty()) {
        Core *core = g_spare.back();
        g_spare.pop_back();
        return core;
    }
    auto *core = new Core();
    core->priv = new Private();
    return core;
}

void give_core(Core *core) {
    std::lock_guard<std::mutex> lock(g_spare_mutex);
    g_spare.push_back(core);
}

// Which core of which block number `number` of the launch is: a block's cube core comes before its vector cores.
void place(Core &core, const Launch &launch, uint32_t number) {
    const TwinLaunch &in = *launch.in;
    const uint32_t inside = number % launch.per_block();
    const bool cube = in.aic != 0 && inside == 0;
    const bool coupled = in.npu_arch != 2201;
    core.type = coupled ? Core::AICORE : cube ? Core::AIC : Core::AIV;
    core.mixed = in.aic != 0 && in.aiv != 0;
    core.group = number / launch.per_block();
    core.block_dim = in.block_dim;
    core.sub_block_idx = cube ? 0 : inside - in.aic;
    core.sub_block_num = core.task_ratio = cube ? 1 : in.aiv;
    core.block_idx = core.group * core.task_ratio + core.sub_block_idx;
}

void prepare(Core &core, Launch &launch, uint32_t number) {
    const TwinLaunch &in = *launch.in;
    Private *p = core.priv;
    core = Core();
    core.priv = p;
    place(core, launch, number);
    p->number = number;
    core.checks = in.checks != 0;
    core.auto_sync = in.auto_sync != 0;
    core.trace = in.trace != 0;
    core.npu_arch = in.npu_arch;
    core.tiling_key = in.tiling_key;
    core.tiling = in.tiling;
    core.tiling_size = in.tiling_bytes;
    p->launch = &launch;
    arena_prepare(*p, in);
    LocalMemory &ub = p->mem[static_cast<int>(Mem::UB)];
    core.ub = ub.base;
    core.ub_size = ub.size;
    p->bufs.clear();
    p->surplus.clear();
    p->findings.clear();
    p->events.clear();
    p->accesses.clear();
    p->kept.clear();
    for (auto &queue : p->pending) queue.clear();
    p->queues = p->epoch = 0;
    p->instructions = p->waits = 0;
    p->epoch_first = 0;
    p->pipe_open = false;
    p->depth = 0;
    p->inst_access = 0;
    p->pc = nullptr;
    p->api = "";
    for (auto &row : p->flags) {
        for (Flag &flag : row) flag = Flag();
    }
    memset(p->held, 0, sizeof p->held);
    p->pad_value_set = false;
    p->ub_arrays.clear();
    p->task_type = -1;
    p->system_workspace = in.workspace;
    p->key_count = 0;
    p->key_matched = p->key_asked = false;
    p->last_range = 0;
    p->streams = launch.gm_bytes > kCaches;
    p->in_runtime = 0;
    p->stop = false;
    p->signal = 0;
    cube_reset(*p);
    p->op = 0;
    p->copy_from = nullptr;
    p->plain = !core.checks && !core.trace && g_fault.kind == kNoFault;
    p->owned = owned_memories(core);
    if (core.checks) checker_prepare(*p);
}

void check_tiling_key(Private &p) {
    if (!p.key_asked || p.key_matched) return;
    std::string keys;
    for (uint32_t i = 0; i < p.key_count; ++i) keys += format("%s%llu", i ? ", " : "", static_cast<unsigned long long>(p.keys_asked[i]));
    finding_at("TILING-KEY", "TILING_KEY_IS", PipeId::S, nullptr,
               format("op_host set tiling key %llu; the kernel asked only for %s, so the device has no kernel for it",
                      static_cast<unsigned long long>(t_core->tiling_key), keys.c_str()));
}

}  // namespace

void Launch::run_block(Core &core, uint32_t number) {
    prepare(core, *this, number);
    t_core = &core;
    Private &p = *core.priv;
    BlockResult result = BlockResult::OK;
    const int unwound = sigsetjmp(p.jump, 1);
    if (unwound == 0) {
        p.active = true;
        if (!fault_here(kDroppedCore, number)) (core.type == Core::AIC ? in->entry_aic : in->entry)(in->args);
        p.depth = 0;
        pipes_finish(p);
        cross_finish(p);
        if (core.checks) check_tiling_key(p);
    } else if (unwound == kAbandoned) {
        result = BlockResult::ABANDONED;
    } else if (unwound == kStopped) {
        result = BlockResult::HANG;
        p.depth = 0;
        add_stack_finding(p, "HANG", format("the block was still running after %g s", in->timeout_s));
    } else {
        std::string text;
        const char *known = core.checks ? crash_finding(p, text) : nullptr;
        result = known != nullptr ? BlockResult::ABANDONED : BlockResult::CRASH;
        p.depth = 0;
        add_stack_finding(p, known != nullptr ? known : "CRASH", known != nullptr ? text : crash_text(p));
    }
    p.active = false;
    if (p.stop && result == BlockResult::ABANDONED && timed_out) {
        result = BlockResult::HANG;
        finding_at("HANG", p.api, p.pipe, p.pc, format("the block was still running after %g s", in->timeout_s), true);
    }
    surplus_finish(p);
    CoreLog log;
    if (core.checks) p.checker->gm.give(p, log);
    t_core = nullptr;
    std::lock_guard<std::mutex> lock(mutex);
    report.add(core, result);
    if (!log.all.empty()) logs.push_back(std::move(log));
}

void Launch::work() {
    const std::unique_ptr<uint8_t[]> stack(new uint8_t[kAltStack]);
    stack_t alternative{}, before{};
    alternative.ss_sp = stack.get();
    alternative.ss_size = kAltStack;
    sigaltstack(&alternative, &before);
    Core *core = take_core();
    std::unique_lock<std::mutex> lock(mutex);
    while (next_core < total && !stop && running <= max_running) {
        const uint32_t number = next_core++;
        ++started;
        live.push_back(core);
        lock.unlock();
        run_block(*core, number);
        lock.lock();
        if (core->type == Core::AIV) ++vectors_ended[core->group];
        live.erase(std::find(live.begin(), live.end(), core));
        ++finished;
        release(*this);
        if (all_wait()) {
            deadlock = stop = true;
            changed.notify_all();
        }
        if (done()) ended.notify_all();
    }
    --running;
    lock.unlock();
    give_core(core);
    sigaltstack(&before, nullptr);
}

// Called with the mutex held.
void Launch::spawn() {
    if (stop || next_core >= total || running >= max_running) return;
    ++running;
    threads.emplace_back([this] { work(); });
}

namespace {

// Cores that this process may use.
uint32_t usable_cores() {
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<uint32_t>(std::max(1, CPU_COUNT(&set)));
#endif
    return std::max(1u, std::thread::hardware_concurrency());
}

void check_input(Launch &launch, const std::vector<TwinBuffer> &buffers) {
    const TwinLaunch &in = *launch.in;
    for (const TwinBuffer &b : buffers) {
        launch.ranges.push_back({b.address, b.address + b.bytes, b.name, static_cast<uint32_t>(b.flags)});
        launch.gm_bytes += b.bytes;
        if (!in.checks) continue;
        launch.pages.push_back(std::make_unique<GmPages>(b.address, b.address + b.bytes, (b.flags & TWIN_BUFFER_UNDEFINED) != 0));
        launch.ranges.back().pages = launch.pages.back().get();
    }
    launch.total = in.block_dim * launch.per_block();
    launch.max_running = std::min(in.threads != 0 ? in.threads : usable_cores(), launch.total);
    launch.cross.resize(launch.total);
    launch.jobs.resize(in.block_dim);
    launch.vectors_ended.resize(in.block_dim);
}

// Stops what still runs; true when every block has ended.
bool stop_blocks(Launch &launch, std::unique_lock<std::mutex> &lock) {
    launch.stop = launch.timed_out = true;
    launch.changed.notify_all();
    for (int attempt = 0; attempt < 100 && launch.finished < launch.started; ++attempt) {
        for (auto &thread : launch.threads) interrupt(thread);
        launch.ended.wait_for(lock, std::chrono::milliseconds(50), [&] { return launch.finished == launch.started; });
    }
    return launch.finished == launch.started;
}

// One core computes on the calling thread, which costs a fraction of what another thread does. False: no alarm would end it.
bool run_here(Launch &launch) {
    const Alarm alarm(launch.in->timeout_s);
    if (!alarm.set()) return false;
    launch.running = 1;
    launch.work();
    return true;
}

void run(Launch &launch) {
    if (launch.total == 1 && run_here(launch)) return;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(launch.in->timeout_s);
    std::unique_lock<std::mutex> lock(launch.mutex);
    for (uint32_t i = 0; i < launch.max_running; ++i) launch.spawn();
    const auto done = [&] { return launch.done(); };
    if (launch.in->timeout_s > 0) {
        if (!launch.ended.wait_until(lock, deadline, done)) stop_blocks(launch, lock);
    } else {
        launch.ended.wait(lock, done);
    }
}

}  // namespace

}  // namespace ascendc_twin

extern "C" {

int twin_abi() {
    return 3;
}

__attribute__((visibility("default"))) int twin_launch(const TwinLaunch *input) {
    using namespace ascendc_twin;
    std::lock_guard<std::mutex> one(g_launch);
    TwinLaunch in = *input;
    std::vector<TwinBuffer> buffers(in.buffers, in.buffers + in.buffer_count);
    std::unique_ptr<Guards> guards;
    if (in.checks) {
        guards = std::make_unique<Guards>(buffers);
        in.tiling = reinterpret_cast<const uint8_t *>(guards->moved(reinterpret_cast<uint64_t>(in.tiling)));
        in.workspace = reinterpret_cast<uint8_t *>(guards->moved(reinterpret_cast<uint64_t>(in.workspace)));
    }
    auto launch = std::make_unique<Launch>();
    launch->in = &in;
    check_input(*launch, buffers);
    const auto start = std::chrono::steady_clock::now();
    install_signals();
    run(*launch);
    for (auto &thread : launch->threads) thread.join();
    restore_signals();
    for (const ascendc_twin::Finding &race : races_between_cores(launch->logs, launch->ranges)) launch->report.merge(race);
    launch->report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    launch->report.block_dim = in.block_dim;
    t_report = std::move(launch->report);
    t_text.clear();
    return t_report.clean() ? 0 : 1;
}

const char *twin_report() {
    using namespace ascendc_twin;
    if (t_text.empty()) t_text = t_report.json();
    return t_text.c_str();
}
}
