// Communication tasks with one rank: what the Hccl class may call in the runtime (runtime/hccl.cpp).
#pragma once

#include "ascendc_twin/rt.h"

namespace ascendc_twin {

// One rank sends to itself: `repeat` copies.
struct HcclTask {
    const uint8_t *send = nullptr;
    uint8_t *recv = nullptr;
    uint64_t bytes = 0, send_step = 0, recv_step = 0;
    uint32_t repeat = 0;
};
constexpr int kHcclTasks = 64;  // of one object

// The next execution of a task. It is made by the core whose number is `server`; of cube and vector cores, by those that commit first.
void hccl_commit(Inst &inst, const void *group, int handle, const HcclTask &task, uint32_t times, int64_t server);
// Waits for execution number `times`; hccl_done tells how many there have been.
void hccl_wait(const void *group, int handle, uint32_t times);
uint32_t hccl_done(const void *group, int handle);
uint8_t *hccl_context(uint32_t group);

}  // namespace ascendc_twin
