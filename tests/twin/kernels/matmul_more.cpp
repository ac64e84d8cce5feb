// The Matmul object with batches in every layout, HF32, shared matrices, tilings known to the compiler, policies and functions of the user's own.
#include "kernel_operator.h"
#include "lib/matmul_intf.h"

using namespace AscendC;

__aicore__ inline TCubeTiling Read(GM_ADDR t) { return *reinterpret_cast<__gm__ TCubeTiling *>(t); }

constexpr MatmulConfig BIAS_FOR_ALL = GetMMConfig<MatmulConfigMode::CONFIG_NORM>(MatmulBatchParams{false, BatchMode::BATCH_LESS_THAN_L1, false});

struct Batches {
    uint32_t a, b, loops;                // matrices of a call; calls
    uint64_t aStep, bStep, biasStep, cStep;  // elements from call to call
};

template <LayoutMode LAYOUT, LayoutMode OUT, bool TA, bool TB, const MatmulConfig &CONFIG = CFG_NORM, bool SET_BEFORE = false>
__aicore__ inline void Batch(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, const Batches &n, GM_ADDR t) {
    TPipe pipe;
    const TCubeTiling tiling = Read(t);
    Matmul<MatmulType<TPosition::GM, CubeFormat::ND, half, TA, LAYOUT>, MatmulType<TPosition::GM, CubeFormat::ND, half, TB, LAYOUT>,
           MatmulType<TPosition::GM, CubeFormat::ND, float, false, OUT>, MatmulType<TPosition::GM, CubeFormat::ND, float>, CONFIG>
        mm;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &tiling);
    GlobalTensor<half> gmA, gmB;
    GlobalTensor<float> gmBias, gmC;
    gmA.SetGlobalBuffer((__gm__ half *)a);
    gmB.SetGlobalBuffer((__gm__ half *)b);
    gmBias.SetGlobalBuffer((__gm__ float *)bias);
    gmC.SetGlobalBuffer((__gm__ float *)c);
    for (uint32_t i = 0; i < n.loops; ++i) {
        mm.SetTensorA(gmA[i * n.aStep], TA);
        mm.SetTensorB(gmB[i * n.bStep], TB);
        if (bias != nullptr) mm.SetBias(gmBias[i * n.biasStep]);
        if (SET_BEFORE) {
            mm.SetBatchNum(n.a, n.b);
            mm.IterateBatch(gmC[i * n.cStep], false, 0, false);
        } else {
            mm.IterateBatch(gmC[i * n.cStep], static_cast<int32_t>(n.a), static_cast<int32_t>(n.b), false);
        }
    }
    mm.End();
}

extern "C" __global__ __aicore__ void bsngd_nn(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, Batches n, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
    Batch<LayoutMode::BSNGD, LayoutMode::BSNGD, false, false>(a, b, bias, c, n, t);
}
extern "C" __global__ __aicore__ void bsngd_nt(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, Batches n, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
    Batch<LayoutMode::BSNGD, LayoutMode::BNGS1S2, false, true>(a, b, bias, c, n, t);
}
extern "C" __global__ __aicore__ void bsngd_tn(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, Batches n, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
    Batch<LayoutMode::BSNGD, LayoutMode::BSNGD, true, false>(a, b, bias, c, n, t);
}
extern "C" __global__ __aicore__ void sbngd_nn(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, Batches n, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
    Batch<LayoutMode::SBNGD, LayoutMode::SBNGD, false, false>(a, b, bias, c, n, t);
}
extern "C" __global__ __aicore__ void sbngd_nt(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, Batches n, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
    Batch<LayoutMode::SBNGD, LayoutMode::BNGS1S2, false, true>(a, b, bias, c, n, t);
}
extern "C" __global__ __aicore__ void sbngd_tt(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, Batches n, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
    Batch<LayoutMode::SBNGD, LayoutMode::SBNGD, true, true>(a, b, bias, c, n, t);
}
extern "C" __global__ __aicore__ void bngs1s2_nn(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, Batches n, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
    Batch<LayoutMode::BNGS1S2, LayoutMode::BNGS1S2, false, false>(a, b, bias, c, n, t);
}
extern "C" __global__ __aicore__ void bngs1s2_nt(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, Batches n, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
    Batch<LayoutMode::BNGS1S2, LayoutMode::BSNGD, false, true>(a, b, bias, c, n, t);
}
extern "C" __global__ __aicore__ void normal_nn(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, Batches n, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
    Batch<LayoutMode::NORMAL, LayoutMode::NORMAL, false, false>(a, b, bias, c, n, t);
}
extern "C" __global__ __aicore__ void normal_tn(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, Batches n, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
    Batch<LayoutMode::NORMAL, LayoutMode::NORMAL, true, false>(a, b, bias, c, n, t);
}
extern "C" __global__ __aicore__ void normal_nn_bias_for_all(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, Batches n, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
    Batch<LayoutMode::NORMAL, LayoutMode::NORMAL, false, false, BIAS_FOR_ALL>(a, b, bias, c, n, t);
}

