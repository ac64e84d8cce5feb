// batched_matmul:
// y = a @ b, for each matrix of the batch.
// Products are summed in fp32 on the cube cores and rounded once on the way out.
#define ASCENDC_CUBE_ONLY  // no vector core takes part in a product
#include "kernel_operator.h"
#include "lib/matmul_intf.h"

#include "batched_matmul_tiling.h"

using namespace AscendC;

// TURN_B: the rows of b are the columns of the right matrix.
template <typename T, bool TURN_B>
class KernelBatchedMatmul {
public:
    using Left = MatmulType<TPosition::GM, CubeFormat::ND, T>;
    using Right = MatmulType<TPosition::GM, CubeFormat::ND, T, TURN_B>;
    using Result = MatmulType<TPosition::GM, CubeFormat::ND, T>;

    __aicore__ inline void Init(GM_ADDR a, GM_ADDR b, GM_ADDR y, const BatchedMatmulTilingData *tiling)
    {
        tiling_ = tiling;
        aGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(a));
        bGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(b));
        yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(y));
    }

    __aicore__ inline void Process()
    {
        for (int64_t unit = GetBlockIdx(); unit < tiling_->units; unit += GetBlockNum()) {
            Compute(unit / tiling_->blocks, unit % tiling_->blocks);
        }
        matmul.End();
    }

    Matmul<Left, Right, Result> matmul;  // REGIST_MATMUL_OBJ gives it its buffers

private:
    // One block of one product of the batch.
    __aicore__ inline void Compute(int64_t product, int64_t block)
    {
        const TCubeTiling &cube = tiling_->cube;
        const int64_t m = cube.M;
        const int64_t n = cube.N;
        const int64_t k = cube.Ka;
        const int64_t row = block % tiling_->rows * cube.singleCoreM;
        const int64_t column = block / tiling_->rows * cube.singleCoreN;
        matmul.SetTensorA(aGm_[product * m * k + row * k]);
        matmul.SetTensorB(bGm_[product * k * n + (TURN_B ? column * k : column)], TURN_B);
        matmul.SetTail(Least(m - row, cube.singleCoreM), Least(n - column, cube.singleCoreN), cube.singleCoreK);
        matmul.IterateAll(yGm_[product * m * n + row * n + column]);
    }

    __aicore__ inline int32_t Least(int64_t left, int32_t most)
    {
        return left < most ? static_cast<int32_t>(left) : most;
    }

    GlobalTensor<T> aGm_;
    GlobalTensor<T> bGm_;
    GlobalTensor<T> yGm_;
    const BatchedMatmulTilingData *tiling_ = nullptr;
};

// The vector cores share out an output that is all zeros, of whole blocks of 32 bytes, so that no two cores write into
// the same one; a half counts as two bytes, whatever they mean.
__aicore__ inline void WriteZeros(GM_ADDR y, int64_t halves)
{
    constexpr int64_t block = 16;
    const int64_t blocks = (halves + block - 1) / block;
    const int64_t share = (blocks + GetBlockNum() - 1) / GetBlockNum() * block;
    const int64_t begin = GetBlockIdx() * share;
    const int64_t end = begin + share < halves ? begin + share : halves;
    if (begin < end) {
        GlobalTensor<uint16_t> gm;
        gm.SetGlobalBuffer(reinterpret_cast<__gm__ uint16_t *>(y) + begin);
        InitGlobalMemory(gm, static_cast<uint64_t>(end - begin), static_cast<uint16_t>(0));
    }
}

template <bool TURN_B>
__aicore__ inline void Run(GM_ADDR a, GM_ADDR b, GM_ADDR y, const BatchedMatmulTilingData &tiling)
{
    if (tiling.units == 0) {
        return;
    }
    TPipe pipe;
    KernelBatchedMatmul<DTYPE_A, TURN_B> kernel;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), kernel.matmul, &tiling.cube);
    kernel.Init(a, b, y, &tiling);
    kernel.Process();
}

extern "C" __global__ __aicore__ void batched_matmul(GM_ADDR a, GM_ADDR b, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    REGISTER_TILING_DEFAULT(BatchedMatmulTilingData);
    GET_TILING_DATA(tilingData, tiling);
    if (TILING_KEY_IS(1)) {
        Run<false>(a, b, y, tilingData);
    } else if (TILING_KEY_IS(2)) {
        KERNEL_TASK_TYPE(2, KERNEL_TYPE_AIV_ONLY);
        TPipe pipe;
        WriteZeros(y, tilingData.elements * sizeof(DTYPE_Y) / sizeof(uint16_t));
    }
}
