// Forms of the cube instructions beyond a plain product.
#include "kernel_operator.h"
#define ASCENDC_CUBE_ONLY
#include "lib/matmul_intf.h"

using namespace AscendC;

__aicore__ inline void Then() { PipeBarrier<PIPE_ALL>(); }

// c = a b with two of four elements of b along k, int8: b is dense (n x k / 2), the index 2 bits an element.
extern "C" __global__ __cube__ void sparse_product(GM_ADDR a, GM_ADDR b, GM_ADDR index, GM_ADDR c, uint32_t m, uint32_t n, uint32_t k) {
    constexpr uint32_t C0 = 32, FRACTAL = 512;
    GlobalTensor<int8_t> gmA, gmB;
    GlobalTensor<uint8_t> gmIndex;
    GlobalTensor<int32_t> gmC;
    gmA.SetGlobalBuffer((__gm__ int8_t *)a, m * k);
    gmB.SetGlobalBuffer((__gm__ int8_t *)b, n * k / 2);
    gmIndex.SetGlobalBuffer((__gm__ uint8_t *)index, n * k / 8);
    gmC.SetGlobalBuffer((__gm__ int32_t *)c, m * n);
    LocalTensor<int8_t> a1(TPosition::A1, 0, m * k), b1(TPosition::B1, 65536, n * k / 2), a2(TPosition::A2, 0, m * k);
    LocalTensor<int8_t> b2(TPosition::B2, 1024, n * k / 2);
    LocalTensor<uint8_t> index1(TPosition::B1, 131072, n * k / 8);
    LocalTensor<int32_t> c1(TPosition::CO1, 0, m * n);
    DataCopy(a1, gmA, Nd2NzParams(1, m, k, 0, k, m, 1, 0));
    DataCopy(b1, gmB, Nd2NzParams(1, n, k / 2, 0, k / 2, n, 1, 0));
    DataCopy(index1, gmIndex, n * k / 8);
    Then();
    for (uint32_t i = 0; i < m / 16; ++i) LoadData(a2[i * k / C0 * FRACTAL], a1[i * FRACTAL], LoadData2DParams(0, k / C0, m / 16, 0, 0, false, 0));
    LoadData2DParams dense;
    dense.repeatTimes = n / 16 * (k / 2 / C0);
    LoadDataWithSparse(b2, b1, index1, dense);
    Then();
    MmadWithSparse(c1, a2, b2, MmadParams(m, n, k, 0, false, true));
    Then();
    Fixpipe(gmC, c1, FixpipeParamsV220(n, m, m, n, false));
}
extern "C" __global__ __cube__ void sparse_matmul(GM_ADDR a, GM_ADDR b, GM_ADDR index, GM_ADDR c, GM_ADDR workspace, GM_ADDR tilingGm) {
    TCubeTiling tiling;
    for (uint32_t i = 0; i < sizeof(tiling) / 4; ++i) reinterpret_cast<uint32_t *>(&tiling)[i] = reinterpret_cast<__gm__ uint32_t *>(tilingGm)[i];
    TPipe pipe;
    Matmul<MatmulType<TPosition::GM, CubeFormat::ND, int8_t>, SparseMatmulType<TPosition::GM, TPosition::GM, CubeFormat::ND, int8_t, true>,
           MatmulType<TPosition::GM, CubeFormat::ND, int32_t>, MatmulType<TPosition::GM, CubeFormat::ND, int32_t>, CFG_MDL> mm;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &tiling);
    GlobalTensor<int8_t> gmA, gmB;
    GlobalTensor<uint8_t> gmIndex;
    GlobalTensor<int32_t> gmC;
    gmA.SetGlobalBuffer((__gm__ int8_t *)a, tiling.M * tiling.Ka);
    gmB.SetGlobalBuffer((__gm__ int8_t *)b, tiling.N * tiling.Kb / 2);
    gmIndex.SetGlobalBuffer((__gm__ uint8_t *)index, tiling.N * tiling.Kb / 8);
    gmC.SetGlobalBuffer((__gm__ int32_t *)c, tiling.M * tiling.N);
    mm.SetTensorA(gmA);
    mm.SetTensorB(gmB, true);
    mm.SetSparseIndex(gmIndex);
    mm.IterateAll(gmC);
    mm.End();
}

// An image of 64 x 1 points in a ring of 1024 bytes: its second half is the first. `boundary` in bytes.
extern "C" __global__ __cube__ void ring(GM_ADDR x, GM_ADDR unit, GM_ADDR y, uint32_t boundary) {
    constexpr uint32_t ROWS = 64, C0 = 16;
    GlobalTensor<half> gmX, gmUnit;
    GlobalTensor<float> gmY;
    gmX.SetGlobalBuffer((__gm__ half *)x, ROWS * C0);
    gmUnit.SetGlobalBuffer((__gm__ half *)unit, C0 * C0);
    gmY.SetGlobalBuffer((__gm__ float *)y, ROWS * C0);
    LocalTensor<half> a1(TPosition::A1, 0, ROWS * C0), b1(TPosition::B1, 8192, C0 * C0), a2(TPosition::A2, 0, ROWS * C0), b2(TPosition::B2, 0, C0 * C0);
    LocalTensor<float> c1(TPosition::CO1, 0, ROWS * C0);
    DataCopy(a1, gmX, ROWS * C0);
    DataCopy(b1, gmUnit, C0 * C0);
    Then();
    const uint8_t pads[PAD_SIZE] = {0, 0, 0, 0};
    SetLoadDataBoundary(boundary);
    LoadData(a2, a1, LoadData3DParamsV2<half>(pads, ROWS, 1, C0, C0, ROWS, 0, 0, 1, 1, 1, 1, 1, 1, false, false, 0));
    LoadData(b2, b1, LoadData2DParams(0, 1, 1, 0, 0, false, 0));
    Then();
    Mmad(c1, a2, b2, MmadParams(ROWS, C0, C0, 0, false, true));
    Then();
    Fixpipe(gmY, c1, FixpipeParamsV220(C0, ROWS, ROWS, C0, false));
}

