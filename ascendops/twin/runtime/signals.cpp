// Signals inside blocks: a crash or a time-out ends the block, not the process.
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "guard.h"
#include "launch_state.h"

namespace ascendc_twin {

namespace {

constexpr int kStopSignal = SIGURG;  // ignored by default, used by nobody else here
const int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, kStopSignal};
constexpr size_t kSignalCount = sizeof kSignals / sizeof *kSignals;
struct sigaction g_old[kSignalCount];

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

bool wrote(void *context) {
#if defined(__x86_64__)
    return static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_ERR] & 2;
#else
    (void)context;
    return false;
#endif
}

}  // namespace

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

namespace {

void on_signal(int signal, siginfo_t *info, void *context) {
    Core *core = t_core;
    if (core != nullptr && core->priv->active) {
        Private &p = *core->priv;
        if (signal == kStopSignal) {
            p.stop = p.launch->timed_out = true;
            if (p.in_runtime > 0) return;  // ends at the next instruction
        }
        if (signal == SIGFPE && info->si_code == FPE_INTDIV && p.in_runtime == 0 && go_on_after_division(p, context)) return;
        p.active = false;
        p.signal = signal;
        p.fault = info->si_addr;
        p.fault_writes = wrote(context);
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

}  // namespace

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

namespace {

const char *signal_text(int signal) {
    switch (signal) {
        case SIGSEGV: return "SIGSEGV (invalid memory access)";
        case SIGBUS: return "SIGBUS (invalid memory access)";
        case SIGFPE: return "SIGFPE (integer division)";
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

// The guarded buffer beside whose ends an address lies.
const Range *beside(Private &p, uint64_t address) {
    for (const Range &r : launch_ranges(*p.launch)) {
        if (!(r.flags & TWIN_BUFFER_GUARDED)) continue;
        if ((address >= r.end && address < r.end + kGuard) || (address < r.begin && address + kGuard >= r.begin)) return &r;
    }
    return nullptr;
}

}  // namespace

const char *crash_finding(Private &p, std::string &text) {
    const auto address = reinterpret_cast<uint64_t>(p.fault);
    const Range *r = p.signal == SIGSEGV || p.signal == SIGBUS ? beside(p, address) : nullptr;
    if (r == nullptr) return nullptr;
    const bool behind = address >= r->end;
    text = format("a pointer of the kernel %s %llu bytes %s of %s (%llu bytes), where no buffer is",
                  p.fault_writes ? "writes" : "reads", static_cast<unsigned long long>(behind ? address - r->end : r->begin - address),
                  behind ? "behind the end" : "before the start", r->name, static_cast<unsigned long long>(r->end - r->begin));
    return "GM-POINTER";
}

std::string crash_text(Private &p) {
    return std::string("the kernel crashed: ") + signal_text(p.signal) + fault_text(p);
}

void interrupt(std::thread &thread) {
    pthread_kill(thread.native_handle(), kStopSignal);
}

#if defined(__linux__)
Alarm::Alarm(double seconds) {
    if (seconds <= 0) {
        set_ = true;
        return;
    }
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = kStopSignal;
    event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
    if (timer_create(CLOCK_MONOTONIC, &event, &timer_) != 0) return;
    made_ = true;
    itimerspec when{};
    when.it_value.tv_sec = static_cast<time_t>(seconds);
    when.it_value.tv_nsec = std::max(1L, static_cast<long>((seconds - std::floor(seconds)) * 1e9));
    when.it_interval.tv_nsec = 50'000'000;  // a core inside of the runtime ends at its next instruction, so it may have to be told again
    set_ = timer_settime(timer_, 0, &when, nullptr) == 0;
}

Alarm::~Alarm() {
    if (made_) timer_delete(timer_);
}
#else
Alarm::Alarm(double) {}
Alarm::~Alarm() {}
#endif

void add_stack_finding(Private &p, const char *id, const std::string &message) {
    Finding f{id, message, p.depth > 0 ? p.api : "", PipeId::S, {}, t_core->block_idx, t_core->sub_block_idx, 1, {}};
    f.pcs.assign(p.crash_pcs, p.crash_pcs + p.crash_depth);
    p.findings.push_back(f);
}

}  // namespace ascendc_twin
