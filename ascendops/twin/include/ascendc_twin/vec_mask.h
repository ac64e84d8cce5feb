// Mask register and mask modes of the vector unit, and the other registers that vector instructions read.
#pragma once

#include "ascendc_twin/vec_common.h"

namespace AscendC {

TWIN_API void SetMaskCount() { ascendc_twin::core().counter_mode = true; }
TWIN_API void SetMaskNorm() { ascendc_twin::core().counter_mode = false; }

template <typename T, MaskMode mode = MaskMode::NORMAL>
TWIN_API void SetVectorMask(const uint64_t maskHigh, const uint64_t maskLow) {
    ascendc_twin::Core &c = ascendc_twin::core();
    c.mask_reg[0] = maskLow;
    c.mask_reg[1] = maskHigh;
}
template <typename T, MaskMode mode = MaskMode::NORMAL>
TWIN_API void SetVectorMask(int32_t len) {
    if constexpr (mode == MaskMode::COUNTER) {
        SetVectorMask<T, mode>(0, static_cast<uint64_t>(len));
    } else {
        const auto low = [](int32_t n) { return n >= 64 ? ~0ull : n <= 0 ? 0ull : (1ull << n) - 1; };
        SetVectorMask<T, mode>(low(len - 64), low(len));
    }
}
TWIN_API void ResetMask() { SetVectorMask<half>(~0ull, ~0ull); }

TWIN_API void SetDeqScale(half scale) { ascendc_twin::core().deq_scale_bits = __builtin_bit_cast(uint16_t, scale); }

}  // namespace AscendC
