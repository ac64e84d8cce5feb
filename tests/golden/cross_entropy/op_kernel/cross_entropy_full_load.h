// cross_entropy of whole rows. The logits of the targets are gathered from the tile by the vector unit: no value goes
// through the scalar unit.
#ifndef CROSS_ENTROPY_FULL_LOAD_H
#define CROSS_ENTROPY_FULL_LOAD_H

#include "row_io.h"
#include "cross_entropy_tiling.h"

using namespace row_ops;

template <typename T>
class CrossEntropyFullLoad {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR target, GM_ADDR loss, GM_ADDR lse,
                                const CrossEntropyTilingData *tiling, TPipe *pipe)
    {
        tiling_ = tiling;
        rows_ = tiling->tileRows;
        pitch_ = tiling->pitch;
        columns_ = static_cast<int32_t>(tiling->columns);
        const int32_t elements = rows_ * pitch_;
        const int32_t rowsUp = AlignUp(rows_, LANES);  // Compare and Select work on whole repeats
        x_.Init(x, pipe, elements);
        loss_.Init(loss, pipe, rowsUp);
        lse_.Init(lse, pipe, rowsUp);
        targetGm_.SetGlobalBuffer(reinterpret_cast<__gm__ int64_t *>(target));
        pipe->InitBuffer(targetQueue_, BUFFERS, rowsUp * sizeof(int64_t));
        pipe->InitBuffer(target_, rowsUp * sizeof(int32_t));
        pipe->InitBuffer(targetFloat_, rowsUp * sizeof(float));
        pipe->InitBuffer(starts_, rowsUp * sizeof(int32_t));
        pipe->InitBuffer(mask_, rowsUp / 8 < BLOCK_BYTES ? BLOCK_BYTES : rowsUp / 8);
        pipe->InitBuffer(picked_, rowsUp * sizeof(float));
        pipe->InitBuffer(values_, rowsUp * sizeof(float));
        pipe->InitBuffer(sums_, rowsUp * sizeof(float));
        pipe->InitBuffer(blocks_, rowsUp * BLOCK_BYTES);
        pipe->InitBuffer(exponentials_, elements * sizeof(float));
        pipe->InitBuffer(work_, elements / 2 * sizeof(float));
        LocalTensor<int32_t> starts = starts_.template Get<int32_t>();
        CreateVecIndex(starts, static_cast<int32_t>(0), static_cast<uint32_t>(rowsUp));
        PipeBarrier<PIPE_V>();
        Muls(starts, starts, static_cast<int32_t>(pitch_ * sizeof(float)), rowsUp);
        PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void Process()
    {
        const Share share = ShareOfThisCore(tiling_->split);
        for (int64_t row = share.begin; row < share.end; row += rows_) {
            const int32_t rows = Least(share.end - row, rows_);
            const int32_t rowsUp = AlignUp(rows, BLOCK);
            LocalTensor<int64_t> target = targetQueue_.template AllocTensor<int64_t>();
            CopyRowsIn(target, targetGm_[row], 1, rows, rowsUp);
            targetQueue_.EnQue(target);
            x_.Copy(row * columns_, rows, columns_, pitch_);
            Compute(rows);
            loss_.Copy(row, 1, rows, rowsUp);
            lse_.Copy(row, 1, rows, rowsUp);
        }
    }

private:
    __aicore__ inline void Compute(int32_t rows)
    {
        const int32_t n = rows * pitch_;
        Floats x = x_.Take(n);
        Floats work = work_.template Get<float>();
        Floats maxima = values_.template Get<float>();
        Floats sums = sums_.template Get<float>();
        Floats blocks = blocks_.template Get<float>();
        Floats e = exponentials_.template Get<float>();
        if (columns_ > LANES) {
            PadRows(x, MaxOp::NEUTRAL, rows, columns_, pitch_);
        }
        ReduceRows<MaxOp>(maxima, x, work, rows, columns_, pitch_);
        Floats picked = Pick(x, rows);
        SpreadOverBlocks(blocks, maxima, rows);
        ApplyToRows<SubOp>(e, x, blocks, rows, pitch_);
        PipeBarrier<PIPE_V>();
        x_.Release();
        Exp(e, e, n);
        PipeBarrier<PIPE_V>();
        ReduceRows<SumOp>(sums, e, work, rows, columns_, pitch_);
        Ln(sums, sums, rows);
        PipeBarrier<PIPE_V>();
        Floats lse = lse_.Begin(Floats());
        Add(lse, sums, maxima, rows);
        PipeBarrier<PIPE_V>();
        Floats loss = loss_.Begin(Floats());
        Sub(picked, maxima, picked, rows);  // small where the largest logit is the target's
        PipeBarrier<PIPE_V>();
        Add(loss, sums, picked, rows);
        PipeBarrier<PIPE_V>();
        Ignore(loss, rows);
        loss_.End(loss, rows);
        lse_.End(lse, rows);
    }

    // The logit of each row's target.
    __aicore__ inline Floats Pick(const Floats &x, int32_t rows)
    {
        LocalTensor<int64_t> wide = targetQueue_.template DeQue<int64_t>();
        LocalTensor<int32_t> target = target_.template Get<int32_t>();
        Floats picked = picked_.template Get<float>();
        Cast(target, wide, RoundMode::CAST_NONE, rows);
        PipeBarrier<PIPE_V>();
        targetQueue_.FreeTensor(wide);
        Cast(targetFloat_.template Get<float>(), target, RoundMode::CAST_NONE, rows);
        Maxs(target, target, static_cast<int32_t>(0), rows);  // an ignored target may be outside
        PipeBarrier<PIPE_V>();
        Mins(target, target, columns_ - 1, rows);
        PipeBarrier<PIPE_V>();
        Muls(target, target, static_cast<int32_t>(sizeof(float)), rows);
        PipeBarrier<PIPE_V>();
        Add(target, target, starts_.template Get<int32_t>(), rows);
        PipeBarrier<PIPE_V>();
        Gather(picked, x, target.template ReinterpretCast<uint32_t>(), 0, static_cast<uint32_t>(rows));
        PipeBarrier<PIPE_V>();
        return picked;
    }

    // Zero where the target is to be ignored. Class numbers are exact in fp32: a row of 2^24 of them does not fit UB.
    __aicore__ inline void Ignore(const Floats &loss, int32_t rows)
    {
        const int32_t whole = AlignUp(rows, LANES);
        LocalTensor<uint8_t> mask = mask_.template Get<uint8_t>();
        Floats target = targetFloat_.template Get<float>();
        CompareScalar(mask, target, static_cast<float>(tiling_->ignoreIndex), CMPMODE::NE, whole);
        PipeBarrier<PIPE_V>();
        Select(loss, mask, loss, 0.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, whole);
    }

    RowsIn<T> x_;
    RowsOut<float> loss_;
    RowsOut<float> lse_;
    GlobalTensor<int64_t> targetGm_;
    TQue<TPosition::VECIN, BUFFERS> targetQueue_;
    TBuf<TPosition::VECCALC> target_;
    TBuf<TPosition::VECCALC> targetFloat_;
    TBuf<TPosition::VECCALC> starts_;  // of the rows in UB, in bytes
    TBuf<TPosition::VECCALC> mask_;
    TBuf<TPosition::VECCALC> picked_;
    TBuf<TPosition::VECCALC> values_;
    TBuf<TPosition::VECCALC> sums_;
    TBuf<TPosition::VECCALC> blocks_;
    TBuf<TPosition::VECCALC> exponentials_;
    TBuf<TPosition::VECCALC> work_;  // for folding
    const CrossEntropyTilingData *tiling_ = nullptr;
    int32_t rows_ = 0;
    int32_t pitch_ = 0;
    int32_t columns_ = 0;
};

#endif
