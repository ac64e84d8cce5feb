// Integer arithmetic for tiling: division by zero gives the dividend, alignment to zero gives zero.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace Ops {
namespace Base {
template <typename T>
typename std::enable_if<std::is_integral<T>::value, T>::type FloorDiv(T x, T y) {
    return y == 0 ? x : x / y;
}
template <typename T>
typename std::enable_if<std::is_integral<T>::value, T>::type FloorAlign(T x, T align) {
    return align == 0 ? 0 : x / align * align;
}
template <typename T>
typename std::enable_if<std::is_integral<T>::value, T>::type CeilDiv(T x, T y) {
    if (y == 0) {
        return x;
    }
    const bool up = x % y != 0 && (x < 0) == (y < 0);
    return static_cast<T>(x / y + (up ? 1 : 0));
}
template <typename T>
typename std::enable_if<std::is_integral<T>::value, T>::type CeilAlign(T x, T align) {
    T aligned = 0;
    if (align == 0) {
        return 0;
    }
    return __builtin_mul_overflow(CeilDiv(x, align), align, &aligned) ? std::numeric_limits<T>::max() : aligned;
}
template <typename T>
typename std::enable_if<std::is_floating_point<T>::value, bool>::type IsFloatEqual(T a, T b) {
    return a == b || std::fabs(a - b) <= std::numeric_limits<T>::epsilon();
}
}  // namespace Base
}  // namespace Ops
