// Communication tasks with one rank.
#include "kernel_operator.h"
#include "lib/hccl/hccl.h"

using namespace AscendC;

constexpr uint32_t N = 64;  // elements of a block

enum Fault { NONE, NO_BARRIER, NO_COMMIT, COMMIT_AGAIN, NO_INIT };

// Each block writes its part, and after the barrier the parts go round in two repeats; every block adds 1 to its part of what came back.
template <Fault FAULT>
__aicore__ inline void Round(GM_ADDR x, GM_ADDR sent, GM_ADDR received, GM_ADDR y, GM_ADDR counts) {
    Hccl hccl;
    if (FAULT != NO_INIT) hccl.InitV2(GetHcclContext<HCCL_GROUP_ID_0>(), nullptr);
    const uint32_t blocks = GetBlockNum(), half = blocks / 2 * N;
    HcclHandle task = hccl.AllReduce(sent, received, half, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, 2);
    TPipe pipe;
    TBuf<TPosition::VECCALC> buf;
    pipe.InitBuffer(buf, N * sizeof(float));
    LocalTensor<float> local = buf.Get<float>();
    GlobalTensor<float> gmX, gmSent, gmReceived, gmY;
    gmX.SetGlobalBuffer((__gm__ float *)x + GetBlockIdx() * N, N);
    gmSent.SetGlobalBuffer((__gm__ float *)sent + GetBlockIdx() * N, N);
    gmReceived.SetGlobalBuffer((__gm__ float *)received + GetBlockIdx() * N, N);
    gmY.SetGlobalBuffer((__gm__ float *)y + GetBlockIdx() * N, N);
    DataCopy(local, gmX, N);
    PipeBarrier<PIPE_ALL>();
    DataCopy(gmSent, local, N);
    PipeBarrier<PIPE_ALL>();
    if (FAULT != NO_BARRIER) SyncAll();
    for (uint32_t i = 0; i < (FAULT == NO_COMMIT ? 1u : FAULT == COMMIT_AGAIN ? 3u : 2u); ++i) hccl.Commit(task);
    hccl.Wait(task);
    hccl.Wait(task);
    if (GetBlockIdx() == 0) {
        GlobalTensor<int32_t> gmCounts;
        gmCounts.SetGlobalBuffer((__gm__ int32_t *)counts, 3);
        gmCounts.SetValue(0, hccl.Query(task));
        gmCounts.SetValue(1, hccl.GetRankDim());
        gmCounts.SetValue(2, hccl.GetRankId());
    }
    DataCopy(local, gmReceived, N);
    PipeBarrier<PIPE_ALL>();
    Adds(local, local, 1.0f, N);
    PipeBarrier<PIPE_ALL>();
    DataCopy(gmY, local, N);
    hccl.Finalize();
}
extern "C" __global__ __aicore__ void good(GM_ADDR x, GM_ADDR sent, GM_ADDR received, GM_ADDR y, GM_ADDR counts) { Round<NONE>(x, sent, received, y, counts); }
extern "C" __global__ __aicore__ void no_barrier(GM_ADDR x, GM_ADDR sent, GM_ADDR received, GM_ADDR y, GM_ADDR counts) {
    Round<NO_BARRIER>(x, sent, received, y, counts);
}
extern "C" __global__ __aicore__ void no_commit(GM_ADDR x, GM_ADDR sent, GM_ADDR received, GM_ADDR y, GM_ADDR counts) {
    Round<NO_COMMIT>(x, sent, received, y, counts);
}
extern "C" __global__ __aicore__ void commit_again(GM_ADDR x, GM_ADDR sent, GM_ADDR received, GM_ADDR y, GM_ADDR counts) {
    Round<COMMIT_AGAIN>(x, sent, received, y, counts);
}
extern "C" __global__ __aicore__ void no_init(GM_ADDR x, GM_ADDR sent, GM_ADDR received, GM_ADDR y, GM_ADDR counts) {
    Round<NO_INIT>(x, sent, received, y, counts);
}

// The other collectives, each committed at once.
extern "C" __global__ __aicore__ void collectives(GM_ADDR x, GM_ADDR y) {
    if (GetBlockIdx() != 0) return;
    Hccl<HCCL_SERVER_TYPE_AICPU> hccl;
    hccl.Init(GetHcclContext<HCCL_GROUP_ID_0>());
    const uint64_t step = N * sizeof(half);
    uint64_t counts[1] = {N}, from[1] = {3 * N}, to[1] = {3 * N};
    hccl.Wait(hccl.AllGather<true>(x, y, N, HCCL_DATA_TYPE_FP16, 0));
    hccl.Wait(hccl.ReduceScatter<true>(x + step, y + step, N, HCCL_DATA_TYPE_FP16, HCCL_REDUCE_MAX, 0));
    hccl.Wait(hccl.AlltoAll<true>(x + 2 * step, y + 2 * step, N, HCCL_DATA_TYPE_FP16));
    hccl.Wait(hccl.AlltoAllV<true>(x, counts, from, HCCL_DATA_TYPE_FP16, y, counts, to, HCCL_DATA_TYPE_FP16));
    hccl.Finalize();
}
