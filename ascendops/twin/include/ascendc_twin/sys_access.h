// The control register, and scalar access to global memory around the data cache.
#pragma once

#include "ascendc_twin/tensor.h"

namespace ascendc_twin {

template <int8_t first, int8_t last>
inline constexpr int64_t control_bits = static_cast<int64_t>((last - first == 63 ? ~uint64_t{0} : (uint64_t{1} << (last - first + 1)) - 1) << first);

}  // namespace ascendc_twin

TWIN_API int64_t get_ctrl() { return ascendc_twin::core().control; }
TWIN_API void set_ctrl(int64_t value) { ascendc_twin::core().control = value; }

namespace AscendC {

// Of the bits, 48 and 59 change what the twin computes (SetSaturationFlag); the register keeps the others.
template <int8_t startBit, int8_t endBit>
TWIN_API void SetCtrlSpr(int64_t value) {
    TWIN_NOT_ON_310P_V("SetCtrlSpr", startBit);
    static_assert(startBit >= 0 && startBit <= endBit && endBit < 64, "SetCtrlSpr: bits 0 to 63, the first not behind the last");
    constexpr int64_t bits = ascendc_twin::control_bits<startBit, endBit>;
    ascendc_twin::core().control = (ascendc_twin::core().control & ~bits) | ((value << startBit) & bits);
}
template <int8_t startBit, int8_t endBit>
TWIN_API int64_t GetCtrlSpr() {
    TWIN_NOT_ON_310P_V("GetCtrlSpr", startBit);
    static_assert(startBit >= 0 && startBit <= endBit && endBit < 64, "GetCtrlSpr: bits 0 to 63, the first not behind the last");
    constexpr int64_t bits = ascendc_twin::control_bits<startBit, endBit>;
    return static_cast<int64_t>(static_cast<uint64_t>(ascendc_twin::core().control & bits) >> startBit);
}
template <int8_t startBit, int8_t endBit>
TWIN_API void ResetCtrlSpr() {
    TWIN_NOT_ON_310P_V("ResetCtrlSpr", startBit);
    SetCtrlSpr<startBit, endBit>(0);
}

// FLOAT: half and bfloat16 results; CAST: casts to integers.
enum class SaturationMode : uint8_t { FLOAT, CAST };

namespace twin_detail {
template <SaturationMode mode>
inline constexpr int8_t kSaturationBit = mode == SaturationMode::FLOAT ? 48 : 59;
}  // namespace twin_detail

template <SaturationMode mode>
TWIN_API void SetSaturationFlag(bool enableSat) {
    TWIN_NOT_ON_310P_V("SetSaturationFlag", mode);
    SetCtrlSpr<twin_detail::kSaturationBit<mode>, twin_detail::kSaturationBit<mode>>(enableSat ? 0 : 1);
}
template <SaturationMode mode>
TWIN_API bool GetSaturationFlag() {
    TWIN_NOT_ON_310P_V("GetSaturationFlag", mode);
    return GetCtrlSpr<twin_detail::kSaturationBit<mode>, twin_detail::kSaturationBit<mode>>() == 0;
}

template <typename T>
TWIN_API void WriteGmByPassDCache(__gm__ T *addr, T value) {
    TWIN_NOT_ON_310P("WriteGmByPassDCache", T);
    auto *at = reinterpret_cast<uint8_t *>(addr);
    ascendc_twin::cache_flush(addr, false);
    ascendc_twin::store_global(at, at, nullptr, sizeof(T), &value, "WriteGmByPassDCache");
}
template <typename T>
TWIN_API T ReadGmByPassDCache(__gm__ T *addr) {
    TWIN_NOT_ON_310P("ReadGmByPassDCache", T);
    auto *at = reinterpret_cast<uint8_t *>(addr);
    ascendc_twin::cache_flush(addr, false);
    return *reinterpret_cast<T *>(ascendc_twin::scalar_global(at, at, nullptr, sizeof(T), ascendc_twin::Rw::READ, "ReadGmByPassDCache"));
}

}  // namespace AscendC
