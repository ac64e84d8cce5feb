// Habits of public kernels that must work: each kernel shows one.
#include "kernel_operator.h"

constexpr uint32_t TILE = 64;

// Rounds the last tile up to whole blocks and relies on the padding that device memory has.
extern "C" __global__ __aicore__ void round_up_tail(GM_ADDR xAddr, GM_ADDR yAddr, GM_ADDR tiling) {
    const uint32_t length = *(__gm__ uint32_t *)tiling, whole = (length + 7) / 8 * 8;
    AscendC::GlobalTensor<float> x, y;
    x.SetGlobalBuffer((__gm__ float *)xAddr);
    y.SetGlobalBuffer((__gm__ float *)yAddr);
    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> in;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 1, TILE * sizeof(float));
    pipe.InitBuffer(out, 1, TILE * sizeof(float));
    AscendC::LocalTensor<float> a = in.AllocTensor<float>();
    AscendC::DataCopy(a, x, TILE);  // finds: GM-PADDING
    in.EnQue(a);
    a = in.DeQue<float>();
    AscendC::LocalTensor<float> b = out.AllocTensor<float>();
    AscendC::Adds(b, a, 1.0f, static_cast<int32_t>(whole));
    out.EnQue(b);
    b = out.DeQue<float>();
    AscendC::DataCopy(y, b, whole);  // finds: GM-PADDING
    out.FreeTensor(b);
    in.FreeTensor(a);
}

// Gets a buffer in every case, but gives it memory and uses it only where the tiling says so.
extern "C" __global__ __aicore__ void optional_buffer(GM_ADDR yAddr, GM_ADDR tiling) {
    const bool use = *(__gm__ uint32_t *)tiling == 1;
    AscendC::GlobalTensor<float> y;
    y.SetGlobalBuffer((__gm__ float *)yAddr);
    AscendC::TPipe pipe;
    AscendC::TBuf<AscendC::TPosition::VECCALC> scratch;
    AscendC::LocalTensor<float> a = scratch.Get<float>();
    if (use) AscendC::Duplicate(a, 3.0f, 8);  // finds: UB-TENSOR
    y.SetValue(0, 7.0f);
}
