// layer_norm of rows that are larger than UB: a first pass finds the statistics of a row chunk by chunk, a second one
// reads it again.
#ifndef LAYER_NORM_SPLIT_H
#define LAYER_NORM_SPLIT_H

#include "row_io.h"
#include "layer_norm_tiling.h"

using namespace row_ops;

template <typename T>
class LayerNormSplit {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR weight, GM_ADDR bias, GM_ADDR y, GM_ADDR mean, GM_ADDR rstd,
                                const LayerNormTilingData *tiling, TPipe *pipe)
    {
        tiling_ = tiling;
        chunk_ = tiling->chunk;
        x_.Init(x, pipe, chunk_);
        weight_.Init(weight, pipe, chunk_);
        bias_.Init(bias, pipe, chunk_);
        y_.Init(y, pipe, chunk_);
        mean_.Init(mean, pipe, BLOCK);
        rstd_.Init(rstd, pipe, BLOCK);
        pipe->InitBuffer(squares_, chunk_ * sizeof(float));
        pipe->InitBuffer(work_, chunk_ / 2 * sizeof(float));
        pipe->InitBuffer(lanes_, 6 * LANES * sizeof(float));  // Brcb writes 8 blocks
        Floats lanes = lanes_.template Get<float>();
        center_ = lanes;
        deviation_ = lanes[LANES];
        part_ = lanes[2 * LANES];
        shift_ = lanes[3 * LANES];
        scale_ = lanes[4 * LANES];
        value_ = lanes[5 * LANES];
    }

    __aicore__ inline void Process()
    {
        const Share share = ShareOfThisCore(tiling_->split);
        const int64_t columns = tiling_->columns;
        for (int64_t row = share.begin; row < share.end; ++row) {
            Duplicate(center_, 0.0f, BLOCK);
            Duplicate(deviation_, 0.0f, BLOCK);
            PipeBarrier<PIPE_V>();
            for (int64_t done = 0; done < columns; done += chunk_) {
                const int32_t n = Least(columns - done, chunk_);
                CopyIn(row * columns + done, n);
                Accumulate(n, done);
            }
            Finish(row);
            for (int64_t done = 0; done < columns; done += chunk_) {
                const int32_t n = Least(columns - done, chunk_);
                const int32_t padded = AlignUp(n, LANES);
                CopyIn(row * columns + done, n);
                weight_.Copy(done, 1, n, padded);
                bias_.Copy(done, 1, n, padded);
                Normalize(n);
                y_.Copy(row * columns + done, 1, n, padded);
            }
        }
    }

private:
    __aicore__ inline void CopyIn(int64_t offset, int32_t n) { x_.Copy(offset, 1, n, AlignUp(n, LANES)); }

    // Merges a chunk of n elements into mean and sum of squared deviations of the `done` before it (Chan, Golub and
    // LeVeque: Updating formulae and a pairwise algorithm for computing sample variances, 1979).
    __aicore__ inline void Accumulate(int32_t n, int64_t done)
    {
        const int32_t padded = AlignUp(n, LANES);
        const float before = static_cast<float>(done);
        const float count = static_cast<float>(n);
        Floats x = x_.Take(padded);
        Floats squares = squares_.template Get<float>();
        PadRows(x, 0.0f, 1, n, padded);
        SumOver(part_, x, padded);
        Muls(part_, part_, 1.0f / count, BLOCK);
        PipeBarrier<PIPE_V>();
        ApplyToRow<SubOp>(squares, x, part_, 0, padded);
        Sub(shift_, part_, center_, BLOCK);
        PipeBarrier<PIPE_V>();
        x_.Release();
        PadRows(squares, 0.0f, 1, n, padded);
        Mul(squares, squares, squares, padded);
        PipeBarrier<PIPE_V>();
        SumOver(part_, squares, padded);
        Axpy(center_, shift_, count / (before + count), BLOCK);
        Mul(shift_, shift_, shift_, BLOCK);
        Add(deviation_, deviation_, part_, BLOCK);
        PipeBarrier<PIPE_V>();
        if (done > 0) {  // else 0 times a square that may be infinite
            Axpy(deviation_, shift_, before * (count / (before + count)), BLOCK);
            PipeBarrier<PIPE_V>();
        }
    }

    // block = the sum of x, over one block.
    __aicore__ inline void SumOver(const Floats &block, const Floats &x, int32_t length)
    {
        int32_t pitch = length;
        Floats folded = FoldRows<SumOp>(x, work_.template Get<float>(), 1, pitch);
        SumOp::Reduce(value_, folded, LANES, 1, BLOCK);
        PipeBarrier<PIPE_V>();
        SpreadOverBlocks(block, value_, 1);
    }

    // scale = 1 / sqrt(mean square + eps), over one block; the statistics of the row are written.
    __aicore__ inline void Finish(int64_t row)
    {
        const float count = static_cast<float>(tiling_->columns);
        Floats rstd = rstd_.Begin(Floats());
        Floats mean = mean_.Begin(Floats());
        Adds(mean, center_, 0.0f, BLOCK);
        mean_.End(mean, BLOCK);
        mean_.Copy(row, 1, 1, BLOCK);
        Muls(deviation_, deviation_, 1.0f / count, BLOCK);
        PipeBarrier<PIPE_V>();
        ReciprocalRoot(scale_, deviation_, tiling_->eps, BLOCK);
        Adds(rstd, scale_, 0.0f, BLOCK);
        rstd_.End(rstd, BLOCK);
        rstd_.Copy(row, 1, 1, BLOCK);
    }

    __aicore__ inline void Normalize(int32_t n)
    {
        Floats x = x_.Take(n);
        Floats weight = weight_.Take(n);
        Floats bias = bias_.Take(n);
        Floats y = y_.Begin(x);
        ApplyToRow<SubOp>(y, x, center_, 0, n);
        PipeBarrier<PIPE_V>();
        x_.Release();
        ApplyToRow<MulOp>(y, y, scale_, 0, n);
        PipeBarrier<PIPE_V>();
        Mul(y, y, weight, n);
        PipeBarrier<PIPE_V>();
        Add(y, y, bias, n);
        y_.End(y, n);
        weight_.Release();
        bias_.Release();
    }

    RowsIn<T> x_;
    RowsIn<T> weight_;
    RowsIn<T> bias_;
    RowsOut<float> mean_;
    RowsOut<T> y_;
    RowsOut<float> rstd_;
    TBuf<TPosition::VECCALC> squares_;
    TBuf<TPosition::VECCALC> work_;  // for folding
    TBuf<TPosition::VECCALC> lanes_;
    Floats center_;     // mean so far; this and what follows lies over one block
    Floats deviation_;  // sum of squared deviations from it
    Floats part_;       // of the chunk: its mean, then its sum of squared deviations
    Floats shift_;      // from the mean so far to that of the chunk
    Floats scale_;  // 1 / sqrt(mean square + eps), over one block
    Floats value_;
    const LayerNormTilingData *tiling_ = nullptr;
    int32_t chunk_ = 0;
};

#endif
