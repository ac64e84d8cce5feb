// Happens-before between the pipes of a core, and between cores: vector clocks.
//
// A pipe counts epochs. An epoch ends whenever somebody else may learn what the pipe has done (a flag, a barrier), so an access
// is known by (core, pipe, epoch). `before` says whether an earlier access is complete before the next instruction of a pipe.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "core.h"

namespace ascendc_twin {

using Clocks = std::array<uint32_t, kPipes>;
// What a core knows of the others: by core number, the epochs of the pipes that are complete.
using CoresView = std::vector<Clocks>;

class Order {
public:
    Order() { reset(); }
    void reset();

    uint32_t epoch(PipeId pipe) const { return now_[index(pipe)]; }
    const uint32_t *known(PipeId pipe) const { return known_[index(pipe)]; }  // by pipe: its epochs that are complete for this one
    bool before(PipeId earlier, uint32_t epoch, PipeId later) const { return known_[index(later)][index(earlier)] >= epoch; }

    // SetFlag: what the flag carries; WaitFlag: what the waiting pipe learns. A wait of the scalar unit holds up every pipe,
    // because that unit issues all instructions.
    void release(PipeId from, uint32_t *clock);
    void acquire(PipeId to, const uint32_t *clock);
    // Both at once, as the compiler inserts them.
    void join(PipeId from, PipeId to);
    // PipeBarrier: of one pipe, or of all.
    void barrier(PipeId pipe);
    // What a pipe has done and what is complete for it, the same without ending an epoch; `changes` counts what alters it.
    Clocks seen(PipeId pipe) const;
    uint32_t changes() const { return changes_; }
    // The clocks that a signal to other cores carries when `pipe` sends it (ALL: after a barrier of all pipes).
    Clocks departing(PipeId pipe);

private:
    static int index(PipeId pipe) { return static_cast<int>(pipe); }

    uint32_t now_[kPipes];
    uint32_t known_[kPipes][kPipes];
    uint32_t changes_ = 0;
};

// A signal from one core to others (IBSet, CrossCoreSetFlag): what its sender had finished and knew.
struct Signal {
    uint32_t core = 0;
    Clocks clocks{};
    std::shared_ptr<const CoresView> view;
};
// What either of two says.
std::shared_ptr<const CoresView> merged(const CoresView &a, const CoresView &b);
// Adds what a signal says to what is known.
void merge_signal(const Signal &signal, CoresView &view);
// Sends one from `pipe` of the running core; takes one in. Both do nothing with checks off.
Signal signal_of(Private &p, PipeId pipe);
// The same of a message to the cube core: it leaves on MTE3 behind a barrier, so earlier copies out are complete, and what the scalar unit waited
// for, but not other copies in.
Signal signal_of_message(Private &p);
void signal_taken(Private &p, const Signal &signal);
// Cores that meet (SyncAll): each adds itself to `view` on arrival, and knows afterwards what is in it. Both do nothing with checks off.
void join_meeting(const Signal &mine, CoresView &view);
void leave_meeting(Private &p, std::shared_ptr<const CoresView> view);

// Flags of one core, as sync.cpp calls them.
void order_set(Private &p, uint8_t event, Flag &flag);
void order_wait(Private &p, uint8_t event, const Flag &flag);
void order_barrier(Private &p, PipeId pipe);

// Whether the hardware itself orders dependent instructions of one pipe.
bool ordered_by_hardware(PipeId pipe);
// Whether the compiler inserts what is missing between two pipes (--cce-auto-sync; vector cores only). Source: "key features of
// synchronisation inside a core" of the public Ascend C API documents: V with V, and S with V, MTE2 and MTE3, both ways.
bool ordered_by_compiler(PipeId a, PipeId b);

}  // namespace ascendc_twin
