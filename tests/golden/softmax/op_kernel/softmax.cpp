// softmax:
// y[i, j] = e^(x[i, j] - max_j x) / sum_j e^(x[i, j] - max_j x).
// The arithmetic is fp32; fp16 and bf16 are cast on the way in and rounded once on the way out.
#include "kernel_operator.h"

#include "row_ops.h"
#include "softmax_tiling.h"

using namespace AscendC;
using namespace row_ops;

constexpr int32_t BUFFERS = 2;  // double buffering: a tile is copied while another one is computed
constexpr int32_t BLOCK_BYTES = 32;
constexpr float LOWEST = -3.4028234663852886e38f;  // of the finite numbers

template <typename T>
class SoftmaxBase {
protected:
    static constexpr bool DIRECT = IsSameType<T, float>::value;  // the tensors in the queues need no cast
    static constexpr int32_t BLOCK_LENGTH = BLOCK_BYTES / sizeof(T);

    __aicore__ inline void InitBase(GM_ADDR x, GM_ADDR y, const SoftmaxTilingData *tiling, TPipe *pipe,
                                    int32_t elements)
    {
        const int64_t core = GetBlockIdx();
        const int64_t former = tiling->formerCores;
        const bool isFormer = core < former;
        begin_ = isFormer ? core * tiling->formerRows
                          : former * tiling->formerRows + (core - former) * tiling->tailRows;
        end_ = begin_ + (isFormer ? tiling->formerRows : tiling->tailRows);
        tiling_ = tiling;
        xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(x));
        yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(y));
        pipe->InitBuffer(xQueue_, BUFFERS, elements * sizeof(T));
        pipe->InitBuffer(yQueue_, BUFFERS, elements * sizeof(T));
        if constexpr (!DIRECT) {
            pipe->InitBuffer(cast_, elements * sizeof(float));
        }
    }

    // `rows` rows of `length` elements that follow each other in GM, `pitch` elements apart in UB.
    __aicore__ inline void CopyIn(int64_t offset, int32_t rows, int32_t length, int32_t pitch)
    {
        LocalTensor<T> x = xQueue_.template AllocTensor<T>();
        const int32_t padded = (length + BLOCK_LENGTH - 1) / BLOCK_LENGTH * BLOCK_LENGTH;
        DataCopyExtParams copy{static_cast<uint16_t>(rows), static_cast<uint32_t>(length * sizeof(T)), 0,
                               static_cast<uint32_t>((pitch - padded) / BLOCK_LENGTH), 0};
        DataCopyPadExtParams<T> pad;
        pad.isPad = true;  // zeros up to the next 32 bytes
        pad.rightPadding = static_cast<uint8_t>(padded - length);
        DataCopyPad(x, xGm_[offset], copy, pad);
        xQueue_.EnQue(x);
    }

    __aicore__ inline void CopyOut(int64_t offset, int32_t rows, int32_t length, int32_t pitch)
    {
        LocalTensor<T> y = yQueue_.template DeQue<T>();
        const int32_t padded = (length + BLOCK_LENGTH - 1) / BLOCK_LENGTH * BLOCK_LENGTH;
        DataCopyExtParams copy{static_cast<uint16_t>(rows), static_cast<uint32_t>(length * sizeof(T)),
                               static_cast<uint32_t>((pitch - padded) / BLOCK_LENGTH), 0, 0};
        DataCopyPad(yGm_[offset], y, copy);
        yQueue_.FreeTensor(y);
    }

    __aicore__ inline Floats ToFloat(const LocalTensor<T> &in, int32_t n)
    {
        if constexpr (DIRECT) {
            return in;
        } else {
            Floats out = cast_.template Get<float>();
            Cast(out, in, RoundMode::CAST_NONE, n);
            PipeBarrier<PIPE_V>();
            return out;
        }
    }

    // Where the result is computed: the output itself, or the fp32 copy of the input.
    __aicore__ inline Floats ResultOf(const LocalTensor<T> &out)
    {
        if constexpr (DIRECT) {
            return out;
        } else {
            return cast_.template Get<float>();
        }
    }

    __aicore__ inline void Finish(const LocalTensor<T> &in, LocalTensor<T> &out, const Floats &y, int32_t n)
    {
        if constexpr (!DIRECT) {
            PipeBarrier<PIPE_V>();
            Cast(out, y, RoundMode::CAST_RINT, n);
        }
        yQueue_.EnQue(out);
        FreeInput(in);
        PipeBarrier<PIPE_V>();  // the next tile overwrites what the last instructions read
    }

    __aicore__ inline void FreeInput(LocalTensor<T> in) { xQueue_.FreeTensor(in); }

    GlobalTensor<T> xGm_;
    GlobalTensor<T> yGm_;
    TQue<TPosition::VECIN, BUFFERS> xQueue_;
    TQue<TPosition::VECOUT, BUFFERS> yQueue_;
    TBuf<TPosition::VECCALC> cast_;
    const SoftmaxTilingData *tiling_ = nullptr;
    int64_t begin_ = 0;  // rows of this core
    int64_t end_ = 0;
};

