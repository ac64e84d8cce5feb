// Flags between cores by the compiler's own names.
#pragma once

#include "ascendc_twin/sync.h"

// config: 1, the mode from bit 4 on, the flag from bit 8 on.
TWIN_API void ffts_cross_core_sync(pipe_t pipe, uint64_t config) {
    ascendc_twin::Inst inst("ffts_cross_core_sync", ascendc_twin::pipe_id(pipe));
    ascendc_twin::cross_set(static_cast<uint32_t>(config >> 4 & 3), static_cast<uint32_t>(config >> 8 & 0xf));
}
TWIN_API void wait_flag_dev(int64_t flag) {
    ascendc_twin::Inst inst("wait_flag_dev", ascendc_twin::PipeId::S);
    ascendc_twin::cross_wait(static_cast<uint32_t>(flag));
}
// Where the flags lie in memory: the twin keeps them apart.
TWIN_API void set_ffts_base_addr(uint64_t) {}
