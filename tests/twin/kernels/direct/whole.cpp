// The program and its kernel in one file, with a wrapper that nothing guards.
#include "acl/acl.h"
#include "data_utils.h"
#include "twice.h"
#ifdef ASCENDC_CPU_DEBUG
#include "tikicpulib.h"
#endif

extern "C" __global__ __aicore__ void twice_custom(GM_ADDR x, GM_ADDR y);

extern "C" __global__ __aicore__ void twice_custom(GM_ADDR x, GM_ADDR y)
{
    Twice op;
    op.Run(x, y);
}

extern "C" void twice_custom_do(uint32_t blockDim, void *stream, uint8_t *x, uint8_t *y)
{
    twice_custom<<<blockDim, nullptr, stream>>>(x, y);
}

int32_t main(int32_t argc, char *argv[])
{
    size_t bytes = 8 * LENGTH * sizeof(float);
#ifdef ASCENDC_CPU_DEBUG
    uint8_t *x = (uint8_t *)AscendC::GmAlloc(bytes);
    uint8_t *y = (uint8_t *)AscendC::GmAlloc(bytes);
    AscendC::SetKernelMode(KernelMode::AIV_MODE);
    ICPU_RUN_KF(twice_custom, 8, x, y);
    AscendC::GmFree((void *)x);
    AscendC::GmFree((void *)y);
#else
    aclrtStream stream = nullptr;
    uint8_t *x = nullptr, *y = nullptr;
    twice_custom_do(8, stream, x, y);
#endif
    return 0;
}
