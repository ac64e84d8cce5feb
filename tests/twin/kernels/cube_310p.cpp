// The cube unit of Ascend 310P: windows of an image by LoadData3DParamsV1, and L0C to the unified buffer.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t H = 6, W = 5, C0 = 16, FRACTAL = 256, ROWS = 32, KERNEL = 3, POINTS = KERNEL * KERNEL;

// y[32, 16] = windows of x (6 x 5 x 16, padding 1, filter 3 x 3) times w[144, 16]; rows behind the 30th are padding.
template <typename Out>
__aicore__ inline void Convolve(GM_ADDR x, GM_ADDR w, GM_ADDR y, bool byColumns, bool relu) {
    GlobalTensor<half> gmX, gmW;
    GlobalTensor<Out> gmY;
    gmX.SetGlobalBuffer((__gm__ half *)x, H * W * C0);
    gmW.SetGlobalBuffer((__gm__ half *)w, POINTS * FRACTAL);
    gmY.SetGlobalBuffer((__gm__ Out *)y, ROWS * C0);
    TPipe pipe;
    TBuf<TPosition::A1> bufA1;
    TBuf<TPosition::B1> bufB1;
    TBuf<TPosition::A2> bufA2;
    TBuf<TPosition::B2> bufB2;
    TBuf<TPosition::CO1> bufC1;
    TBuf<TPosition::CO2> bufC2;
    pipe.InitBuffer(bufA1, H * W * C0 * 2);
    pipe.InitBuffer(bufB1, POINTS * FRACTAL * 2);
    pipe.InitBuffer(bufA2, ROWS * POINTS * C0 * 2);
    pipe.InitBuffer(bufB2, POINTS * FRACTAL * 2);
    pipe.InitBuffer(bufC1, ROWS * C0 * 4);
    pipe.InitBuffer(bufC2, ROWS * C0 * sizeof(Out));
    LocalTensor<half> a1 = bufA1.Get<half>(), b1 = bufB1.Get<half>(), a2 = bufA2.Get<half>(), b2 = bufB2.Get<half>();
    LocalTensor<float> c1 = bufC1.Get<float>();
    LocalTensor<Out> c2 = bufC2.Get<Out>();
    DataCopy(a1, gmX, H * W * C0);
    DataCopy(b1, gmW, POINTS * FRACTAL);
    PipeBarrier<PIPE_ALL>();
    const uint8_t pads[PAD_SIZE] = {1, 1, 1, 1};
    for (uint32_t i = 0; i < (byColumns ? ROWS / C0 : POINTS); ++i) {
        // a row of fractals: the points of the filter; or a column of them: further output points (16 are row 3, point 1 of 5)
        const int16_t left = byColumns && i == 1 ? 0 : -1, top = byColumns && i == 1 ? 2 : -1;
        const uint8_t fetchW = byColumns ? 0 : i % KERNEL, fetchH = byColumns ? 0 : i / KERNEL;
        LoadData3DParamsV1<half> params(pads, H, W, 0, fetchW, fetchH, left, top, 1, 1, KERNEL, KERNEL, 1, 1, byColumns ? 1 : POINTS, byColumns ? 0 : 1,
                                        byColumns ? POINTS : ROWS / C0, 0, 0);
        LoadData(a2[i * (byColumns ? POINTS : 1) * FRACTAL], a1, params);
    }
    LoadData(b2, b1, LoadData2DParams(0, POINTS, 1, 0, 0, false, 0));
    PipeBarrier<PIPE_ALL>();
    Mmad(c1, a2, b2, MmadParams(ROWS, C0, POINTS * C0, false, 0, false, false, false));
    PipeBarrier<PIPE_ALL>();
    DataCopyEnhancedParams out;
    out.blockMode = BlockMode::BLOCK_MODE_MATRIX;
    out.isRelu = relu;
    DataCopy(c2, c1, DataCopyParams(1, ROWS / C0, 0, 0), out);
    PipeBarrier<PIPE_ALL>();
    DataCopy(gmY, c2, ROWS * C0);
}
extern "C" __global__ __aicore__ void convolve_float(GM_ADDR x, GM_ADDR w, GM_ADDR y, bool byColumns) { Convolve<float>(x, w, y, byColumns, false); }
extern "C" __global__ __aicore__ void convolve_half(GM_ADDR x, GM_ADDR w, GM_ADDR y, bool byColumns) { Convolve<half>(x, w, y, byColumns, true); }
