// Float functions of the vector unit, written without branches so that the compiler vectorises the loops that call them.
// Errors against double over all exponents: tests/twin/test_vec_elementwise.py.
#pragma once

#include <cmath>
#include <cstdint>

#include "vec_convert.h"
#include "vec_pair.h"

namespace ascendc_twin {

// F: float, or a pair of registers.
template <typename F>
inline F exp_of(F x) {
    const F c = at_least(at_most(x, 89.0f), -104.0f);
    const F shifted = c * 1.44269504088896341f + 12582912.0f;  // 1.5 * 2^23: rounds to an integer
    const F k = shifted - 12582912.0f;
    const F high = k * -0.693359375f + c;
    const F step = k * 2.12194440e-4f;
    const F r = high + step;
    const F lost = step - (r - high);
    F p = r * 1.9875691500e-4f + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = ((p * r) * r + lost) + r;
    p = p + 1.0f;
    // The low bits of `shifted` are the exponent k: half of it goes to p, a normal number still, and then the rest. NaN stays NaN.
    const auto half = float_bits(shifted) >> 1 << 23, rest = (float_bits(shifted) << 23) - half;
    return (p * bits_float(half + 0x3f800000u)) * bits_float(rest + 0x3f800000u);
}
inline float exp_f(float x) { return exp_of(x); }

inline float log_f(float x) {
    const bool tiny = x < 1.17549435e-38f;
    const float scaled = tiny ? x * 8388608.0f : x;
    const uint32_t u = float_bits(scaled);
    // Mantissa in [sqrt(1/2), sqrt(2)).
    const int32_t e = static_cast<int32_t>(u - 0x3f3504f3u) >> 23;
    const float m = bits_float(u - (static_cast<uint32_t>(e) << 23));
    const float k = static_cast<float>(e - (tiny ? 23 : 0));
    const float f = m - 1.0f;
    const float s = f / (2.0f + f);
    const float z = s * s;
    const float w = z * z;
    const float t1 = w * (0.40000972152f + w * 0.24279078841f);
    const float t2 = z * (0.66666662693f + w * 0.28498786688f);
    const float h = 0.5f * f * f;
    const float tail = s * (h + (t1 + t2)) + k * 9.0580006145e-6f;
    float r = k * 0.69313812256f - ((h - tail) - f);
    r = x == 0.0f ? bits_float(0xff800000u) : r;
    r = x < 0.0f ? bits_float(0x7fc00000u) : r;
    return (x != x || x == bits_float(0x7f800000u)) ? x : r;
}

inline float sigmoid_f(float x) {
    const float e = exp_f(-std::fabs(x));
    return (x >= 0.0f ? 1.0f : (x != x ? x : e)) / (1.0f + e);
}

inline float tanh_f(float x) {
    const float a = std::fabs(x);
    const float z = x * x;
    float p = -5.70498872745e-3f;
    p = p * z + 2.06390887954e-2f;
    p = p * z + -5.37397155531e-2f;
    p = p * z + 1.33314422036e-1f;
    p = p * z + -3.33332819422e-1f;
    const float small = (p * z) * x + x;
    const float large = 1.0f - 2.0f / (exp_f(2.0f * a) + 1.0f);
    const float value = a < 0.625f ? std::fabs(small) : large;
    return x != x ? x : bits_float(float_bits(value) | (float_bits(x) & 0x80000000u));
}

}  // namespace ascendc_twin
