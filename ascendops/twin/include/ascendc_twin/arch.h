// What an architecture has: refusals that name the API and the SoC. docs/ascendc-apis.md is generated from these lines.
#pragma once

#include <type_traits>

#include "ascendc_twin/half.h"
#include "ascendc_twin/macros.h"

#if __NPU_ARCH__ == 2002
#define TWIN_SOC "Ascend 310P"
#define TWIN_A2(type) half  // an element type that Ascend 310P does not have; half is in every list that names one
#else
#define TWIN_SOC "Ascend 910B / 910_93"
#define TWIN_A2(type) type
#endif

namespace ascendc_twin {

template <typename...>
inline constexpr bool on_a2 = __NPU_ARCH__ != 2002;
template <auto...>
inline constexpr bool on_a2_value = __NPU_ARCH__ != 2002;

// bfloat16 is a type of Ascend 910B and later.
template <typename T>
inline constexpr bool type_exists = __NPU_ARCH__ != 2002 || !std::is_same_v<T, bfloat16_t>;

}  // namespace ascendc_twin

// In a function that Ascend 310P does not have: `T` is one of its type parameters, `V` one of its values.
#define TWIN_NOT_ON_310P(API, T) static_assert(::ascendc_twin::on_a2<T>, API " is not supported on Ascend 310P")
#define TWIN_ONLY_ON_310P(API, T) static_assert(!::ascendc_twin::on_a2<T>, API " is not supported on Ascend 910B and 910_93")
#define TWIN_NOT_ON_310P_V(API, V) static_assert(::ascendc_twin::on_a2_value<V>, API " is not supported on Ascend 310P")
// Before a function without template parameters.
#if __NPU_ARCH__ == 2002
#define TWIN_A2_ONLY(API) __attribute__((unavailable(API " is not supported on Ascend 310P")))
#else
#define TWIN_A2_ONLY(API)
#endif