extern "C" __global__ __aicore__ void normal_nn_set_before(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, Batches n, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    Batch<LayoutMode::NORMAL, LayoutMode::NORMAL, false, false, CFG_NORM, true>(a, b, bias, c, n, t);
}

// One product on one cube core, block by block or at once.
template <class MM, typename T, typename Before>
__aicore__ inline void Whole(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR t, Before before) {
    TPipe pipe;
    const TCubeTiling tiling = Read(t);
    MM mm;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &tiling);
    GlobalTensor<T> gmA, gmB;
    GlobalTensor<float> gmC;
    gmA.SetGlobalBuffer((__gm__ T *)a);
    gmB.SetGlobalBuffer((__gm__ T *)b);
    gmC.SetGlobalBuffer((__gm__ float *)c);
    before(mm, tiling);
    mm.SetTensorA(gmA);
    mm.SetTensorB(gmB);
    mm.IterateAll(gmC);
    mm.End();
}
template <typename T, bool SHARED = false>
using In = MatmulType<TPosition::GM, CubeFormat::ND, T, false, LayoutMode::NONE, SHARED>;
using Out = MatmulType<TPosition::GM, CubeFormat::ND, float>;

template <bool ON, int MODE>
__aicore__ inline void Hf32(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR t) {
    Whole<Matmul<In<float>, In<float>, Out>, float>(a, b, c, t, [](auto &mm, const TCubeTiling &) { mm.SetHF32(ON, MODE); });
}
extern "C" __global__ __aicore__ void hf32_off(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    Hf32<false, 0>(a, b, c, t);
}
extern "C" __global__ __aicore__ void hf32_even(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    Hf32<true, 0>(a, b, c, t);
}
extern "C" __global__ __aicore__ void hf32_to_zero(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    Hf32<true, 1>(a, b, c, t);
}

// Both vector cores of a block ask for rows of their own; B is one matrix for the two.
extern "C" __global__ __aicore__ void shared_b(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    const TCubeTiling tiling = Read(t);
    const uint64_t row = GetBlockIdx() * tiling.singleCoreM;
    Whole<Matmul<In<half>, In<half, true>, Out, Out, CFG_IBSHARE_NORM>, half>(a + row * tiling.Ka * sizeof(half), b, c + row * tiling.N * sizeof(float), t,
                                                                               [](auto &, const TCubeTiling &) {});
}

// Only the number of cores and the shapes of the whole matrices come from the host.
constexpr MatmulShapeParams SHAPE = {48, 80, 64, 32, 48, 32};
constexpr MatmulConfig CONSTANT = GetMMConfig<MatmulConfigMode::CONFIG_MDL>(SHAPE, MatmulBiasParams{false});
constexpr MatmulApiStaticTiling KNOWN = GetMatmulApiTiling<In<half>, In<half>, Out, Out>(CONSTANT);
static_assert(KNOWN.baseM == 32 && KNOWN.baseN == 48 && KNOWN.baseK == 32 && KNOWN.singleCoreN == 80 && KNOWN.depthA1 >= 1);
extern "C" __global__ __aicore__ void constant(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    Whole<Matmul<In<half>, In<half>, Out, Out, KNOWN>, half>(a, b, c, t, [](auto &, const TCubeTiling &) {});
}
extern "C" __global__ __aicore__ void constant_shape(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    Whole<Matmul<In<half>, In<half>, Out, Out, CONSTANT>, half>(a, b, c, t, [](auto &, const TCubeTiling &) {});
}

