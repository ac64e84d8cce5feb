// quantize_per_token:
// scale[i] = max_j |x[i, j]| / 127, y[i, j] = round(x[i, j] / scale[i]), ties to even; a row of zeros has scale 0.
#include "kernel_operator.h"

#include "int8_rows.h"
#include "quantize_per_token_tiling.h"
#include "write_equal.h"

using namespace AscendC;
using namespace row_ops;

constexpr float SMALLEST = 1.17549435e-38f;  // normal number: a divisor for rows of zeros

// Turns largest magnitudes into scales, and spreads what to divide by over blocks. `scales` lies in the output queue.
__aicore__ inline void ScalesOf(const Floats &blocks, const Floats &scales, int32_t rows)
{
    Muls(scales, scales, 1.0f / 127.0f, rows);
    PipeBarrier<PIPE_V>();
    SpreadOverBlocks(blocks, scales, rows);
    Maxs(blocks, blocks, SMALLEST, AlignUp(rows, BLOCK) * BLOCK);
    PipeBarrier<PIPE_V>();
}

// Whole rows in UB.
template <typename T>
class QuantizePerTokenFullLoad {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR scale, const QuantizePerTokenTilingData *tiling,
                                TPipe *pipe)
    {
        tiling_ = tiling;
        rows_ = tiling->tileRows;
        pitch_ = tiling->pitch;
        columns_ = static_cast<int32_t>(tiling->columns);
        const int32_t elements = rows_ * pitch_;
        const int32_t rowsUp = AlignUp(rows_, BLOCK);  // Brcb reads 8 values at a time
        x_.Init(x, pipe, elements);
        y_.Init(y, pipe, elements);
        scale_.Init(scale, pipe, rowsUp);
        pipe->InitBuffer(blocks_, rowsUp * BLOCK_BYTES);
        pipe->InitBuffer(magnitudes_, elements * sizeof(float));
        pipe->InitBuffer(work_, elements / 2 * sizeof(float));
    }

    __aicore__ inline void Process()
    {
        const Share share = ShareOfThisCore(tiling_->split);
        for (int64_t row = share.begin; row < share.end; row += rows_) {
            const int32_t rows = Least(share.end - row, rows_);
            x_.Copy(row * columns_, rows, columns_, pitch_);
            Compute(rows);
            scale_.Copy(row, 1, rows, AlignUp(rows, BLOCK));
            y_.Copy(row * columns_, rows, columns_, pitch_);
        }
    }

private:
    __aicore__ inline void Compute(int32_t rows)
    {
        const int32_t n = rows * pitch_;
        Floats x = x_.Take(n);
        Floats magnitudes = magnitudes_.template Get<float>();
        Floats blocks = blocks_.template Get<float>();
        Floats scales = scale_.Begin(Floats());
        Abs(magnitudes, x, n);
        PipeBarrier<PIPE_V>();
        if (columns_ > LANES) {
            PadRows(magnitudes, 0.0f, rows, columns_, pitch_);
        }
        ReduceRows<MaxOp>(scales, magnitudes, work_.template Get<float>(), rows, columns_, pitch_);
        ScalesOf(blocks, scales, rows);
        scale_.End(scales, rows);
        ApplyToRows<DivOp>(magnitudes, x, blocks, rows, pitch_);
        PipeBarrier<PIPE_V>();
        x_.Release();
        y_.Put(magnitudes, n);
    }

    RowsIn<T> x_;
    Int8Out y_;
    RowsOut<float> scale_;
    TBuf<TPosition::VECCALC> blocks_;
    TBuf<TPosition::VECCALC> magnitudes_;
    TBuf<TPosition::VECCALC> work_;  // for folding
    const QuantizePerTokenTilingData *tiling_ = nullptr;
    int32_t rows_ = 0;
    int32_t pitch_ = 0;
    int32_t columns_ = 0;
};

