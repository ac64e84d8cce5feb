// Uses of the Matmul object.
#include "kernel_operator.h"
#include "lib/matmul_intf.h"

using namespace AscendC;

__aicore__ inline TCubeTiling Read(GM_ADDR t) { return *reinterpret_cast<__gm__ TCubeTiling *>(t); }

// One core's part of a product that is cut over M and N.
struct Part {
    __aicore__ inline Part(const TCubeTiling &t, int64_t index) {
        const int64_t rows = (t.M + t.singleCoreM - 1) / t.singleCoreM;
        row = index % rows * t.singleCoreM;
        column = index / rows * t.singleCoreN;
        m = t.M - row < t.singleCoreM ? t.M - row : t.singleCoreM;
        n = t.N - column < t.singleCoreN ? t.N - column : t.singleCoreN;
    }
    int64_t row, column, m, n;
};

template <typename MM, typename T, typename C>
__aicore__ inline void SetInputs(MM &mm, const TCubeTiling &t, const Part &part, GM_ADDR a, GM_ADDR b, GM_ADDR bias, bool ta, bool tb) {
    GlobalTensor<T> gmA, gmB;
    GlobalTensor<C> gmBias;
    gmA.SetGlobalBuffer((__gm__ T *)a, t.M * t.Ka);
    gmB.SetGlobalBuffer((__gm__ T *)b, t.Kb * t.N);
    mm.SetTail(part.m, part.n, t.singleCoreK);
    mm.SetTensorA(gmA[ta ? part.row : part.row * t.Ka], ta);
    mm.SetTensorB(gmB[tb ? part.column * t.Kb : part.column], tb);
    if (bias != nullptr) {
        gmBias.SetGlobalBuffer((__gm__ C *)bias, t.N);
        mm.SetBias(gmBias[part.column]);
    }
}

template <typename T, typename C, bool TA = false, bool TB = false>
__aicore__ inline void Product(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR t, bool sequential = false) {
    TPipe pipe;
    const TCubeTiling tiling = Read(t);
    Matmul<MatmulType<TPosition::GM, CubeFormat::ND, T, TA>, MatmulType<TPosition::GM, CubeFormat::ND, T, TB>,
           MatmulType<TPosition::GM, CubeFormat::ND, C>, MatmulType<TPosition::GM, CubeFormat::ND, C>, CFG_MDL>
        mm;
    const TCubeTiling *__restrict pointer = &tiling;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, pointer);
    if (GetBlockIdx() >= tiling.usedCoreNum) return;
    const Part part(tiling, GetBlockIdx());
    SetInputs<decltype(mm), T, C>(mm, tiling, part, a, b, bias, TA, TB);
    GlobalTensor<C> gmC;
    gmC.SetGlobalBuffer((__gm__ C *)c, tiling.M * tiling.N);
    mm.IterateAll(gmC[part.row * tiling.N + part.column]);
    mm.End();
}

extern "C" __global__ __aicore__ void half_nn(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    Product<half, float>(a, b, bias, c, t);
}
extern "C" __global__ __aicore__ void half_tn(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    Product<half, float, true, false>(a, b, bias, c, t);
}
extern "C" __global__ __aicore__ void half_nt(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    Product<half, float, false, true>(a, b, bias, c, t);
}
extern "C" __global__ __aicore__ void bf16_tt(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
    Product<bfloat16_t, float, true, true>(a, b, bias, c, t);
}
extern "C" __global__ __aicore__ void float_nn(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    Product<float, float>(a, b, bias, c, t);
}
extern "C" __global__ __aicore__ void int8_nn(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    Product<int8_t, int32_t>(a, b, bias, c, t);
}

