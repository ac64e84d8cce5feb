// Of the operator base package: a half for host code.
#pragma once

#include <cstdint>
#include <cstring>

namespace Ops {
namespace Base {

struct fp16_t {
    uint16_t val = 0;

    fp16_t() = default;
    fp16_t(const uint16_t &bits) : val(bits) {}
    fp16_t(const float &value) { *this = value; }
    fp16_t(const double &value) { *this = value; }
    fp16_t(const int32_t &value) { *this = value; }
    fp16_t(const int64_t &value) { *this = static_cast<float>(value); }

    operator float() const {
        const uint32_t sign = static_cast<uint32_t>(val & 0x8000U) << 16;
        const uint32_t exponent = (val >> 10) & 0x1FU, fraction = val & 0x3FFU;
        if (exponent == 0) {
            const float tiny = static_cast<float>(fraction) * (1.0F / 16777216.0F);
            return sign != 0 ? -tiny : tiny;
        }
        const uint32_t bits = sign | (exponent == 31 ? 0x7F800000U : (exponent + 112U) << 23) | fraction << 13;
        float value;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    }
    // Rounds to nearest even.
    fp16_t &operator=(const float &value) {
        uint32_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        const uint32_t sign = bits >> 16 & 0x8000U, magnitude = bits & 0x7FFFFFFFU;
        if (magnitude >= 0x7F800000U) {
            val = static_cast<uint16_t>(sign | 0x7C00U | (magnitude > 0x7F800000U ? 0x200U : 0U));
        } else if (magnitude >= 0x477FF000U) {
            val = static_cast<uint16_t>(sign | 0x7C00U);
        } else if (magnitude < 0x38800000U) {
            float absolute;
            std::memcpy(&absolute, &magnitude, sizeof absolute);
            const float shifted = absolute + 0.5F;  // the sum's last bit is that of a subnormal half
            uint32_t rounded;
            std::memcpy(&rounded, &shifted, sizeof rounded);
            val = static_cast<uint16_t>(sign | (rounded - 0x3F000000U));
        } else {
            val = static_cast<uint16_t>(sign | (magnitude - 0x38000000U + 0xFFFU + (magnitude >> 13 & 1U)) >> 13);
        }
        return *this;
    }
    fp16_t &operator=(const double &value) { return *this = static_cast<float>(value); }
    fp16_t &operator=(const int32_t &value) { return *this = static_cast<float>(value); }
    float toFloat() const { return *this; }
    double toDouble() const { return static_cast<double>(static_cast<float>(*this)); }
};

}  // namespace Base
}  // namespace Ops
using Ops::Base::fp16_t;