// A policy that leaves the default of everything that it does not name.
template <const auto &CONFIG, typename... Types>
struct OwnPolicy : Impl::Detail::MatmulPolicy<CONFIG, Types...> {};
template <template <const auto &, typename...> class POLICY>
using WithPolicy = Matmul<In<half>, In<half>, Out, Out, CFG_NORM, MatmulCallBackFunc<nullptr, nullptr, nullptr>, POLICY>;
extern "C" __global__ __aicore__ void own_policy(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    Whole<WithPolicy<OwnPolicy>, half>(a, b, c, t, [](auto &, const TCubeTiling &) {});
}
extern "C" __global__ __aicore__ void three_buffers(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    Whole<WithPolicy<Impl::Detail::NBuffer33MatmulPolicy>, half>(a, b, c, t, [](auto &, const TCubeTiling &) {});
}
extern "C" __global__ __aicore__ void upper_triangle(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    Whole<WithPolicy<Impl::Detail::TrianUpperMatmulPolicy>, half>(a, b, c, t, [](auto &, const TCubeTiling &) {});
}
extern "C" __global__ __aicore__ void lower_triangle(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    Whole<WithPolicy<Impl::Detail::TrianLowerMatmulPolicy>, half>(a, b, c, t, [](auto &, const TCubeTiling &) {});
}

// The user's functions: A comes from the rows below it, B from the columns to its right, C is stored two rows further down.
__aicore__ inline void CopyBlock(const LocalTensor<int8_t> &to, GlobalTensor<half> from, int high, int wide, uint64_t pitch) {
    DataCopy(to.ReinterpretCast<half>(), from, Nd2NzParams(1, high, wide, 0, pitch, (high + 15) / 16 * 16, 1, 0));
}
__aicore__ inline void CopyLowerA(const LocalTensor<int8_t> &to, const __gm__ void *gm, int row, int col, int useM, int useK, const uint64_t info, const uint64_t data) {
    const auto *t = reinterpret_cast<__gm__ TCubeTiling *>(info);
    GlobalTensor<half> from;
    from.SetGlobalBuffer((__gm__ half *)gm);
    CopyBlock(to, from[(data + row * t->baseM) * t->Ka + col * t->baseK], useM, useK, t->Ka);
}
__aicore__ inline void CopyRightB(const LocalTensor<int8_t> &to, const __gm__ void *gm, int row, int col, int useK, int useN, const uint64_t info, const uint64_t data) {
    const auto *t = reinterpret_cast<__gm__ TCubeTiling *>(info);
    GlobalTensor<half> from;
    from.SetGlobalBuffer((__gm__ half *)gm);
    const uint64_t pitch = t->N + data;
    CopyBlock(to, from[row * t->baseK * pitch + data + col * t->baseN], useK, useN, pitch);
}
__aicore__ inline void CopyOutFurther(const __gm__ void *gm, const LocalTensor<int8_t> &from, const void *params, const uint64_t info, const uint64_t data) {
    const auto *p = reinterpret_cast<const DataCopyOutParams *>(params);
    GlobalTensor<float> to;
    to.SetGlobalBuffer((__gm__ float *)const_cast<__gm__ void *>(gm));
    FixpipeParamsV220 out(p->oriNSize, p->burstLen, p->srcStride, p->dstStride, false);
    Fixpipe(to[data * p->dstStride], from.ReinterpretCast<float>(), out);
}
template <class CALLS>
__aicore__ inline void Called(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR t) {
    Whole<Matmul<In<half>, In<half>, Out, Out, CFG_NORM, CALLS>, half>(a, b, c, t, [t](auto &mm, const TCubeTiling &) {
        mm.SetUserDefInfo(reinterpret_cast<uint64_t>(t));
        mm.SetSelfDefineData(uint64_t{2});
    });
}
extern "C" __global__ __aicore__ void called_a(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    Called<MatmulCallBackFunc<nullptr, CopyLowerA, nullptr>>(a, b, c, t);
}
extern "C" __global__ __aicore__ void called_b(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    Called<MatmulCallBackFunc<nullptr, nullptr, CopyRightB>>(a, b, c, t);
}
extern "C" __global__ __aicore__ void called_c(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    Called<MatmulCallBackFunc<CopyOutFurther, nullptr, nullptr>>(a, b, c, t);
}
extern "C" __global__ __aicore__ void called_all(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    Called<MatmulCallBackFunc<CopyOutFurther, CopyLowerA, CopyRightB>>(a, b, c, t);
}
