// Copies, fences and control registers as the compiler's own functions: raw pointers, lengths and gaps in 32-byte blocks; the
// _align_ forms have lengths in bytes, and gaps in bytes on the side of global memory.
#pragma once

#include "ascendc_twin/api_raw.h"
#include "ascendc_twin/sys_access.h"

enum mem_dsb_t { DSB_ALL, DSB_DDR, DSB_UB, DSB_SEQ };
enum cache_line_t { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
enum dcci_dst_t { CACHELINE_ALL, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };

namespace ascendc_twin {

TWIN_API const uint8_t *as_bytes(const void *p) { return static_cast<const uint8_t *>(p); }

TWIN_API void raw_pad_in(const void *dst, const void *src, uint32_t bursts, uint32_t bytes, uint32_t left, uint32_t right,
                         uint32_t src_gap, uint32_t dst_gap, uint32_t element) {
    Inst inst("copy_gm_to_ubuf_align", PipeId::MTE2);
    copy_pad_in(inst, raw_local(as_bytes(dst)), raw_global(as_bytes(src)), {bursts, bytes, src_gap, uint64_t{dst_gap} * 32},
                {left != 0 || right != 0, left, right, pad_value(), element});
}
TWIN_API void raw_pad_out(const void *dst, const void *src, uint32_t bursts, uint32_t bytes, uint32_t src_gap, uint32_t dst_gap,
                          uint32_t element) {
    Inst inst("copy_ubuf_to_gm_align", PipeId::MTE3);
    copy_pad_out(inst, raw_global(as_bytes(dst)), raw_local(as_bytes(src)), {bursts, bytes, uint64_t{src_gap} * 32, dst_gap}, element);
}

}  // namespace ascendc_twin

#define TWIN_CCE_ALIGN(BITS)                                                                                                  \
    TWIN_API void copy_gm_to_ubuf_align_b##BITS(__ubuf__ void *dst, __gm__ void *src, uint8_t, uint16_t nBurst, uint32_t lenBurst, \
                                                uint8_t leftPadding, uint8_t rightPadding, uint32_t srcGap, uint32_t dstGap) { \
        ascendc_twin::raw_pad_in(dst, src, nBurst, lenBurst, leftPadding, rightPadding, srcGap, dstGap, BITS / 8);            \
    }                                                                                                                         \
    TWIN_API void copy_ubuf_to_gm_align_b##BITS(__gm__ void *dst, __ubuf__ void *src, uint8_t, uint16_t nBurst, uint32_t lenBurst, \
                                                uint8_t, uint8_t, uint32_t srcGap, uint32_t dstGap) {                         \
        ascendc_twin::raw_pad_out(dst, src, nBurst, lenBurst, srcGap, dstGap, BITS / 8);                                      \
    }
TWIN_CCE_ALIGN(8)
TWIN_CCE_ALIGN(16)
TWIN_CCE_ALIGN(32)
#undef TWIN_CCE_ALIGN

TWIN_API void copy_gm_to_ubuf(__ubuf__ void *dst, __gm__ void *src, uint8_t, uint16_t nBurst, uint16_t lenBurst, uint16_t srcGap,
                              uint16_t dstGap) {
    ascendc_twin::Inst inst("copy_gm_to_ubuf", ascendc_twin::PipeId::MTE2);
    ascendc_twin::copy_blocks(inst, ascendc_twin::raw_local(ascendc_twin::as_bytes(dst)), ascendc_twin::raw_global(ascendc_twin::as_bytes(src)),
                              nBurst, lenBurst, srcGap, dstGap);
}
TWIN_API void copy_ubuf_to_gm(__gm__ void *dst, __ubuf__ void *src, uint8_t, uint16_t nBurst, uint16_t lenBurst, uint16_t srcGap,
                              uint16_t dstGap) {
    ascendc_twin::Inst inst("copy_ubuf_to_gm", ascendc_twin::PipeId::MTE3);
    ascendc_twin::copy_blocks(inst, ascendc_twin::raw_global(ascendc_twin::as_bytes(dst)), ascendc_twin::raw_local(ascendc_twin::as_bytes(src)),
                              nBurst, lenBurst, srcGap, dstGap);
}
TWIN_API void copy_ubuf_to_ubuf(__ubuf__ void *dst, __ubuf__ void *src, uint8_t, uint16_t nBurst, uint16_t lenBurst, uint16_t srcGap,
                                uint16_t dstGap) {
    ascendc_twin::Inst inst("copy_ubuf_to_ubuf", ascendc_twin::PipeId::V);
    ascendc_twin::copy_blocks(inst, ascendc_twin::raw_local(ascendc_twin::as_bytes(dst)), ascendc_twin::raw_local(ascendc_twin::as_bytes(src)),
                              nBurst, lenBurst, srcGap, dstGap);
}

