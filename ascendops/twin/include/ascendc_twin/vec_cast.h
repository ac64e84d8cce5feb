// Type conversion.
#pragma once

#include "ascendc_twin/vec_common.h"

namespace ascendc_twin {

template <typename D, typename S>
constexpr bool castable() {
    constexpr Dt d = dt_of<AscendC::PrimT<D>>, s = dt_of<AscendC::PrimT<S>>;
    if (__NPU_ARCH__ == 2002 && (d == Dt::BF16 || s == Dt::BF16)) return false;
    switch (s) {
        case Dt::I4: case Dt::I8: case Dt::U8: return d == Dt::F16;
        case Dt::I16: return d == Dt::F16 || d == Dt::F32;
        case Dt::F16:
            return d == Dt::I4 || d == Dt::I8 || d == Dt::U8 || d == Dt::I16 || d == Dt::I32 || d == Dt::F32;
        case Dt::BF16: return d == Dt::I32 || d == Dt::F32;
        case Dt::I32: return d == Dt::I16 || d == Dt::F16 || d == Dt::F32 || d == Dt::I64;
        case Dt::F32:
            return d == Dt::I16 || d == Dt::F16 || d == Dt::BF16 || d == Dt::I32 || d == Dt::F32 || d == Dt::I64;
        case Dt::I64: return d == Dt::I32 || d == Dt::F32;
        default: return false;
    }
}

template <typename D, typename S>
constexpr uint32_t per_repeat_cast() {
    return 256 / (sizeof(AscendC::PrimT<D>) > sizeof(AscendC::PrimT<S>) ? sizeof(AscendC::PrimT<D>) : sizeof(AscendC::PrimT<S>));
}

}  // namespace ascendc_twin

#define TWIN_REQUIRE_CAST(API, T, U)                                                                             \
    static_assert(::ascendc_twin::castable<T, U>(),                                                              \
                  API ": this pair of element types cannot be converted in one step on " TWIN_SOC "; "               \
                      "int8, uint8 and int4 go through half, bfloat16 goes through float")

namespace AscendC {

template <typename T, typename U>
TWIN_API void Cast(const LocalTensor<T> &dst, const LocalTensor<U> &src, const RoundMode &roundMode, const uint32_t count) {
    TWIN_REQUIRE_CAST("Cast", T, U);
    ascendc_twin::Inst inst("Cast", ascendc_twin::PipeId::V);
    ascendc_twin::vec_cast(inst, dst.span(), src.span(), static_cast<int>(roundMode), ascendc_twin::lanes_of_count(count, true));
}
template <typename T, typename U, bool isSetMask = true>
TWIN_API void Cast(const LocalTensor<T> &dst, const LocalTensor<U> &src, const RoundMode &roundMode, const uint64_t mask[],
                   const uint8_t repeatTime, const UnaryRepeatParams &repeatParams) {
    TWIN_REQUIRE_CAST("Cast", T, U);
    ascendc_twin::Inst inst("Cast", ascendc_twin::PipeId::V);
    const auto lanes = ascendc_twin::lanes_of_bits(mask, ascendc_twin::per_repeat_cast<T, U>(), repeatTime, isSetMask);
    ascendc_twin::vec_cast(inst, dst.span(), src.span(), static_cast<int>(roundMode), ascendc_twin::with(lanes, repeatParams));
}
template <typename T, typename U, bool isSetMask = true>
TWIN_API void Cast(const LocalTensor<T> &dst, const LocalTensor<U> &src, const RoundMode &roundMode, const uint64_t mask,
                   const uint8_t repeatTime, const UnaryRepeatParams &repeatParams) {
    TWIN_REQUIRE_CAST("Cast", T, U);
    ascendc_twin::Inst inst("Cast", ascendc_twin::PipeId::V);
    const auto lanes = ascendc_twin::lanes_of_mask(mask, repeatTime, isSetMask);
    ascendc_twin::vec_cast(inst, dst.span(), src.span(), static_cast<int>(roundMode), ascendc_twin::with(lanes, repeatParams));
}

}  // namespace AscendC

// dst = convert(src0 op src1), rounded once.
#define TWIN_BINARY_CAST(API, OP)                                                                                          \
    template <typename T, typename U, bool isSetMask = true>                                                               \
    TWIN_API void API(const LocalTensor<T> &dst, const LocalTensor<U> &src0, const LocalTensor<U> &src1, uint64_t mask,    \
                      const uint8_t repeatTime, const BinaryRepeatParams &repeatParams) {                                  \
        ascendc_twin::Inst inst(#API, ascendc_twin::PipeId::V);                                                            \
        const auto lanes = ascendc_twin::lanes_of_mask(mask, repeatTime, isSetMask);                                       \
        ascendc_twin::vec_binary_cast(inst, ascendc_twin::VecOp::OP, dst.span(), src0.span(), src1.span(),                 \
                                      ascendc_twin::with(lanes, repeatParams));                                            \
    }                                                                                                                      \
    template <typename T, typename U, bool isSetMask = true>                                                               \
    TWIN_API void API(const LocalTensor<T> &dst, const LocalTensor<U> &src0, const LocalTensor<U> &src1, uint64_t mask[],  \
                      const uint8_t repeatTime, const BinaryRepeatParams &repeatParams) {                                  \
        ascendc_twin::Inst inst(#API, ascendc_twin::PipeId::V);                                                            \
        const auto lanes = ascendc_twin::lanes_of_bits(mask, ascendc_twin::per_repeat_cast<T, U>(), repeatTime, isSetMask); \
        ascendc_twin::vec_binary_cast(inst, ascendc_twin::VecOp::OP, dst.span(), src0.span(), src1.span(),                 \
                                      ascendc_twin::with(lanes, repeatParams));                                            \
    }                                                                                                                      \
    template <typename T, typename U>                                                                                      \
    TWIN_API void API(const LocalTensor<T> &dst, const LocalTensor<U> &src0, const LocalTensor<U> &src1,                   \
                      const uint32_t count) {                                                                              \
        ascendc_twin::Inst inst(#API, ascendc_twin::PipeId::V);                                                            \
        ascendc_twin::vec_binary_cast(inst, ascendc_twin::VecOp::OP, dst.span(), src0.span(), src1.span(),                 \
                                      ascendc_twin::lanes_of_count(count, true));                                          \
    }

namespace AscendC {

TWIN_BINARY_CAST(AddReluCast, ADD_RELU)
TWIN_BINARY_CAST(SubReluCast, SUB_RELU)
TWIN_BINARY_CAST(MulCast, MUL)
TWIN_BINARY_CAST(AddDeqRelu, ADD_RELU)

// A scalar to an integer with a rounding mode.
template <typename T, typename U, RoundMode roundMode>
TWIN_API U ScalarCast(T value) {
    if constexpr (ascendc_twin::is_floating_element<T> && !ascendc_twin::is_floating_element<U>) {
        return static_cast<U>(ascendc_twin::round_scalar(static_cast<float>(value), static_cast<int>(roundMode)));
    } else {
        return static_cast<U>(value);
    }
}

}  // namespace AscendC
#undef TWIN_BINARY_CAST
