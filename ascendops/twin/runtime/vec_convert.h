// Conversions between float and the 16-bit formats, in blocks and with every rounding mode of the Cast instruction.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "ascendc_twin/half.h"

namespace ascendc_twin {

// Numbering of AscendC::RoundMode.
enum Round : int { NONE = 0, RINT, FLOOR, CEIL, ROUND, TRUNC, ODD };

inline uint32_t float_bits(float value) { return __builtin_bit_cast(uint32_t, value); }
inline float bits_float(uint32_t bits) { return __builtin_bit_cast(float, bits); }

// x rounded to an integral float. Adding and subtracting 2^23 rounds to nearest even; larger floats are integral already.
inline float rint_f(float x) {
    const float big = bits_float(0x4b000000u | (float_bits(x) & 0x80000000u));
    const float r = bits_float(float_bits((x + big) - big) | (float_bits(x) & 0x80000000u));
    return std::fabs(x) < 8388608.0f ? r : x;
}

template <int MODE>
inline float round_f(float x) {
    if constexpr (MODE == TRUNC) {
        return std::trunc(x);
    } else if constexpr (MODE == FLOOR) {
        return std::floor(x);
    } else if constexpr (MODE == CEIL) {
        return std::ceil(x);
    } else if constexpr (MODE == ROUND) {
        const float t = std::trunc(x);
        const float away = t + bits_float(0x3f800000u | (float_bits(x) & 0x80000000u));
        return std::fabs(x - t) >= 0.5f ? away : t;
    } else if constexpr (MODE == ODD) {
        const float t = std::trunc(x);
        const bool even = std::trunc(t * 0.5f) * 2.0f == t;
        const float away = t + bits_float(0x3f800000u | (float_bits(x) & 0x80000000u));
        return (x != t && even) ? away : t;
    } else {
        return rint_f(x);
    }
}

// Whether dropping `rest` (out of 2 * half_ulp) rounds the magnitude up. `odd`: the kept part is odd.
template <int MODE>
inline bool carries(uint32_t rest, uint32_t half_ulp, bool odd, bool negative) {
    switch (MODE) {
        case FLOOR: return negative && rest != 0;
        case CEIL: return !negative && rest != 0;
        case ROUND: return rest >= half_ulp;
        case TRUNC: return false;
        case ODD: return rest != 0 && !odd;
        default: return rest > half_ulp || (rest == half_ulp && odd);
    }
}

// Largest finite pattern instead of infinity where the mode never rounds away from zero past the largest number.
template <int MODE>
inline bool keeps_finite(bool negative) {
    return MODE == TRUNC || MODE == ODD || (MODE == FLOOR && !negative) || (MODE == CEIL && negative);
}

// What is added to a pattern so that dropping its low bits (2 * half_ulp of them) rounds; not for ODD. `odd` is 0 or 1.
template <int MODE>
inline uint32_t round_bias(uint32_t half_ulp, uint32_t odd, uint32_t negative) {
    switch (MODE) {
        case FLOOR: return negative * (2 * half_ulp - 1);
        case CEIL: return (1 - negative) * (2 * half_ulp - 1);
        case ROUND: return half_ulp;
        case TRUNC: return 0;
        default: return half_ulp - 1 + odd;
    }
}

// Written without branches and without bool, so that loops over it become vector code.
inline uint16_t float_to_half_nearest(float value) {
    constexpr float subnormal_unit = 0.5f;  // its last bit is 2^-24, the unit of subnormal halves: adding it rounds to that unit
    const uint32_t u = float_bits(value), mag = u & 0x7fffffffu;
    const uint32_t normal = (mag + 0xfffu + ((mag >> 13) & 1u) - (112u << 23)) >> 13;
    const uint32_t subnormal = float_bits(bits_float(mag) + subnormal_unit) - float_bits(subnormal_unit);
    uint32_t result = mag < 0x38800000u ? subnormal : normal;
    result = mag >= 0x477ff000u ? 0x7c00u : result;
    result = mag > 0x7f800000u ? (0x7e00u | ((mag >> 13) & 0x3ffu)) : result;
    return static_cast<uint16_t>(((u >> 16) & 0x8000u) | result);
}

template <int MODE>
inline uint16_t float_to_half_bits(float value) {
    if constexpr (MODE == RINT || MODE == NONE) {
        return float_to_half_nearest(value);
    }
    const uint32_t u = float_bits(value);
    const uint32_t mag = u & 0x7fffffffu;
    const bool negative = (u >> 31) != 0;
    const uint32_t sign = (u >> 16) & 0x8000u;
    // Normal halves keep 10 of 23 mantissa bits; the exponent bias changes by 112.
    const uint32_t kept = (mag >> 13) - (112u << 10);
    const uint32_t normal = kept + (carries<MODE>(mag & 0x1fffu, 0x1000u, (mag >> 13) & 1u, negative) ? 1u : 0u);
    // Subnormal halves are integers in units of 2^-24.
    const float units = std::fabs(value) * 16777216.0f;
    const float whole = std::trunc(mag < 0x38800000u ? units : 0.0f);
    const float part = (mag < 0x38800000u ? units : 0.0f) - whole;
    const uint32_t scaled = part == 0.0f ? 0u : (part < 0.5f ? 1u : (part == 0.5f ? 2u : 3u));
    const uint32_t low = static_cast<uint32_t>(static_cast<int32_t>(whole));
    const uint32_t subnormal = low + (carries<MODE>(scaled, 2u, (low & 1u) != 0, negative) ? 1u : 0u);
    const uint32_t limit = keeps_finite<MODE>(negative) ? 0x7bffu : 0x7c00u;
    uint32_t result = mag < 0x38800000u ? subnormal : normal;
    result = (mag >= 0x38800000u && normal > limit) || mag >= 0x47800000u ? limit : result;
    result = mag == 0x7f800000u ? 0x7c00u : result;
    result = mag > 0x7f800000u ? (0x7e00u | ((mag >> 13) & 0x3ffu)) : result;
    return static_cast<uint16_t>(sign | result);
}

template <int MODE>
inline uint16_t float_to_bf16_bits(float value) {
    const uint32_t u = float_bits(value), kept = u >> 16;
    uint32_t finite;
    if constexpr (MODE == ODD) {
        finite = kept | ((u & 0xffffu) != 0 ? 1u : 0u);
    } else {
        finite = (u + round_bias<MODE>(0x8000u, kept & 1u, u >> 31)) >> 16;
    }
    return static_cast<uint16_t>((u & 0x7fffffffu) > 0x7f800000u ? (kept | 0x40u) : finite);
}

inline float half_bits_to_float(uint16_t bits) {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
    const uint32_t mag = bits & 0x7fffu;
    const float subnormal = static_cast<float>(static_cast<int32_t>(mag)) * 5.9604644775390625e-8f;  // 2^-24
    const uint32_t normal = (mag << 13) + (112u << 23);
    const uint32_t special = 0x7f800000u | (mag << 13) | (mag > 0x7c00u ? 0x400000u : 0u);
    const uint32_t result = mag >= 0x7c00u ? special : (mag >= 0x400u ? normal : float_bits(subnormal));
    return bits_float(sign | result);
}

// Blocks of n elements (vec_convert.cpp).
void half_to_float(const uint8_t *src, float *dst, size_t n);
void float_to_half(const float *src, uint8_t *dst, size_t n);
void bf16_to_float(const uint8_t *src, float *dst, size_t n);
void float_to_bf16(const float *src, uint8_t *dst, size_t n);
// Rounds n floats to the values of halves.
void round_to_half(float *x, size_t n);

inline float half_value(const uint8_t *src) {
    uint16_t bits;
    std::memcpy(&bits, src, 2);
    return half_bits_to_float(bits);
}

// One float to nearest: the instruction where there is one, which gives the same bits.
#if defined(__F16C__)
inline uint16_t half_pattern(float value) {
    using Floats4 __attribute__((vector_size(16))) = float;
    return static_cast<uint16_t>(__builtin_ia32_vcvtps2ph(Floats4{value}, 0)[0]);
}
inline float half_rounded(float value) {
    using Floats4 __attribute__((vector_size(16))) = float;
    return __builtin_ia32_vcvtph2ps(__builtin_ia32_vcvtps2ph(Floats4{value}, 0))[0];
}
#else
inline uint16_t half_pattern(float value) { return float_to_half_bits<RINT>(value); }
inline float half_rounded(float value) { return half_bits_to_float(half_pattern(value)); }
#endif

}  // namespace ascendc_twin
