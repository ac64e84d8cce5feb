// High-level functions whose destination overlaps a source by parts.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void overlap(GM_ADDR x, GM_ADDR y, uint32_t n, uint32_t from, uint32_t to)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buf;
    pipe.InitBuffer(buf, 4 * 1024);
    GlobalTensor<float> xGm, yGm;
    xGm.SetGlobalBuffer((__gm__ float *)x, n);
    yGm.SetGlobalBuffer((__gm__ float *)y, 3 * n);
    LocalTensor<float> local = buf.Get<float>();
    LocalTensor<float> src = local[from], dst = local[to];
    DataCopy(src, xGm, n);
    PipeBarrier<PIPE_ALL>();
    Sigmoid(dst, src, n);
    PipeBarrier<PIPE_ALL>();
    DataCopy(yGm, dst, n);
    PipeBarrier<PIPE_ALL>();
    DataCopy(src, xGm, n);
    PipeBarrier<PIPE_ALL>();
    Power(dst, src, 2.0f, n);
    PipeBarrier<PIPE_ALL>();
    DataCopy(yGm[n], dst, n);
    PipeBarrier<PIPE_ALL>();
    DataCopy(src, xGm, n);
    LocalTensor<float> other = local[768];
    Duplicate(other, 3.0f, n);
    PipeBarrier<PIPE_ALL>();
    Fmod(dst, src, other, n);
    PipeBarrier<PIPE_ALL>();
    DataCopy(yGm[2 * n], dst, n);
}
