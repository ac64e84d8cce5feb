// The C interface between the launcher (Python), the runtime library and a kernel library.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "ascendc_twin/half.h"
#include "ascendc_twin/rt.h"

extern "C" {

enum TwinBufferFlag : uint32_t {
    TWIN_BUFFER_UNDEFINED = 1,  // holds nothing when the kernel starts: workspace, outputs
    TWIN_BUFFER_GUARDED = 2,    // unreadable pages lie before and behind it
};

// One global-memory buffer: kernels may touch only these ranges.
struct TwinBuffer {
    uint64_t address;
    uint64_t bytes;
    const char *name;
    uint64_t flags;  // TwinBufferFlag
};

struct TwinLaunch {
    void (*entry)(void **args);  // twin_entry_<kernel>
    void (*entry_aic)(void **args);  // the same as cube cores run it
    void **args;                 // one pointer to the value of each kernel parameter
    uint32_t block_dim;
    uint8_t aic, aiv;            // cube cores (0 or 1) and vector cores (0 to 2) per block
    uint32_t cores;              // physical cores that run blocks at the same time (barriers beyond them hang on the device)
    const uint8_t *tiling;
    uint64_t tiling_bytes;
    uint64_t tiling_key;
    uint8_t *workspace;
    uint64_t workspace_bytes;
    const TwinBuffer *buffers;
    uint32_t buffer_count;
    uint32_t npu_arch;
    uint64_t ub_bytes, l1_bytes, l0a_bytes, l0b_bytes, l0c_bytes, bt_bytes, fb_bytes;
    uint64_t reserved_workspace;  // bytes of the workspace that belong to the system
    uint8_t checks;
    uint8_t auto_sync;
    uint8_t trace;
    uint32_t threads;             // blocks that run at once, 0: one per core that this process may use
    double timeout_s;
};

int twin_launch(const TwinLaunch *launch);
const char *twin_report();
int twin_abi();
}

namespace ascendc_twin {

template <typename T>
constexpr char letter() {
    if constexpr (std::is_pointer_v<T>) {
        return 'p';
    } else if constexpr (std::is_same_v<T, bool>) {
        return 'b';
    } else if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, half>) {
        return 'f';
    } else if constexpr (std::is_same_v<T, bfloat16_t>) {
        return 'n';
    } else if constexpr (std::is_integral_v<T>) {
        return std::is_signed_v<T> ? 'i' : 'u';
    } else {
        return 's';  // a struct by value
    }
}

template <typename... Args, std::size_t... I>
void unpack(void (*kernel)(Args...), void **args, std::index_sequence<I...>) {
    kernel(*static_cast<std::remove_cv_t<std::remove_reference_t<Args>> *>(args[I])...);
}
template <typename... Args>
void call(void (*kernel)(Args...), void **args) {
    unpack(kernel, args, std::index_sequence_for<Args...>());
}

// "p8 p8 u4": kind and bytes of each parameter.
template <typename... Args>
struct Signature {
    char text[sizeof...(Args) * 8 + 8] = {};
    constexpr Signature() {
        char *at = text;
        (put(at, letter<Args>(), sizeof(Args)), ...);
        if (at != text) *(at - 1) = '\0';
    }
    static constexpr void put(char *&at, char kind, std::size_t size) {
        *at++ = kind;
        if (size >= 1000) *at++ = static_cast<char>('0' + size / 1000 % 10);
        if (size >= 100) *at++ = static_cast<char>('0' + size / 100 % 10);
        if (size >= 10) *at++ = static_cast<char>('0' + size / 10 % 10);
        *at++ = static_cast<char>('0' + size % 10);
        *at++ = ' ';
    }
};
template <typename... Args>
constexpr Signature<Args...> signature(void (*)(Args...)) {
    return {};
}

}  // namespace ascendc_twin

// Exports a kernel to the launcher. `kernel` is its name after any renaming (which the macros behind _OF see).
#define ASCENDC_TWIN_ENTRY(kernel) ASCENDC_TWIN_ENTRY_OF(kernel)
#define ASCENDC_TWIN_ENTRY_OF(kernel)                                                                                        \
    extern "C" __attribute__((visibility("default"))) void twin_entry_##kernel(void **args) { ascendc_twin::call(&kernel, args); } \
    static constexpr auto twin_signature_##kernel = ascendc_twin::signature(&kernel);                                        \
    extern "C" __attribute__((visibility("default"))) const char *twin_sig_##kernel() { return twin_signature_##kernel.text; }

// Exports a function under another name: an instance of a template, or one in a namespace.
#define ASCENDC_TWIN_ENTRY_AS(name, ...) ASCENDC_TWIN_ENTRY_AS_OF(name, __VA_ARGS__)
#define ASCENDC_TWIN_ENTRY_AS_OF(name, ...)                                                                                      \
    extern "C" __attribute__((visibility("default"))) void twin_entry_##name(void **args) { ascendc_twin::call(&__VA_ARGS__, args); } \
    static constexpr auto twin_signature_##name = ascendc_twin::signature(&__VA_ARGS__);                                     \
    extern "C" __attribute__((visibility("default"))) const char *twin_sig_##name() { return twin_signature_##name.text; }

// What the kernel's text says about the cores it runs on: "default;key=type;...", numbers of KernelMetaType.
#define ASCENDC_TWIN_TASK(kernel, types) ASCENDC_TWIN_TASK_OF(kernel, types)
#define ASCENDC_TWIN_TASK_OF(kernel, types) \
    extern "C" __attribute__((visibility("default"))) const char *twin_task_##kernel() { return types; }

// Exports a template kernel (ASCENDC_TPL_*): one instance per tiling key.
#define ASCENDC_TWIN_TEMPLATE_BEGIN(kernel) ASCENDC_TWIN_TEMPLATE_BEGIN_OF(kernel)
#define ASCENDC_TWIN_TEMPLATE_BEGIN_OF(kernel)                                                             \
    extern "C" __attribute__((visibility("default"))) void twin_entry_##kernel(void **args) {           \
        const uint64_t twin_key = ascendc_twin::core().tiling_key;
#define ASCENDC_TWIN_INSTANCE(key, ...) \
    if (twin_key == (key)) return ascendc_twin::call(&__VA_ARGS__, args);
#define ASCENDC_TWIN_TEMPLATE_END(kernel, ...) ASCENDC_TWIN_TEMPLATE_END_OF(kernel, __VA_ARGS__)
#define ASCENDC_TWIN_TEMPLATE_END_OF(kernel, ...)                                                          \
    ascendc_twin::finding("TILING-KEY", "no instance of the kernel template has tiling key %llu",       \
                          static_cast<unsigned long long>(twin_key));                                   \
    ascendc_twin::abandon_block();                                                                      \
    }                                                                                                   \
    extern "C" __attribute__((visibility("default"))) const char *twin_sig_##kernel() {                 \
        static constexpr auto text = ascendc_twin::signature(&__VA_ARGS__);                             \
        return text.text;                                                                               \
    }