// Whole rows in UB.
template <typename T>
class SoftmaxFullLoad : public SoftmaxBase<T> {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const SoftmaxTilingData *tiling, TPipe *pipe)
    {
        rows_ = tiling->tileRows;
        pitch_ = tiling->pitch;
        columns_ = static_cast<int32_t>(tiling->columns);
        this->InitBase(x, y, tiling, pipe, rows_ * pitch_);
        const int32_t rowsUp = (rows_ + BLOCK - 1) / BLOCK * BLOCK;  // Brcb reads 8 values at a time
        pipe->InitBuffer(values_, rowsUp * sizeof(float));
        pipe->InitBuffer(blocks_, rowsUp * BLOCK_BYTES);
        pipe->InitBuffer(work_, rows_ * pitch_ / 2 * sizeof(float));
    }

    __aicore__ inline void Process()
    {
        for (int64_t row = this->begin_; row < this->end_; row += rows_) {
            const int32_t rows = this->end_ - row < rows_ ? static_cast<int32_t>(this->end_ - row) : rows_;
            this->CopyIn(row * columns_, rows, columns_, pitch_);
            Compute(rows);
            this->CopyOut(row * columns_, rows, columns_, pitch_);
        }
    }

private:
    __aicore__ inline void Compute(int32_t rows)
    {
        LocalTensor<T> in = this->xQueue_.template DeQue<T>();
        LocalTensor<T> out = this->yQueue_.template AllocTensor<T>();
        Floats x = this->ToFloat(in, rows * pitch_);
        Floats y = this->ResultOf(out);
        Floats values = values_.template Get<float>();
        Floats blocks = blocks_.template Get<float>();
        Floats work = work_.template Get<float>();
        if (columns_ > LANES) {
            PadRows(x, MaxOp::NEUTRAL, rows, columns_, pitch_);  // neutral for the maximum, and e^-inf = 0 for the sum
        }
        ReduceRows<MaxOp>(values, x, work, rows, columns_, pitch_);
        SpreadOverBlocks(blocks, values, rows);
        ApplyToRows<SubOp>(y, x, blocks, rows, pitch_);
        PipeBarrier<PIPE_V>();
        Exp(y, y, rows * pitch_);
        PipeBarrier<PIPE_V>();
        ReduceRows<SumOp>(values, y, work, rows, columns_, pitch_);
        SpreadOverBlocks(blocks, values, rows);
        ApplyToRows<DivOp>(y, y, blocks, rows, pitch_);
        this->Finish(in, out, y, rows * pitch_);
    }

    TBuf<TPosition::VECCALC> values_;  // maximum, then sum, of each row
    TBuf<TPosition::VECCALC> blocks_;
    TBuf<TPosition::VECCALC> work_;
    int32_t rows_ = 0;
    int32_t pitch_ = 0;
    int32_t columns_ = 0;
};

// Rows larger than UB. The first pass keeps 64 running maxima and sums, one per lane, and rescales the sums when a
// maximum grows; the second pass reads the row again.
template <typename T>
class SoftmaxSplit : public SoftmaxBase<T> {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const SoftmaxTilingData *tiling, TPipe *pipe)
    {
        chunk_ = tiling->chunk;
        this->InitBase(x, y, tiling, pipe, chunk_);
        pipe->InitBuffer(lanes_, 6 * LANES * sizeof(float));
        pipe->InitBuffer(work_, chunk_ / 2 * sizeof(float));
        if constexpr (IsSameType<T, float>::value) {
            pipe->InitBuffer(exponentials_, chunk_ * sizeof(float));
        }
        Floats lanes = lanes_.template Get<float>();
        maxima_ = lanes;
        sums_ = lanes[LANES];
        grown_ = lanes[2 * LANES];
        scale_ = lanes[3 * LANES];
        maximum_ = lanes[4 * LANES];
        sum_ = lanes[5 * LANES];
    }

    __aicore__ inline void Process()
    {
        const int64_t columns = this->tiling_->columns;
        for (int64_t row = this->begin_; row < this->end_; ++row) {
            Duplicate(maxima_, LOWEST, LANES);
            Duplicate(sums_, 0.0f, LANES);
            PipeBarrier<PIPE_V>();
            for (int64_t done = 0; done < columns; done += chunk_) {
                const int32_t n = columns - done < chunk_ ? static_cast<int32_t>(columns - done) : chunk_;
                this->CopyIn(row * columns + done, 1, n, Padded(n));
                Accumulate(n);
            }
            Combine();
            for (int64_t done = 0; done < columns; done += chunk_) {
                const int32_t n = columns - done < chunk_ ? static_cast<int32_t>(columns - done) : chunk_;
                this->CopyIn(row * columns + done, 1, n, Padded(n));
                Normalize(n);
                this->CopyOut(row * columns + done, 1, n, Padded(n));
            }
        }
    }

