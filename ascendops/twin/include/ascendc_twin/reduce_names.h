// Newer names of the reductions over repeats, 32-byte blocks and pairs.
#pragma once

#include "ascendc_twin/vec_reduce.h"

namespace AscendC {

enum class ReduceType { NONE = -1, SUM = 0, MAX, MIN };

#define TWIN_REDUCE_NAMES(MASK)                                                                                                   \
    template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>                                               \
    TWIN_API void ReduceRepeat(const LocalTensor<T> &dst, const LocalTensor<U> &src, MASK, const int32_t repeatTime,              \
                               const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,                \
                               ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX) {                                              \
        static_assert(std::is_same_v<T, U>, "ReduceRepeat: dst and src have one type");                                           \
        if constexpr (reduceType == ReduceType::SUM) {                                                                            \
            WholeReduceSum<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride);                   \
        } else if constexpr (reduceType == ReduceType::MAX) {                                                                     \
            WholeReduceMax<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, order);            \
        } else {                                                                                                                  \
            static_assert(reduceType == ReduceType::MIN, "ReduceRepeat: SUM, MAX or MIN");                                        \
            WholeReduceMin<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, order);            \
        }                                                                                                                         \
    }                                                                                                                             \
    template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>                                               \
    TWIN_API void ReduceDataBlock(const LocalTensor<T> &dst, const LocalTensor<U> &src, MASK, const int32_t repeatTime,           \
                                  const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride) {           \
        static_assert(std::is_same_v<T, U>, "ReduceDataBlock: dst and src have one type");                                        \
        if constexpr (reduceType == ReduceType::SUM) {                                                                            \
            BlockReduceSum<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride);                   \
        } else if constexpr (reduceType == ReduceType::MAX) {                                                                     \
            BlockReduceMax<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride);                   \
        } else {                                                                                                                  \
            static_assert(reduceType == ReduceType::MIN, "ReduceDataBlock: SUM, MAX or MIN");                                     \
            BlockReduceMin<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride);                   \
        }                                                                                                                         \
    }                                                                                                                             \
    template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>                                               \
    TWIN_API void ReducePairElem(const LocalTensor<T> &dst, const LocalTensor<U> &src, MASK, const int32_t repeatTime,            \
                                 const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride) {            \
        static_assert(std::is_same_v<T, U>, "ReducePairElem: dst and src have one type");                                         \
        static_assert(reduceType == ReduceType::SUM, "ReducePairElem: SUM only");                                                 \
        PairReduceSum<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride);                        \
    }
TWIN_REDUCE_NAMES(const int32_t mask)
TWIN_REDUCE_NAMES(const uint64_t mask[])
#undef TWIN_REDUCE_NAMES

template <typename T>
TWIN_API T GetReduceRepeatSumSpr() {
    TWIN_NOT_ON_310P("GetReduceRepeatSumSpr", T);
    return GetAccVal<T>();
}
template <typename T>
TWIN_API void GetReduceRepeatMaxMinSpr(T &maxMinValue, T &maxMinIndex) {
    GetReduceMaxMinCount<T>(maxMinValue, maxMinIndex);
}
template <typename T>
TWIN_API void GetReduceRepeatMaxMinSpr(T &maxMinValue) {
    GetReduceMaxMinCount<T>(maxMinValue);
}

}  // namespace AscendC
