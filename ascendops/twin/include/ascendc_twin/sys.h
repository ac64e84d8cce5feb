// Identity of the running core, workspace, clock, and small utilities.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "ascendc_twin/copy.h"
#include "ascendc_twin/sync.h"

#define ASCEND_IS_AIV constexpr(AscendC::g_coreType == AscendC::AIV)
#define ASCEND_IS_AIC constexpr(AscendC::g_coreType == AscendC::AIC)
#define ASCEND_IS_NOT_AIV constexpr(AscendC::g_coreType != AscendC::AIV)
#define ASCEND_IS_NOT_AIC constexpr(AscendC::g_coreType != AscendC::AIC)

// The registers of the same names, as code below the API reads them.
struct TwinBlockIdx {
    TWIN_API operator int64_t() const { return ascendc_twin::core().group; }
};
struct TwinBlockNum {
    TWIN_API operator int64_t() const { return ascendc_twin::core().block_dim; }
};
static constexpr TwinBlockIdx block_idx{};
static constexpr TwinBlockNum block_num{};
TWIN_API int64_t get_block_idx() {
    return ascendc_twin::core().group;
}
TWIN_API int64_t get_block_num() {
    return ascendc_twin::core().block_dim;
}

namespace AscendC {

namespace Std = ::std;

constexpr int32_t MIX = 0;
constexpr int32_t AIC = 1;
constexpr int32_t AIV = 2;
#ifdef __DAV_C220_CUBE__
constexpr int32_t g_coreType = AIC;
#else
constexpr int32_t g_coreType = AIV;
#endif

template <typename T, typename U>
struct IsSameType {
    static constexpr bool value = std::is_same_v<T, U>;
};

TWIN_API int64_t GetBlockIdx() {
    return ascendc_twin::core().block_idx;
}
TWIN_API int64_t GetBlockNum() {
    return ascendc_twin::core().block_dim;
}
// Writes one value to a range of global memory, through UB: cube cores do nothing.
template <typename T>
TWIN_API void InitGlobalMemory(GlobalTensor<T> &gmWorkspaceAddr, const uint64_t size, const T value) {
    if (ascendc_twin::core().type == ascendc_twin::Core::AIC) return;
    ascendc_twin::Inst inst("InitGlobalMemory", ascendc_twin::PipeId::MTE3);
    ascendc_twin::Walk all;
    all.run = size * sizeof(T);
    const ascendc_twin::Span span = gmWorkspaceAddr.span();
    if (!ascendc_twin::touch(inst, span, ascendc_twin::Rw::WRITE, all, 0)) return;
    inst.moved = all.run;
    T values[512];
    for (T &one : values) one = value;
    for (uint64_t done = 0; done < all.run; done += sizeof values) {
        ascendc_twin::put_global(span.p + done, values, all.run - done < sizeof values ? all.run - done : sizeof values);
    }
    ascendc_twin::pipe_barrier_on(ascendc_twin::PipeId::MTE3);  // it ends with one (asc-devkit, init_global_memory_v220_impl.h)
}
template <typename T>
TWIN_API void InitOutput(GlobalTensor<T> gmWorkspaceAddr, uint32_t size, T value = 0) {
    InitGlobalMemory(gmWorkspaceAddr, size, value);
}
TWIN_API int64_t GetSubBlockIdx() {
    return ascendc_twin::core().sub_block_idx;
}
TWIN_API int64_t GetSubBlockNum() {
    return ascendc_twin::core().sub_block_num;
}
TWIN_API int64_t GetTaskRatio() {
    return ascendc_twin::core().task_ratio;
}
TWIN_API int64_t GetTaskRation() {
    return GetTaskRatio();
}
inline constexpr int16_t GetDataBlockSizeInBytes() {
    return ONE_BLK_SIZE;
}
TWIN_API int64_t GetSystemCycle() {
    return ascendc_twin::system_cycle();
}
TWIN_API void InitSocState() {
    ascendc_twin::set_atomic(0, ascendc_twin::Dt::F32);
    ascendc_twin::core().counter_mode = false;
    ascendc_twin::core().mask_reg[0] = ascendc_twin::core().mask_reg[1] = ~uint64_t{0};
}
TWIN_API void ICachePreLoad(const int64_t) {}
TWIN_API void PreLoad(const int64_t) {}
TWIN_API void Trap() {
    __builtin_trap();
}

TWIN_API __gm__ uint8_t *GetSysWorkSpacePtr() {
    return ascendc_twin::system_workspace();
}
TWIN_API GM_ADDR GetUserWorkspace(GM_ADDR workspace) {
    return ascendc_twin::user_workspace(workspace);
}
TWIN_API void SetSysWorkspace(GM_ADDR workspace) {
    if (GetSysWorkSpacePtr() == nullptr) ascendc_twin::set_system_workspace(workspace);
}
TWIN_API void SetSysWorkspaceForce(GM_ADDR workspace) {
    ascendc_twin::set_system_workspace(workspace);
}

// Hands out local memory from its start, without TPipe.
template <Hardware hard = Hardware::UB>
class LocalMemAllocator {
public:
    uint32_t GetCurAddr() const { return head_; }
    template <TPosition pos, class DataType>
    LocalTensor<DataType> Alloc(uint32_t tileSize) {
        LocalTensor<DataType> tensor(pos, head_, tileSize);
        head_ += (tensor.GetLength() + ONE_BLK_SIZE - 1) / ONE_BLK_SIZE * ONE_BLK_SIZE;
        return tensor;
    }
    template <TPosition pos, class DataType, uint32_t tileSize>
    LocalTensor<DataType> Alloc() {
        return Alloc<pos, DataType>(tileSize);
    }
    template <class DataType>
    LocalTensor<DataType> Alloc(uint32_t tileSize) {
        return Alloc<position(), DataType>(tileSize);
    }
    template <class DataType, uint32_t tileSize>
    LocalTensor<DataType> Alloc() {
        return Alloc<position(), DataType>(tileSize);
    }

private:
    static constexpr TPosition position() {
        return hard == Hardware::UB    ? TPosition::VECCALC
               : hard == Hardware::L1  ? TPosition::A1
               : hard == Hardware::L0A ? TPosition::A2
               : hard == Hardware::L0B ? TPosition::B2
               : hard == Hardware::L0C ? TPosition::CO1
                                       : TPosition::C2;
    }
    uint32_t head_ = 0;
};

}  // namespace AscendC
