// layer_norm_backward:
// g = grad_y * weight, h = (x - mean) * rstd, grad_x = (g - mean(g) - h * mean(g * h)) * rstd; sums over rows.
// The arithmetic is fp32; fp16 and bf16 are cast on the way in and rounded once on the way out. Every core sums over
// its own rows; the parts meet in the workspace, and each core adds up some columns of them.
#include "kernel_operator.h"

#include "column_sums.h"
#include "layer_norm_backward_full_load.h"
#include "layer_norm_backward_split.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void layer_norm_backward(GM_ADDR grad_y, GM_ADDR x, GM_ADDR weight, GM_ADDR mean,
                                                          GM_ADDR rstd, GM_ADDR grad_x, GM_ADDR grad_weight,
                                                          GM_ADDR grad_bias, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);  // SyncAll
    REGISTER_TILING_DEFAULT(LayerNormBackwardTilingData);
    GET_TILING_DATA(tilingData, tiling);
    using T = DTYPE_GRAD_Y;
    GM_ADDR parts = GetUserWorkspace(workspace);
    TPipe pipe;
    if (TILING_KEY_IS(1)) {
        LayerNormBackwardFullLoad<T> kernel;
        kernel.Init(grad_y, x, weight, mean, rstd, grad_x, parts, &tilingData, &pipe);
        kernel.Process();
    } else if (TILING_KEY_IS(2)) {
        LayerNormBackwardSplit<T> kernel;
        kernel.Init(grad_y, x, weight, mean, rstd, grad_x, parts, &tilingData, &pipe);
        kernel.Process();
    }
    MeetAllCores(&pipe);
    ColumnSums<T> sums;
    sums.Init(parts, GetBlockNum(), 2 * tilingData.columns, tilingData.columns, &pipe);
    sums.Run(grad_weight, 0);
    sums.Run(grad_bias, tilingData.columns);
}
