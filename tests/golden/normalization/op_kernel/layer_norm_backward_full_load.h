// layer_norm_backward of whole rows: several of them are in UB at a time.
// The weight and the sums over rows stay there.
#ifndef LAYER_NORM_BACKWARD_FULL_LOAD_H
#define LAYER_NORM_BACKWARD_FULL_LOAD_H

#include "row_io.h"
#include "layer_norm_backward_tiling.h"

using namespace row_ops;

template <typename T>
class LayerNormBackwardFullLoad {
public:
    __aicore__ inline void Init(GM_ADDR gradY, GM_ADDR x, GM_ADDR weight, GM_ADDR mean, GM_ADDR rstd, GM_ADDR gradX,
                                GM_ADDR parts, const LayerNormBackwardTilingData *tiling, TPipe *pipe)
    {
        tiling_ = tiling;
        columns_ = static_cast<int32_t>(tiling->columns);
        pitch_ = tiling->pitch;
        rows_ = tiling->tileRows;
        const int32_t elements = rows_ * pitch_;
        const int32_t rowsUp = AlignUp(rows_, BLOCK);  // Brcb reads 8 values at a time
        grad_.Init(gradY, pipe, elements);
        x_.Init(x, pipe, elements);
        mean_.Init(mean, pipe, rowsUp);
        rstd_.Init(rstd, pipe, rowsUp);
        gradX_.Init(gradX, pipe, elements);
        gradWeight_.Init(parts, pipe, pitch_);
        gradBias_.Init(parts, pipe, pitch_);
        pipe->InitBuffer(weighted_, elements * sizeof(float));
        pipe->InitBuffer(products_, elements * sizeof(float));
        pipe->InitBuffer(work_, elements / 2 * sizeof(float));
        pipe->InitBuffer(values_, rowsUp * sizeof(float));
        pipe->InitBuffer(blocks_, 2 * rowsUp * BLOCK_BYTES);
        rstdBlocks_ = blocks_.template Get<float>();
        valueBlocks_ = rstdBlocks_[rowsUp * BLOCK];
        pipe->InitBuffer(parameters_, pitch_ * sizeof(float));
        weight_ = parameters_.template Get<float>();
        LoadConstant(weight_, x_, weight, 1, columns_, pitch_);
    }

    // Computes gradX, and writes this core's part of the sums to its row of the workspace.
    __aicore__ inline void Process()
    {
        const Share share = ShareOfThisCore(tiling_->split);
        sums_ = gradWeight_.Begin(Floats());
        Duplicate(sums_, 0.0f, pitch_);
        biasSums_ = gradBias_.Begin(Floats());
        Duplicate(biasSums_, 0.0f, pitch_);
        PipeBarrier<PIPE_V>();
        for (int64_t row = share.begin; row < share.end; row += rows_) {
            const int32_t rows = Least(share.end - row, rows_);
            const int64_t offset = row * columns_;
            grad_.Copy(offset, rows, columns_, pitch_);
            x_.Copy(offset, rows, columns_, pitch_);
            mean_.Copy(row, 1, rows, AlignUp(rows, BLOCK));
            rstd_.Copy(row, 1, rows, AlignUp(rows, BLOCK));
            Compute(rows);
            gradX_.Copy(offset, rows, columns_, pitch_);
        }
        const int64_t part = GetBlockIdx() * 2 * tiling_->columns;
        gradWeight_.End(sums_, pitch_);
        gradWeight_.Copy(part, 1, columns_, pitch_);
        gradBias_.End(biasSums_, pitch_);
        gradBias_.Copy(part + columns_, 1, columns_, pitch_);
    }

private:
    __aicore__ inline void Compute(int32_t rows)
    {
        const int32_t n = rows * pitch_;
        Floats products = products_.template Get<float>();
        Floats weighted = weighted_.template Get<float>();
        Floats grad = grad_.Take(n);
        Floats x = x_.Take(n);
        Standardize(x, rows);
        ApplyRowToRows<MulOp>(weighted, grad, weight_, rows, pitch_, pitch_);
        PipeBarrier<PIPE_V>();
        Mul(products, weighted, x, n);
        PipeBarrier<PIPE_V>();
        MeanOfRows(products, rows);
        ApplyToRows<MulOp>(products, x, valueBlocks_, rows, pitch_);
        PipeBarrier<PIPE_V>();
        MeanOfRows(weighted, rows);
        ApplyToRows<SubOp>(weighted, weighted, valueBlocks_, rows, pitch_);
        PipeBarrier<PIPE_V>();
        Sub(weighted, weighted, products, n);
        PipeBarrier<PIPE_V>();
        Floats gradX = gradX_.Begin(weighted);
        ApplyToRows<MulOp>(gradX, weighted, rstdBlocks_, rows, pitch_);
        gradX_.End(gradX, n);
        Mul(products, grad, x, n);
        PipeBarrier<PIPE_V>();
        AddRows(sums_, products, rows);
        AddRows(biasSums_, grad, rows);
        grad_.Release();
        x_.Release();
    }

