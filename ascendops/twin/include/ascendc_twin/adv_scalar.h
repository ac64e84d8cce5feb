// Functions of the scalar unit on 64-bit values.
#pragma once

#include "ascendc_twin/rt.h"

namespace AscendC {

TWIN_API int64_t ScalarCountLeadingZero(uint64_t valueIn) { return valueIn == 0 ? 64 : __builtin_clzll(valueIn); }
TWIN_API int64_t CountLeadingZero(uint64_t valueIn) { return ScalarCountLeadingZero(valueIn); }

// Bits after the sign bit that equal it; -1 for 0 and -1.
TWIN_API int64_t CountBitsCntSameAsSignBit(int64_t valueIn) {
    const auto flipped = static_cast<uint64_t>(valueIn < 0 ? ~valueIn : valueIn);
    return flipped == 0 ? -1 : __builtin_clzll(flipped) - 1;
}

// Position of the lowest bit that equals countValue, -1 if there is none.
template <int countValue>
TWIN_API int64_t ScalarGetSFFValue(uint64_t valueIn) {
    static_assert(countValue == 0 || countValue == 1, "ScalarGetSFFValue: 0 or 1");
    return __builtin_ffsll(static_cast<int64_t>(countValue == 1 ? valueIn : ~valueIn)) - 1;
}
template <int countValue>
TWIN_API int64_t GetSFFValue(uint64_t valueIn) {
    return ScalarGetSFFValue<countValue>(valueIn);
}

template <int countValue>
TWIN_API int64_t ScalarGetCountOfValue(uint64_t valueIn) {
    static_assert(countValue == 0 || countValue == 1, "ScalarGetCountOfValue: 0 or 1");
    return __builtin_popcountll(countValue == 1 ? valueIn : ~valueIn);
}
template <int countValue>
TWIN_API int64_t GetBitCount(uint64_t valueIn) {
    return ScalarGetCountOfValue<countValue>(valueIn);
}

}  // namespace AscendC

// The compiler's own name.
TWIN_API int64_t clz(uint64_t valueIn) { return AscendC::ScalarCountLeadingZero(valueIn); }
