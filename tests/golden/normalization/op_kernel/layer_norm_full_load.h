// layer_norm of whole rows: several of them are in UB at a time, and the parameters stay there.
#ifndef LAYER_NORM_FULL_LOAD_H
#define LAYER_NORM_FULL_LOAD_H

#include "row_io.h"
#include "layer_norm_tiling.h"

using namespace row_ops;

template <typename T>
class LayerNormFullLoad {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR weight, GM_ADDR bias, GM_ADDR y, GM_ADDR mean, GM_ADDR rstd,
                                const LayerNormTilingData *tiling, TPipe *pipe)
    {
        tiling_ = tiling;
        columns_ = static_cast<int32_t>(tiling->columns);
        pitch_ = tiling->pitch;
        rows_ = tiling->tileRows;
        const int32_t elements = rows_ * pitch_;
        const int32_t rowsUp = AlignUp(rows_, BLOCK);  // Brcb reads 8 values at a time
        x_.Init(x, pipe, elements);
        y_.Init(y, pipe, elements);
        mean_.Init(mean, pipe, rowsUp);
        rstd_.Init(rstd, pipe, rowsUp);
        pipe->InitBuffer(values_, rowsUp * sizeof(float));
        pipe->InitBuffer(blocks_, rowsUp * BLOCK_BYTES);
        pipe->InitBuffer(work_, elements / 2 * sizeof(float));
        if constexpr (!RowsIn<T>::DIRECT) {
            pipe->InitBuffer(squares_, elements * sizeof(float));
        }
        pipe->InitBuffer(parameters_, 2 * pitch_ * sizeof(float));
        weight_ = parameters_.template Get<float>();
        bias_ = weight_[pitch_];
        LoadConstant(weight_, x_, weight, 1, columns_, pitch_);
        LoadConstant(bias_, x_, bias, 1, columns_, pitch_);
    }

    __aicore__ inline void Process()
    {
        const Share share = ShareOfThisCore(tiling_->split);
        for (int64_t row = share.begin; row < share.end; row += rows_) {
            const int32_t rows = Least(share.end - row, rows_);
            const int64_t offset = row * columns_;
            x_.Copy(offset, rows, columns_, pitch_);
            Compute(rows);
            mean_.Copy(row, 1, rows, AlignUp(rows, BLOCK));
            rstd_.Copy(row, 1, rows, AlignUp(rows, BLOCK));
            y_.Copy(offset, rows, columns_, pitch_);
        }
    }

private:
    __aicore__ inline void Compute(int32_t rows)
    {
        const int32_t n = rows * pitch_;
        Floats blocks = blocks_.template Get<float>();
        Floats x = x_.Take(n);
        Floats y = y_.Begin(x);
        Floats mean = mean_.Begin(Floats());
        Mean(mean, x, rows);
        SpreadOverBlocks(blocks, mean, rows);
        mean_.End(mean, rows);
        ApplyToRows<SubOp>(y, x, blocks, rows, pitch_);
        PipeBarrier<PIPE_V>();
        Floats rstd = Normalize(y, Squares(x), rows);  // an fp32 x is not needed any more
        SpreadOverBlocks(blocks, rstd, rows);
        ApplyToRows<MulOp>(y, y, blocks, rows, pitch_);
        rstd_.End(rstd, rows);
        x_.Release();
        ApplyRowToRows<MulOp>(y, y, weight_, rows, pitch_, pitch_);
        PipeBarrier<PIPE_V>();
        ApplyRowToRows<SumOp>(y, y, bias_, rows, pitch_, pitch_);
        y_.End(y, n);
    }

    // Where the squares go: fp32 tensors have a buffer of a queue to spare.
    __aicore__ inline Floats Squares(const Floats &spare)
    {
        if constexpr (RowsIn<T>::DIRECT) {
            return spare;
        } else {
            return squares_.template Get<float>();
        }
    }

    __aicore__ inline void Mean(const Floats &mean, const Floats &x, int32_t rows)
    {
        if (columns_ > LANES) {
            PadRows(x, 0.0f, rows, columns_, pitch_);
        }
        ReduceRows<SumOp>(mean, x, work_.template Get<float>(), rows, columns_, pitch_);
        Muls(mean, mean, 1.0f / static_cast<float>(columns_), rows);
        PipeBarrier<PIPE_V>();
    }

    // 1 / sqrt(mean of x * x + eps) of each row, in the queue of rstd.
    __aicore__ inline Floats Normalize(const Floats &x, const Floats &squares, int32_t rows)
    {
        Floats values = values_.template Get<float>();
        Floats rstd = rstd_.Begin(Floats());
        if (columns_ > LANES) {
            PadRows(x, 0.0f, rows, columns_, pitch_);
        }
        Mul(squares, x, x, rows * pitch_);
        PipeBarrier<PIPE_V>();
        ReduceRows<SumOp>(values, squares, work_.template Get<float>(), rows, columns_, pitch_);
        Muls(values, values, 1.0f / static_cast<float>(columns_), rows);
        PipeBarrier<PIPE_V>();
        ReciprocalRoot(rstd, values, tiling_->eps, rows);
        return rstd;
    }

    RowsIn<T> x_;
    RowsOut<float> mean_;
    RowsOut<T> y_;
    RowsOut<float> rstd_;
    TBuf<TPosition::VECCALC> values_;   // mean square of each row
    TBuf<TPosition::VECCALC> blocks_;   // a value of each row, over one block
    TBuf<TPosition::VECCALC> work_;     // for folding
    TBuf<TPosition::VECCALC> squares_;  // of 16-bit tensors
    TBuf<TPosition::VECCALC> parameters_;
    Floats weight_;
    Floats bias_;
    const LayerNormTilingData *tiling_ = nullptr;
    int32_t columns_ = 0;
    int32_t pitch_ = 0;
    int32_t rows_ = 0;
};

#endif