    // x becomes (x - mean) * rstd.
    __aicore__ inline void Standardize(const Floats &x, int32_t rows)
    {
        SpreadOverBlocks(valueBlocks_, mean_.Take(rows), rows);
        mean_.Release();
        ApplyToRows<SubOp>(x, x, valueBlocks_, rows, pitch_);
        PipeBarrier<PIPE_V>();
        SpreadOverBlocks(rstdBlocks_, rstd_.Take(rows), rows);
        rstd_.Release();
        ApplyToRows<MulOp>(x, x, rstdBlocks_, rows, pitch_);
        PipeBarrier<PIPE_V>();
    }

    // The mean of each row, over one block.
    __aicore__ inline void MeanOfRows(const Floats &x, int32_t rows)
    {
        Floats values = values_.template Get<float>();
        if (columns_ > LANES) {
            PadRows(x, 0.0f, rows, columns_, pitch_);
        }
        ReduceRows<SumOp>(values, x, work_.template Get<float>(), rows, columns_, pitch_);
        Muls(values, values, 1.0f / static_cast<float>(columns_), rows);
        PipeBarrier<PIPE_V>();
        SpreadOverBlocks(valueBlocks_, values, rows);
    }

    // Adds the rows of x, which are folded in place, as a tree, to the sums.
    __aicore__ inline void AddRows(const Floats &sums, const Floats &x, int32_t rows)
    {
        for (; rows > 1; rows -= rows / 2) {
            const int32_t half = rows / 2;
            Add(x, x, x[(rows - half) * pitch_], half * pitch_);
            PipeBarrier<PIPE_V>();
        }
        Add(sums, sums, x, pitch_);
        PipeBarrier<PIPE_V>();
    }

    RowsIn<T> grad_;
    RowsIn<T> x_;
    RowsIn<float, 1> mean_;
    RowsIn<float, 1> rstd_;
    RowsOut<T> gradX_;
    RowsOut<float, 1> gradWeight_;  // this core's part
    RowsOut<float, 1> gradBias_;
    TBuf<TPosition::VECCALC> weighted_;  // grad_y * weight
    TBuf<TPosition::VECCALC> products_;
    TBuf<TPosition::VECCALC> work_;      // for folding
    TBuf<TPosition::VECCALC> values_;
    TBuf<TPosition::VECCALC> blocks_;
    TBuf<TPosition::VECCALC> parameters_;
    Floats rstdBlocks_;   // of each row, over one block
    Floats valueBlocks_;
    Floats weight_;
    Floats sums_;
    Floats biasSums_;
    const LayerNormBackwardTilingData *tiling_ = nullptr;
    int32_t columns_ = 0;
    int32_t pitch_ = 0;
    int32_t rows_ = 0;
};

#endif
