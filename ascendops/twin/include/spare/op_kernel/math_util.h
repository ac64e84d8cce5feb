// Of the operator base package, whose headers kernels of the operator repositories include.
#pragma once

namespace Ops {
namespace Base {

template <typename T, typename U>
inline constexpr T CeilDiv(T a, U b) {
    return b == 0 ? a : static_cast<T>((a + b - 1) / b);
}
template <typename T, typename U>
inline constexpr T CeilAlign(T a, U b) {
    return b == 0 ? a : static_cast<T>((a + b - 1) / b * b);
}
template <typename T, typename U>
inline constexpr T FloorDiv(T a, U b) {
    return b == 0 ? a : static_cast<T>(a / b);
}
template <typename T, typename U>
inline constexpr T FloorAlign(T a, U b) {
    return b == 0 ? a : static_cast<T>(a / b * b);
}

}  // namespace Base
}  // namespace Ops
