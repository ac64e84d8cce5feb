// What leaves a vector core of flash_attention: rows of results or weights, and the statistics of a tile.
#ifndef FLASH_ATTENTION_OUTPUT_H
#define FLASH_ATTENTION_OUTPUT_H

#include "kernel_operator.h"

#include "row_io.h"
#include "flash_attention_tiling.h"

using namespace AscendC;
using namespace row_ops;

template <typename T>
class FlashAttentionOutput {
public:
    __aicore__ inline void Init(GM_ADDR out, GM_ADDR lse, const FlashAttentionTilingData *tiling, TPipe *pipe)
    {
        size_ = tiling->size;
        pitch_ = AlignUp(size_, FRACTAL);
        outGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(out));
        lseGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(lse));
        pipe->InitBuffer(rows_, BUFFERS, tiling->slice * sizeof(T));
        pipe->InitBuffer(statistics_, 1, tiling->tileRows * sizeof(float));
    }

    // out = sums / total, for the queries from `query` on; x is overwritten, `spread` has a block for each row.
    __aicore__ inline void WriteResult(int64_t query, const Floats &x, const Floats &sums, const Floats &total,
                                       const Floats &spread, int32_t rows)
    {
        SpreadOverBlocks(spread, total, rows);
        ApplyToRows<DivOp>(x, sums, spread, rows, pitch_);
        PipeBarrier<PIPE_V>();
        WriteRows(outGm_[query * size_], x, rows, size_, pitch_, 0);
    }

    template <typename Out>
    __aicore__ inline void WriteRows(const GlobalTensor<Out> &to, const Floats &x, int32_t rows, int32_t length,
                                     int32_t pitch, int64_t gap)
    {
        LocalTensor<Out> y = rows_.template AllocTensor<Out>();
        if constexpr (IsSameType<Out, float>::value) {
            Muls(y, x, 1.0f, rows * pitch);
        } else {
            Cast(y, x, RoundMode::CAST_RINT, rows * pitch);
        }
        rows_.EnQue(y);
        y = rows_.template DeQue<Out>();
        CopyRowsOut(to, y, rows, length, pitch, gap);
        rows_.FreeTensor(y);
    }

    // lse = maximum + log of the sum
    __aicore__ inline void WriteSums(int64_t query, const Floats &peak, const Floats &total, const Floats &spare,
                                     int32_t rows)
    {
        Ln(spare, total, rows);
        PipeBarrier<PIPE_V>();
        Add(spare, spare, peak, rows);
        PipeBarrier<PIPE_V>();
        WriteStatistics(lseGm_[query], spare, rows);
    }

    __aicore__ inline void WriteStatistics(const GlobalTensor<float> &to, const Floats &x, int32_t rows)
    {
        LocalTensor<float> y = statistics_.AllocTensor<float>();
        Muls(y, x, 1.0f, rows);
        statistics_.EnQue(y);
        y = statistics_.DeQue<float>();
        CopyRowsOut(to, y, 1, rows, AlignUp(rows, BLOCK));
        statistics_.FreeTensor(y);
    }

private:
    static constexpr int32_t FRACTAL = 16;

    GlobalTensor<T> outGm_;
    GlobalTensor<float> lseGm_;
    TQue<TPosition::VECOUT, BUFFERS> rows_;
    TQue<TPosition::VECOUT, 1> statistics_;
    int32_t size_ = 0;
    int32_t pitch_ = 0;
};

#endif