// Memory is coherent here, and the control register has no bit that the twin knows.
TWIN_API void dsb(mem_dsb_t) {}
template <typename T>
TWIN_API void dcci(T *, cache_line_t) {}
template <typename T>
TWIN_API void dcci(T *, cache_line_t, dcci_dst_t) {}
TWIN_API int64_t sbitset0(int64_t value, int64_t bit) { return value & ~(int64_t{1} << bit); }
TWIN_API int64_t sbitset1(int64_t value, int64_t bit) { return value | int64_t{1} << bit; }
// A constant in a register.
TWIN_API int64_t get_imm(int64_t value) { return value; }
TWIN_API int64_t get_subblockid() { return ascendc_twin::core().sub_block_idx; }
TWIN_API int64_t get_subblockdim() { return ascendc_twin::core().sub_block_num; }
// The type turns atomics on; the operation is adding unless another was chosen.
namespace ascendc_twin {
template <typename T>
TWIN_API void set_atomic_type() {
    ascendc_twin::set_atomic(ascendc_twin::core().atomic == 0 ? 1 : ascendc_twin::core().atomic, ascendc_twin::dt_of<T>);
}
}  // namespace ascendc_twin
TWIN_API void set_atomic_f32() { ascendc_twin::set_atomic_type<float>(); }
TWIN_API void set_atomic_f16() { ascendc_twin::set_atomic_type<half>(); }
TWIN_API void set_atomic_bf16() { ascendc_twin::set_atomic_type<bfloat16_t>(); }
TWIN_API void set_atomic_s32() { ascendc_twin::set_atomic_type<int32_t>(); }
TWIN_API void set_atomic_s16() { ascendc_twin::set_atomic_type<int16_t>(); }
TWIN_API void set_atomic_s8() { ascendc_twin::set_atomic_type<int8_t>(); }
TWIN_API void set_atomic_add() { ascendc_twin::set_atomic(1, ascendc_twin::core().atomic_dt); }
TWIN_API void set_atomic_max() { ascendc_twin::set_atomic(2, ascendc_twin::core().atomic_dt); }
TWIN_API void set_atomic_min() { ascendc_twin::set_atomic(3, ascendc_twin::core().atomic_dt); }
TWIN_API void set_atomic_none() { ascendc_twin::set_atomic(0, ascendc_twin::Dt::F32); }

// Extremes of two numbers; those of one type are functions and no templates, so that templates of a kernel do not compete with them.
#define TWIN_EXTREMES(T) \
    constexpr T min(T a, T b) { return b < a ? b : a; } \
    constexpr T max(T a, T b) { return a < b ? b : a; }
TWIN_EXTREMES(int32_t)
TWIN_EXTREMES(uint32_t)
TWIN_EXTREMES(int64_t)
TWIN_EXTREMES(uint64_t)
TWIN_EXTREMES(float)
#undef TWIN_EXTREMES
// Of two types. A pack, so that a kernel's own template of two types wins.
template <typename A, typename... B>
constexpr auto min(A a, B... b) -> std::enable_if_t<sizeof...(B) == 1 && (std::is_arithmetic_v<A> && ... && std::is_arithmetic_v<B>), std::common_type_t<A, B...>> {
    using T = std::common_type_t<A, B...>;
    const T x = a, y = T(b...);
    return y < x ? y : x;
}
template <typename A, typename... B>
constexpr auto max(A a, B... b) -> std::enable_if_t<sizeof...(B) == 1 && (std::is_arithmetic_v<A> && ... && std::is_arithmetic_v<B>), std::common_type_t<A, B...>> {
    using T = std::common_type_t<A, B...>;
    const T x = a, y = T(b...);
    return x < y ? y : x;
}
