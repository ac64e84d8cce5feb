// grouped_matmul:
// y[i, :] = x[i, :] @ weight[g] for the rows i of group g, which ends before row group_list[g]; else 0.
// Products are summed in fp32 on the cube cores and rounded once on the way out. The vector cores only write the zeros.
#define ASCENDC_CUBE_ONLY  // no vector core takes part in a product
#include "kernel_operator.h"
#include "lib/matmul_intf.h"

#include "grouped_matmul_tiling.h"

using namespace AscendC;

// Where group g ends: never before the group before it, and never behind the last row, whatever the list says.
__aicore__ inline int64_t EndOf(const GlobalTensor<int64_t> &ends, int64_t group, int64_t start, int64_t rows)
{
    const int64_t end = ends.GetValue(group);
    return end < start ? start : (end < rows ? end : rows);
}

template <typename T>
class KernelGroupedMatmul {
public:
    using Left = MatmulType<TPosition::GM, CubeFormat::ND, T>;
    using Right = MatmulType<TPosition::GM, CubeFormat::ND, T>;
    using Result = MatmulType<TPosition::GM, CubeFormat::ND, T>;

    __aicore__ inline void Init(GM_ADDR x, GM_ADDR weight, GM_ADDR ends, GM_ADDR y,
                                const GroupedMatmulTilingData *tiling)
    {
        tiling_ = tiling;
        xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(x));
        weightGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(weight));
        endsGm_.SetGlobalBuffer(reinterpret_cast<__gm__ int64_t *>(ends));
        yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(y));
    }

    // The blocks of all groups are numbered; this core has every GetBlockNum()-th of them. Small groups one after the
    // other so go to different cores.
    __aicore__ inline void Process()
    {
        const int64_t across = CeilDiv(tiling_->columns, tiling_->cube.singleCoreN);
        int64_t start = 0;
        int64_t next = GetBlockIdx();  // block of this core, counted from the first one of the group
        for (int64_t group = 0; group < tiling_->groups; ++group) {
            const int64_t end = EndOf(endsGm_, group, start, tiling_->rows);
            const int64_t down = CeilDiv(end - start, tiling_->cube.singleCoreM);
            for (; next < down * across; next += GetBlockNum()) {
                Compute(group, start, end, next % down, next / down);
            }
            next -= down * across;
            start = end;
        }
        matmul.End();
    }

    Matmul<Left, Right, Result> matmul;  // REGIST_MATMUL_OBJ gives it its buffers

private:
    // One block of the rows start to end of one group. Neighbouring cores have the same columns, so the same weights.
    __aicore__ inline void Compute(int64_t group, int64_t start, int64_t end, int64_t down, int64_t across)
    {
        const int64_t n = tiling_->columns;
        const int64_t k = tiling_->depth;
        const int64_t row = start + down * tiling_->cube.singleCoreM;
        const int64_t column = across * tiling_->cube.singleCoreN;
        matmul.SetTensorA(xGm_[row * k]);
        matmul.SetTensorB(weightGm_[group * k * n + column]);
        matmul.SetTail(Least(end - row, tiling_->cube.singleCoreM), Least(n - column, tiling_->cube.singleCoreN),
                       tiling_->cube.singleCoreK);
        matmul.IterateAll(yGm_[row * n + column]);
    }

    __aicore__ inline int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

    __aicore__ inline int32_t Least(int64_t left, int32_t most)
    {
        return left < most ? static_cast<int32_t>(left) : most;
    }

    GlobalTensor<T> xGm_;
    GlobalTensor<T> weightGm_;
    GlobalTensor<int64_t> endsGm_;
    GlobalTensor<T> yGm_;
    const GroupedMatmulTilingData *tiling_ = nullptr;
};

// Vector core number `core` of `cores` writes its part of the zeros from `first` to `last`, in whole blocks of 32 bytes
// counted from `first`; a half counts as two bytes, whatever they mean.
__aicore__ inline void WriteZeros(GM_ADDR y, int64_t first, int64_t last, int64_t core, int64_t cores)
{
    constexpr int64_t block = 16;
    const int64_t blocks = (last - first + block - 1) / block;
    const int64_t share = (blocks + cores - 1) / cores * block;
    const int64_t begin = first + core * share;
    const int64_t end = begin + share < last ? begin + share : last;
    if (begin < end) {
        GlobalTensor<uint16_t> gm;
        gm.SetGlobalBuffer(reinterpret_cast<__gm__ uint16_t *>(y) + begin);
        InitGlobalMemory(gm, static_cast<uint64_t>(end - begin), static_cast<uint16_t>(0));
    }
}

// The rows behind the last group are zeros.
template <typename T>
__aicore__ inline void WriteRest(GM_ADDR ends, GM_ADDR y, const GroupedMatmulTilingData &tiling)
{
    constexpr int64_t halves = sizeof(T) / sizeof(uint16_t);
    GlobalTensor<int64_t> gm;
    gm.SetGlobalBuffer(reinterpret_cast<__gm__ int64_t *>(ends));
    int64_t start = 0;
    for (int64_t group = 0; group < tiling.groups; ++group) {
        start = EndOf(gm, group, start, tiling.rows);
    }
    const int64_t row = tiling.columns * halves;
    WriteZeros(y, start * row, tiling.rows * row, GetBlockIdx(), GetBlockNum() * GetTaskRation());
}

extern "C" __global__ __aicore__ void grouped_matmul(GM_ADDR x, GM_ADDR weight, GM_ADDR group_list, GM_ADDR y,
                                                     GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
    REGISTER_TILING_DEFAULT(GroupedMatmulTilingData);
    GET_TILING_DATA(tilingData, tiling);
    if (TILING_KEY_IS(1)) {
        if (tilingData.rows == 0 || tilingData.columns == 0) {
            return;
        }
        TPipe pipe;
        if ASCEND_IS_AIV {
            WriteRest<DTYPE_Y>(group_list, y, tilingData);
        }
        if ASCEND_IS_AIC {
            KernelGroupedMatmul<DTYPE_X> kernel;
            REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), kernel.matmul, &tilingData.cube);
            kernel.Init(x, weight, group_list, y, &tilingData);
            kernel.Process();
        }
    } else if (TILING_KEY_IS(2)) {
        KERNEL_TASK_TYPE(2, KERNEL_TYPE_AIV_ONLY);
        TPipe pipe;
        constexpr int64_t halves = sizeof(DTYPE_Y) / sizeof(uint16_t);
        const int64_t last = tilingData.rows * tilingData.columns * halves;
        WriteZeros(y, 0, last, GetBlockIdx(), GetBlockNum());
    }
}
