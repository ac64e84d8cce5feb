// A helper that several kernels share: what is wrong here is wrong in the call.
#pragma once
#include "kernel_operator.h"

template <typename T>
__aicore__ inline void CopyOut(const AscendC::GlobalTensor<T> &to, const AscendC::LocalTensor<T> &from, uint32_t count) {
    AscendC::DataCopy(to, from, count);
}

template <typename T>
__attribute__((noinline)) __aicore__ void Fill(const AscendC::LocalTensor<T> &local, uint32_t count) {
    AscendC::Duplicate(local, static_cast<T>(3), count);
}
