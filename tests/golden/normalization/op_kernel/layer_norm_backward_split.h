// layer_norm_backward of rows that are larger than UB.
// A first pass finds the means of a row chunk by chunk, a second one reads it again. The sums over rows do not fit UB
// either: each core adds to its own row of the workspace, in the order of its rows.
#ifndef LAYER_NORM_BACKWARD_SPLIT_H
#define LAYER_NORM_BACKWARD_SPLIT_H

#include "row_io.h"
#include "layer_norm_backward_tiling.h"

using namespace row_ops;

template <typename T>
class LayerNormBackwardSplit {
public:
    __aicore__ inline void Init(GM_ADDR gradY, GM_ADDR x, GM_ADDR weight, GM_ADDR mean, GM_ADDR rstd, GM_ADDR gradX,
                                GM_ADDR parts, const LayerNormBackwardTilingData *tiling, TPipe *pipe)
    {
        tiling_ = tiling;
        chunk_ = tiling->chunk;
        grad_.Init(gradY, pipe, chunk_);
        x_.Init(x, pipe, chunk_);
        weight_.Init(weight, pipe, chunk_);
        mean_.Init(mean, pipe, BLOCK);
        rstd_.Init(rstd, pipe, BLOCK);
        gradX_.Init(gradX, pipe, chunk_);
        gradWeight_.Init(parts, pipe, chunk_);
        gradBias_.Init(parts, pipe, chunk_);
        pipe->InitBuffer(weighted_, chunk_ * sizeof(float));
        pipe->InitBuffer(products_, chunk_ * sizeof(float));
        pipe->InitBuffer(work_, chunk_ / 2 * sizeof(float));
        pipe->InitBuffer(lanes_, 7 * LANES * sizeof(float));  // Brcb writes 8 blocks
        rstdBlock_ = lanes_.template Get<float>();
        slope_ = rstdBlock_[LANES];
        slopeSums_ = rstdBlock_[2 * LANES];
        value_ = rstdBlock_[3 * LANES];
        meanBlock_ = rstdBlock_[4 * LANES];
        shift_ = rstdBlock_[5 * LANES];
        shiftSums_ = rstdBlock_[6 * LANES];
        part_ = GetBlockIdx() * 2 * tiling->columns;
    }

    // Computes gradX, and adds this core's part of the sums to its row of the workspace.
    __aicore__ inline void Process()
    {
        const Share share = ShareOfThisCore(tiling_->split);
        const int64_t columns = tiling_->columns;
        ClearPart();
        for (int64_t row = share.begin; row < share.end; ++row) {
            LoadStatistics(row);
            for (int64_t done = 0; done < columns; done += chunk_) {
                const int32_t n = Least(columns - done, chunk_);
                CopyIn(row, done, n);
                Accumulate(n);
            }
            Mean(slope_, slopeSums_);
            Mean(shift_, shiftSums_);
            for (int64_t done = 0; done < columns; done += chunk_) {
                const int32_t n = Least(columns - done, chunk_);
                const int32_t padded = AlignUp(n, LANES);
                CopyIn(row, done, n);
                Compute(padded);
                gradX_.Copy(row * columns + done, 1, n, padded);
                PipeBarrier<PIPE_MTE3>();  // the row before may still be added to the same columns
                SetAtomicAdd<float>();
                gradWeight_.Copy(part_ + done, 1, n, padded);
                gradBias_.Copy(part_ + columns + done, 1, n, padded);
                SetAtomicNone();
            }
        }
    }

private:
    __aicore__ inline void ClearPart()
    {
        for (int64_t done = 0; done < tiling_->columns; done += chunk_) {
            const int32_t n = Least(tiling_->columns - done, chunk_);
            Floats zeros = gradWeight_.Begin(Floats());
            Duplicate(zeros, 0.0f, AlignUp(n, LANES));
            gradWeight_.End(zeros, n);
            gradWeight_.Copy(part_ + done, 1, n, AlignUp(n, LANES));
            zeros = gradBias_.Begin(Floats());
            Duplicate(zeros, 0.0f, AlignUp(n, LANES));
            gradBias_.End(zeros, n);
            gradBias_.Copy(part_ + tiling_->columns + done, 1, n, AlignUp(n, LANES));
        }
    }

