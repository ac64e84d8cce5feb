// What the vector core does in flash_attention: softmax of a block of scores with a running maximum and sum of
// each row, and the sum of the products of weights and values, which shrinks when the maximum grows.
#ifndef FLASH_ATTENTION_VECTOR_H
#define FLASH_ATTENTION_VECTOR_H

#include "kernel_operator.h"

#include "row_io.h"
#include "flash_attention_blocks.h"
#include "flash_attention_output.h"
#include "flash_attention_tiling.h"

using namespace AscendC;
using namespace row_ops;

template <typename T>
class FlashAttentionVector {
public:
    // `parts` is where the results of parts of the keys go, if there are some.
    __aicore__ inline void Init(GM_ADDR out, GM_ADDR lse, __gm__ float *parts, const FlashAttentionTilingData *tiling,
                                TPipe *pipe)
    {
        tiling_ = tiling;
        tileRows_ = tiling->tileRows;
        pitch_ = AlignUp(tiling->size, FRACTAL);
        output_.Init(out, lse, tiling, pipe);
        const int64_t rows = tiling->segments * tiling->tiles * tiling->parts * tileRows_;
        partsGm_.SetGlobalBuffer(parts);
        partRowsGm_.SetGlobalBuffer(parts + rows * pitch_);
        in_.Init(nullptr, pipe, tiling->slice);
        pipe->InitBuffer(sums_, tileRows_ * pitch_ * sizeof(float));
        pipe->InitBuffer(work_, tiling->slice / 2 * sizeof(float));
        pipe->InitBuffer(rows_, STATISTICS * tileRows_ * sizeof(float));
        pipe->InitBuffer(spread_, tileRows_ * BLOCK_BYTES);
        Duplicate(rows_.Get<float>(), 0.0f, STATISTICS * tileRows_);
        PipeBarrier<PIPE_V>();
    }

    // Weights e^(score - maximum) of a block: from `scores` to `weights`, whose rows are blockKeys apart.
    __aicore__ inline void Soften(const KeyBlock &block, const GlobalTensor<float> &scores,
                                  const GlobalTensor<T> &weights)
    {
        if (block.first) {
            Duplicate(Peak(block.tile), LOWEST, tileRows_);
            Duplicate(Total(block.tile), 0.0f, tileRows_);
            PipeBarrier<PIPE_V>();
        }
        const int32_t between = tiling_->blockKeys;
        const int32_t pitch = AlignUp(block.keys, LANES);
        int32_t rows = Least(block.rows, tiling_->sliceRows);
        in_.CopyFrom(scores, rows, block.keys, pitch, between - block.keys);
        for (int32_t row = 0; row < block.rows; row += tiling_->sliceRows) {
            rows = Least(block.rows - row, tiling_->sliceRows);
            const int32_t next = row + tiling_->sliceRows;
            if (next < block.rows) {
                in_.CopyFrom(scores[static_cast<int64_t>(next) * between], Least(block.rows - next, tiling_->sliceRows),
                             block.keys, pitch, between - block.keys);
            }
            Floats x = in_.Take(rows * pitch);
            ScaleRows(x, tiling_->scale, rows, AlignUp(block.keys, BLOCK), pitch);
            PipeBarrier<PIPE_V>();
            PadRows(x, -INFINITE, rows, block.keys, pitch);
            Hide(block, x, row, rows, pitch);
            Exponents(block, x, row, rows, pitch);
            output_.WriteRows(weights[static_cast<int64_t>(row) * between], x, rows, block.keys, pitch,
                              between - block.keys);
            in_.Release();
        }
    }

