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

template <typename T, int MODE>
inline void store_integers(const float *src, uint8_t *d, size_t n) {
    T *dst = reinterpret_cast<T *>(d);
#pragma GCC ivdep
    for (size_t i = 0; i < n; ++i) {
        dst[i] = saturate<T>(round_f<MODE>(src[i]));
    }
}

template <Dt D, int MODE>
inline void store_rounded(const float *src, uint8_t *d, size_t n) {
    if constexpr (D == Dt::I8) {
        store_integers<int8_t, MODE>(src, d, n);
    } else if constexpr (D == Dt::U8) {
        store_integers<uint8_t, MODE>(src, d, n);
    } else if constexpr (D == Dt::I16) {
        store_integers<int16_t, MODE>(src, d, n);
    } else if constexpr (D == Dt::I32) {
        store_integers<int32_t, MODE>(src, d, n);
    } else if constexpr (D == Dt::I64) {
        store_integers<int64_t, MODE>(src, d, n);
    } else if constexpr (D == Dt::I4) {
        for (size_t i = 0; i + 1 < n; i += 2) {
            const int lo = saturate<int8_t>(round_f<MODE>(src[i])), hi = saturate<int8_t>(round_f<MODE>(src[i + 1]));
            d[i / 2] = static_cast<uint8_t>((std::clamp(lo, -8, 7) & 0xf) | (std::clamp(hi, -8, 7) << 4));
        }
    } else if constexpr (D == Dt::F32) {
        float *dst = reinterpret_cast<float *>(d);
#pragma GCC ivdep
        for (size_t i = 0; i < n; ++i) {
            dst[i] = round_f<MODE>(src[i]);
        }
    } else if constexpr (D == Dt::F16 && (MODE == RINT || MODE == NONE)) {
        float_to_half(src, d, n);
    } else {
        uint16_t *dst = reinterpret_cast<uint16_t *>(d);
#pragma GCC ivdep
        for (size_t i = 0; i < n; ++i) {
            dst[i] = D == Dt::F16 ? float_to_half_bits<MODE>(src[i]) : float_to_bf16_bits<MODE>(src[i]);
        }
    }
}

template <typename T>
inline void load_integers(const uint8_t *s, float *dst, size_t n) {
    const T *src = reinterpret_cast<const T *>(s);
#pragma GCC ivdep
    for (size_t i = 0; i < n; ++i) {
        dst[i] = static_cast<float>(src[i]);
    }
}

template <Dt S>
inline void load_exact(const uint8_t *s, float *dst, size_t n) {
    if constexpr (S == Dt::I8) {
        load_integers<int8_t>(s, dst, n);
    } else if constexpr (S == Dt::U8) {
        load_integers<uint8_t>(s, dst, n);
    } else if constexpr (S == Dt::I16) {
        load_integers<int16_t>(s, dst, n);
    } else if constexpr (S == Dt::I4) {
        for (size_t i = 0; i < n; ++i) {
            const uint8_t nibble = static_cast<uint8_t>((s[i / 2] >> (i % 2 * 4)) & 0xf);
            dst[i] = static_cast<float>(static_cast<int8_t>(nibble << 4) >> 4);
        }
    } else {
        load_floats<S>(s, dst, n);
    }
}

// Bytes of n elements.
template <Dt DT>
constexpr size_t extent(size_t n) {
    switch (DT) {
        case Dt::I4: return n / 2;
        case Dt::I8: case Dt::U8: return n;
        case Dt::F16: case Dt::BF16: case Dt::I16: return 2 * n;
        case Dt::I64: return 8 * n;
        default: return 4 * n;
    }
}

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
