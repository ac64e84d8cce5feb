// Hardware sizes from a tiling or TilingParse context.
#pragma once

#include "exe_graph/runtime/tiling_context.h"
#include "exe_graph/runtime/tiling_parse_context.h"
#include "op_common/log/log.h"
#include "tiling/platform/platform_ascendc.h"

namespace Ops {
namespace Base {
template <typename T>
uint32_t GetAivCoreNum(const T *context) {
    return platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetCoreNumAiv();
}
template <typename T>
uint32_t GetAicCoreNum(const T *context) {
    return platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetCoreNumAic();
}
template <typename T>
uint32_t GetUbSize(const T *context) {
    uint64_t size = 0;
    platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetCoreMemSize(platform_ascendc::CoreMemType::UB, size);
    return static_cast<uint32_t>(size);
}
template <typename T>
uint32_t GetWorkspaceSize(const T *context) {
    return platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetLibApiWorkSpaceSize();
}
template <typename T>
uint32_t GetUbBlockSize(const T *) {
    return 32U;
}
template <typename T>
uint32_t GetVRegSize(const T *) {
    return 256U;
}
template <typename T>
uint32_t GetCacheLineSize(const T *) {
    return 256U;
}
template <typename T>
uint32_t GetSimtMaxThreadNum(const T *) {
    return 2048U;
}
}  // namespace Base
}  // namespace Ops
