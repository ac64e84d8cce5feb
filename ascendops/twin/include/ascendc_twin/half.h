// Scalar types of the Ascend C language that C++17 lacks: half, bfloat16_t, int4b_t.
//
// half is the compiler's own 16-bit type, so that it works in constant expressions, in templates and mixed with other numbers;
// bulk work does not use it (runtime/vec_convert.h converts whole blocks to float). GCC before 13 has only __fp16 on aarch64.
#pragma once

#include <cstdint>
#include <type_traits>

// That GCC defines __FLT16_MAX__ all the same, for C only.
#if defined(__aarch64__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
using half = __fp16;
#elif defined(__FLT16_MAX__)
using half = _Float16;
#else
#error "ascendops twin: this compiler has no 16-bit floating type; use g++ 12 or newer, or clang 15 or newer"
#endif

using float32_t = float;
using float16_t = half;

// Upper 16 bits of a float, rounded to nearest even. Arithmetic happens in float through the implicit conversion.
struct bfloat16_t {
    uint16_t bits = 0;

    constexpr bfloat16_t() = default;
    template <typename T, std::enable_if_t<std::is_arithmetic<T>::value || std::is_same<T, half>::value, int> = 0>
    constexpr bfloat16_t(T value) : bits(round(static_cast<float>(value))) {}

    constexpr operator float() const { return __builtin_bit_cast(float, static_cast<uint32_t>(bits) << 16); }

    static constexpr bfloat16_t from_bits(uint16_t pattern) {
        bfloat16_t value;
        value.bits = pattern;
        return value;
    }
    static constexpr uint16_t round(float value) {
        const uint32_t u = __builtin_bit_cast(uint32_t, value);
        if ((u & 0x7fffffffu) > 0x7f800000u) {
            return static_cast<uint16_t>((u >> 16) | 0x40u);
        }
        return static_cast<uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
    }

    constexpr bfloat16_t &operator+=(float other) { return *this = bfloat16_t(static_cast<float>(*this) + other); }
    constexpr bfloat16_t &operator-=(float other) { return *this = bfloat16_t(static_cast<float>(*this) - other); }
    constexpr bfloat16_t &operator*=(float other) { return *this = bfloat16_t(static_cast<float>(*this) * other); }
    constexpr bfloat16_t &operator/=(float other) { return *this = bfloat16_t(static_cast<float>(*this) / other); }
};
static_assert(sizeof(half) == 2 && sizeof(bfloat16_t) == 2, "16-bit types");

namespace AscendC {

// Two of them share a byte of memory (the first in the low bits); the struct itself only names the type.
struct int4b_t {
    uint8_t storage = 0;

    constexpr int4b_t() = default;
    constexpr int4b_t(int value) : storage(static_cast<uint8_t>(value & 0xf)) {}
    constexpr operator int8_t() const { return static_cast<int8_t>(static_cast<int8_t>(storage << 4) >> 4); }
};

constexpr float ToFloat(const bfloat16_t &value) { return static_cast<float>(value); }
constexpr bfloat16_t ToBfloat16(const float &value) { return bfloat16_t(value); }

}  // namespace AscendC
