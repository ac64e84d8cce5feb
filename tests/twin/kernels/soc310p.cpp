// A kernel for Ascend 310P, which has no DataCopyPad; -DPAD uses it anyway.
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void copy_310p(GM_ADDR xAddr, GM_ADDR yAddr, uint32_t n) {
    GlobalTensor<half> x, y;
    x.SetGlobalBuffer((__gm__ half *)xAddr, n);
    y.SetGlobalBuffer((__gm__ half *)yAddr, n);
    TPipe pipe;
    TBuf<TPosition::VECCALC> buf;
    pipe.InitBuffer(buf, 240 * 1024);
    LocalTensor<half> a = buf.Get<half>();
#ifdef PAD
    DataCopyPad(a, x, {1, (uint32_t)(n * sizeof(half)), 0, 0, 0}, {false, 0, 0, 0});
#elif defined(RAW_PAD)
    DataCopyPadGm2UBImpl((__ubuf__ half *)a.GetPhyAddr(), (__gm__ half *)xAddr, DataCopyExtParams{1, (uint32_t)(n * sizeof(half)), 0, 0, 0}, DataCopyPadExtParams<half>{false, 0, 0, 0});
#else
    DataCopy(a, x, n);
#endif
#ifdef BFLOAT
    LocalTensor<bfloat16_t> b = buf.Get<bfloat16_t>();  // no error before it is used: kernels name types in branches that are dropped
    GlobalTensor<bfloat16_t> z;
    DataCopy(b, z, n);
#endif
    Duplicate(a[a.GetSize() - 128], static_cast<half>(0), 128);
    PipeBarrier<PIPE_ALL>();
    DataCopy(y, a, n);
#if !defined(ANY_SOC) && (__CCE_AICORE__ != 200 || __NPU_ARCH__ != 2002)
#error "not the macros of 310P"
#endif
}
