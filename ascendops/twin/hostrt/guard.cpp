// Containment of faults in the operator's host code.
//
// A guarded call leaves user code by siglongjmp when a fatal signal arrives on its thread: objects of the abandoned frames
// are not destroyed, so their memory leaks and a lock that they held stays locked. The process lives and the caller is told.
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <ctime>
#include <exception>

#include <dlfcn.h>
#include <execinfo.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "hostrt.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace ascendops_host {
namespace {
constexpr int kMaxFrames = 48;
constexpr size_t kStackBytes = 256 * 1024;
const int kFatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
const int kTimeout = SIGRTMIN + 9;

struct Landing {
    sigjmp_buf place;
    volatile int signal = 0;
    void *frames[kMaxFrames];
    int frame_count = 0;
    const void *fault = nullptr;
    Landing *outer = nullptr;
};
thread_local Landing *g_landing = nullptr;
thread_local const void *g_forwarding = nullptr;   // frame of this thread that is passing a signal on
struct sigaction g_previous[65];                   // the handlers found at the last installation
struct sigaction g_original[65];                   // and at the first
bool g_installed[65];

void CallHandler(const struct sigaction &action, int number, siginfo_t *info, void *context) {
    if ((action.sa_flags & SA_SIGINFO) != 0) {
        action.sa_sigaction(number, info, context);
    } else if (action.sa_handler == SIG_DFL) {
        (void)signal(number, SIG_DFL);
        (void)raise(number);
    } else if (action.sa_handler != SIG_IGN) {
        action.sa_handler(number);
    }
}

// Passes a signal that is not ours to the handler before us. That one may pass it back (both were put on top of each other):
// then this frame lies below the one that is still passing it on. A handler may also jump away and never return here.
void Forward(int number, siginfo_t *info, void *context) {
    const void *frame = __builtin_frame_address(0);
    const bool circle = g_forwarding != nullptr && frame < g_forwarding;
    const struct sigaction &next = circle ? g_original[number] : g_previous[number];
    g_forwarding = circle ? g_forwarding : frame;
    CallHandler(next, number, info, context);
    g_forwarding = nullptr;
}

const void *FaultAddress(const void *context) {
    const auto *machine = static_cast<const ucontext_t *>(context);
#if defined(__x86_64__)
    return reinterpret_cast<const void *>(machine->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
    return reinterpret_cast<const void *>(machine->uc_mcontext.pc);
#else
    return nullptr;
#endif
}

void OnSignal(int number, siginfo_t *info, void *context) {
    Landing *landing = g_landing;
    if (landing == nullptr) {
        if (number != kTimeout) {
            Forward(number, info, context);
        }
        return;
    }
    landing->frame_count = backtrace(landing->frames, kMaxFrames);
    landing->fault = FaultAddress(context);
    landing->signal = number;
    siglongjmp(landing->place, 1);
}

// Other code (a kernel run, faulthandler) may have put its own handler in place since the last call: ours goes on top again.
void InstallHandlers() {
    for (int number : {kFatal[0], kFatal[1], kFatal[2], kFatal[3], kFatal[4], kTimeout}) {
        struct sigaction current;
        if (sigaction(number, nullptr, &current) == 0 && current.sa_sigaction != OnSignal) {
            struct sigaction ours;
            (void)memset(&ours, 0, sizeof(ours));
            ours.sa_sigaction = OnSignal;
            ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
            (void)sigemptyset(&ours.sa_mask);
            g_previous[number] = current;
            if (!g_installed[number]) {
                g_original[number] = current;
                g_installed[number] = true;
            }
            (void)sigaction(number, &ours, nullptr);
        }
    }
}

// A signal stack of this thread, so that a stack overflow in user code can be handled too.
class SignalStack {
public:
    SignalStack() {
        static thread_local std::unique_ptr<char[]> memory(new char[kStackBytes]);
        stack_t ours;
        (void)memset(&ours, 0, sizeof(ours));
        ours.ss_sp = memory.get();
        ours.ss_size = kStackBytes;
        (void)sigaltstack(&ours, &previous_);
    }
    ~SignalStack() { (void)sigaltstack(&previous_, nullptr); }

private:
    stack_t previous_;
};

class Timer {
public:
    explicit Timer(double seconds) {
        struct sigevent event;
        (void)memset(&event, 0, sizeof(event));
        event.sigev_notify = SIGEV_THREAD_ID;
        event.sigev_signo = kTimeout;
        event.sigev_notify_thread_id = static_cast<pid_t>(syscall(SYS_gettid));
        armed_ = seconds > 0 && timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0;
        if (armed_) {
            struct itimerspec when;
            (void)memset(&when, 0, sizeof(when));
            when.it_value.tv_sec = static_cast<time_t>(seconds);
            when.it_value.tv_nsec = static_cast<long>((seconds - static_cast<double>(when.it_value.tv_sec)) * 1e9);
            (void)timer_settime(timer_, 0, &when, nullptr);
        }
    }
    ~Timer() {
        if (armed_) {
            (void)timer_delete(timer_);
        }
    }

private:
    timer_t timer_;
    bool armed_;
};

void Try(void (*work)(void *), void *data, Outcome &outcome) {
    try {
        work(data);
    } catch (const std::exception &error) {
        outcome.kind = Outcome::EXCEPTION;
        outcome.what = error.what();
    } catch (...) {
        outcome.kind = Outcome::EXCEPTION;
        outcome.what = "an exception that is not a std::exception";
    }
}
}  // namespace

void AddFrame(Outcome &outcome, const void *address, uint64_t back) {
    Dl_info info, here;
    if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) {
        return;
    }
    if (dladdr(reinterpret_cast<void *>(&InstallHandlers), &here) != 0 && info.dli_fbase == here.dli_fbase) {
        return;
    }
    const uint64_t offset = reinterpret_cast<uint64_t>(address) - reinterpret_cast<uint64_t>(info.dli_fbase);
    outcome.frames.emplace_back(info.dli_fname, offset - back);
}

Outcome Guarded(double timeout_s, void (*work)(void *), void *data) {
    Outcome outcome;
    Landing landing;
    landing.outer = g_landing;
    (void)backtrace(landing.frames, 1);   // loads what a later call in the handler needs
    InstallHandlers();
    const SignalStack stack;
    const Timer timer(timeout_s);
    if (sigsetjmp(landing.place, 1) == 0) {
        g_landing = &landing;
        Try(work, data, outcome);
    } else {
        outcome.kind = landing.signal == kTimeout ? Outcome::HANG : Outcome::CRASH;
        outcome.signal = landing.signal;
        outcome.what = landing.signal == kTimeout ? "did not return in time" : strsignal(landing.signal);
        for (int i = 0; i < landing.frame_count; ++i) {
            // The fault's own address is exact; the others are return addresses, one past the call.
            AddFrame(outcome, landing.frames[i], landing.frames[i] == landing.fault ? 0 : 1);
        }
    }
    g_landing = landing.outer;
    return outcome;
}
}  // namespace ascendops_host