    __aicore__ inline void LoadStatistics(int64_t row)
    {
        mean_.Copy(row, 1, 1, BLOCK);
        SpreadOverBlocks(meanBlock_, mean_.Take(BLOCK), 1);
        mean_.Release();
        Duplicate(shiftSums_, 0.0f, LANES);
        rstd_.Copy(row, 1, 1, BLOCK);
        SpreadOverBlocks(rstdBlock_, rstd_.Take(BLOCK), 1);
        rstd_.Release();
        Duplicate(slopeSums_, 0.0f, LANES);
        PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void CopyIn(int64_t row, int64_t done, int32_t n)
    {
        const int32_t padded = AlignUp(n, LANES);
        grad_.Copy(row * tiling_->columns + done, 1, n, padded);
        x_.Copy(row * tiling_->columns + done, 1, n, padded);
        weight_.Copy(done, 1, n, padded);
    }

    // x becomes (x - mean) * rstd, and weighted becomes grad_y * weight.
    __aicore__ inline void Standardize(const Floats &weighted, const Floats &grad, const Floats &x, int32_t n)
    {
        ApplyToRow<SubOp>(x, x, meanBlock_, 0, n);
        PipeBarrier<PIPE_V>();
        ApplyToRow<MulOp>(x, x, rstdBlock_, 0, n);
        Floats weight = weight_.Take(n);
        Mul(weighted, grad, weight, n);
        PipeBarrier<PIPE_V>();
        weight_.Release();
    }

    // Adds a chunk to the running sums of the lanes.
    __aicore__ inline void Accumulate(int32_t n)
    {
        const int32_t padded = AlignUp(n, LANES);
        Floats weighted = weighted_.template Get<float>();
        Floats products = products_.template Get<float>();
        Floats work = work_.template Get<float>();
        Floats grad = grad_.Take(padded);
        Floats x = x_.Take(padded);
        Standardize(weighted, grad, x, padded);
        Mul(products, weighted, x, padded);
        PipeBarrier<PIPE_V>();
        grad_.Release();
        x_.Release();
        PadRows(products, 0.0f, 1, n, padded);
        int32_t pitch = padded;
        Floats folded = FoldRows<SumOp>(products, work, 1, pitch);
        Add(slopeSums_, slopeSums_, folded, LANES);
        PipeBarrier<PIPE_V>();
        PadRows(weighted, 0.0f, 1, n, padded);
        pitch = padded;
        folded = FoldRows<SumOp>(weighted, work, 1, pitch);
        Add(shiftSums_, shiftSums_, folded, LANES);
        PipeBarrier<PIPE_V>();
    }

    // The sum of the lanes divided by the columns, over one block.
    __aicore__ inline void Mean(const Floats &block, const Floats &sums)
    {
        SumOp::Reduce(value_, sums, LANES, 1, BLOCK);
        PipeBarrier<PIPE_V>();
        Muls(value_, value_, 1.0f / static_cast<float>(tiling_->columns), 1);
        PipeBarrier<PIPE_V>();
        SpreadOverBlocks(block, value_, 1);
    }

    __aicore__ inline void Compute(int32_t n)
    {
        Floats weighted = weighted_.template Get<float>();
        Floats products = products_.template Get<float>();
        Floats grad = grad_.Take(n);
        Floats x = x_.Take(n);
        Standardize(weighted, grad, x, n);
        ApplyToRow<MulOp>(products, x, slope_, 0, n);
        ApplyToRow<SubOp>(weighted, weighted, shift_, 0, n);
        PipeBarrier<PIPE_V>();
        Sub(weighted, weighted, products, n);
        PipeBarrier<PIPE_V>();
        Floats gradX = gradX_.Begin(weighted);
        ApplyToRow<MulOp>(gradX, weighted, rstdBlock_, 0, n);
        gradX_.End(gradX, n);
        Floats gradWeight = gradWeight_.Begin(Floats());
        Mul(gradWeight, grad, x, n);
        gradWeight_.End(gradWeight, n);
        Floats gradBias = gradBias_.Begin(Floats());
        Muls(gradBias, grad, 1.0f, n);
        gradBias_.End(gradBias, n);
        grad_.Release();
        x_.Release();
    }

    RowsIn<T> grad_;
    RowsIn<T> x_;
    RowsIn<T> weight_;
    RowsIn<float, 1> mean_;
    RowsIn<float, 1> rstd_;
    RowsOut<T> gradX_;
    RowsOut<float> gradWeight_;  // this core's part
    RowsOut<float> gradBias_;
    TBuf<TPosition::VECCALC> weighted_;  // grad_y * weight
    TBuf<TPosition::VECCALC> products_;
    TBuf<TPosition::VECCALC> work_;      // for folding
    TBuf<TPosition::VECCALC> lanes_;
    Floats rstdBlock_;  // of the row, over one block
    Floats slope_;      // mean of grad_y * weight * standardized x
    Floats slopeSums_;  // running sums of the lanes
    Floats value_;
    Floats meanBlock_;
    Floats shift_;      // mean of grad_y * weight
    Floats shiftSums_;
    const LayerNormBackwardTilingData *tiling_ = nullptr;
    int64_t part_ = 0;  // where this core's row of the workspace starts
    int32_t chunk_ = 0;
};

#endif
