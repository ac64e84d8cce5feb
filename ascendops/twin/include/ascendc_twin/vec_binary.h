// Two-source element-wise instructions: dst = src0 op src1.
#pragma once

#include "ascendc_twin/vec_common.h"

// The three call forms of an instruction with two sources of the type of dst.
#define TWIN_BINARY(API, OP, ...)                                                                                        \
    TWIN_BINARY_MASKED(API, OP, __VA_ARGS__)                                                                             \
    template <typename T>                                                                                                \
    TWIN_API void API(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,                 \
                      const int32_t &count) {                                                                            \
        TWIN_REQUIRE_TYPE(#API, T, __VA_ARGS__);                                                                         \
        ascendc_twin::Inst inst(#API, ascendc_twin::PipeId::V);                                                          \
        ascendc_twin::vec_binary(inst, ascendc_twin::VecOp::OP, dst.span(), src0.span(), src1.span(),                    \
                                 ascendc_twin::lanes_of_count(static_cast<uint32_t>(count), true));                      \
    }
#define TWIN_BINARY_MASKED(API, OP, ...)                                                                                 \
    template <typename T, bool isSetMask = true>                                                                         \
    TWIN_API void API(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, uint64_t mask[], \
                      const uint8_t repeatTime, const BinaryRepeatParams &repeatParams) {                                \
        TWIN_REQUIRE_TYPE(#API, T, __VA_ARGS__);                                                                         \
        ascendc_twin::Inst inst(#API, ascendc_twin::PipeId::V);                                                          \
        const auto lanes = ascendc_twin::lanes_of_bits(mask, ascendc_twin::per_repeat<T>, repeatTime, isSetMask);        \
        ascendc_twin::vec_binary(inst, ascendc_twin::VecOp::OP, dst.span(), src0.span(), src1.span(),                    \
                                 ascendc_twin::with(lanes, repeatParams));                                               \
    }                                                                                                                    \
    template <typename T, bool isSetMask = true>                                                                         \
    TWIN_API void API(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, uint64_t mask,  \
                      const uint8_t repeatTime, const BinaryRepeatParams &repeatParams) {                                \
        TWIN_REQUIRE_TYPE(#API, T, __VA_ARGS__);                                                                         \
        ascendc_twin::Inst inst(#API, ascendc_twin::PipeId::V);                                                          \
        const auto lanes = ascendc_twin::lanes_of_mask(mask, repeatTime, isSetMask);                                     \
        ascendc_twin::vec_binary(inst, ascendc_twin::VecOp::OP, dst.span(), src0.span(), src1.span(),                    \
                                 ascendc_twin::with(lanes, repeatParams));                                               \
    }
// With a count, the unit takes any element type as 16-bit elements: `count` of those.
#define TWIN_BITWISE(API, OP, ...)                                                                                       \
    TWIN_BINARY_MASKED(API, OP, __VA_ARGS__)                                                                             \
    template <typename T>                                                                                                \
    TWIN_API void API(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,                 \
                      const int32_t &count) {                                                                            \
        ascendc_twin::Inst inst(#API, ascendc_twin::PipeId::V);                                                          \
        ascendc_twin::Span d = dst.span(), a = src0.span(), b = src1.span();                                             \
        d.dt = a.dt = b.dt = ascendc_twin::Dt::I16;                                                                      \
        ascendc_twin::vec_binary(inst, ascendc_twin::VecOp::OP, d, a, b,                                                 \
                                 ascendc_twin::lanes_of_count(static_cast<uint32_t>(count), true));                      \
    }

namespace AscendC {

struct DivConfig {
    int8_t algo = 0;
};
constexpr DivConfig DEFAULT_DIV_CONFIG = {};

TWIN_BINARY(Add, ADD, half, float, int16_t, int32_t)
TWIN_BINARY(Sub, SUB, half, float, int16_t, int32_t)
TWIN_BINARY(Mul, MUL, half, float, int16_t, int32_t)
TWIN_BINARY(Div, DIV, half, float)
TWIN_BINARY(Max, MAX, half, float, int16_t, int32_t)
TWIN_BINARY(Min, MIN, half, float, int16_t, int32_t)
TWIN_BITWISE(And, AND, int16_t, uint16_t)
TWIN_BITWISE(Or, OR, int16_t, uint16_t)
TWIN_BINARY(AddRelu, ADD_RELU, half, float, int16_t)
TWIN_BINARY(SubRelu, SUB_RELU, half, float, int16_t)
TWIN_BINARY(FusedMulAdd, FUSED_MUL_ADD, half, float)
TWIN_BINARY(FusedMulAddRelu, FUSED_MUL_ADD_RELU, half, float)
TWIN_BINARY(MulAddRelu, FUSED_MUL_ADD_RELU, half, float)

}  // namespace AscendC
#undef TWIN_BITWISE
#undef TWIN_BINARY
#undef TWIN_BINARY_MASKED

namespace ascendc_twin {

template <typename T, typename U>
inline constexpr bool same_or_half_to_float = (one_of<T, half, float> && std::is_same_v<T, U>) ||
                                              (std::is_same_v<T, float> && std::is_same_v<U, half>);
template <typename T, typename U>
inline constexpr uint32_t per_repeat_of_wider = 256 / (sizeof(T) > sizeof(U) ? sizeof(T) : sizeof(U));

}  // namespace ascendc_twin

namespace AscendC {

// dst = src0 * src1 + dst
template <typename T, typename U, bool isSetMask = true>
TWIN_API void MulAddDst(const LocalTensor<T> &dst, const LocalTensor<U> &src0, const LocalTensor<U> &src1,
                        const uint64_t mask[], const uint8_t repeatTime, const BinaryRepeatParams &repeatParams) {
    static_assert(ascendc_twin::same_or_half_to_float<T, U>, "MulAddDst: half, float, or half sources and a float dst");
    ascendc_twin::Inst inst("MulAddDst", ascendc_twin::PipeId::V);
    const auto lanes = ascendc_twin::lanes_of_bits(mask, ascendc_twin::per_repeat_of_wider<T, U>, repeatTime, isSetMask);
    ascendc_twin::vec_binary(inst, ascendc_twin::VecOp::MUL_ADD_DST, dst.span(), src0.span(), src1.span(),
                             ascendc_twin::with(lanes, repeatParams));
}
template <typename T, typename U, bool isSetMask = true>
TWIN_API void MulAddDst(const LocalTensor<T> &dst, const LocalTensor<U> &src0, const LocalTensor<U> &src1, uint64_t mask,
                        const uint8_t repeatTime, const BinaryRepeatParams &repeatParams) {
    static_assert(ascendc_twin::same_or_half_to_float<T, U>, "MulAddDst: half, float, or half sources and a float dst");
    ascendc_twin::Inst inst("MulAddDst", ascendc_twin::PipeId::V);
    const auto lanes = ascendc_twin::lanes_of_mask(mask, repeatTime, isSetMask);
    ascendc_twin::vec_binary(inst, ascendc_twin::VecOp::MUL_ADD_DST, dst.span(), src0.span(), src1.span(),
                             ascendc_twin::with(lanes, repeatParams));
}
template <typename T, typename U>
TWIN_API void MulAddDst(const LocalTensor<T> &dst, const LocalTensor<U> &src0, const LocalTensor<U> &src1,
                        const int32_t &count) {
    static_assert(ascendc_twin::same_or_half_to_float<T, U>, "MulAddDst: half, float, or half sources and a float dst");
    ascendc_twin::Inst inst("MulAddDst", ascendc_twin::PipeId::V);
    ascendc_twin::vec_binary(inst, ascendc_twin::VecOp::MUL_ADD_DST, dst.span(), src0.span(), src1.span(),
                             ascendc_twin::lanes_of_count(static_cast<uint32_t>(count), true));
}

}  // namespace AscendC
