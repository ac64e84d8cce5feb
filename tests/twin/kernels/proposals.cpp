// Sorting of region proposals, on Ascend 310P.
#include "kernel_operator.h"

using namespace AscendC;

namespace {

constexpr uint32_t N = 64, FIELDS = 8;

template <typename T>
struct Local {
    LocalTensor<T> in, proposals, sorted, out;
    LocalTensor<uint32_t> index;
    GlobalTensor<T> x, y;
    GlobalTensor<uint32_t> order;
    TPipe pipe;
    TBuf<TPosition::VECCALC> a, b, c, d, e;

    __aicore__ inline Local(GM_ADDR xAddr, GM_ADDR indexAddr, GM_ADDR yAddr) {
        x.SetGlobalBuffer((__gm__ T *)xAddr, N);
        order.SetGlobalBuffer((__gm__ uint32_t *)indexAddr, N);
        y.SetGlobalBuffer((__gm__ T *)yAddr, N * FIELDS);
        pipe.InitBuffer(a, N * sizeof(T));
        pipe.InitBuffer(b, N * FIELDS * sizeof(T));
        pipe.InitBuffer(c, N * FIELDS * sizeof(T));
        pipe.InitBuffer(d, N * FIELDS * sizeof(T));
        pipe.InitBuffer(e, N * sizeof(uint32_t));
        in = a.Get<T>();
        proposals = b.Get<T>();
        sorted = c.Get<T>();
        out = d.Get<T>();
        index = e.Get<uint32_t>();
        DataCopy(in, x, N);
        DataCopy(index, order, N);
        PipeBarrier<PIPE_ALL>();
        Duplicate(proposals, T(0), N * FIELDS);
        Duplicate(sorted, T(0), N * FIELDS);
        PipeBarrier<PIPE_V>();
    }
    __aicore__ inline void Queues(const LocalTensor<T> &from, MrgSortSrcList<T> &list) {
        list = MrgSortSrcList<T>(from[0], from[16 * FIELDS], from[32 * FIELDS], from[48 * FIELDS]);
    }
};

}  // namespace

// Puts x into a field, sorts groups of 16 and merges them; with suspension, the counts of merged proposals go to index.
template <typename T>
__aicore__ inline void Merge(GM_ADDR x, GM_ADDR index, GM_ADDR y, int32_t field, int32_t suspend) {
    Local<T> t(x, index, y);
    ProposalConcat(t.proposals, t.in, N / 16, field);
    PipeBarrier<PIPE_V>();
    RpSort16(t.sorted, t.proposals, N / 16);
    PipeBarrier<PIPE_V>();
    Duplicate(t.out, T(0), N * FIELDS);
    PipeBarrier<PIPE_V>();
    MrgSortSrcList<T> list;
    t.Queues(t.sorted, list);
    const uint16_t lengths[4] = {16, 16, 16, 16};
    MrgSort4Info info(lengths, suspend != 0, 15, 1);
    MrgSort4(t.out, list, info);
    uint16_t n[4];
    GetMrgSortResult(n[0], n[1], n[2], n[3]);
    PipeBarrier<PIPE_ALL>();
    DataCopy(t.y, t.out, N * FIELDS);
    for (uint32_t q = 0; q < 4; ++q) t.order.SetValue(q, n[q]);
}

// Concat, Sort of groups, MrgSort, Extract: y starts with the scores, index takes the indices.
template <typename T>
__aicore__ inline void Sorted(GM_ADDR x, GM_ADDR index, GM_ADDR y, bool full) {
    Local<T> t(x, index, y);
    LocalTensor<T> concat;
    Concat(concat, t.in, t.proposals, N / 16);
    PipeBarrier<PIPE_V>();
    if (full) {
        Sort<T, true>(t.out, concat, t.index, t.sorted, N / 16);
    } else {
        Sort<T, false>(t.sorted, concat, t.index, t.out, N / 16);
        PipeBarrier<PIPE_V>();
        MrgSortSrcList<T> list(t.sorted[0], t.sorted[GetSortOffset<T>(16)], t.sorted[GetSortLen<T>(32)], t.sorted[GetSortOffset<T>(48)]);
        const uint16_t lengths[4] = {16, 16, 16, 16};
        uint32_t merged[4];
        MrgSort<T>(t.out, list, lengths, merged, 15, 1);
    }
    PipeBarrier<PIPE_V>();
    Extract(t.in, t.index, t.out, N / 16);
    PipeBarrier<PIPE_V>();
    ProposalExtract(t.sorted, t.out, N / 16, 4);
    PipeBarrier<PIPE_ALL>();
    DataCopy(t.y, t.in, N);
    DataCopy(t.y[N], t.sorted, N);
    DataCopy(t.order, t.index, N);
}

extern "C" __global__ __aicore__ void merge_half(GM_ADDR x, GM_ADDR index, GM_ADDR y, int32_t field, int32_t suspend) {
    Merge<half>(x, index, y, field, suspend);
}
extern "C" __global__ __aicore__ void merge_float(GM_ADDR x, GM_ADDR index, GM_ADDR y, int32_t field, int32_t suspend) {
    Merge<float>(x, index, y, field, suspend);
}
extern "C" __global__ __aicore__ void sort_half(GM_ADDR x, GM_ADDR index, GM_ADDR y, int32_t full) { Sorted<half>(x, index, y, full != 0); }
extern "C" __global__ __aicore__ void sort_float(GM_ADDR x, GM_ADDR index, GM_ADDR y, int32_t full) { Sorted<float>(x, index, y, full != 0); }
