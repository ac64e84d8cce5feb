// sum:
// y = sum of x along dim.
// The arithmetic is fp32; fp16 and bf16 are cast on the way in and rounded once on the way out. Lines are folded in
// halves, as a tree, so that rounding errors grow with the logarithm of their length.
#include "kernel_operator.h"

#include "row_ops.h"
#include "sum_tiling.h"

using namespace AscendC;
using namespace row_ops;

using Op = SumOp;

constexpr int32_t BUFFERS = 2;  // double buffering: a tile is copied while another one is computed
constexpr int32_t BLOCK_BYTES = 32;

template <typename T>
class SumBase {
protected:
    static constexpr bool DIRECT = IsSameType<T, float>::value;  // the tensors in the queues need no cast
    static constexpr int32_t BLOCK_LENGTH = BLOCK_BYTES / sizeof(T);

    __aicore__ inline void InitBase(GM_ADDR x, GM_ADDR y, const SumTilingData *tiling, TPipe *pipe,
                                    int32_t tile, int32_t results)
    {
        const int32_t elements = (tile + LANES - 1) / LANES * LANES;
        const int64_t core = GetBlockIdx();
        const int64_t former = tiling->formerCores;
        const bool isFormer = core < former;
        begin_ = isFormer ? core * tiling->formerUnits
                          : former * tiling->formerUnits + (core - former) * tiling->tailUnits;
        end_ = begin_ + (isFormer ? tiling->formerUnits : tiling->tailUnits);
        tiling_ = tiling;
        xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(x));
        yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(y));
        pipe->InitBuffer(xQueue_, BUFFERS, elements * sizeof(T));
        pipe->InitBuffer(yQueue_, BUFFERS, results * sizeof(T));
        pipe->InitBuffer(results_, results * sizeof(float));
        pipe->InitBuffer(work_, (elements / 2 + BLOCK) * sizeof(float));
        if constexpr (!DIRECT) {
            pipe->InitBuffer(cast_, elements * sizeof(float));
        }
    }

    // `rows` rows of `length` elements, `stride` elements apart in GM and `pitch` elements apart in UB.
    __aicore__ inline void CopyIn(int64_t offset, int32_t rows, int32_t length, int64_t stride, int32_t pitch)
    {
        LocalTensor<T> x = xQueue_.template AllocTensor<T>();
        const int32_t padded = (length + BLOCK_LENGTH - 1) / BLOCK_LENGTH * BLOCK_LENGTH;
        const int64_t gap = rows > 1 ? (stride - length) * static_cast<int64_t>(sizeof(T)) : 0;
        DataCopyExtParams copy{static_cast<uint16_t>(rows), static_cast<uint32_t>(length * sizeof(T)),
                               static_cast<uint32_t>(gap), static_cast<uint32_t>((pitch - padded) / BLOCK_LENGTH), 0};
        DataCopyPadExtParams<T> pad;
        pad.isPad = true;  // zeros up to the next 32 bytes
        pad.rightPadding = static_cast<uint8_t>(padded - length);
        DataCopyPad(x, xGm_[offset], copy, pad);
        xQueue_.EnQue(x);
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

    // Writes the n results (and, added to them, their flags) to y from `offset` on.
    __aicore__ inline void CopyOut(int64_t offset, int32_t n)
    {
        Floats results = results_.template Get<float>();
        LocalTensor<T> y = yQueue_.template AllocTensor<T>();
        if constexpr (DIRECT) {
            Adds(y, results, 0.0f, n);
        } else {
            Cast(y, results, RoundMode::CAST_RINT, n);
        }
        PipeBarrier<PIPE_V>();
        yQueue_.EnQue(y);
        y = yQueue_.template DeQue<T>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(n * sizeof(T)), 0, 0, 0};
        DataCopyPad(yGm_[offset], y, copy);
        yQueue_.FreeTensor(y);
    }

    GlobalTensor<T> xGm_;
    GlobalTensor<T> yGm_;
    TQue<TPosition::VECIN, BUFFERS> xQueue_;
    TQue<TPosition::VECOUT, BUFFERS> yQueue_;
    TBuf<TPosition::VECCALC> cast_;
    TBuf<TPosition::VECCALC> work_;     // for folding
    TBuf<TPosition::VECCALC> results_;
    const SumTilingData *tiling_ = nullptr;
    int64_t begin_ = 0;  // work items of this core
    int64_t end_ = 0;
};

// Whole rows in UB, several of them per tile.
template <typename T>
class SumRows : public SumBase<T> {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const SumTilingData *tiling, TPipe *pipe)
    {
        rows_ = tiling->tileRows;
        pitch_ = tiling->pitch;
        length_ = static_cast<int32_t>(tiling->length);
        this->InitBase(x, y, tiling, pipe, rows_ * pitch_, rows_);
    }

    __aicore__ inline void Process()
    {
        for (int64_t row = this->begin_; row < this->end_; row += rows_) {
            const int32_t rows = this->end_ - row < rows_ ? static_cast<int32_t>(this->end_ - row) : rows_;
            this->CopyIn(row * length_, rows, length_, length_, pitch_);
            Compute(rows);
            this->CopyOut(row, rows);
        }
    }

private:
    __aicore__ inline void Compute(int32_t rows)
    {
        LocalTensor<T> in = this->xQueue_.template DeQue<T>();
        Floats x = this->ToFloat(in, rows * pitch_);
        Floats work = this->work_.template Get<float>();
        if (length_ > LANES) {
            PadRows(x, Op::NEUTRAL, rows, length_, pitch_);
        }
        ReduceRows<Op>(this->results_.template Get<float>(), x, work, rows, length_, pitch_);
        this->xQueue_.FreeTensor(in);
    }

    int32_t rows_ = 0;
    int32_t pitch_ = 0;
    int32_t length_ = 0;
};

