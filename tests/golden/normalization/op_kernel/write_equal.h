// Outputs that are one value all over.
#ifndef WRITE_EQUAL_H
#define WRITE_EQUAL_H

#include "row_io.h"

namespace row_ops {
// The vector cores share out n elements that are all equal, in whole blocks of 32 bytes, so that no two cores write
// into the same one.
template <typename T>
__aicore__ inline void WriteEqual(GM_ADDR to, int64_t n, T value)
{
    constexpr int64_t block = BLOCK_BYTES / sizeof(T);
    const int64_t blocks = (n + block - 1) / block;
    const int64_t share = (blocks + GetBlockNum() - 1) / GetBlockNum() * block;
    const int64_t begin = GetBlockIdx() * share;
    const int64_t end = begin + share < n ? begin + share : n;
    if (begin < end) {
        GlobalTensor<T> gm;
        gm.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(to) + begin);
        InitGlobalMemory(gm, static_cast<uint64_t>(end - begin), value);
    }
}
}  // namespace row_ops

#endif
