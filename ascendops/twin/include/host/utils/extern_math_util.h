// Arithmetic that reports overflow instead of wrapping.
#pragma once

#include <cstdint>
#include <limits>

namespace ge {
template <typename L, typename R, typename Out>
bool MulOverflow(L lhs, R rhs, Out &out) {
    return __builtin_mul_overflow(lhs, rhs, &out);
}
template <typename L, typename R, typename Out>
bool AddOverflow(L lhs, R rhs, Out &out) {
    return __builtin_add_overflow(lhs, rhs, &out);
}
}  // namespace ge
