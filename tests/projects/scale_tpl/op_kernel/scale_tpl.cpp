#include "kernel_operator.h"
#include "scale_tpl_tiling.h"
#include "scale_tpl_tiling_key.h"
using namespace AscendC;

template <uint32_t FACTOR, bool NEGATE>
__global__ __aicore__ void scale_tpl(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    REGISTER_TILING_DEFAULT(ScaleTplTilingData);
    GET_TILING_DATA(data, tiling);
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> in;
    TQue<QuePosition::VECOUT, 1> out;
    const uint32_t bytes = data.length * sizeof(DTYPE_X);
    pipe.InitBuffer(in, 1, (bytes + 31) / 32 * 32);
    pipe.InitBuffer(out, 1, (bytes + 31) / 32 * 32);
    GlobalTensor<DTYPE_X> xGm, yGm;
    xGm.SetGlobalBuffer((__gm__ DTYPE_X *)x);
    yGm.SetGlobalBuffer((__gm__ DTYPE_Y *)y);
    LocalTensor<DTYPE_X> a = in.AllocTensor<DTYPE_X>();
    DataCopyPad(a, xGm, {1, bytes, 0, 0, 0}, {false, 0, 0, 0});
    in.EnQue(a);
    a = in.DeQue<DTYPE_X>();
    LocalTensor<DTYPE_X> b = out.AllocTensor<DTYPE_X>();
    Muls(b, a, static_cast<DTYPE_X>(NEGATE ? -static_cast<float>(FACTOR) : static_cast<float>(FACTOR)), static_cast<int32_t>(data.length));
    in.FreeTensor(a);
    out.EnQue(b);
    b = out.DeQue<DTYPE_X>();
    DataCopyPad(yGm, b, {1, bytes, 0, 0, 0});
    out.FreeTensor(b);
}
