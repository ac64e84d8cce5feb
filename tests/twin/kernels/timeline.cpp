// Loops with one or two buffers, and a barrier, for the timeline.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t TILE = 4096;

template <int BUFFERS>
__aicore__ inline void Loop(GM_ADDR x, GM_ADDR y, uint32_t tiles) {
    GlobalTensor<float> in, out;
    in.SetGlobalBuffer((__gm__ float *)x);
    out.SetGlobalBuffer((__gm__ float *)y);
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> inQueue;
    TQue<QuePosition::VECOUT, 1> outQueue;
    pipe.InitBuffer(inQueue, BUFFERS, TILE * sizeof(float));
    pipe.InitBuffer(outQueue, BUFFERS, TILE * sizeof(float));
    for (uint32_t i = 0; i < tiles; i++) {
        LocalTensor<float> a = inQueue.AllocTensor<float>();
        DataCopy(a, in[i * TILE], TILE);  // line: copy in
        inQueue.EnQue(a);
        a = inQueue.DeQue<float>();
        LocalTensor<float> b = outQueue.AllocTensor<float>();
        Adds(b, a, 1.0f, TILE);  // line: add
        inQueue.FreeTensor(a);
        outQueue.EnQue(b);
        b = outQueue.DeQue<float>();
        DataCopy(out[i * TILE], b, TILE);  // line: copy out
        outQueue.FreeTensor(b);
    }
}

extern "C" __global__ __aicore__ void one_buffer(GM_ADDR x, GM_ADDR y, uint32_t tiles) {
    Loop<1>(x, y, tiles);
}

extern "C" __global__ __aicore__ void two_buffers(GM_ADDR x, GM_ADDR y, uint32_t tiles) {
    Loop<2>(x, y, tiles);
}

extern "C" __global__ __aicore__ void uneven_blocks(GM_ADDR x, GM_ADDR y, uint32_t tiles) {
    if (GetBlockIdx() == 0) Loop<2>(x, y, tiles);
    SyncAll();
    if (GetBlockIdx() == 1) Loop<2>(x, y, 1);
}

extern "C" __global__ __aicore__ void scalar_loop(GM_ADDR x, GM_ADDR y, uint32_t n) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buf;
    pipe.InitBuffer(buf, 1024);
    LocalTensor<float> a = buf.Get<float>();
    for (uint32_t i = 0; i < n; i++) a.SetValue(i, 1.0f);
}
