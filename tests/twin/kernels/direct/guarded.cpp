#include "twice.h"
extern "C" __global__ __aicore__ void twice_custom(GM_ADDR x, GM_ADDR y)
{
    Twice op;
    op.Run(x, y);
}

#ifndef ASCENDC_CPU_DEBUG
void twice_custom_do(uint32_t blockDim, void *stream, uint8_t *x, uint8_t *y)
{
    twice_custom<<<blockDim, nullptr, stream>>>(x, y);
}
#endif