// Block by block into the vector core's own memory, doubled there; MODE 0: synchronous, 1: asynchronous.
template <int MODE>
__aicore__ inline void Doubled(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace, GM_ADDR t) {
    TPipe pipe;
    const TCubeTiling tiling = Read(t);
    Matmul<MatmulType<TPosition::GM, CubeFormat::ND, half>, MatmulType<TPosition::GM, CubeFormat::ND, half>,
           MatmulType<TPosition::VECIN, CubeFormat::ND, float>>
        mm;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &tiling);
    if (GetBlockIdx() >= tiling.usedCoreNum) return;
    const Part part(tiling, GetBlockIdx());
    SetInputs<decltype(mm), half, float>(mm, tiling, part, a, b, nullptr, false, false);
    GlobalTensor<float> gmC, gmW;
    gmC.SetGlobalBuffer((__gm__ float *)c, tiling.M * tiling.N);
    gmW.SetGlobalBuffer((__gm__ float *)workspace + GetBlockIdx() * tiling.singleCoreM * tiling.singleCoreN, tiling.singleCoreM * tiling.singleCoreN);
    const uint32_t size = tiling.baseM * tiling.baseN;
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 1, size * sizeof(float));
    pipe.InitBuffer(out, 1, size * sizeof(float));
    mm.SetWorkspace(gmW);
    if (MODE == 1) mm.template Iterate<false>();
    const int rows = (part.m + tiling.baseM - 1) / tiling.baseM, columns = (part.n + tiling.baseN - 1) / tiling.baseN;
    for (int i = 0; i < rows * columns; ++i) {
        LocalTensor<float> x = in.AllocTensor<float>();
        if (MODE == 0) mm.Iterate();
        if (MODE == 0) {
            mm.GetTensorC(x, 0, true);
        } else {
            mm.template GetTensorC<false>(x);
        }
        in.EnQue(x);
        x = in.DeQue<float>();
        LocalTensor<float> y = out.AllocTensor<float>();
        Muls(y, x, 2.0f, size);
        out.EnQue(y);
        in.FreeTensor(x);
        y = out.DeQue<float>();
        const int row = i % rows * tiling.baseM, column = i / rows * tiling.baseN;
        const int high = part.m - row < tiling.baseM ? part.m - row : tiling.baseM, wide = part.n - column < tiling.baseN ? part.n - column : tiling.baseN;
        DataCopyPad(gmC[(part.row + row) * tiling.N + part.column + column], y,
                    DataCopyExtParams(high, wide * sizeof(float), (tiling.baseN - (wide + 7) / 8 * 8) / 8, (tiling.N - wide) * sizeof(float), 0));
        out.FreeTensor(y);
    }
    mm.End();
}
extern "C" __global__ __aicore__ void doubled_sync(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    Doubled<0>(a, b, c, workspace, t);
}
extern "C" __global__ __aicore__ void doubled_async(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    Doubled<1>(a, b, c, workspace, t);
}

// int8 with a scale per column to half; the tiling is known to the compiler apart from the shapes.
extern "C" __global__ __aicore__ void int8_per_column(GM_ADDR a, GM_ADDR b, GM_ADDR scales, GM_ADDR c, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    TPipe pipe;
    const TCubeTiling tiling = Read(t);
    Matmul<MatmulType<TPosition::GM, CubeFormat::ND, int8_t>, MatmulType<TPosition::GM, CubeFormat::ND, int8_t>,
           MatmulType<TPosition::GM, CubeFormat::ND, half>, MatmulType<TPosition::GM, CubeFormat::ND, int32_t>>
        mm;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &tiling);
    const Part part(tiling, GetBlockIdx());
    SetInputs<decltype(mm), int8_t, int32_t>(mm, tiling, part, a, b, nullptr, false, false);
    GlobalTensor<uint64_t> gmS;
    gmS.SetGlobalBuffer((__gm__ uint64_t *)scales, tiling.N);
    mm.SetQuantVector(gmS[part.column]);
    GlobalTensor<half> gmC;
    gmC.SetGlobalBuffer((__gm__ half *)c, tiling.M * tiling.N);
    mm.IterateAll(gmC[part.row * tiling.N + part.column]);
}

