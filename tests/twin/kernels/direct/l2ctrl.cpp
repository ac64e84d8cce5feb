#include "twice.h"
extern "C" __global__ __aicore__ void twice_custom(GM_ADDR x, GM_ADDR y)
{
    Twice op;
    op.Run(x, y);
}

#ifndef __CCE_KT_TEST__
void twice_custom_do(uint32_t blockDim, void *l2ctrl, void *stream, uint8_t *x, uint8_t *y)
{
    twice_custom<<<blockDim, l2ctrl, stream>>>(x, y);
}
#endif
