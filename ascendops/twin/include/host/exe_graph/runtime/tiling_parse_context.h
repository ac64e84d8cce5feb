#pragma once

#include "exe_graph/runtime/extended_kernel_context.h"

namespace fe {
class PlatFormInfos;
}

namespace gert {
class TilingParseContext : public ExtendedKernelContext {
public:
    using ExtendedKernelContext::ExtendedKernelContext;

    const ge::char_t *GetCompiledJson() const { return "{}"; }
    template <typename T>
    T *GetCompiledInfo() {
        return static_cast<T *>(OutputAt(0));
    }
    fe::PlatFormInfos *GetPlatformInfo() const;
};
}  // namespace gert
