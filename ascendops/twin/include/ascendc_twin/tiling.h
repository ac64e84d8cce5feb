// Macros that read tiling data and select by tiling key. One kernel library serves all keys, so keys are compared at run time.
#pragma once

#include "ascendc_twin/sys.h"
#include "ascendc_twin/tiling_macros.h"

#define TILING_KEY_IS(key) (ascendc_twin::tiling_key_is(static_cast<uint64_t>(key)))
#define TILING_KEY_LIST(...) (ascendc_twin::tiling_key_in({__VA_ARGS__}))
#define TILING_KEY_VAR (ascendc_twin::core().tiling_key)

#define REGISTER_TILING_DEFAULT(type) using ascendc_twin_default_tiling = type
#define REGISTER_TILING_FOR_TILINGKEY(condition, type) static_assert(sizeof(type) > 0, condition)
#define REGISTER_NONE_TILING using ascendc_twin_default_tiling = ascendc_twin::NoTiling

#define GET_TILING_DATA_WITH_STRUCT(type, name, from) \
    type name;                                        \
    ascendc_twin::read_tiling(&name, sizeof(type), from, #type)
#define GET_TILING_DATA(name, from)   \
    ascendc_twin_default_tiling name; \
    ascendc_twin::read_tiling(&name, sizeof name, from, ascendc_twin::type_name<ascendc_twin_default_tiling>())
#define GET_TILING_DATA_MEMBER(type, member, name, from)                                                                      \
    decltype(type::member) name;                                                                                              \
    ascendc_twin::read_tiling_member(&name, sizeof name, reinterpret_cast<const uint8_t *>(from) + offsetof(type, member), from, \
                                     sizeof(type), #type)
#define GET_TILING_DATA_PTR_WITH_STRUCT(type, name, from) __gm__ type *name = (__gm__ type *)(from)
#define COPY_TILING_WITH_STRUCT(type, from, to)                         \
    type to##_twin_copy = *reinterpret_cast<const __gm__ type *>(from); \
    const type *to = &to##_twin_copy
#define COPY_TILING_WITH_ARRAY(type, count, from, to)              \
    type to##_twin_copy[count];                                    \
    __builtin_memcpy(to##_twin_copy, from, sizeof to##_twin_copy); \
    const type *to = to##_twin_copy

#define KERNEL_TASK_TYPE_DEFAULT(type) ascendc_twin::task_type(type)
#define KERNEL_TASK_TYPE(key, type)                                                        \
    do {                                                                                   \
        if (ascendc_twin::core().tiling_key == (key)) ascendc_twin::task_type(type);       \
    } while (false)

namespace ascendc_twin {

struct NoTiling {};

inline bool tiling_key_in(std::initializer_list<uint64_t> keys) {
    bool found = false;
    for (uint64_t key : keys) found |= tiling_key_is(key);
    return found;
}

TWIN_API void read_tiling_member(void *out, uint64_t bytes, const uint8_t *from, const void *base, uint64_t whole, const char *type) {
    check_tiling(base, whole, type);
    __builtin_memcpy(out, from, bytes);
}

// The name of a type, cut out of this function's own signature.
template <typename T>
const char *type_name() {
    static const struct Name {
        char text[128];
        Name() : text{} {
            const char *p = __PRETTY_FUNCTION__;
            while (*p != '\0' && *p != '=') ++p;
            p += *p == '=' ? 2 : 0;
            for (size_t i = 0; i + 1 < sizeof text && *p != '\0' && *p != ';' && *p != ']'; ++i) text[i] = *p++;
        }
    } name;
    return name.text;
}

}  // namespace ascendc_twin
