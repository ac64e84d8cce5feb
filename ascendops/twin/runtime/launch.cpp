// Runs the blocks of a launch as threads, keeps crashes and hangs inside them, and implements the barrier of all blocks.
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

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
        const volatile int32_t *word;
        bool released;
    };
    std::vector<Waiter *> waiters;  // blocks in IBWait
    bool stop = false, deadlock = false, timed_out = false;
    std::vector<std::thread> threads;
    std::vector<Core *> live;
    Report report;

    void spawn();
    void work();
    void run_block(Core &core, uint32_t block);
    bool all_wait() const { return waiting > 0 && next_block >= in->block_dim && waiting == started - finished; }
};

const std::vector<Range> &launch_ranges(const Launch &launch) {
    return launch.ranges;
}
const TwinLaunch &launch_input(const Launch &launch) {
    return *launch.in;
}

namespace {

constexpr int kStopSignal = SIGURG;  // ignored by default, used by nobody else here
constexpr size_t kAltStack = 1 << 16;
const int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, kStopSignal};
constexpr size_t kSignalCount = sizeof kSignals / sizeof *kSignals;
struct sigaction g_old[kSignalCount];
std::mutex g_launch;  // one launch at a time: signal handlers belong to the process
std::string g_report;
std::vector<Core *> g_spare;  // cores whose memories can be used again
std::mutex g_spare_mutex;

