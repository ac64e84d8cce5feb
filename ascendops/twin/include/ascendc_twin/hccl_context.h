// The communication context of a kernel: rank 0 of 1.
#pragma once

#include "ascendc_twin/macros.h"
#include "ascendc_twin/rt_hccl.h"

namespace AscendC {

constexpr uint32_t HCCL_GROUP_ID_0 = 0, HCCL_GROUP_ID_1 = 1;

template <uint32_t index>
__gm__ uint8_t *GetHcclContext() {
    return ascendc_twin::hccl_context(index);
}
template <uint32_t index>
void SetHcclContext(__gm__ uint8_t *) {}

}  // namespace AscendC
