// A fault planted into the execution, for `ascendops test --mutate`: the cases of an operator must notice it.
#pragma once

#include <atomic>
#include <cstdint>

#include "core.h"

namespace ascendc_twin {

enum FaultKind { kNoFault = 0, kSkipInstruction = 1, kShortInstruction = 2, kLostWait = 3, kDroppedCore = 4 };

struct Fault {
    int kind = kNoFault;
    uint64_t number = 0;  // of the instruction or wait on each core, or of the core
    std::atomic<uint64_t> hits{0};
};
extern Fault g_fault;  // set between launches

// Whether the planted fault is of this kind and belongs here.
inline bool fault_here(int kind, uint64_t number) {
    if (__builtin_expect(g_fault.kind != kind, 1) || g_fault.number != number) return false;
    ++g_fault.hits;
    return true;
}

}  // namespace ascendc_twin