    // Adds the product of a block to the sums of its tile, and writes the tile after its last block.
    __aicore__ inline void Collect(const KeyBlock &block, const GlobalTensor<float> &product)
    {
        int32_t rows = Least(block.rows, tiling_->outRows);
        in_.CopyFrom(product, rows, tiling_->size, pitch_, pitch_ - tiling_->size);
        for (int32_t row = 0; row < block.rows; row += tiling_->outRows) {
            rows = Least(block.rows - row, tiling_->outRows);
            const int32_t next = row + tiling_->outRows;
            if (next < block.rows) {
                in_.CopyFrom(product[static_cast<int64_t>(next) * pitch_], Least(block.rows - next, tiling_->outRows),
                             tiling_->size, pitch_, pitch_ - tiling_->size);
            }
            Floats x = in_.Take(rows * pitch_);
            FillPitch(x, rows);
            Floats sums = sums_.Get<float>()[row * pitch_];
            if (block.first) {
                sums = block.last ? x : Kept(sums, x, rows);
            } else {
                SpreadOverBlocks(spread_.Get<float>(), Shrink(block.slot)[row], rows);
                ApplyToRows<MulOp>(sums, sums, spread_.Get<float>(), rows, pitch_);
                PipeBarrier<PIPE_V>();
                Add(sums, sums, x, rows * pitch_);
                PipeBarrier<PIPE_V>();
            }
            if (block.last && tiling_->parts > 1) {
                output_.WriteRows(partsGm_[(block.unit * tileRows_ + row) * pitch_], sums, rows, pitch_, pitch_, 0);
            } else if (block.last) {
                output_.WriteResult(block.query + row, x, sums, Total(block.tile)[row], spread_.Get<float>(), rows);
            }
            in_.Release();
        }
        if (block.last && tiling_->parts > 1) {
            const GlobalTensor<float> to = partRowsGm_[2 * block.unit * tileRows_];
            output_.WriteStatistics(to, Peak(block.tile), block.rows);
            output_.WriteStatistics(to[tileRows_], Total(block.tile), block.rows);
        } else if (block.last) {
            output_.WriteSums(block.query, Peak(block.tile), Total(block.tile), Spare(), block.rows);
        }
    }

    // Up to 8 rows of a tile, from `row` on: adds up the results of the parts of the keys, shrunk to one maximum.
    __aicore__ inline void Merge(const KeyBlock &tile, int32_t row)
    {
        const int32_t rows = Least(tile.rows - row, BLOCK);
        const int32_t parts = tiling_->parts;
        Floats peak = Peak(0);
        Floats total = Total(0);
        Floats factors = work_.Get<float>();
        in_.CopyFrom(partRowsGm_[2 * tile.unit * tileRows_ + row], 2 * parts, rows, BLOCK, tileRows_ - rows);
        const GlobalTensor<float> from = partsGm_[(tile.unit * tileRows_ + row) * pitch_];
        in_.CopyFrom(from, rows, pitch_, pitch_);
        Floats x = in_.Take(2 * parts * BLOCK);  // maximum and sum of each row, of each part
        Duplicate(peak, LOWEST, BLOCK);
        Duplicate(total, 0.0f, BLOCK);
        PipeBarrier<PIPE_V>();
        for (int32_t part = 0; part < parts; ++part) {
            Max(peak, peak, x[2 * part * BLOCK], BLOCK);
            PipeBarrier<PIPE_V>();
        }
        for (int32_t part = 0; part < parts; ++part) {
            Sub(factors[part * BLOCK], x[2 * part * BLOCK], peak, BLOCK);
        }
        PipeBarrier<PIPE_V>();
        Exp(factors, factors, parts * BLOCK);
        PipeBarrier<PIPE_V>();
        for (int32_t part = 0; part < parts; ++part) {
            MulAddDst(total, factors[part * BLOCK], x[(2 * part + 1) * BLOCK], BLOCK);
            PipeBarrier<PIPE_V>();
        }
        in_.Release();
        Floats sums = sums_.Get<float>();
        for (int32_t part = 0; part < parts; ++part) {
            if (part + 1 < parts) {
                in_.CopyFrom(from[static_cast<int64_t>(part + 1) * tileRows_ * pitch_], rows, pitch_, pitch_);
            }
            x = in_.Take(rows * pitch_);
            SpreadOverBlocks(spread_.Get<float>(), factors[part * BLOCK], rows);
            ApplyToRows<MulOp>(x, x, spread_.Get<float>(), rows, pitch_);
            PipeBarrier<PIPE_V>();
            if (part == 0) {
                Kept(sums, x, rows);
            } else {
                Add(sums, sums, x, rows * pitch_);
                PipeBarrier<PIPE_V>();
            }
            if (part + 1 == parts) {
                output_.WriteResult(tile.query + row, x, sums, total, spread_.Get<float>(), rows);
            }
            in_.Release();
        }
        output_.WriteSums(tile.query + row, peak, total, Spare(), rows);
    }

private:
    static constexpr int32_t FRACTAL = 16;
    static constexpr int32_t STATISTICS = 7;  // rows of floats: see below
    static constexpr float LOWEST = -3.4028234663852886e38f;  // so that keys of score -inf add 0 and not NaN