// Rows larger than UB: each chunk is folded to the 64 lanes of one repeat, and these are carried to the next chunk.
template <typename T>
class SumSplit : public SumBase<T> {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const SumTilingData *tiling, TPipe *pipe)
    {
        chunk_ = tiling->chunk;
        this->InitBase(x, y, tiling, pipe, chunk_, BLOCK_BYTES);
        pipe->InitBuffer(lanes_, 2 * LANES * sizeof(float));
    }

    __aicore__ inline void Process()
    {
        const int64_t length = this->tiling_->length;
        Floats lanes = lanes_.template Get<float>();
        for (int64_t row = this->begin_; row < this->end_; ++row) {
            Duplicate(lanes, Op::NEUTRAL, LANES);
            PipeBarrier<PIPE_V>();
            for (int64_t done = 0; done < length; done += chunk_) {
                const int32_t n = length - done < chunk_ ? static_cast<int32_t>(length - done) : chunk_;
                const int32_t padded = (n + LANES - 1) / LANES * LANES;
                this->CopyIn(row * length + done, 1, n, n, padded);
                Accumulate(lanes, n, padded);
            }
            Op::Reduce(this->results_.template Get<float>(), lanes, LANES, 1, BLOCK);
            PipeBarrier<PIPE_V>();
            this->CopyOut(row, 1);
        }
    }

private:
    __aicore__ inline void Accumulate(const Floats &lanes, int32_t n, int32_t padded)
    {
        LocalTensor<T> in = this->xQueue_.template DeQue<T>();
        Floats x = this->ToFloat(in, padded);
        Floats work = this->work_.template Get<float>();
        PadRows(x, Op::NEUTRAL, 1, n, padded);
        int32_t pitch = padded;
        Floats folded = FoldRows<Op>(x, work, 1, pitch);
        Op::Row(lanes, lanes, folded, LANES);
        PipeBarrier<PIPE_V>();
        this->xQueue_.FreeTensor(in);
    }

    TBuf<TPosition::VECCALC> lanes_;  // running results, and flags
    int32_t chunk_ = 0;
};

// The reduced elements are `inner` apart: a tile of columns is read some rows at a time, and these rows are folded.
template <typename T>
class SumColumns : public SumBase<T> {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const SumTilingData *tiling, TPipe *pipe)
    {
        this->InitBase(x, y, tiling, pipe, tiling->tileRows * tiling->pitch, tiling->pitch);
    }

    __aicore__ inline void Process()
    {
        const int64_t inner = this->tiling_->inner;
        const int64_t width = this->tiling_->chunk;
        const int64_t tiles = (inner + width - 1) / width;
        for (int64_t unit = this->begin_; unit < this->end_; ++unit) {
            const int64_t outer = unit / tiles;
            const int64_t column = unit % tiles * width;
            const int32_t n = static_cast<int32_t>(inner - column < width ? inner - column : width);
            ReduceColumns(outer * this->tiling_->length * inner + column, n);
            this->CopyOut(outer * inner + column, n);
        }
    }

private:
    __aicore__ inline void ReduceColumns(int64_t offset, int32_t n)
    {
        const int64_t length = this->tiling_->length;
        const int32_t tileRows = this->tiling_->tileRows;
        const int32_t pitch = (n + this->BLOCK_LENGTH - 1) / this->BLOCK_LENGTH * this->BLOCK_LENGTH;
        Floats results = this->results_.template Get<float>();
        Duplicate(results, Op::NEUTRAL, pitch);
        PipeBarrier<PIPE_V>();
        for (int64_t row = 0; row < length; row += tileRows) {
            const int32_t rows = length - row < tileRows ? static_cast<int32_t>(length - row) : tileRows;
            this->CopyIn(offset + row * this->tiling_->inner, rows, n, this->tiling_->inner, pitch);
            LocalTensor<T> in = this->xQueue_.template DeQue<T>();
            Floats x = this->ToFloat(in, rows * pitch);
            Accumulate<Op>(results, x, rows, pitch);
            this->xQueue_.FreeTensor(in);
        }
    }

    // Folds the rows of x in place, and then the one that is left into the results.
    template <typename Combine>
    __aicore__ inline void Accumulate(const Floats &results, const Floats &x, int32_t rows, int32_t pitch)
    {
        while (rows > 1) {
            const int32_t half = rows / 2;
            Combine::Row(x, x, x[(rows - half) * pitch], half * pitch);
            PipeBarrier<PIPE_V>();
            rows -= half;
        }
        Combine::Row(results, results, x, pitch);
        PipeBarrier<PIPE_V>();
    }
};

extern "C" __global__ __aicore__ void sum(
    GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    REGISTER_TILING_DEFAULT(SumTilingData);
    GET_TILING_DATA(tilingData, tiling);
    (void)workspace;
    TPipe pipe;
    if (TILING_KEY_IS(1)) {
        SumRows<DTYPE_X> kernel;
        kernel.Init(x, y, &tilingData, &pipe);
        kernel.Process();
    } else if (TILING_KEY_IS(2)) {
        SumSplit<DTYPE_X> kernel;
        kernel.Init(x, y, &tilingData, &pipe);
        kernel.Process();
    } else if (TILING_KEY_IS(3)) {
        SumColumns<DTYPE_X> kernel;
        kernel.Init(x, y, &tilingData, &pipe);
        kernel.Process();
    }
}
