// printf, assertions and tensor dumps of kernels.
#pragma once

#include <cassert>
#include <cstdio>
#include <type_traits>

#include "ascendc_twin/tensor.h"
#include "ascendc_twin/rt_pipe.h"

namespace ascendc_twin {
template <typename A>
TWIN_API auto print_argument(const A &value) {
    if constexpr (std::is_same_v<A, half> || std::is_same_v<A, bfloat16_t> || std::is_same_v<A, float>) {
        return static_cast<double>(static_cast<float>(value));
    } else if constexpr (std::is_array_v<A>) {
        return static_cast<const std::remove_extent_t<A> *>(value);
    } else if constexpr (std::is_enum_v<A>) {
        return static_cast<std::underlying_type_t<A>>(value);
    } else {
        return value;
    }
}
template <typename... Args>
[[noreturn]] void fail_assertion(const char *condition, const char *file, unsigned line, const char *function, const Args &...message) {
    if constexpr (sizeof...(message) > 0) kernel_print(print_argument(message)...);
    __assert_fail(condition, file, line, function);
}
}  // namespace ascendc_twin

namespace AscendC {

template <class... Args>
void printf(const char *format, const Args &...args) {
    ascendc_twin::kernel_print(format, ascendc_twin::print_argument(args)...);
}
template <class... Args>
void PRINTF(const char *format, const Args &...args) {
    ascendc_twin::kernel_print(format, ascendc_twin::print_argument(args)...);
}

template <typename T>
void DumpTensor(const LocalTensor<T> &tensor, uint32_t desc, uint32_t dumpSize) {
    const ascendc_twin::Span span = tensor.span();
    ascendc_twin::dump_tensor(span, span.p, dumpSize, desc);
}
template <typename T>
void DumpTensor(const GlobalTensor<T> &tensor, uint32_t desc, uint32_t dumpSize) {
    const ascendc_twin::Span span = tensor.span();
    ascendc_twin::dump_tensor(span, span.p, dumpSize, desc);
}
template <typename T>
void DumpTensor(const LocalTensor<T> &tensor, uint32_t desc, uint32_t dumpSize, const ShapeInfo &) {
    DumpTensor(tensor, desc, dumpSize);
}
template <typename T>
void DumpTensor(const GlobalTensor<T> &tensor, uint32_t desc, uint32_t dumpSize, const ShapeInfo &) {
    DumpTensor(tensor, desc, dumpSize);
}
template <typename T>
void DumpAccChkPoint(const LocalTensor<T> &tensor, uint32_t index, uint32_t countOff, uint32_t dumpSize) {
    DumpTensor(tensor[countOff], index, dumpSize);
}
inline void PrintTimeStamp(uint32_t) {}

}  // namespace AscendC

// With or without a message and its arguments.
#define ascendc_assert(condition, ...) \
    (static_cast<bool>(condition) ? void(0) : ascendc_twin::fail_assertion(#condition, __FILE__, __LINE__, __PRETTY_FUNCTION__ __VA_OPT__(, ) __VA_ARGS__))
#undef assert
#define assert(condition, ...) ascendc_assert(condition __VA_OPT__(, ) __VA_ARGS__)
