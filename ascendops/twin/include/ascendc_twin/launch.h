// What a kernel library exports to the launcher.
#pragma once

#include <type_traits>
#include <utility>

#include "ascendc_twin/half.h"
#include "ascendc_twin/launch_abi.h"
#include "ascendc_twin/rt.h"

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
