// The compiler-level names that kernels mix with the API: mask registers, the sum of repeats, and AscendCUtils.
#pragma once

#include "ascendc_twin/vec_mask.h"
#include "ascendc_twin/vec_reduce.h"

TWIN_API void set_mask_norm() { AscendC::SetMaskNorm(); }
TWIN_API void set_mask_count() { AscendC::SetMaskCount(); }
TWIN_API void set_vector_mask(uint64_t high, uint64_t low) { AscendC::SetVectorMask<half>(high, low); }

namespace ascendc_twin {

// mode true: the sum of all repeats goes to the accumulator (get_acc_val) instead of dst.
template <typename T>
TWIN_API void sum_repeats(T *dst, T *src, uint32_t repeat, uint32_t dst_rep, uint32_t src_blk, uint32_t src_rep, bool mode) {
    Inst inst("vcadd", PipeId::V);
    const Span from = span_at(reinterpret_cast<uint64_t>(src), dt_of<T>);
    const Lanes lanes = with_strides(lanes_of_register(repeat), 1, src_blk, dst_rep, src_rep);
    if (mode) {
        vec_accumulate(inst, from, lanes);
    } else {
        vec_reduce_repeat(inst, Reduce::SUM, span_at(reinterpret_cast<uint64_t>(dst), dt_of<T>), from, lanes, 0);
    }
}

}  // namespace ascendc_twin

TWIN_API void vcadd(__ubuf__ float *dst, __ubuf__ float *src, uint8_t repeat, uint16_t dstRepStride, uint16_t srcBlkStride,
                    uint16_t srcRepStride, bool mode) {
    ascendc_twin::sum_repeats(dst, src, repeat, dstRepStride, srcBlkStride, srcRepStride, mode);
}
TWIN_API void vcadd(__ubuf__ half *dst, __ubuf__ half *src, uint8_t repeat, uint16_t dstRepStride, uint16_t srcBlkStride,
                    uint16_t srcRepStride, bool mode) {
    ascendc_twin::sum_repeats(dst, src, repeat, dstRepStride, srcBlkStride, srcRepStride, mode);
}
// The accumulator as raw bits of the element type that was summed.
TWIN_API int64_t get_acc_val() { return static_cast<int64_t>(__builtin_bit_cast(uint32_t, ascendc_twin::core().acc_val)); }

namespace AscendC {

// Templates, so that a kernel's own functions of the same names win.
template <typename A, typename B>
constexpr std::common_type_t<A, B> DivCeil(A a, B b) {
    return b == 0 ? 0 : (a + b - 1) / b;
}
template <typename A, typename B>
constexpr std::common_type_t<A, B> AlignUp(A a, B b) {
    return AscendC::DivCeil(a, b) * b;
}
// Of two integers. A pack, so that a kernel's own template of two types wins as well.
template <typename A, typename... B>
constexpr auto Ceil(A a, B... b) -> std::enable_if_t<sizeof...(B) == 1 && (std::is_integral_v<A> && ... && std::is_integral_v<B>), std::common_type_t<A, B...>> {
    return AscendC::DivCeil(a, b...);
}
constexpr uint32_t ConstCeil(uint32_t a, uint32_t b) { return (a + b - 1) / b; }
inline int32_t CeilDivision(int32_t num1, int32_t num2) { return num2 == 0 ? 0 : (num1 + num2 - 1) / num2; }

template <bool condition, typename T1, typename T2>
struct Conditional {
    using type = std::conditional_t<condition, T1, T2>;
};
using TrueType = std::true_type;
using FalseType = std::false_type;

// The bits of a scalar as another type, or in a register.
template <typename T, typename U>
TWIN_API U GetScalarBitcodeValue(T scalarValue) {
    static_assert(sizeof(T) >= sizeof(U), "GetScalarBitcodeValue: the result is not wider");
    U result;
    __builtin_memcpy(&result, &scalarValue, sizeof result);
    return result;
}
template <typename T>
TWIN_API uint64_t GetScalarBitcodeValue(T scalarValue) {
    uint64_t result = 0;
    __builtin_memcpy(&result, &scalarValue, sizeof scalarValue);
    return result;
}

class AscendCUtils {
public:
    template <typename T>
    static void SetMask(const uint64_t &maskHigh, const uint64_t &maskLow) {
        SetVectorMask<T>(maskHigh, maskLow);
    }
    template <typename T>
    static void SetMask(int32_t len) {
        if (ascendc_twin::core().counter_mode) {
            SetVectorMask<T>(0, static_cast<uint64_t>(len));
        } else {
            SetVectorMask<T>(len);
        }
    }
    template <typename T>
    static void SetMaskCount() {
        AscendC::SetMaskCount();
    }
    template <typename T>
    static void SetMaskNorm() {
        AscendC::SetMaskNorm();
    }
    template <bool isSetMask = true>
    static void ResetMask() {
        AscendC::ResetMask();
    }
    // The overflow mode of floating types: the twin has infinities always.
    static void SetOverflow(uint64_t) {}
    static int64_t GetRsvdCnt() { return ascendc_twin::core().rsvd_cnt; }
    static int32_t GetBitSize(int32_t byteSize) { return byteSize * ONE_BYTE_BIT_SIZE; }
    static int32_t GetC0Size() { return DEFAULT_C0_SIZE; }
    static int32_t GetC0Count(const int32_t dtypeSize) { return DEFAULT_C0_SIZE / dtypeSize; }
};

}  // namespace AscendC