// c += a b over parts of K, one a core.
extern "C" __global__ __aicore__ void split_k(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    TPipe pipe;
    const TCubeTiling tiling = Read(t);
    Matmul<MatmulType<TPosition::GM, CubeFormat::ND, half>, MatmulType<TPosition::GM, CubeFormat::ND, half>, MatmulType<TPosition::GM, CubeFormat::ND, float>> mm;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &tiling);
    const int parts = tiling.Ka / tiling.singleCoreK, cores = tiling.usedCoreNum / parts, k = GetBlockIdx() / cores * tiling.singleCoreK;
    const Part part(tiling, GetBlockIdx() % cores);
    SetInputs<decltype(mm), half, float>(mm, tiling, part, a + k * sizeof(half), b + k * tiling.N * sizeof(half), nullptr, false, false);
    GlobalTensor<float> gmC;
    gmC.SetGlobalBuffer((__gm__ float *)c, tiling.M * tiling.N);
    mm.IterateAll(gmC[part.row * tiling.N + part.column], 1);
}

// Batches in the layout B, S, N, G, D: q and k of shape [batch, length, heads, depth], scores [batch, heads, length, length].
extern "C" __global__ __aicore__ void batched(GM_ADDR q, GM_ADDR k, GM_ADDR scores, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
    TPipe pipe;
    const TCubeTiling tiling = Read(t);
    Matmul<MatmulType<TPosition::GM, CubeFormat::ND, half, false, LayoutMode::BSNGD>, MatmulType<TPosition::GM, CubeFormat::ND, half, true, LayoutMode::BSNGD>,
           MatmulType<TPosition::GM, CubeFormat::ND, float, false, LayoutMode::BNGS1S2>>
        mm;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &tiling);
    const uint32_t heads = tiling.ALayoutInfoN * tiling.ALayoutInfoG;
    const uint64_t one = uint64_t(tiling.ALayoutInfoS) * heads * tiling.ALayoutInfoD, out = uint64_t(heads) * tiling.ALayoutInfoS * tiling.BLayoutInfoS;
    GlobalTensor<half> gmQ, gmK;
    GlobalTensor<float> gmS;
    gmQ.SetGlobalBuffer((__gm__ half *)q + GetBlockIdx() * one, one);
    gmK.SetGlobalBuffer((__gm__ half *)k + GetBlockIdx() * one, one);
    gmS.SetGlobalBuffer((__gm__ float *)scores + GetBlockIdx() * out, out);
    mm.SetTensorA(gmQ);
    mm.SetTensorB(gmK, true);
    mm.IterateBatch(gmS, heads, heads, false);
}

extern "C" __global__ __aicore__ void bad_no_b(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    TPipe pipe;
    const TCubeTiling tiling = Read(t);
    Matmul<MatmulType<TPosition::GM, CubeFormat::ND, half>, MatmulType<TPosition::GM, CubeFormat::ND, half>, MatmulType<TPosition::GM, CubeFormat::ND, float>> mm;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &tiling);
    GlobalTensor<half> gmA;
    GlobalTensor<float> gmC;
    gmA.SetGlobalBuffer((__gm__ half *)a, tiling.M * tiling.Ka);
    gmC.SetGlobalBuffer((__gm__ float *)c, tiling.M * tiling.N);
    mm.SetTensorA(gmA);
    mm.IterateAll(gmC);
}

// ISTRANS says one thing, SetTensorB another one.
template <typename T, bool TB>
__aicore__ inline void Turned(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR t) {
    TPipe pipe;
    const TCubeTiling tiling = Read(t);
    Matmul<MatmulType<TPosition::GM, CubeFormat::ND, T>, MatmulType<TPosition::GM, CubeFormat::ND, T, TB>, MatmulType<TPosition::GM, CubeFormat::ND, float>> mm;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &tiling);
    SetInputs<decltype(mm), T, float>(mm, tiling, Part(tiling, 0), a, b, nullptr, false, !TB);
    GlobalTensor<float> gmC;
    gmC.SetGlobalBuffer((__gm__ float *)c, tiling.M * tiling.N);
    mm.IterateAll(gmC);
}
extern "C" __global__ __aicore__ void bad_turn_half(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    Turned<half, false>(a, b, c, t);
}
extern "C" __global__ __aicore__ void bad_turn_float(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    Turned<float, true>(a, b, c, t);
}
extern "C" __global__ __aicore__ void either_turn_half(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    Turned<half, true>(a, b, c, t);
}
