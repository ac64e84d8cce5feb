// Element types that an instruction has.
#pragma once

#include "ascendc_twin/arch.h"
#include "ascendc_twin/tensor.h"

namespace ascendc_twin {

template <typename T, typename... Allowed>
inline constexpr bool one_of = (std::is_same_v<AscendC::PrimT<T>, Allowed> || ...);

}  // namespace ascendc_twin

// The element types that an instruction has on this architecture; the compiler's note names the type that was used.
#define TWIN_REQUIRE_TYPE(API, T, ...)                                                                                  \
    static_assert(::ascendc_twin::one_of<T, __VA_ARGS__> && ::ascendc_twin::type_exists<AscendC::PrimT<T>>,             \
                  API ": this element type is not supported on " TWIN_SOC "; supported are " TWIN_LISTED(__VA_ARGS__))
// The same where the device's compiler takes every type and the instruction does nothing for the others: a finding when it runs.
#define TWIN_RUN_TYPE(API, T, ...)                                                                                      \
    static_assert(::ascendc_twin::type_exists<AscendC::PrimT<T>>, "bfloat16_t is not a type of Ascend 310P");           \
    if constexpr (!::ascendc_twin::one_of<T, __VA_ARGS__>) {                                                            \
        ::ascendc_twin::Inst inst(API, ::ascendc_twin::PipeId::V);                                                      \
        ::ascendc_twin::finding("UNSUPPORTED-DTYPE", API " has no such element type (%u bytes), and does nothing: supported are "\
                                TWIN_LISTED(__VA_ARGS__), static_cast<unsigned>(sizeof(AscendC::PrimT<T>)));            \
        return;                                                                                                         \
    }
#define TWIN_LISTED(...) #__VA_ARGS__
