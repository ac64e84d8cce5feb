// DEVICE_IMPL_OP_OPTILING: the tiling function that runs on the device's CPU when tiling is moved there.
#pragma once

#include "exe_graph/runtime/tiling_context.h"
#include "graph/compiler_def.h"

namespace optiling {
class DeviceOpImplRegister {
public:
    explicit DeviceOpImplRegister(const char *) {}
    template <typename Func>
    DeviceOpImplRegister &Tiling(Func) {
        return *this;
    }
};
}  // namespace optiling

#define DEVICE_IMPL_OP_OPTILING(optype) \
    static optiling::DeviceOpImplRegister VAR_UNUSED g_deviceOpImplRegister##optype = optiling::DeviceOpImplRegister(#optype)
