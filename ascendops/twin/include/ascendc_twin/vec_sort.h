// Sort32, MrgSort and what is built from them.
#pragma once

#include "ascendc_twin/vec_common.h"

namespace AscendC {

// A sorted queue is a sequence of 8-byte (score, index) records; lengths count records.
struct MrgSort4Info {
    MrgSort4Info() = default;
    MrgSort4Info(const uint16_t lengths[MRG_SORT_ELEMENT_LEN], const bool suspend, const uint16_t valid, const uint16_t repeats)
        : ifExhaustedSuspension(suspend), validBit(valid), repeatTimes(static_cast<uint8_t>(repeats)) {
        for (int i = 0; i < MRG_SORT_ELEMENT_LEN; ++i) elementLengths[i] = lengths[i];
    }

    uint16_t elementLengths[MRG_SORT_ELEMENT_LEN] = {0};
    bool ifExhaustedSuspension = false;
    uint16_t validBit = 0;
    uint8_t repeatTimes = 1;
};

template <typename T>
struct MrgSortSrcList {
    MrgSortSrcList() = default;
    MrgSortSrcList(const LocalTensor<T> &src1In, const LocalTensor<T> &src2In, const LocalTensor<T> &src3In,
                   const LocalTensor<T> &src4In)
        : src1(src1In), src2(src2In), src3(src3In), src4(src4In) {}

    LocalTensor<T> src1;
    LocalTensor<T> src2;
    LocalTensor<T> src3;
    LocalTensor<T> src4;
};

template <typename T>
TWIN_API void Sort32(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<uint32_t> &src1,
                     const int32_t repeatTime) {
    TWIN_NOT_ON_310P("Sort32", T);
    TWIN_REQUIRE_TYPE("Sort32", T, half, float);
    ascendc_twin::Inst inst("Sort32", ascendc_twin::PipeId::V);
    ascendc_twin::vec_sort32(inst, dst.span(), src0.span(), src1.span(), static_cast<uint32_t>(repeatTime));
}

template <typename T>
TWIN_API void MrgSort(const LocalTensor<T> &dst, const MrgSortSrcList<T> &src, const MrgSort4Info &params) {
    TWIN_NOT_ON_310P("MrgSort", T);
    TWIN_REQUIRE_TYPE("MrgSort", T, half, float);
    ascendc_twin::Inst inst("MrgSort", ascendc_twin::PipeId::V);
    const uint16_t *n = params.elementLengths;
    uint32_t taken[4];
    ascendc_twin::vec_merge(inst, dst.span(),
                            {{src.src1.span(), src.src2.span(), src.src3.span(), src.src4.span()}, {n[0], n[1], n[2], n[3]},
                             params.validBit, params.repeatTimes, params.ifExhaustedSuspension}, taken);
}
template <typename T, bool isExhaustedSuspension = false>
TWIN_API void MrgSort(const LocalTensor<T> &dst, const MrgSortSrcList<T> &sortList, const uint16_t elementCountList[4],
                      uint32_t sortedNum[4], uint16_t validBit, const int32_t repeatTime) {
    TWIN_NOT_ON_310P("MrgSort", T);
    TWIN_REQUIRE_TYPE("MrgSort", T, half, float);
    ascendc_twin::Inst inst("MrgSort", ascendc_twin::PipeId::V);
    const uint16_t *n = elementCountList;
    uint32_t taken[4];
    ascendc_twin::vec_merge(inst, dst.span(),
                            {{sortList.src1.span(), sortList.src2.span(), sortList.src3.span(), sortList.src4.span()},
                             {n[0], n[1], n[2], n[3]}, validBit, static_cast<uint32_t>(repeatTime), isExhaustedSuspension}, taken);
    if (isExhaustedSuspension) {
        for (int q = 0; q < 4; ++q) sortedNum[q] = taken[q];
    }
}
TWIN_API void GetMrgSortResult(uint16_t &mrgSortList1, uint16_t &mrgSortList2, uint16_t &mrgSortList3, uint16_t &mrgSortList4) {
    const uint16_t *merged = ascendc_twin::core().merged;
    mrgSortList1 = merged[0];
    mrgSortList2 = merged[1];
    mrgSortList3 = merged[2];
    mrgSortList4 = merged[3];
}

// On this architecture the scores are sorted where they are.
template <typename T>
TWIN_API void Concat(LocalTensor<T> &concat, const LocalTensor<T> &src, const LocalTensor<T> &tmp, const int32_t repeatTime) {
    static_cast<void>(tmp);
    static_cast<void>(repeatTime);
    concat = src;
}
template <typename T, bool isFullSort>
TWIN_API void Sort(const LocalTensor<T> &dst, const LocalTensor<T> &concat, const LocalTensor<uint32_t> &index,
                   LocalTensor<T> &tmp, const int32_t repeatTime) {
    TWIN_REQUIRE_TYPE("Sort", T, half, float);
    static_cast<void>(tmp);
    ascendc_twin::Inst inst("Sort", ascendc_twin::PipeId::V);
    ascendc_twin::vec_sort32(inst, dst.span(), concat.span(), index.span(), static_cast<uint32_t>(repeatTime));
    if constexpr (isFullSort) {
        ascendc_twin::vec_full_sort(inst, dst.span(), static_cast<uint32_t>(repeatTime) * 32);
    }
}
template <typename T>
TWIN_API void Extract(const LocalTensor<T> &dstValue, const LocalTensor<uint32_t> &dstIndex, const LocalTensor<T> &sorted,
                      const int32_t repeatTime) {
    TWIN_REQUIRE_TYPE("Extract", T, half, float);
    ascendc_twin::Inst inst("Extract", ascendc_twin::PipeId::V);
    ascendc_twin::vec_extract(inst, dstValue.span(), dstIndex.span(), sorted.span(), static_cast<uint32_t>(repeatTime));
}

// Positions and lengths in elements of T for a number of 8-byte records.
template <typename T>
TWIN_API uint32_t GetSortOffset(const uint32_t elemOffset) {
    return elemOffset * 8 / sizeof(T);
}
template <typename T>
TWIN_API uint32_t GetSortLen(const uint32_t elemCount) {
    return elemCount * 8 / sizeof(T);
}

}  // namespace AscendC
