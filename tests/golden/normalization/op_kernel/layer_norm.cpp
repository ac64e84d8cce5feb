// layer_norm:
// y[i, j] = (x[i, j] - mean[i]) * rstd[i] * weight[j] + bias[j], rstd[i] = 1 / sqrt(variance of row i + eps).
// The arithmetic is fp32; fp16 and bf16 are cast on the way in and rounded once on the way out.
#include "kernel_operator.h"

#include "layer_norm_full_load.h"
#include "layer_norm_split.h"
#include "write_equal.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void layer_norm(GM_ADDR x, GM_ADDR weight, GM_ADDR bias, GM_ADDR y, GM_ADDR mean,
                                                 GM_ADDR rstd, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    REGISTER_TILING_DEFAULT(LayerNormTilingData);
    GET_TILING_DATA(tilingData, tiling);
    (void)workspace;
    TPipe pipe;
    if (TILING_KEY_IS(1)) {
        LayerNormFullLoad<DTYPE_X> kernel;
        kernel.Init(x, weight, bias, y, mean, rstd, &tilingData, &pipe);
        kernel.Process();
    } else if (TILING_KEY_IS(2)) {
        LayerNormSplit<DTYPE_X> kernel;
        kernel.Init(x, weight, bias, y, mean, rstd, &tilingData, &pipe);
        kernel.Process();
    } else if (TILING_KEY_IS(3)) {
        WriteEqual<float>(mean, tilingData.rows, 0.0f);
        WriteEqual<float>(rstd, tilingData.rows, NOT_A_NUMBER);
    }
}
