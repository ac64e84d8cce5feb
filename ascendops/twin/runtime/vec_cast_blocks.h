// Loads and stores of conversions: exact to float, and from float to every type with every rounding mode.
#pragma once

#include <limits>

#include "vec_lanes.h"
#include "vec_loops.h"

namespace ascendc_twin {

// An integral float to an integer type: out-of-range values saturate, NaN becomes 0.
template <typename T>
inline T saturate(float x) {
    constexpr float low = static_cast<float>(std::numeric_limits<T>::min());
    // For 32 and 64 bits max() is not a float; the float above it is the first that does not fit.
    constexpr float limit = static_cast<float>(std::numeric_limits<T>::max());
    if constexpr (sizeof(T) <= 2) {
        const float clamped = x < low ? low : (x > limit ? limit : x);
        return static_cast<T>(static_cast<int32_t>(x == x ? clamped : 0.0f));
    } else {
        const bool inside = x >= low && x < limit;
        const T value = static_cast<T>(inside ? x : 0.0f);
        return x >= limit ? std::numeric_limits<T>::max() : (x < low ? std::numeric_limits<T>::min() : value);
    }
}

// Blocks of n elements, exact to float; null: the source is float, or has no such conversion.
using LoadBlock = void (*)(const uint8_t *src, float *dst, size_t n);
// Blocks of float to an element type; `round` comes first where the type is an integer.
using StoreBlock = void (*)(const float *src, uint8_t *dst, size_t n);
using RoundBlock = void (*)(const float *src, float *dst, size_t n);

LoadBlock load_of(Dt src);
StoreBlock store_of(Dt dst, int mode);
// Stores integral floats that keep the low bits where they do not fit; NaN and what exceeds 64 bits become 0.
StoreBlock low_bits_of(Dt dst);
RoundBlock rounding_of(int mode);

// Bytes of n elements.
inline size_t extent(Dt dt, size_t n) { return dt == Dt::I4 ? n / 2 : n * size_of(dt); }

// The product of an int32 and the half in the DEQSCALE register is exact in double; rounding to odd keeps the step through
// float from rounding twice.
inline uint16_t scaled_half(double product) {
    float f = static_cast<float>(product);
    const double back = static_cast<double>(f);
    if (back != product) {
        uint32_t bits = float_bits(f);
        bits -= std::fabs(back) > std::fabs(product) ? 1u : 0u;
        f = bits_float(bits | 1u);
    }
    return float_to_half_bits<RINT>(f);
}

constexpr int pair(Dt src, Dt dst) { return static_cast<int>(src) * 32 + static_cast<int>(dst); }

}  // namespace ascendc_twin
