// fe::PlatformInfoManager: hardware parameters by SoC name. The twin answers for the SoC of the running call.
#pragma once

#include "platform/platform_info_def.h"
#include "platform/platform_infos_def.h"

namespace fe {
class PlatformInfoManager {
public:
    PlatformInfoManager(const PlatformInfoManager &) = delete;
    PlatformInfoManager &operator=(const PlatformInfoManager &) = delete;
    static PlatformInfoManager &Instance();
    static PlatformInfoManager &GeInstance() { return Instance(); }

    uint32_t InitializePlatformInfo() { return 0; }
    uint32_t Finalize() { return 0; }
    // 0, or 1 if the twin does not know the SoC.
    uint32_t GetPlatformInfos(const std::string soc_version, PlatFormInfos &infos, OptionalInfos &options);
    uint32_t GetPlatformInfo(const std::string soc_version, PlatformInfo &info, OptionalInfo &options);
    uint32_t GetPlatformInfoWithOutSocVersion(PlatFormInfos &infos, OptionalInfos &options);
    uint32_t GetPlatformInfoWithOutSocVersion(PlatformInfo &info, OptionalInfo &options);
    uint32_t GetPlatformInstanceByDevice(const uint32_t &device_id, PlatFormInfos &infos);
    uint32_t GetRuntimePlatformInfosByDevice(const uint32_t &device_id, PlatFormInfos &infos) {
        return GetPlatformInstanceByDevice(device_id, infos);
    }

private:
    PlatformInfoManager() = default;
};
}  // namespace fe
