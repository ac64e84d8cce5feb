// Results that every core has a part of: each core writes its part to the workspace, all cores meet, and then each adds
// up some columns in the order of the cores, so that every run has the same bits.
#ifndef COLUMN_SUMS_H
#define COLUMN_SUMS_H

#include "row_io.h"

namespace row_ops {
// The parts are rows of `pitch` fp32 elements, one for each core. Needs UB to itself: the pipe was reset.
template <typename T>
class ColumnSums {
public:
    static constexpr int32_t WIDTH = 256;  // columns of one work item

    __aicore__ inline void Init(GM_ADDR parts, int64_t pitch, int64_t columns, TPipe *pipe)
    {
        pitch_ = pitch;
        columns_ = columns;
        parts_.Init(parts, pipe, static_cast<int32_t>(GetBlockNum()) * WIDTH);
        pipe->InitBuffer(out_, BUFFERS, WIDTH * sizeof(T));
    }

    // sums[c] = sum over all cores of column first + c of their parts.
    __aicore__ inline void Run(GM_ADDR sums, int64_t first)
    {
        GlobalTensor<T> to;
        to.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(sums));
        const int64_t cores = GetBlockNum();
        for (int64_t column = GetBlockIdx() * WIDTH; column < columns_; column += cores * WIDTH) {
            const int32_t width = Least(columns_ - column, WIDTH);
            const int32_t padded = AlignUp(width, BLOCK_BYTES / sizeof(T));
            parts_.Copy(first + column, static_cast<int32_t>(cores), width, padded, pitch_ - width);
            Floats x = parts_.Take(static_cast<int32_t>(cores) * padded);
            for (int32_t rows = static_cast<int32_t>(cores); rows > 1; rows -= rows / 2) {
                const int32_t half = rows / 2;
                Add(x, x, x[(rows - half) * padded], half * padded);
                PipeBarrier<PIPE_V>();
            }
            LocalTensor<T> tile = out_.template AllocTensor<T>();
            if constexpr (IsSameType<T, float>::value) {
                Muls(tile, x, 1.0f, padded);
            } else {
                Cast(tile, x, RoundMode::CAST_RINT, padded);
            }
            out_.EnQue(tile);
            parts_.Release();
            tile = out_.template DeQue<T>();
            CopyRowsOut(to[column], tile, 1, width, padded);
            out_.FreeTensor(tile);
        }
    }

private:
    RowsIn<float> parts_;
    TQue<TPosition::VECOUT, BUFFERS> out_;
    int64_t pitch_ = 0;
    int64_t columns_ = 0;
};

// Waits until all cores have written their parts, and frees UB.
__aicore__ inline void MeetAllCores(TPipe *pipe)
{
    PipeBarrier<PIPE_ALL>();
    SyncAll();
    pipe->Reset();
}
}  // namespace row_ops

#endif
