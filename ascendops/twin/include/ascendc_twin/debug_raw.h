// Dumps from a pointer, and the marks that profilers of a device read.
#pragma once

#include "ascendc_twin/api_raw.h"
#include "ascendc_twin/rt_pipe.h"

template <typename T>
void asc_dump_gm(__gm__ T *input, uint32_t desc, uint32_t dumpSize) {
    ascendc_twin::dump_tensor(ascendc_twin::raw_global(input), input, dumpSize, desc);
}
template <typename T>
void asc_dump_ubuf(__ubuf__ T *input, uint32_t desc, uint32_t dumpSize) {
    const ascendc_twin::Span span = ascendc_twin::raw_local(input);
    ascendc_twin::dump_tensor(span, span.p, dumpSize, desc);
}
template <typename T>
void asc_dump_l1buf(__cbuf__ T *input, uint32_t desc, uint32_t dumpSize) {
    asc_dump_ubuf(input, desc, dumpSize);
}
template <typename T>
void asc_dump_cbuf(__cc__ T *input, uint32_t desc, uint32_t dumpSize) {
    asc_dump_ubuf(input, desc, dumpSize);
}
// Of any memory: which one, the pointer's value says here.
template <typename T>
void asc_dump(T *input, uint32_t desc, uint32_t dumpSize) {
    constexpr uint64_t in_no_local_memory = UINT32_MAX;
    if (ascendc_twin::raw_local(input).addr == in_no_local_memory) {
        asc_dump_gm(input, desc, dumpSize);
    } else {
        asc_dump_ubuf(input, desc, dumpSize);
    }
}

inline void asc_prof_start() {}
inline void asc_prof_stop() {}
inline void asc_time_stamp(uint32_t) {}
#define TRACE_START(...) static_cast<void>(0)
#define TRACE_STOP(...) static_cast<void>(0)
#define PRELOAD(len) static_cast<void>(len)  // instructions into the instruction cache

namespace AscendC {
inline void MetricsProfStart() {}
inline void MetricsProfStop() {}
inline void InitDump(bool, uint32_t) {}
inline void InitDump(bool, GM_ADDR, uint32_t) {}
}  // namespace AscendC
