// Reductions over everything, over repeats, over 32-byte blocks and over pairs.
#pragma once

#include "ascendc_twin/vec_common.h"

#define TWIN_REDUCE_TYPES(API, T) TWIN_REQUIRE_TYPE(API, T, half, float)

// One result per repeat. dstRepStride counts results.
#define TWIN_WHOLE_REDUCE(API, OP)                                                                                         \
    template <typename T, bool isSetMask = true>                                                                           \
    TWIN_API void API(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint64_t mask[], const int32_t repeatTime, \
                      const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,                  \
                      ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX) {                                                \
        TWIN_REDUCE_TYPES(#API, T);                                                                                        \
        ascendc_twin::Inst inst(#API, ascendc_twin::PipeId::V);                                                            \
        const auto lanes = ascendc_twin::lanes_of_bits(mask, ascendc_twin::per_repeat<T>, repeatTime, isSetMask);          \
        ascendc_twin::vec_reduce_repeat(inst, ascendc_twin::Reduce::OP, dst.span(), src.span(),                            \
                                        ascendc_twin::with_strides(lanes, 1, srcBlkStride, dstRepStride, srcRepStride),    \
                                        static_cast<int>(order));                                                          \
    }                                                                                                                      \
    template <typename T, bool isSetMask = true>                                                                           \
    TWIN_API void API(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t mask, const int32_t repeatTime,  \
                      const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,                  \
                      ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX) {                                                \
        TWIN_REDUCE_TYPES(#API, T);                                                                                        \
        ascendc_twin::Inst inst(#API, ascendc_twin::PipeId::V);                                                            \
        const auto lanes = ascendc_twin::lanes_of_mask(static_cast<uint32_t>(mask), repeatTime, isSetMask);                \
        ascendc_twin::vec_reduce_repeat(inst, ascendc_twin::Reduce::OP, dst.span(), src.span(),                            \
                                        ascendc_twin::with_strides(lanes, 1, srcBlkStride, dstRepStride, srcRepStride),    \
                                        static_cast<int>(order));                                                          \
    }

// 8 results per repeat (one per block), or one per pair of lanes.
#define TWIN_BLOCK_REDUCE(API, ...)                                                                                        \
    template <typename T, bool isSetMask = true>                                                                           \
    TWIN_API void API(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t repeatTime, const int32_t mask,  \
                      const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride) {                \
        TWIN_REDUCE_TYPES(#API, T);                                                                                        \
        ascendc_twin::Inst inst(#API, ascendc_twin::PipeId::V);                                                            \
        const auto lanes = ascendc_twin::lanes_of_mask(static_cast<uint32_t>(mask), repeatTime, isSetMask);                \
        __VA_ARGS__(inst, dst.span(), src.span(),                                                                          \
                    ascendc_twin::with_strides(lanes, 1, srcBlkStride, dstRepStride, srcRepStride));                       \
    }                                                                                                                      \
    template <typename T, bool isSetMask = true>                                                                           \
    TWIN_API void API(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t repeatTime, const uint64_t mask[], \
                      const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride) {                \
        TWIN_REDUCE_TYPES(#API, T);                                                                                        \
        ascendc_twin::Inst inst(#API, ascendc_twin::PipeId::V);                                                            \
        const auto lanes = ascendc_twin::lanes_of_bits(mask, ascendc_twin::per_repeat<T>, repeatTime, isSetMask);          \
        __VA_ARGS__(inst, dst.span(), src.span(),                                                                          \
                    ascendc_twin::with_strides(lanes, 1, srcBlkStride, dstRepStride, srcRepStride));                       \
    }

// A single result. MAX and MIN can store the index after the value.
#define TWIN_REDUCE_EXTREME(API, OP)                                                                                       \
    template <typename T>                                                                                                  \
    TWIN_API void API(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &sharedTmpBuffer,         \
                      const int32_t mask, const int32_t repeatTime, const int32_t srcRepStride, bool calIndex = 0) {       \
        TWIN_REDUCE_TYPES(#API, T);                                                                                        \
        ascendc_twin::Inst inst(#API, ascendc_twin::PipeId::V);                                                            \
        const auto lanes = ascendc_twin::lanes_of_mask(static_cast<uint32_t>(mask), repeatTime, true);                     \
        ascendc_twin::vec_reduce_all(inst, ascendc_twin::Reduce::OP, dst.span(), src.span(), sharedTmpBuffer.span(),       \
                                     ascendc_twin::with_strides(lanes, 1, 1, 1, srcRepStride), calIndex);                  \
    }                                                                                                                      \
    template <typename T>                                                                                                  \
    TWIN_API void API(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &sharedTmpBuffer,         \
                      const uint64_t mask[], const int32_t repeatTime, const int32_t srcRepStride, bool calIndex = 0) {    \
        TWIN_REDUCE_TYPES(#API, T);                                                                                        \
        ascendc_twin::Inst inst(#API, ascendc_twin::PipeId::V);                                                            \
        const auto lanes = ascendc_twin::lanes_of_bits(mask, ascendc_twin::per_repeat<T>, repeatTime, true);               \
        ascendc_twin::vec_reduce_all(inst, ascendc_twin::Reduce::OP, dst.span(), src.span(), sharedTmpBuffer.span(),       \
                                     ascendc_twin::with_strides(lanes, 1, 1, 1, srcRepStride), calIndex);                  \
    }                                                                                                                      \
    template <typename T>                                                                                                  \
    TWIN_API void API(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &sharedTmpBuffer,         \
                      const int32_t count, bool calIndex = 0) {                                                            \
        TWIN_REDUCE_TYPES(#API, T);                                                                                        \
        ascendc_twin::Inst inst(#API, ascendc_twin::PipeId::V);                                                            \
        ascendc_twin::vec_reduce_all(inst, ascendc_twin::Reduce::OP, dst.span(), src.span(), sharedTmpBuffer.span(),       \
                                     ascendc_twin::lanes_of_count(static_cast<uint32_t>(count), true), calIndex);          \
    }

namespace ascendc_twin {

TWIN_API void block_sum(Inst &i, const Span &d, const Span &s, const Lanes &l) { vec_reduce_block(i, Reduce::SUM, d, s, l); }
TWIN_API void block_max(Inst &i, const Span &d, const Span &s, const Lanes &l) { vec_reduce_block(i, Reduce::MAX, d, s, l); }
TWIN_API void block_min(Inst &i, const Span &d, const Span &s, const Lanes &l) { vec_reduce_block(i, Reduce::MIN, d, s, l); }

}  // namespace ascendc_twin

namespace AscendC {

TWIN_WHOLE_REDUCE(WholeReduceSum, SUM)
TWIN_WHOLE_REDUCE(WholeReduceMax, MAX)
TWIN_WHOLE_REDUCE(WholeReduceMin, MIN)
TWIN_BLOCK_REDUCE(BlockReduceSum, ascendc_twin::block_sum)
TWIN_BLOCK_REDUCE(BlockReduceMax, ascendc_twin::block_max)
TWIN_BLOCK_REDUCE(BlockReduceMin, ascendc_twin::block_min)
TWIN_BLOCK_REDUCE(PairReduceSum, ascendc_twin::vec_reduce_pair)
TWIN_REDUCE_EXTREME(ReduceMax, MAX)
TWIN_REDUCE_EXTREME(ReduceMin, MIN)

template <typename T>
TWIN_API void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &sharedTmpBuffer,
                        const int32_t mask, const int32_t repeatTime, const int32_t srcRepStride) {
    TWIN_REDUCE_TYPES("ReduceSum", T);
    ascendc_twin::Inst inst("ReduceSum", ascendc_twin::PipeId::V);
    const auto lanes = ascendc_twin::lanes_of_mask(static_cast<uint32_t>(mask), repeatTime, true);
    ascendc_twin::vec_reduce_all(inst, ascendc_twin::Reduce::SUM, dst.span(), src.span(), sharedTmpBuffer.span(),
                                 ascendc_twin::with_strides(lanes, 1, 1, 1, srcRepStride), false);
}
template <typename T>
TWIN_API void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &sharedTmpBuffer,
                        const uint64_t mask[], const int32_t repeatTime, const int32_t srcRepStride) {
    TWIN_REDUCE_TYPES("ReduceSum", T);
    ascendc_twin::Inst inst("ReduceSum", ascendc_twin::PipeId::V);
    const auto lanes = ascendc_twin::lanes_of_bits(mask, ascendc_twin::per_repeat<T>, repeatTime, true);
    ascendc_twin::vec_reduce_all(inst, ascendc_twin::Reduce::SUM, dst.span(), src.span(), sharedTmpBuffer.span(),
                                 ascendc_twin::with_strides(lanes, 1, 1, 1, srcRepStride), false);
}
template <typename T, bool isSetMask = true>
TWIN_API void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &sharedTmpBuffer,
                        const int32_t count) {
    TWIN_REDUCE_TYPES("ReduceSum", T);
    ascendc_twin::Inst inst("ReduceSum", ascendc_twin::PipeId::V);
    ascendc_twin::Lanes lanes = ascendc_twin::lanes_of_count(static_cast<uint32_t>(count), isSetMask);
    if (lanes.kind == ascendc_twin::Lanes::COUNTER) {
        lanes.kind = ascendc_twin::Lanes::COUNT;
    }
    ascendc_twin::vec_reduce_all(inst, ascendc_twin::Reduce::SUM, dst.span(), src.span(), sharedTmpBuffer.span(), lanes, false);
}

// An older name of WholeReduceSum; dstBlkStride has no effect.
template <typename T, bool isSetMask = true>
TWIN_API void RepeatReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t repeatTime,
                              const int32_t mask, const int32_t dstBlkStride, const int32_t srcBlkStride,
                              const int32_t dstRepStride, const int32_t srcRepStride) {
    static_cast<void>(dstBlkStride);
    TWIN_REDUCE_TYPES("RepeatReduceSum", T);
    ascendc_twin::Inst inst("RepeatReduceSum", ascendc_twin::PipeId::V);
    const auto lanes = ascendc_twin::lanes_of_mask(static_cast<uint32_t>(mask), repeatTime, isSetMask);
    ascendc_twin::vec_reduce_repeat(inst, ascendc_twin::Reduce::SUM, dst.span(), src.span(),
                                    ascendc_twin::with_strides(lanes, 1, srcBlkStride, dstRepStride, srcRepStride), 0);
}

// Results of the last count form of ReduceSum, and of the last WholeReduceMax/Min or ReduceMax/Min.
template <typename T>
TWIN_API T GetAccVal() {
    return static_cast<T>(ascendc_twin::core().acc_val);
}
// The register itself: the bits of a float in the low word.
TWIN_API int64_t GetAccVal() {
    return static_cast<int64_t>(__builtin_bit_cast(uint32_t, ascendc_twin::core().acc_val));
}
template <typename T>
TWIN_API void GetReduceMaxMinCount(T &maxMinValue, T &maxMinIndex) {
    maxMinValue = static_cast<T>(ascendc_twin::core().peak_val);
    maxMinIndex = ascendc_twin::low_bits_as<T>(ascendc_twin::core().peak_idx);
}
template <typename T>
TWIN_API void GetReduceMaxMinCount(T &maxMinValue) {
    maxMinValue = static_cast<T>(ascendc_twin::core().peak_val);
}

}  // namespace AscendC
#undef TWIN_WHOLE_REDUCE
#undef TWIN_BLOCK_REDUCE
#undef TWIN_REDUCE_EXTREME
