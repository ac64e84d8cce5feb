// cross_entropy of rows that are larger than UB, such as those of a large vocabulary.
// One pass keeps 64 running maxima and sums, one per lane, and rescales the sums when a maximum grows.
#ifndef CROSS_ENTROPY_SPLIT_H
#define CROSS_ENTROPY_SPLIT_H

#include "row_io.h"
#include "cross_entropy_tiling.h"

using namespace row_ops;

constexpr float LOWEST = -3.4028234663852886e38f;  // of the finite numbers

template <typename T>
class CrossEntropySplit {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR target, GM_ADDR loss, GM_ADDR lse,
                                const CrossEntropyTilingData *tiling, TPipe *pipe)
    {
        tiling_ = tiling;
        chunk_ = tiling->chunk;
        x_.Init(x, pipe, chunk_);
        picked_.Init(x, pipe, BLOCK_BYTES / sizeof(T));
        loss_.Init(loss, pipe, BLOCK);
        lse_.Init(lse, pipe, BLOCK);
        targetGm_.SetGlobalBuffer(reinterpret_cast<__gm__ int64_t *>(target));
        pipe->InitBuffer(exponentials_, chunk_ * sizeof(float));
        pipe->InitBuffer(work_, chunk_ / 2 * sizeof(float));
        pipe->InitBuffer(lanes_, 6 * LANES * sizeof(float));
        Floats lanes = lanes_.template Get<float>();
        maxima_ = lanes;
        sums_ = lanes[LANES];
        grown_ = lanes[2 * LANES];
        scale_ = lanes[3 * LANES];
        maximum_ = lanes[4 * LANES];
        value_ = lanes[5 * LANES];
    }

    __aicore__ inline void Process()
    {
        const Share share = ShareOfThisCore(tiling_->split);
        const int64_t columns = tiling_->columns;
        for (int64_t row = share.begin; row < share.end; ++row) {
            // The target is an address here, so it goes through the scalar unit, once per long row.
            const int64_t target = targetGm_.GetValue(row);
            const bool ignored = target == tiling_->ignoreIndex;
            picked_.Copy(row * columns + (ignored ? 0 : target), 1, 1, BLOCK_BYTES / sizeof(T));
            Duplicate(maxima_, LOWEST, LANES);
            Duplicate(sums_, 0.0f, LANES);
            PipeBarrier<PIPE_V>();
            for (int64_t done = 0; done < columns; done += chunk_) {
                const int32_t n = Least(columns - done, chunk_);
                x_.Copy(row * columns + done, 1, n, AlignUp(n, LANES));
                Accumulate(n);
            }
            Finish(ignored);
            loss_.Copy(row, 1, 1, BLOCK);
            lse_.Copy(row, 1, 1, BLOCK);
        }
    }

private:
    __aicore__ inline void Accumulate(int32_t n)
    {
        const int32_t padded = AlignUp(n, LANES);
        Floats work = work_.template Get<float>();
        Floats e = exponentials_.template Get<float>();
        Floats x = x_.Take(padded);
        PadRows(x, MaxOp::NEUTRAL, 1, n, padded);
        int32_t pitch = padded;
        Floats folded = FoldRows<MaxOp>(x, work, 1, pitch);
        Max(grown_, maxima_, folded, LANES);
        PipeBarrier<PIPE_V>();
        Maxs(grown_, grown_, LOWEST, LANES);  // finite, so that a lane with nothing but -inf so far adds e^-inf = 0
        PipeBarrier<PIPE_V>();
        Sub(scale_, maxima_, grown_, LANES);
        ApplyToRow<SubOp>(e, x, grown_, 1, padded);
        PipeBarrier<PIPE_V>();
        x_.Release();
        Exp(scale_, scale_, LANES);
        Exp(e, e, padded);
        PipeBarrier<PIPE_V>();
        Mul(sums_, sums_, scale_, LANES);
        pitch = padded;
        folded = FoldRows<SumOp>(e, work, 1, pitch);
        Adds(maxima_, grown_, 0.0f, LANES);
        PipeBarrier<PIPE_V>();
        Add(sums_, sums_, folded, LANES);
        PipeBarrier<PIPE_V>();
    }

    // Loss and lse of the row from maxima and sums of the lanes.
    __aicore__ inline void Finish(bool ignored)
    {
        MaxOp::Reduce(value_, maxima_, LANES, 1, BLOCK);
        PipeBarrier<PIPE_V>();
        SpreadOverBlocks(maximum_, value_, 1);
        ApplyToRow<SubOp>(scale_, maxima_, maximum_, 0, LANES);
        PipeBarrier<PIPE_V>();
        Exp(scale_, scale_, LANES);
        PipeBarrier<PIPE_V>();
        Mul(sums_, sums_, scale_, LANES);
        PipeBarrier<PIPE_V>();
        SumOp::Reduce(value_, sums_, LANES, 1, BLOCK);
        PipeBarrier<PIPE_V>();
        Ln(value_, value_, 1);
        Floats picked = picked_.Take(BLOCK);
        Floats loss = loss_.Begin(Floats());
        Floats lse = lse_.Begin(Floats());
        Sub(loss, maximum_, picked, 1);
        PipeBarrier<PIPE_V>();
        Add(lse, value_, maximum_, 1);
        if (ignored) {
            Duplicate(loss, 0.0f, BLOCK);
        } else {
            Add(loss, loss, value_, 1);
        }
        loss_.End(loss, 1);
        lse_.End(lse, 1);
        picked_.Release();
    }

    RowsIn<T> x_;
    RowsIn<T> picked_;  // the logit of the row's target
    RowsOut<float> loss_;
    RowsOut<float> lse_;
    GlobalTensor<int64_t> targetGm_;
    TBuf<TPosition::VECCALC> exponentials_;
    TBuf<TPosition::VECCALC> work_;  // for folding
    TBuf<TPosition::VECCALC> lanes_;
    Floats maxima_;   // running maximum of each lane
    Floats sums_;     // running sum of each lane, relative to its maximum
    Floats grown_;
    Floats scale_;
    Floats maximum_;  // of the row, over one block
    Floats value_;
    const CrossEntropyTilingData *tiling_ = nullptr;
    int32_t chunk_ = 0;
};

#endif
