// Rows of int8 between GM and UB, as fp32 for the arithmetic. There is no instruction between int8 and fp32: the way is
// over half, which holds every int8.
#ifndef INT8_ROWS_H
#define INT8_ROWS_H

#include "row_io.h"

namespace row_ops {
class Int8In {
public:
    __aicore__ inline void Init(GM_ADDR address, TPipe *pipe, int32_t elements)
    {
        gm_.SetGlobalBuffer(reinterpret_cast<__gm__ int8_t *>(address));
        pipe->InitBuffer(queue_, BUFFERS, elements);
        pipe->InitBuffer(half_, elements * sizeof(half));
    }

    __aicore__ inline void Copy(int64_t offset, int32_t rows, int32_t length, int32_t pitch, int64_t gap)
    {
        LocalTensor<int8_t> tile = queue_.AllocTensor<int8_t>();
        CopyRowsIn(tile, gm_[offset], rows, length, pitch, gap);
        queue_.EnQue(tile);
    }

    // The first n elements of the oldest tile, written to `to`.
    __aicore__ inline void Take(const Floats &to, int32_t n)
    {
        LocalTensor<int8_t> tile = queue_.DeQue<int8_t>();
        LocalTensor<half> halves = half_.Get<half>();
        Cast(halves, tile, RoundMode::CAST_NONE, n);
        queue_.FreeTensor(tile);
        PipeBarrier<PIPE_V>();
        Cast(to, halves, RoundMode::CAST_NONE, n);
        PipeBarrier<PIPE_V>();
    }

private:
    GlobalTensor<int8_t> gm_;
    TQue<TPosition::VECIN, BUFFERS> queue_;
    TBuf<TPosition::VECCALC> half_;
};

class Int8Out {
public:
    __aicore__ inline void Init(GM_ADDR address, TPipe *pipe, int32_t elements)
    {
        gm_.SetGlobalBuffer(reinterpret_cast<__gm__ int8_t *>(address));
        pipe->InitBuffer(queue_, BUFFERS, elements);
        pipe->InitBuffer(whole_, elements * sizeof(int16_t));
    }

    // Rounds n elements to whole numbers, ties to even, clamps them to int8, and hands them to the queue. x is
    // overwritten. The clamp comes first, so that int16 holds the result exactly.
    __aicore__ inline void Put(const Floats &x, int32_t n)
    {
        LocalTensor<int8_t> tile = queue_.AllocTensor<int8_t>();
        LocalTensor<int16_t> whole = whole_.Get<int16_t>();
        LocalTensor<half> halves = x.ReinterpretCast<half>();
        Mins(x, x, 127.0f, n);
        PipeBarrier<PIPE_V>();
        Maxs(x, x, -128.0f, n);
        PipeBarrier<PIPE_V>();
        Cast(whole, x, RoundMode::CAST_RINT, n);
        PipeBarrier<PIPE_V>();
        Cast(halves, whole, RoundMode::CAST_NONE, n);
        PipeBarrier<PIPE_V>();
        Cast(tile, halves, RoundMode::CAST_NONE, n);
        PipeBarrier<PIPE_V>();
        queue_.EnQue(tile);
    }

    __aicore__ inline void Copy(int64_t offset, int32_t rows, int32_t length, int32_t pitch, int64_t gap = 0)
    {
        LocalTensor<int8_t> tile = queue_.DeQue<int8_t>();
        CopyRowsOut(gm_[offset], tile, rows, length, pitch, gap);
        queue_.FreeTensor(tile);
    }

private:
    GlobalTensor<int8_t> gm_;
    TQue<TPosition::VECOUT, BUFFERS> queue_;
    TBuf<TPosition::VECCALC> whole_;
};
}  // namespace row_ops

#endif
