// Sort32, MrgSort, the sorting of region proposals on Ascend 310P, and what is built from them.
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

namespace twin_detail {
// On Ascend 310P what is sorted are region proposals; elsewhere records of 8 bytes.
inline constexpr bool kProposals = __NPU_ARCH__ == 2002;
constexpr uint32_t kProposalFields = 8, kScoreField = 4;

template <typename T>
TWIN_API void merge_queues(ascendc_twin::Inst &inst, const LocalTensor<T> &dst, const MrgSortSrcList<T> &src, const uint16_t n[4], uint32_t valid,
                           uint32_t repeat, bool suspend, uint32_t taken[4]) {
    ascendc_twin::vec_merge(inst, dst.span(),
                            {{src.src1.span(), src.src2.span(), src.src3.span(), src.src4.span()}, {n[0], n[1], n[2], n[3]}, valid, repeat, suspend,
                             kProposals}, taken);
}
}  // namespace twin_detail

template <typename T>
TWIN_API void MrgSort(const LocalTensor<T> &dst, const MrgSortSrcList<T> &src, const MrgSort4Info &params) {
    TWIN_NOT_ON_310P("MrgSort with MrgSort4Info", T);
    TWIN_REQUIRE_TYPE("MrgSort", T, half, float);
    ascendc_twin::Inst inst("MrgSort", ascendc_twin::PipeId::V);
    uint32_t taken[4];
    twin_detail::merge_queues(inst, dst, src, params.elementLengths, params.validBit, params.repeatTimes, params.ifExhaustedSuspension, taken);
}
template <typename T, bool isExhaustedSuspension = false>
TWIN_API void MrgSort(const LocalTensor<T> &dst, const MrgSortSrcList<T> &sortList, const uint16_t elementCountList[4],
                      uint32_t sortedNum[4], uint16_t validBit, const int32_t repeatTime) {
    TWIN_REQUIRE_TYPE("MrgSort", T, half, float);
    ascendc_twin::Inst inst("MrgSort", ascendc_twin::PipeId::V);
    uint32_t taken[4];
    twin_detail::merge_queues(inst, dst, sortList, elementCountList, validBit, static_cast<uint32_t>(repeatTime), isExhaustedSuspension, taken);
    if (isExhaustedSuspension) {
        for (int q = 0; q < 4; ++q) sortedNum[q] = taken[q];
    }
}

// Region proposals: 8 elements (x1, y1, x2, y2, score, label, two unused), 16 in a repeat.
template <typename T>
TWIN_API void MrgSort4(const LocalTensor<T> &dst, const MrgSortSrcList<T> &src, const MrgSort4Info &params) {
    TWIN_ONLY_ON_310P("MrgSort4", T);
    TWIN_REQUIRE_TYPE("MrgSort4", T, half, float);
    ascendc_twin::Inst inst("MrgSort4", ascendc_twin::PipeId::V);
    uint32_t taken[4];
    twin_detail::merge_queues(inst, dst, src, params.elementLengths, params.validBit, params.repeatTimes, params.ifExhaustedSuspension, taken);
}
template <typename T>
TWIN_API void RpSort16(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t repeatTime) {
    TWIN_ONLY_ON_310P("RpSort16", T);
    TWIN_REQUIRE_TYPE("RpSort16", T, half, float);
    ascendc_twin::Inst inst("RpSort16", ascendc_twin::PipeId::V);
    ascendc_twin::vec_sort16(inst, dst.span(), src.span(), static_cast<uint32_t>(repeatTime));
}
template <typename T>
TWIN_API void ProposalConcat(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t repeatTime, const int32_t modeNumber) {
    TWIN_ONLY_ON_310P("ProposalConcat", T);
    TWIN_REQUIRE_TYPE("ProposalConcat", T, half, float);
    ascendc_twin::Inst inst("ProposalConcat", ascendc_twin::PipeId::V);
    ascendc_twin::vec_put_field(inst, dst.span(), src.span(), static_cast<uint32_t>(repeatTime), static_cast<uint32_t>(modeNumber));
}
template <typename T>
TWIN_API void ProposalExtract(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t repeatTime, const int32_t modeNumber) {
    TWIN_ONLY_ON_310P("ProposalExtract", T);
    TWIN_REQUIRE_TYPE("ProposalExtract", T, half, float);
    ascendc_twin::Inst inst("ProposalExtract", ascendc_twin::PipeId::V);
    ascendc_twin::vec_take_field(inst, dst.span(), src.span(), static_cast<uint32_t>(repeatTime), static_cast<uint32_t>(modeNumber));
}
TWIN_API void GetMrgSortResult(uint16_t &mrgSortList1, uint16_t &mrgSortList2, uint16_t &mrgSortList3, uint16_t &mrgSortList4) {
    const uint16_t *merged = ascendc_twin::core().merged;
    mrgSortList1 = merged[0];
    mrgSortList2 = merged[1];
    mrgSortList3 = merged[2];
    mrgSortList4 = merged[3];
}

