// Of the operator base package: sizes of the vector unit.
#pragma once

#include <cstdint>

namespace Ops {
namespace Base {

inline constexpr uint32_t GetUbBlockSize() { return 32; }
inline constexpr uint32_t GetVRegSize() { return 256; }

}  // namespace Base
}  // namespace Ops
