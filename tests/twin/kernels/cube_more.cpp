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
