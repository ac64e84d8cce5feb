// The planted fault; see fault.h.
#include "fault.h"

namespace ascendc_twin {
Fault g_fault;
}

extern "C" {

// Plants a fault into all launches from now on; kind 0 takes it out.
__attribute__((visibility("default"))) void twin_fault(int kind, uint64_t number) {
    ascendc_twin::g_fault.kind = kind;
    ascendc_twin::g_fault.number = number;
    ascendc_twin::g_fault.hits = 0;
}

// How often the planted fault took effect.
__attribute__((visibility("default"))) uint64_t twin_fault_hits() {
    return ascendc_twin::g_fault.hits;
}
}
