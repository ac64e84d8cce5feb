// platform_ascendc::PlatformAscendC: core counts and memory sizes for tiling functions.
#pragma once

#include <csignal>
#include <cstdint>
#include <mutex>

#include "platform/soc_spec.h"

#ifndef ASCENDC_ASSERT
#define ASCENDC_ASSERT(cond, behavior) \
    do {                               \
        if (!(cond)) {                 \
            behavior;                  \
            raise(SIGABRT);            \
        }                              \
    } while (0)
#endif

namespace fe {
class PlatFormInfos;
}

namespace platform_ascendc {
enum class CoreMemType { L0_A = 0, L0_B = 1, L0_C = 2, L1 = 3, L2 = 4, UB = 5, HBM = 6, FB = 7, BT = 8, RESERVED };

enum class SocVersion {
    ASCEND910 = 0,
    ASCEND910B = 1,   // also Ascend910_93
    ASCEND310P = 2,
    ASCEND310B = 3,
    ASCEND950 = 4,
    ASCEND910_55 = 5,
    ASCEND910_95 = ASCEND950,
    AS31XM1 = 6,
    ASCEND031 = 7,
    ASCEND035 = 8,
    ASCEND310 = 9,
    ASCEND610 = 10,
    ASCEND610Lite = 11,
    ASCEND910_93 = 12,
    BS9SX1A = 13,
    BS9SX2A = 14,
    HI3796CV300CS = 15,
    HI3796CV300ES = 16,
    MC61AM21A = 17,
    MC62 = 18,
    SD3403 = 19,
    KIRINX90 = 20,
    KIRIN9030 = 21,
    MC32DM11A = 22,
    ASCEND350 = 23,
    RESERVED_VERSION = 99999
};

enum class ReservedSize { RESERVED_SIZE_8K, RESERVED_SIZE_16K, RESERVED_SIZE_32K };

class PlatformAscendC {
public:
    explicit PlatformAscendC(fe::PlatFormInfos *infos) : infos_(infos) {}

    uint32_t GetCoreNum() const;
    uint32_t GetCoreNumAic() const;
    uint32_t GetCoreNumAiv() const;
    // The separate vector cores of Atlas inference products; 0 elsewhere.
    uint32_t GetCoreNumVector() const;
    // Blocks to launch so that `slice_num` vector slices run, for a kernel with both core types.
    uint32_t CalcTschNumBlocks(uint32_t slice_num, uint32_t aic_core_num, uint32_t aiv_core_num) const;
    uint32_t CalcTschBlockDim(uint32_t slice_num, uint32_t aic_core_num, uint32_t aiv_core_num) const {
        return CalcTschNumBlocks(slice_num, aic_core_num, aiv_core_num);
    }
    // Bytes of workspace that the high-level API needs.
    uint32_t GetLibApiWorkSpaceSize() const;
    uint32_t GetResCubeGroupWorkSpaceSize() const;
    uint32_t GetResGroupBarrierWorkSpaceSize() const;
    // UB and L1 of Ascend910B are 256 bytes smaller than the memory: the rest is reserved for the system.
    void GetCoreMemSize(const CoreMemType &mem_type, uint64_t &size) const;
    void GetCoreMemBw(const CoreMemType &mem_type, uint64_t &bw_size) const;
    void ReserveLocalMemory(ReservedSize size);
    SocVersion GetSocVersion() const;
    NpuArch GetCurNpuArch() const;
    uint32_t GetVecRegLen() const;

private:
    const fe::PlatFormInfos &Infos() const;

    fe::PlatFormInfos *infos_;
    uint32_t reserved_ = 0;
};

// For code without a context, such as a launcher's main function: the SoC of the running call, or the one named.
class PlatformAscendCManager {
public:
    static PlatformAscendC *GetInstance() { return GetInstance(nullptr); }
    static PlatformAscendC *GetInstance(const char *soc_version);
};
}  // namespace platform_ascendc