// y[16, 32] = quantised a[16, 16] b[32, 16]^T by a parameter per column, in L1 over the parameters themselves.
extern "C" __global__ __cube__ void quantise_over_parameters(GM_ADDR a, GM_ADDR b, GM_ADDR parameters, GM_ADDR y) {
    constexpr uint32_t M = 16, N = 32, K = 16;
    GlobalTensor<half> gmA, gmB;
    GlobalTensor<uint64_t> gmParameters;
    GlobalTensor<int8_t> gmY;
    gmA.SetGlobalBuffer((__gm__ half *)a, M * K);
    gmB.SetGlobalBuffer((__gm__ half *)b, N * K);
    gmParameters.SetGlobalBuffer((__gm__ uint64_t *)parameters, N);
    gmY.SetGlobalBuffer((__gm__ int8_t *)y, M * N);
    LocalTensor<half> a1(TPosition::A1, 8192, M * K), b1(TPosition::B1, 16384, N * K), a2(TPosition::A2, 0, M * K), b2(TPosition::B2, 0, N * K);
    LocalTensor<uint64_t> table(TPosition::C1, 0, N);
    LocalTensor<int8_t> y1(TPosition::C1, 0, M * N);
    LocalTensor<float> c1(TPosition::CO1, 0, M * N);
    DataCopy(a1, gmA, Nd2NzParams(1, M, K, 0, K, M, 1, 0));
    DataCopy(b1, gmB, Nd2NzParams(1, N, K, 0, K, N, 1, 0));
    DataCopy(table, gmParameters, N);
    Then();
    LoadData(a2, a1, LoadData2DParams(0, 1, 1, 0, 0, false, 0));
    LoadData(b2, b1, LoadData2DParams(0, 2, 1, 0, 0, false, 0));
    Then();
    Mmad(c1, a2, b2, MmadParams(M, N, K, 0, false, true));
    Then();
    FixpipeParamsV220 out(N, M, M, M, false);
    out.quantPre = QuantMode_t::VQF322B8_PRE;
    Fixpipe<int8_t, float, CFG_NZ>(y1, c1, table, out);
    Then();
    DataCopy(gmY, y1, M * N);
}

// y[16, 64] = a[16, 32] b[64, 32]^T + bias, in two parts of K that both load the biases (half) into the bias table, without waiting for the
// first product. `step` elements of bias from one part to the next.
extern "C" __global__ __cube__ void half_bias(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR y, uint32_t step) {
    constexpr uint32_t M = 16, N = 64, K = 32, PART = 16;
    GlobalTensor<half> gmA, gmB, gmBias;
    GlobalTensor<float> gmY;
    gmA.SetGlobalBuffer((__gm__ half *)a, M * K);
    gmB.SetGlobalBuffer((__gm__ half *)b, N * K);
    gmBias.SetGlobalBuffer((__gm__ half *)bias, N + step);
    gmY.SetGlobalBuffer((__gm__ float *)y, M * N);
    LocalTensor<half> a1(TPosition::A1, 8192, M * K), b1(TPosition::B1, 16384, N * K), bias1(TPosition::C1, 0, N + step);
    LocalTensor<half> a2(TPosition::A2, 0, M * K), b2(TPosition::B2, 0, N * K);
    LocalTensor<float> c2(TPosition::C2, 0, N), c1(TPosition::CO1, 0, M * N);
    DataCopy(a1, gmA, Nd2NzParams(1, M, K, 0, K, M, 1, 0));
    DataCopy(b1, gmB, Nd2NzParams(1, N, K, 0, K, N, 1, 0));
    DataCopy(bias1, gmBias, N + step);
    Then();
    for (uint32_t part = 0; part < K / PART; ++part) {
        LoadData(a2[part * M * PART], a1[part * M * PART], LoadData2DParams(0, 1, 1, 0, 0, false, 0));
        LoadData(b2[part * N * PART], b1[part * N * PART], LoadData2DParams(0, N / 16, 1, 0, 0, false, 0));
        DataCopy(c2, bias1[part * step], DataCopyParams(1, N * sizeof(half) / 64, 0, 0));
        SetFlag<HardEvent::MTE1_M>(0);
        WaitFlag<HardEvent::MTE1_M>(0);
        if (part == 0) {
            Mmad(c1, a2, b2, c2, MmadParams(M, N, PART, 0, false, false));
        } else {
            Mmad(c1, a2[M * PART], b2[N * PART], MmadParams(M, N, PART, 0, false, false));
        }
        PipeBarrier<PIPE_M>();
    }
    Then();
    Fixpipe(gmY, c1, FixpipeParamsV220(N, M, M, N, false));
}