private:
    __aicore__ inline int32_t Padded(int32_t n) { return (n + LANES - 1) / LANES * LANES; }

    __aicore__ inline Floats Exponentials(const Floats &x)
    {
        if constexpr (IsSameType<T, float>::value) {
            return exponentials_.template Get<float>();
        } else {
            return x;
        }
    }

    __aicore__ inline void Accumulate(int32_t n)
    {
        LocalTensor<T> in = this->xQueue_.template DeQue<T>();
        Floats work = work_.template Get<float>();
        const int32_t padded = Padded(n);
        Floats x = this->ToFloat(in, padded);
        PadRows(x, MaxOp::NEUTRAL, 1, n, padded);
        int32_t pitch = padded;
        Floats folded = FoldRows<MaxOp>(x, work, 1, pitch);
        Max(grown_, maxima_, folded, LANES);
        PipeBarrier<PIPE_V>();
        Maxs(grown_, grown_, LOWEST, LANES);  // finite, so that a lane with nothing but -inf so far adds e^-inf = 0
        PipeBarrier<PIPE_V>();
        Sub(scale_, maxima_, grown_, LANES);
        Floats e = Exponentials(x);
        ApplyToRow<SubOp>(e, x, grown_, 1, padded);
        PipeBarrier<PIPE_V>();
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
        this->FreeInput(in);
    }

    // The row's maximum and sum from those of the lanes, each spread over one block.
    __aicore__ inline void Combine()
    {
        Floats values = work_.template Get<float>();
        MaxOp::Reduce(values, maxima_, LANES, 1, BLOCK);
        PipeBarrier<PIPE_V>();
        SpreadOverBlocks(maximum_, values, 1);
        ApplyToRow<SubOp>(scale_, maxima_, maximum_, 0, LANES);
        PipeBarrier<PIPE_V>();
        Exp(scale_, scale_, LANES);
        PipeBarrier<PIPE_V>();
        Mul(sums_, sums_, scale_, LANES);
        PipeBarrier<PIPE_V>();
        SumOp::Reduce(values, sums_, LANES, 1, BLOCK);
        PipeBarrier<PIPE_V>();
        SpreadOverBlocks(sum_, values, 1);
    }

    __aicore__ inline void Normalize(int32_t n)
    {
        LocalTensor<T> in = this->xQueue_.template DeQue<T>();
        LocalTensor<T> out = this->yQueue_.template AllocTensor<T>();
        Floats x = this->ToFloat(in, n);
        Floats y = this->ResultOf(out);
        ApplyToRow<SubOp>(y, x, maximum_, 0, n);
        PipeBarrier<PIPE_V>();
        Exp(y, y, n);
        PipeBarrier<PIPE_V>();
        ApplyToRow<DivOp>(y, y, sum_, 0, n);
        this->Finish(in, out, y, n);
    }

    TBuf<TPosition::VECCALC> lanes_;
    TBuf<TPosition::VECCALC> work_;
    TBuf<TPosition::VECCALC> exponentials_;
    Floats maxima_;   // running maximum of each lane
    Floats sums_;     // running sum of each lane, relative to its maximum
    Floats grown_;
    Floats scale_;
    Floats maximum_;  // of the row, over one block
    Floats sum_;
    int32_t chunk_ = 0;
};

extern "C" __global__ __aicore__ void softmax(
    GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    REGISTER_TILING_DEFAULT(SoftmaxTilingData);
    GET_TILING_DATA(tilingData, tiling);
    (void)workspace;
    TPipe pipe;
    if (TILING_KEY_IS(1)) {
        SoftmaxFullLoad<DTYPE_X> kernel;
        kernel.Init(x, y, &tilingData, &pipe);
        kernel.Process();
    } else if (TILING_KEY_IS(2)) {
        SoftmaxSplit<DTYPE_X> kernel;
        kernel.Init(x, y, &tilingData, &pipe);
        kernel.Process();
    }
}
