// Of the operator base package: a bfloat16 for host code.
#pragma once

#include <cstdint>
#include <cstring>

namespace Ops {
namespace Base {

struct bfloat16 {
    uint16_t value = 0;

    bfloat16() = default;
    // Rounds to nearest even.
    bfloat16(const float &number) {
        uint32_t bits;
        std::memcpy(&bits, &number, sizeof bits);
        const bool nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
        value = static_cast<uint16_t>(nan ? bits >> 16 | 0x40U : (bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16);
    }
    operator float() const {
        const uint32_t bits = static_cast<uint32_t>(value) << 16;
        float number;
        std::memcpy(&number, &bits, sizeof number);
        return number;
    }
};

}  // namespace Base
}  // namespace Ops