// Makes what Sort takes: on Ascend 310P proposals with these scores, in tmp; elsewhere the scores are sorted where they are.
template <typename T>
TWIN_API void Concat(LocalTensor<T> &concat, const LocalTensor<T> &src, const LocalTensor<T> &tmp, const int32_t repeatTime) {
    TWIN_REQUIRE_TYPE("Concat", T, half, float);
    if constexpr (twin_detail::kProposals) {
        ascendc_twin::Inst inst("Concat", ascendc_twin::PipeId::V);
        ascendc_twin::vec_put_field(inst, tmp.span(), src.span(), static_cast<uint32_t>(repeatTime), twin_detail::kScoreField);
        concat = tmp;
    } else {
        static_cast<void>(tmp);
        static_cast<void>(repeatTime);
        concat = src;
    }
}
// An index without elements: the proposals keep what their index fields hold.
template <typename T, bool isFullSort>
TWIN_API void Sort(const LocalTensor<T> &dst, const LocalTensor<T> &concat, const LocalTensor<uint32_t> &index,
                   LocalTensor<T> &tmp, const int32_t repeatTime) {
    TWIN_REQUIRE_TYPE("Sort", T, half, float);
    static_cast<void>(tmp);
    ascendc_twin::Inst inst("Sort", ascendc_twin::PipeId::V);
    const auto repeat = static_cast<uint32_t>(repeatTime);
    if constexpr (twin_detail::kProposals) {
        if (index.GetSize() != 0) ascendc_twin::vec_proposal_index(inst, concat.span(), index.span(), repeat, true);
        ascendc_twin::vec_sort16(inst, dst.span(), concat.span(), repeat);
    } else {
        ascendc_twin::vec_sort32(inst, dst.span(), concat.span(), index.span(), repeat);
    }
    if constexpr (isFullSort) {
        ascendc_twin::vec_full_sort(inst, dst.span(), repeat * (twin_detail::kProposals ? 16 : 32), twin_detail::kProposals);
    }
}
template <typename T>
TWIN_API void Extract(const LocalTensor<T> &dstValue, const LocalTensor<uint32_t> &dstIndex, const LocalTensor<T> &sorted,
                      const int32_t repeatTime) {
    TWIN_REQUIRE_TYPE("Extract", T, half, float);
    ascendc_twin::Inst inst("Extract", ascendc_twin::PipeId::V);
    const auto repeat = static_cast<uint32_t>(repeatTime);
    if constexpr (twin_detail::kProposals) {
        ascendc_twin::vec_take_field(inst, dstValue.span(), sorted.span(), repeat, twin_detail::kScoreField);
        if (dstIndex.GetSize() != 0) ascendc_twin::vec_proposal_index(inst, sorted.span(), dstIndex.span(), repeat, false);
    } else {
        ascendc_twin::vec_extract(inst, dstValue.span(), dstIndex.span(), sorted.span(), repeat);
    }
}

// Positions and lengths in elements of T for a number of records or proposals.
template <typename T>
TWIN_API uint32_t GetSortOffset(const uint32_t elemOffset) {
    return elemOffset * (twin_detail::kProposals ? twin_detail::kProposalFields : 8 / static_cast<uint32_t>(sizeof(T)));
}
template <typename T>
TWIN_API uint32_t GetSortLen(const uint32_t elemCount) {
    return GetSortOffset<T>(elemCount);
}

}  // namespace AscendC
