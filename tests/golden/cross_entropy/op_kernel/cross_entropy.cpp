// cross_entropy:
// lse[i] = ln(sum_j e^x[i, j]), loss[i] = lse[i] - x[i, target[i]], 0 where target[i] is ignore_index.
// The arithmetic and the results are fp32; fp16 and bf16 are cast on the way in.
#include "kernel_operator.h"

#include "cross_entropy_full_load.h"
#include "cross_entropy_split.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cross_entropy(GM_ADDR x, GM_ADDR target, GM_ADDR loss, GM_ADDR lse,
                                                    GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    REGISTER_TILING_DEFAULT(CrossEntropyTilingData);
    GET_TILING_DATA(tilingData, tiling);
    (void)workspace;
    TPipe pipe;
    if (TILING_KEY_IS(1)) {
        CrossEntropyFullLoad<DTYPE_X> kernel;
        kernel.Init(x, target, loss, lse, &tilingData, &pipe);
        kernel.Process();
    } else if (TILING_KEY_IS(2)) {
        CrossEntropySplit<DTYPE_X> kernel;
        kernel.Init(x, target, loss, lse, &tilingData, &pipe);
        kernel.Process();
    }
}
