// permute:
// y[i_0, i_1, ...] = x[j_0, j_1, ...] with j[dims[k]] = i[k].
// Elements are moved, not computed, so the kernel knows only their size; TransDataTo5HD does not take bfloat16.
#include "kernel_operator.h"

#include "permute_rows.h"
#include "permute_tiles.h"
#include "permute_tiling.h"

using namespace AscendC;
using namespace permute_permute;

template <size_t SIZE>
struct Word {
    using Type = uint32_t;
};

template <>
struct Word<2> {
    using Type = uint16_t;
};

extern "C" __global__ __aicore__ void permute(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    REGISTER_TILING_DEFAULT(PermuteTilingData);
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    using Element = Word<sizeof(DTYPE_X)>::Type;
    if (TILING_KEY_IS(1)) {
        CopyRows<Element> kernel;
        kernel.Init(x, y, &tilingData, &pipe);
        kernel.Process();
    } else if (TILING_KEY_IS(2)) {
        Tiles<Element> kernel;
        kernel.Init(x, y, &tilingData, &pipe);
        kernel.Process();
    } else if (TILING_KEY_IS(3)) {
        GatherRows<Element> kernel;
        kernel.Init(x, y, &tilingData, &pipe);
        kernel.Process();
    }
}
