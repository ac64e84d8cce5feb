// cumsum:
// y[..., j, ...] = sum of x[..., i, ...] over i <= j, along one dim.
// The arithmetic is fp32; fp16 and bf16 are cast on the way in and rounded once on the way out.
#include "kernel_operator.h"

#include "cumsum_along_rows.h"
#include "cumsum_down_columns.h"
#include "cumsum_tiling.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cumsum(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    REGISTER_TILING_DEFAULT(CumsumTilingData);
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    if (TILING_KEY_IS(1)) {
        cumsum_scan::AlongRows<DTYPE_X> kernel;
        kernel.Init(x, y, &tilingData, &pipe);
        kernel.ProcessRows();
    } else if (TILING_KEY_IS(2)) {
        cumsum_scan::AlongRows<DTYPE_X> kernel;
        kernel.Init(x, y, &tilingData, &pipe);
        kernel.ProcessParts();
    } else if (TILING_KEY_IS(3)) {
        cumsum_scan::DownColumns<DTYPE_X> kernel;
        kernel.Init(x, y, &tilingData, &pipe);
        kernel.Process();
    }
}
