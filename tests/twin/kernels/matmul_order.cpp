// What a vector core may touch while its cube core works for it: two Matmul objects, and a result that is copied in.
#include "kernel_operator.h"
#include "lib/matmul_intf.h"

using namespace AscendC;

constexpr int32_t N = 256;  // elements of a product

using Halves = MatmulType<TPosition::GM, CubeFormat::ND, half>;
using Floats = MatmulType<TPosition::GM, CubeFormat::ND, float>;
using Product = Matmul<Halves, Halves, Floats>;

template <typename Body>
__aicore__ inline void Run(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR y, GM_ADDR t, Body body) {
    TPipe pipe;
    const TCubeTiling tiling = *reinterpret_cast<__gm__ TCubeTiling *>(t);
    Product first, second;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), first, &tiling, second, &tiling);
    if (GetBlockIdx() != 0) return;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, N * sizeof(float));
    LocalTensor<float> local = buffer.Get<float>();
    GlobalTensor<half> gmA, gmB;
    GlobalTensor<float> gmC, gmY;
    gmA.SetGlobalBuffer((__gm__ half *)a, N);
    gmB.SetGlobalBuffer((__gm__ half *)b, N);
    gmC.SetGlobalBuffer((__gm__ float *)c, 2 * N);
    gmY.SetGlobalBuffer((__gm__ float *)y, N);
    for (Product *product : {&first, &second}) {
        product->SetTensorA(gmA);
        product->SetTensorB(gmB);
    }
    body(first, second, gmC, local);
    SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
    DataCopy(gmY, local, N);
    first.End();
    second.End();
}

template <bool GOOD>
__aicore__ inline void WaitFor(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR y, GM_ADDR t) {
    Run(a, b, c, y, t, [](Product &first, Product &second, GlobalTensor<float> gmC, LocalTensor<float> local) {
        first.IterateAll<false>(gmC, 0, false, true);
        second.IterateAll<false>(gmC[N], 0, false, true);
        first.WaitIterateAll();
        if (GOOD) second.WaitIterateAll();
        DataCopy(local, gmC[N], N);
    });
}

template <bool GOOD>
__aicore__ inline void WriteAgain(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR y, GM_ADDR t) {
    Run(a, b, c, y, t, [](Product &first, Product &, GlobalTensor<float> gmC, LocalTensor<float> local) {
        first.IterateAll(gmC);
        DataCopy(local, gmC, N);
        if (GOOD) {
            SetFlag<HardEvent::MTE2_S>(EVENT_ID1);
            WaitFlag<HardEvent::MTE2_S>(EVENT_ID1);
        }
        first.IterateAll(gmC);
    });
}

extern "C" __global__ __aicore__ void good_wait(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR y, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    WaitFor<true>(a, b, c, y, t);
}
extern "C" __global__ __aicore__ void bad_wait_for_the_other(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR y, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    WaitFor<false>(a, b, c, y, t);
}
extern "C" __global__ __aicore__ void good_write_again(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR y, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    WriteAgain<true>(a, b, c, y, t);
}
extern "C" __global__ __aicore__ void bad_write_while_copied_in(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR y, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    WriteAgain<false>(a, b, c, y, t);
}

// Both vector cores zero the result, meet, and let the cube core add their products: what one of them wrote comes before what the other asks for.
template <bool MEET>
__aicore__ inline void AddToZeros(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR t) {
    TPipe pipe;
    const TCubeTiling tiling = *reinterpret_cast<__gm__ TCubeTiling *>(t);
    Product product;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), product, &tiling);
    GlobalTensor<half> gmA, gmB;
    GlobalTensor<float> gmC;
    gmA.SetGlobalBuffer((__gm__ half *)a, N);
    gmB.SetGlobalBuffer((__gm__ half *)b, N);
    gmC.SetGlobalBuffer((__gm__ float *)c, 2 * N);
    InitGlobalMemory(gmC, N, 0.0f);
    if (MEET) SyncAll();
    product.SetTensorA(gmA);
    product.SetTensorB(gmB);
    product.IterateAll(gmC, 1);
    product.End();
}
extern "C" __global__ __aicore__ void good_add_to_zeros(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR y, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    AddToZeros<true>(a, b, c, t);
}
extern "C" __global__ __aicore__ void bad_add_to_zeros(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR y, GM_ADDR workspace, GM_ADDR t) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    AddToZeros<false>(a, b, c, t);
}
