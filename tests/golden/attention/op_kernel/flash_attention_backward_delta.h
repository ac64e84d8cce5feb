// What flash_attention_backward takes off the slopes of a query: sum_d out * grad_out - grad_lse.
#ifndef FLASH_ATTENTION_BACKWARD_DELTA_H
#define FLASH_ATTENTION_BACKWARD_DELTA_H

#include "kernel_operator.h"

#include "row_io.h"
#include "flash_attention_backward_tiling.h"

using namespace AscendC;
using namespace row_ops;

template <typename T>
class FlashAttentionBackwardDelta {
public:
    __aicore__ inline void Init(GM_ADDR out, GM_ADDR gradOut, GM_ADDR gradLse, GM_ADDR deltas,
                                const FlashAttentionBackwardTilingData *tiling, TPipe *pipe)
    {
        tiling_ = tiling;
        size_ = tiling->size;
        pitch_ = AlignUp(size_, size_ <= LANES ? static_cast<int32_t>(BLOCK_BYTES / sizeof(T)) : LANES);
        const int32_t elements = AlignUp(tiling->deltaRows * pitch_, LANES);
        const int32_t rows = AlignUp(tiling->deltaRows, BLOCK);
        out_.Init(out, pipe, elements);
        grad_.Init(gradOut, pipe, elements);
        gradLse_.Init(gradLse, pipe, rows);
        deltas_.Init(deltas, pipe, rows);
        pipe->InitBuffer(work_, elements / 2 * sizeof(float));
    }

    __aicore__ inline void Process()
    {
        const Share share = ShareOfThisCore(tiling_->deltas);
        for (int64_t row = share.begin; row < share.end; row += tiling_->deltaRows) {
            const int32_t rows = Least(share.end - row, tiling_->deltaRows);
            out_.Copy(row * size_, rows, size_, pitch_);
            grad_.Copy(row * size_, rows, size_, pitch_);
            gradLse_.Copy(row, 1, rows, AlignUp(rows, BLOCK));
            Compute(rows);
            deltas_.Copy(row, 1, rows, AlignUp(rows, BLOCK));
        }
    }

private:
    __aicore__ inline void Compute(int32_t rows)
    {
        Floats x = out_.Take(rows * pitch_);
        Floats grad = grad_.Take(rows * pitch_);
        Mul(x, x, grad, rows * pitch_);
        PipeBarrier<PIPE_V>();
        grad_.Release();
        if (size_ > LANES) {
            PadRows(x, 0.0f, rows, size_, pitch_);
        }
        Floats y = deltas_.Begin(Floats());
        ReduceRows<SumOp>(y, x, work_.Get<float>(), rows, size_, pitch_);
        out_.Release();
        Sub(y, y, gradLse_.Take(rows), rows);
        PipeBarrier<PIPE_V>();
        gradLse_.Release();
        deltas_.End(y, rows);
    }

    RowsIn<T> out_;
    RowsIn<T> grad_;
    RowsIn<float> gradLse_;
    RowsOut<float> deltas_;
    TBuf<TPosition::VECCALC> work_;  // for folding
    const FlashAttentionBackwardTilingData *tiling_ = nullptr;
    int32_t size_ = 0;
    int32_t pitch_ = 0;
};

#endif