// Rows larger than UB: a first pass finds the largest magnitude of a row, a second one reads it again.
template <typename T>
class QuantizePerTokenSplit {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR scale, const QuantizePerTokenTilingData *tiling,
                                TPipe *pipe)
    {
        tiling_ = tiling;
        chunk_ = tiling->chunk;
        x_.Init(x, pipe, chunk_);
        y_.Init(y, pipe, chunk_);
        scale_.Init(scale, pipe, BLOCK);
        pipe->InitBuffer(lanes_, 2 * LANES * sizeof(float));
        pipe->InitBuffer(magnitudes_, chunk_ * sizeof(float));
        pipe->InitBuffer(work_, chunk_ / 2 * sizeof(float));
        largest_ = lanes_.template Get<float>();
        block_ = largest_[LANES];
    }

    __aicore__ inline void Process()
    {
        const Share share = ShareOfThisCore(tiling_->split);
        const int64_t columns = tiling_->columns;
        for (int64_t row = share.begin; row < share.end; ++row) {
            Duplicate(largest_, 0.0f, LANES);
            PipeBarrier<PIPE_V>();
            for (int64_t done = 0; done < columns; done += chunk_) {
                const int32_t n = Least(columns - done, chunk_);
                x_.Copy(row * columns + done, 1, n, AlignUp(n, LANES));
                Accumulate(n);
            }
            Floats scale = scale_.Begin(Floats());
            MaxOp::Reduce(scale, largest_, LANES, 1, BLOCK);
            PipeBarrier<PIPE_V>();
            ScalesOf(block_, scale, 1);
            scale_.End(scale, 1);
            scale_.Copy(row, 1, 1, BLOCK);
            for (int64_t done = 0; done < columns; done += chunk_) {
                const int32_t n = Least(columns - done, chunk_);
                x_.Copy(row * columns + done, 1, n, AlignUp(n, LANES));
                Scale(n);
                y_.Copy(row * columns + done, 1, n, AlignUp(n, LANES));
            }
        }
    }

private:
    __aicore__ inline void Accumulate(int32_t n)
    {
        int32_t pitch = AlignUp(n, LANES);
        Floats x = x_.Take(n);
        Floats magnitudes = magnitudes_.template Get<float>();
        Abs(magnitudes, x, n);
        PipeBarrier<PIPE_V>();
        x_.Release();
        PadRows(magnitudes, 0.0f, 1, n, pitch);
        Floats folded = FoldRows<MaxOp>(magnitudes, work_.template Get<float>(), 1, pitch);
        Max(largest_, largest_, folded, LANES);
        PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void Scale(int32_t n)
    {
        Floats x = x_.Take(n);
        Floats scaled = magnitudes_.template Get<float>();
        ApplyToRow<DivOp>(scaled, x, block_, 0, n);
        PipeBarrier<PIPE_V>();
        x_.Release();
        y_.Put(scaled, n);
    }

    RowsIn<T> x_;
    Int8Out y_;
    RowsOut<float> scale_;
    TBuf<TPosition::VECCALC> lanes_;
    TBuf<TPosition::VECCALC> magnitudes_;
    TBuf<TPosition::VECCALC> work_;  // for folding
    Floats largest_;  // magnitude so far, of each lane
    Floats block_;    // what to divide by
    const QuantizePerTokenTilingData *tiling_ = nullptr;
    int32_t chunk_ = 0;
};

extern "C" __global__ __aicore__ void quantize_per_token(GM_ADDR x, GM_ADDR y, GM_ADDR scale, GM_ADDR workspace,
                                                         GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    REGISTER_TILING_DEFAULT(QuantizePerTokenTilingData);
    GET_TILING_DATA(tilingData, tiling);
    (void)workspace;
    TPipe pipe;
    if (TILING_KEY_IS(1)) {
        QuantizePerTokenFullLoad<DTYPE_X> kernel;
        kernel.Init(x, y, scale, &tilingData, &pipe);
        kernel.Process();
    } else if (TILING_KEY_IS(2)) {
        QuantizePerTokenSplit<DTYPE_X> kernel;
        kernel.Init(x, y, scale, &tilingData, &pipe);
        kernel.Process();
    } else if (TILING_KEY_IS(3)) {
        WriteEqual<float>(scale, tilingData.rows, 0.0f);
    }
}
