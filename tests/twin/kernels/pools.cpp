// Two pools over the same bytes, used one after the other.
#include "kernel_operator.h"

using namespace AscendC;

class EvenPool {
public:
    template <class T>
    __aicore__ inline bool InitBuffer(T &que, uint8_t num, uint32_t len)
    {
        que.InitStartBufHandle(GetBufHandle(GetCurBufSize()), num, len);
        for (uint32_t i = 0; i < num; ++i) que.InitBufHandle(this, i, GetBufHandle(GetCurBufSize()), GetCurAddr() + 2 * i * len, len);
        SetCurAddr(GetCurAddr() + 2 * num * len);
        SetCurBufSize(GetCurBufSize() + num);
        return true;
    }
    EXTERN_IMPL_BUFPOOL(EvenPool, TPosition::VECCALC, 16);
};

template <typename Pool>
__aicore__ inline void Twice(Pool &pool, TQue<TPosition::VECIN, 1> &in, TQue<TPosition::VECOUT, 1> &out, GlobalTensor<float> &gm)
{
    pool.InitBuffer(in, 2, 256);
    pool.InitBuffer(out, 2, 256);
    LocalTensor<float> x = in.AllocTensor<float>();
    DataCopy(x, gm, 64);
    in.EnQue(x);
    x = in.DeQue<float>();
    LocalTensor<float> y = out.AllocTensor<float>();
    Adds(y, x, 1.0f, 64);
    in.FreeTensor(x);
    out.EnQue(y);
    y = out.DeQue<float>();
    DataCopy(gm, y, 64);
    out.FreeTensor(y);
    PipeBarrier<PIPE_ALL>();  // the next round reads what was just written to GM
    pool.Reset();
}

extern "C" __global__ __aicore__ void pools(GM_ADDR gm, uint32_t size)
{
    TPipe pipe;
    GlobalTensor<float> x;
    x.SetGlobalBuffer((__gm__ float *)gm, 64);
    TBufPool<TPosition::VECCALC> whole, first, second;
    EvenPool third;
    TQue<TPosition::VECIN, 1> in[3];
    TQue<TPosition::VECOUT, 1> out[3];
    pipe.InitBufPool(whole, size);
    whole.InitBufPool(first, size);
    whole.InitBufPool(second, size, first);
    pipe.InitBufPool(third, 8 * 256);
    Twice(first, in[0], out[0], x);
    Twice(second, in[1], out[1], x);
    Twice(third, in[2], out[2], x);
}

// Three blocks wait for two, which add to a sum in global memory.
extern "C" __global__ __aicore__ void groups(GM_ADDR words, GM_ADDR sums, GM_ADDR seen)
{
    GroupBarrier<PipeMode::MTE3_MODE> barrier(words, 2, 3);
    TPipe pipe;
    TBuf<TPosition::VECCALC> buf;
    pipe.InitBuffer(buf, 32);
    GlobalTensor<int32_t> sum, out;
    sum.SetGlobalBuffer((__gm__ int32_t *)sums, 8);
    out.SetGlobalBuffer((__gm__ int32_t *)seen, 3 * 8);
    const int32_t id = GetBlockIdx();
    LocalTensor<int32_t> one = buf.Get<int32_t>();
    if (id < 2) {
        Duplicate(one, id + 1, 8);
        PipeBarrier<PIPE_ALL>();
        SetAtomicAdd<int32_t>();
        DataCopy(sum, one, 8);
        SetAtomicNone();
        barrier.Arrive(id);
    } else {
        barrier.Wait(id - 2);
        DataCopy(one, sum, 8);
        PipeBarrier<PIPE_ALL>();
        DataCopy(out[(id - 2) * 8], one, 8);
    }
}
