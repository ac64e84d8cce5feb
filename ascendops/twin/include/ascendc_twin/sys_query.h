// Functions that ask about the core, run a function on one kind of core, or set the atomic mode by its register's fields.
#pragma once

#include "ascendc_twin/copy.h"
#include "ascendc_twin/sys.h"

namespace AscendC {

// The architecture as hexadecimal digits: 0x220 for Ascend 910B.
TWIN_API void GetArchVersion(uint32_t &coreVersion) {
    coreVersion = __NPU_ARCH__ == 2002 ? 0x200 : 0x220;
}
// A host has no address of the device's code: the number of cycles so far grows as a program counter does.
TWIN_API int64_t GetProgramCounter() {
    return ascendc_twin::system_cycle();
}
// Code is always loaded.
TWIN_A2_ONLY("GetICachePreloadStatus")
TWIN_API int64_t GetICachePreloadStatus() {
    return 0;
}

enum class EngineType : uint8_t { AIC = 1, AIV };

// Calls the function where the running core is of the given kind.
template <EngineType engine, auto funPtr, class... Args>
TWIN_API void Async(Args... args) {
    TWIN_NOT_ON_310P_V("Async", engine);
    if ((g_coreType == AscendC::AIC) == (engine == EngineType::AIC)) funPtr(args...);
}

enum class AtomicDtype : uint8_t { ATOMIC_NONE = 0, ATOMIC_F32, ATOMIC_F16, ATOMIC_S16, ATOMIC_S32, ATOMIC_S8, ATOMIC_BF16 };
enum class AtomicOp : uint8_t { ATOMIC_SUM = 0 };

namespace twin_detail {
constexpr ascendc_twin::Dt kAtomicTypes[] = {ascendc_twin::Dt::F32, ascendc_twin::Dt::F32, ascendc_twin::Dt::F16, ascendc_twin::Dt::I16,
                                             ascendc_twin::Dt::I32, ascendc_twin::Dt::I8,  ascendc_twin::Dt::BF16};
}  // namespace twin_detail

template <AtomicDtype type, AtomicOp op>
TWIN_API void SetStoreAtomicConfig() {
    TWIN_NOT_ON_310P_V("SetStoreAtomicConfig", type);
    ascendc_twin::set_atomic(type == AtomicDtype::ATOMIC_NONE ? 0 : 1, twin_detail::kAtomicTypes[static_cast<int>(type)]);
}
// 0 without an atomic mode, else the number of its AtomicDtype; the operation is always the sum.
TWIN_A2_ONLY("GetStoreAtomicConfig")
TWIN_API void GetStoreAtomicConfig(uint16_t &atomicType, uint16_t &atomicOp) {
    atomicType = 0;
    atomicOp = 0;
    const auto &core = ascendc_twin::core();
    if (core.atomic == 0) return;
    for (uint16_t i = 1; i < 7; ++i) {
        if (twin_detail::kAtomicTypes[i] == core.atomic_dt) atomicType = i;
    }
}

}  // namespace AscendC