    __aicore__ inline Floats Peak(int32_t tile) { return rows_.Get<float>()[tile * tileRows_]; }
    __aicore__ inline Floats Total(int32_t tile) { return rows_.Get<float>()[(2 + tile) * tileRows_]; }
    __aicore__ inline Floats Shrink(int32_t slot) { return rows_.Get<float>()[(4 + slot) * tileRows_]; }
    __aicore__ inline Floats Spare() { return rows_.Get<float>()[6 * tileRows_]; }

    // -inf for the keys that come after a query: only in blocks that the diagonal cuts.
    __aicore__ inline void Hide(const KeyBlock &block, const Floats &x, int32_t row, int32_t rows, int32_t pitch)
    {
        if (tiling_->causal == 0) {
            return;
        }
        int64_t position = (block.position + row) % tiling_->queries;
        for (int32_t r = 0; r < rows; ++r) {
            const int64_t visible = position + 1 - block.key;
            if (visible < block.keys) {
                HideFrom(x[r * pitch], visible > 0 ? static_cast<int32_t>(visible) : 0, pitch);
            }
            position = position + 1 < tiling_->queries ? position + 1 : 0;  // the next head
        }
        PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void HideFrom(const Floats &x, int32_t column, int32_t pitch)
    {
        const int32_t repeat = column / LANES * LANES;
        const int32_t rest = AlignUp(column, LANES);
        if (rest != repeat) {
            uint64_t lanes[2] = {~0ULL << (column - repeat), 0};
            Duplicate(x[repeat], -INFINITE, lanes, 1, 1, BLOCK);
        }
        if (rest < pitch) {
            Duplicate(x[rest], -INFINITE, pitch - rest);
        }
    }

    // x = e^(x - maximum), where the maximum is that of all blocks up to here; the factor for the sums of earlier ones.
    __aicore__ inline void Exponents(const KeyBlock &block, const Floats &x, int32_t row, int32_t rows, int32_t pitch)
    {
        Floats peak = Peak(block.tile)[row];
        Floats total = Total(block.tile)[row];
        Floats shrink = Shrink(block.slot)[row];
        Floats spare = Spare()[row];
        ReduceRows<MaxOp>(spare, x, work_.Get<float>(), rows, pitch, pitch);
        Max(spare, spare, peak, rows);
        PipeBarrier<PIPE_V>();
        Sub(shrink, peak, spare, rows);
        SpreadOverBlocks(spread_.Get<float>(), spare, rows);
        Exp(shrink, shrink, rows);
        Muls(peak, spare, 1.0f, rows);
        ApplyToRows<SubOp>(x, x, spread_.Get<float>(), rows, pitch);
        PipeBarrier<PIPE_V>();
        Mul(total, total, shrink, rows);
        Exp(x, x, rows * pitch);
        PipeBarrier<PIPE_V>();
        ReduceRows<SumOp>(spare, x, work_.Get<float>(), rows, pitch, pitch);
        Add(total, total, spare, rows);
        PipeBarrier<PIPE_V>();
    }

    // The product has `size` columns; the rest of a row of `pitch` gets a value too.
    __aicore__ inline void FillPitch(const Floats &x, int32_t rows)
    {
        const int32_t copied = AlignUp(tiling_->size, BLOCK);
        if (copied != pitch_) {
            Duplicate(x[copied], 0.0f, static_cast<uint64_t>(BLOCK), static_cast<uint8_t>(rows), 1, pitch_ / BLOCK);
            PipeBarrier<PIPE_V>();
        }
    }

    __aicore__ inline Floats Kept(const Floats &sums, const Floats &x, int32_t rows)
    {
        Muls(sums, x, 1.0f, rows * pitch_);
        PipeBarrier<PIPE_V>();
        return sums;
    }

    GlobalTensor<float> partsGm_;     // of parts of the keys: sums of each tile
    GlobalTensor<float> partRowsGm_;  // and maximum and sum of its rows
    RowsIn<float> in_;
    FlashAttentionOutput<T> output_;
    TBuf<TPosition::VECCALC> sums_;    // of weights and values, of a tile
    TBuf<TPosition::VECCALC> work_;
    TBuf<TPosition::VECCALC> rows_;    // of each query of a tile: maximum and sum (twice), factor (twice), spare
    TBuf<TPosition::VECCALC> spread_;  // a value of each row over a block
    const FlashAttentionTilingData *tiling_ = nullptr;
    int32_t tileRows_ = 0;
    int32_t pitch_ = 0;  // of a row of the product
};

#endif
