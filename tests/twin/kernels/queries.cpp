#include "kernel_operator.h"

using namespace AscendC;

__aicore__ inline void Store(__gm__ int32_t *out, int32_t value)
{
    GlobalTensor<int32_t> gm;
    gm.SetGlobalBuffer(out, 1);
    gm.SetValue(0, value);
}

extern "C" __global__ __aicore__ void queries(GM_ADDR seen, GM_ADDR sum)
{
    GlobalTensor<int32_t> out;
    out.SetGlobalBuffer((__gm__ int32_t *)seen, 8);
    uint32_t version = 0;
    GetArchVersion(version);
    out.SetValue(0, version);
    out.SetValue(1, GetICachePreloadStatus());
    Async<EngineType::AIV, Store>((__gm__ int32_t *)seen + 2, 5);
    Async<EngineType::AIC, Store>((__gm__ int32_t *)seen + 2, 6);
    TPipe pipe;
    TBuf<TPosition::VECCALC> buf;
    pipe.InitBuffer(buf, 32);
    LocalTensor<half> ones = buf.Get<half>();
    Duplicate(ones, half(1.0f), 16);
    PipeBarrier<PIPE_ALL>();
    GlobalTensor<half> total;
    total.SetGlobalBuffer((__gm__ half *)sum, 16);
    SetStoreAtomicConfig<AtomicDtype::ATOMIC_F16, AtomicOp::ATOMIC_SUM>();
    uint16_t type, op;
    GetStoreAtomicConfig(type, op);
    out.SetValue(3, type);
    DataCopy(total, ones, 16);
    SetStoreAtomicConfig<AtomicDtype::ATOMIC_NONE, AtomicOp::ATOMIC_SUM>();
    GetStoreAtomicConfig(type, op);
    out.SetValue(4, type);
}