void *interrupted_pc(void *context) {
    auto *uc = static_cast<ucontext_t *>(context);
#if defined(__x86_64__)
    return reinterpret_cast<void *>(uc->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
    return reinterpret_cast<void *>(uc->uc_mcontext.pc);
#else
    (void)uc;
    return nullptr;
#endif
}

void record_stack(Private &p, void *context) {
    void *frames[48];
    const int n = backtrace(frames, 48);
    void *pc = interrupted_pc(context);
    int from = 0;
    while (from < n && frames[from] != pc) ++from;
    p.crash_depth = 0;
    p.crash_pcs[p.crash_depth++] = pc;
    for (int i = from + 1; i < n && p.crash_depth < 48; ++i) p.crash_pcs[p.crash_depth++] = static_cast<char *>(frames[i]) - 1;
}

void on_signal(int signal, siginfo_t *info, void *context) {
    Core *core = t_core;
    if (core != nullptr && core->priv->active) {
        Private &p = *core->priv;
        if (signal == kStopSignal) {
            p.stop = true;
            if (p.in_runtime > 0) return;  // ends at the next instruction
        }
        p.active = false;
        p.signal = signal;
        p.fault = info->si_addr;
        record_stack(p, context);
        siglongjmp(p.jump, signal == kStopSignal ? kStopped : kCrashed);
    }
    if (signal == kStopSignal) return;
    for (size_t i = 0; i < kSignalCount; ++i) {
        if (kSignals[i] != signal) continue;
        if (g_old[i].sa_flags & SA_SIGINFO) return g_old[i].sa_sigaction(signal, info, context);
        if (g_old[i].sa_handler != SIG_DFL && g_old[i].sa_handler != SIG_IGN) return g_old[i].sa_handler(signal);
        ::signal(signal, SIG_DFL);  // the fault happens again on return and ends the process as it would have
        if (signal == SIGABRT) raise(signal);
    }
}

void install_signals() {
    void *warm[2];
    backtrace(warm, 2);  // loads the unwinder now rather than in a signal handler
    struct sigaction action {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    for (size_t i = 0; i < kSignalCount; ++i) sigaction(kSignals[i], &action, &g_old[i]);
}

void restore_signals() {
    for (size_t i = 0; i < kSignalCount; ++i) sigaction(kSignals[i], &g_old[i], nullptr);
}

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

void prepare(Core &core, Launch &launch, uint32_t block) {
    const TwinLaunch &in = *launch.in;
    Private *p = core.priv;
    core = Core();
    core.priv = p;
    core.block_idx = block;
    core.block_dim = in.block_dim;
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
    p->findings.clear();
    p->events.clear();
    p->accesses.clear();
    p->kept.clear();
    for (auto &queue : p->pending) queue.clear();
    p->queues = p->epoch = 0;
    p->epoch_first = 0;
    p->pipe_open = false;
    p->depth = 0;
    p->inst = nullptr;
    p->inst_access = 0;
    p->pc = nullptr;
    p->api = "";
    for (auto &row : p->flags) {
        for (Flag &flag : row) flag = Flag();
    }
    memset(p->held, 0, sizeof p->held);
    p->pad_value_set = false;
    p->task_type = -1;
    p->system_workspace = in.workspace;
    p->key_count = 0;
    p->key_matched = p->key_asked = false;
    p->last_range = 0;
    p->in_runtime = 0;
    p->stop = false;
    p->signal = 0;
    hazard_reset(*p);
}

const char *signal_text(int signal) {
    switch (signal) {
        case SIGSEGV: return "SIGSEGV (invalid memory access)";
        case SIGBUS: return "SIGBUS (invalid memory access)";
        case SIGFPE: return "SIGFPE (integer division by zero)";
        case SIGILL: return "SIGILL (trap)";
        case SIGTRAP: return "SIGTRAP (trap)";
        case SIGABRT: return "SIGABRT (assertion or abort)";
        default: return "a signal";
    }
}

// Says where a fault address lies: many crashes are a raw UB or GM pointer that ran over.
std::string fault_text(Private &p) {
    const auto address = reinterpret_cast<uint64_t>(p.fault);
    if (p.signal != SIGSEGV && p.signal != SIGBUS) return "";
    if (address < 4096) return " at a null pointer";
    for (int i = 1; i < kMems; ++i) {
        const auto base = reinterpret_cast<uint64_t>(p.mem[i].base);
        if (base != 0 && address + (1 << 16) >= base && address < base + p.mem[i].limit + (1 << 16)) {
            return format(" at byte %lld of %s (%llu bytes)", static_cast<long long>(address - base), mem_name(static_cast<Mem>(i)),
                          static_cast<unsigned long long>(p.mem[i].size));
        }
    }
    return " at " + gm_describe(p, address);
}

void add_stack_finding(Private &p, const char *id, const std::string &message) {
    Finding f{id, message, p.depth > 0 ? p.api : "", PipeId::S, {}, t_core->block_idx, t_core->sub_block_idx, 1, {}};
    f.pcs.assign(p.crash_pcs, p.crash_pcs + p.crash_depth);
    p.findings.push_back(f);
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

void Launch::run_block(Core &core, uint32_t block) {
    prepare(core, *this, block);
    t_core = &core;
    Private &p = *core.priv;
    BlockResult result = BlockResult::OK;
    const int unwound = sigsetjmp(p.jump, 1);
    if (unwound == 0) {
        p.active = true;
        in->entry(in->args);
        p.depth = 0;
        pipes_finish(p);
        if (core.checks) check_tiling_key(p);
    } else if (unwound == kAbandoned) {
        result = BlockResult::ABANDONED;
    } else if (unwound == kStopped) {
        result = BlockResult::HANG;
        p.depth = 0;
        add_stack_finding(p, "HANG", format("the block was still running after %g s", in->timeout_s));
    } else {
        result = BlockResult::CRASH;
        p.depth = 0;
        add_stack_finding(p, "CRASH", std::string("the kernel crashed: ") + signal_text(p.signal) + fault_text(p));
    }
    p.active = false;
    if (p.stop && result == BlockResult::ABANDONED && timed_out) result = BlockResult::HANG;
    t_core = nullptr;
    std::lock_guard<std::mutex> lock(mutex);
    report.add(core, result);
}

void Launch::work() {
    auto stack = std::make_unique<uint8_t[]>(kAltStack);
    stack_t alternative{};
    alternative.ss_sp = stack.get();
    alternative.ss_size = kAltStack;
    sigaltstack(&alternative, nullptr);
    Core *core = take_core();
    std::unique_lock<std::mutex> lock(mutex);
    while (next_block < in->block_dim && !stop && running <= max_running) {
        const uint32_t block = next_block++;
        ++started;
        live.push_back(core);
        lock.unlock();
        run_block(*core, block);
        lock.lock();
        live.erase(std::find(live.begin(), live.end(), core));
        ++finished;
        if (all_wait()) {
            deadlock = stop = true;
        }
        changed.notify_all();
    }
    --running;
    changed.notify_all();
    lock.unlock();
    give_core(core);
    alternative.ss_flags = SS_DISABLE;
    sigaltstack(&alternative, nullptr);
}

// Called with the mutex held.
void Launch::spawn() {
    if (stop || next_block >= in->block_dim || running >= max_running) return;
    ++running;
    threads.emplace_back([this] { work(); });
}

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

void ib_set(volatile int32_t *word) {
    Private &p = priv();
    Launch &l = *p.launch;
    ++p.in_runtime;
    {
        std::lock_guard<std::mutex> lock(l.mutex);
        *word = 1;
        for (Launch::Waiter *waiter : l.waiters) {
            if (waiter->word != word || waiter->released) continue;
            waiter->released = true;
            --l.waiting;
            ++l.running;
            break;
        }
        l.changed.notify_all();
    }
    --p.in_runtime;
}

void ib_wait(volatile int32_t *word, int32_t block, int32_t event) {
    Private &p = priv();
    Launch &l = *p.launch;
    bool released = true, deadlock = false;
    ++p.in_runtime;
    {
        std::unique_lock<std::mutex> lock(l.mutex);
        if (*word != 1) {
            Launch::Waiter me{word, false};
            l.waiters.push_back(&me);
            released = wait_for(l, lock, [&] { return me.released; });
            l.waiters.erase(std::find(l.waiters.begin(), l.waiters.end(), &me));
            deadlock = l.deadlock;
        }
        if (released) *word = 0;
    }
    --p.in_runtime;
    if (!released) end_waiting_block(p, deadlock, format("IBWait(block %d, event %d) is answered by no IBSet", block, event));
}

namespace {

void check_input(Launch &launch) {
    const TwinLaunch &in = *launch.in;
    for (uint32_t i = 0; i < in.buffer_count; ++i) {
        launch.ranges.push_back({in.buffers[i].address, in.buffers[i].address + in.buffers[i].bytes, in.buffers[i].name});
    }
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    launch.max_running = std::min(in.threads != 0 ? in.threads : cores, in.block_dim);
}

// Stops what still runs; true when every block has ended.
bool stop_blocks(Launch &launch, std::unique_lock<std::mutex> &lock) {
    launch.stop = launch.timed_out = true;
    launch.changed.notify_all();
    for (int attempt = 0; attempt < 100 && launch.finished < launch.started; ++attempt) {
        for (auto &thread : launch.threads) pthread_kill(thread.native_handle(), kStopSignal);
        launch.changed.wait_for(lock, std::chrono::milliseconds(50), [&] { return launch.finished == launch.started; });
    }
    return launch.finished == launch.started;
}

void run(Launch &launch) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(launch.in->timeout_s);
    std::unique_lock<std::mutex> lock(launch.mutex);
    for (uint32_t i = 0; i < launch.max_running; ++i) launch.spawn();
    const auto done = [&] { return launch.finished == launch.in->block_dim || (launch.stop && launch.finished == launch.started); };
    if (launch.in->timeout_s > 0) {
        if (!launch.changed.wait_until(lock, deadline, done)) stop_blocks(launch, lock);
    } else {
        launch.changed.wait(lock, done);
    }
}

}  // namespace

}  // namespace ascendc_twin

extern "C" {

int twin_abi() {
    return 1;
}

__attribute__((visibility("default"))) int twin_launch(const TwinLaunch *input) {
    using namespace ascendc_twin;
    std::lock_guard<std::mutex> one(g_launch);
    auto launch = std::make_unique<Launch>();
    launch->in = input;
    check_input(*launch);
    const auto start = std::chrono::steady_clock::now();
    install_signals();
    run(*launch);
    for (auto &thread : launch->threads) thread.join();
    restore_signals();
    launch->report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    g_report = launch->report.json(*input);
    return 0;
}

const char *twin_report() {
    return ascendc_twin::g_report.c_str();
}
}
