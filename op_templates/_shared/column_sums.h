// Results that are added up from parts: each core writes the parts that it has to the workspace, all cores meet, and
// then each adds up some columns in the order of the parts, so that every run has the same bits.
#ifndef COLUMN_SUMS_H
#define COLUMN_SUMS_H

#include "row_io.h"

namespace row_ops {
// The parts are `rows` rows of `pitch` fp32 elements. Needs UB to itself: the pipe was reset.
template <typename T>
class ColumnSums {
public:
    static constexpr int32_t WIDTH = 256;  // columns of one work item
    static constexpr int32_t HEIGHT = 64;  // parts that are in UB at a time

    __aicore__ inline void Init(GM_ADDR parts, int64_t rows, int64_t pitch, int64_t columns, TPipe *pipe)
    {
        rows_ = rows;
        pitch_ = pitch;
        columns_ = columns;
        parts_.Init(parts, pipe, Least(rows > 0 ? rows : 1, HEIGHT) * WIDTH);
        pipe->InitBuffer(sums_, WIDTH * sizeof(float));
        pipe->InitBuffer(out_, BUFFERS, WIDTH * sizeof(T));
    }

    // sums[c] = sum over all parts of their column first + c.
    __aicore__ inline void Run(GM_ADDR sums, int64_t first)
    {
        GlobalTensor<T> to;
        to.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(sums));
        const int64_t cores = GetBlockNum();
        for (int64_t column = GetBlockIdx() * WIDTH; column < columns_; column += cores * WIDTH) {
            const int32_t width = Least(columns_ - column, WIDTH);
            const int32_t padded = AlignUp(width, BLOCK_BYTES / sizeof(T));
            Floats total = AddUp(first + column, width, padded);
            LocalTensor<T> tile = out_.template AllocTensor<T>();
            if constexpr (IsSameType<T, float>::value) {
                Muls(tile, total, 1.0f, padded);
            } else {
                Cast(tile, total, RoundMode::CAST_RINT, padded);
            }
            out_.EnQue(tile);
            PipeBarrier<PIPE_V>();  // the next columns overwrite the sums
            tile = out_.template DeQue<T>();
            CopyRowsOut(to[column], tile, 1, width, padded);
            out_.FreeTensor(tile);
        }
    }

private:
    // The parts that are in UB as a tree, one group of them after the other.
    __aicore__ inline Floats AddUp(int64_t column, int32_t width, int32_t padded)
    {
        Floats total = sums_.Get<float>();
        Duplicate(total, 0.0f, padded);
        PipeBarrier<PIPE_V>();
        for (int64_t row = 0; row < rows_; row += HEIGHT) {
            int32_t rows = Least(rows_ - row, HEIGHT);
            parts_.Copy(row * pitch_ + column, rows, width, padded, pitch_ - width);
            Floats x = parts_.Take(rows * padded);
            for (; rows > 1; rows -= rows / 2) {
                const int32_t half = rows / 2;
                Add(x, x, x[(rows - half) * padded], half * padded);
                PipeBarrier<PIPE_V>();
            }
            Add(total, total, x, padded);
            PipeBarrier<PIPE_V>();
            parts_.Release();
        }
        return total;
    }

    RowsIn<float> parts_;
    TQue<TPosition::VECOUT, BUFFERS> out_;
    TBuf<TPosition::VECCALC> sums_;
    int64_t rows_ = 0;
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
