// What the vector core does in flash_attention_backward: weights and slopes of a tile and a block from their scores,
// and the results of a tile.
#ifndef FLASH_ATTENTION_BACKWARD_VECTOR_H
#define FLASH_ATTENTION_BACKWARD_VECTOR_H

#include "kernel_operator.h"

#include "row_io.h"
#include "flash_attention_backward_pairs.h"
#include "flash_attention_backward_tiling.h"

using namespace AscendC;
using namespace row_ops;

template <typename T>
class FlashAttentionBackwardVector {
public:
    __aicore__ inline void Init(GM_ADDR lse, GM_ADDR deltas, const FlashAttentionBackwardTilingData *tiling,
                                TPipe *pipe)
    {
        tiling_ = tiling;
        const int32_t most = tiling->tileRows > tiling->block ? tiling->tileRows : tiling->block;
        scores_.Init(nullptr, pipe, tiling->slice);
        slopes_.Init(nullptr, pipe, tiling->slice);
        lse_.Init(lse, pipe, most);
        deltas_.Init(deltas, pipe, most);
        pipe->InitBuffer(weightsOut_, BUFFERS, tiling->slice * sizeof(T));
        pipe->InitBuffer(slopesOut_, BUFFERS, tiling->slice * sizeof(T));
        pipe->InitBuffer(spread_, 2 * tiling->tileRows * BLOCK_BYTES);
        lseBlocks_ = spread_.Get<float>();
        deltaBlocks_ = lseBlocks_[tiling->tileRows * BLOCK];
    }

    // weights = e^(scale * scores - lse), slopes = weights * (slopes - delta). Rows are `block` apart.
    __aicore__ inline void Soften(const Pair &pair, const GlobalTensor<float> &scores,
                                  const GlobalTensor<float> &slopes, const GlobalTensor<T> &weightsTo,
                                  const GlobalTensor<T> &slopesTo)
    {
        LoadStatistics(pair);
        const int32_t between = tiling_->block;
        const int32_t pitch = AlignUp(pair.columns, LANES);
        CopyIn(pair, scores, slopes, 0);
        for (int32_t row = 0; row < pair.rows; row += tiling_->sliceRows) {
            const int32_t rows = Least(pair.rows - row, tiling_->sliceRows);
            if (row + rows < pair.rows) {
                CopyIn(pair, scores, slopes, row + rows);
            }
            Floats x = scores_.Take(rows * pitch);
            Floats y = slopes_.Take(rows * pitch);
            Compute(pair, x, y, row, rows);
            const int64_t at = static_cast<int64_t>(row) * between;
            if (pair.keys) {
                WriteRows(weightsOut_, weightsTo[at], x, rows, pair.columns, pitch, between - pair.columns);
            }
            WriteRows(slopesOut_, slopesTo[at], y, rows, pair.columns, pitch, between - pair.columns);
            scores_.Release();
            slopes_.Release();
        }
        if (pair.keys) {
            lse_.Release();
            deltas_.Release();
        }
    }

    // Rounds the sums of a tile, times a factor. Their rows start every whole fractal.
    __aicore__ inline void Collect(const Pair &pair, const GlobalTensor<T> &to, const GlobalTensor<float> &sums,
                                   float factor)
    {
        const int32_t size = tiling_->size;
        const int32_t pitch = AlignUp(size, FRACTAL);
        for (int32_t row = 0; row < pair.rows; row += tiling_->outRows) {
            const int32_t rows = Least(pair.rows - row, tiling_->outRows);
            scores_.CopyFrom(sums[static_cast<int64_t>(row) * pitch], rows, size, pitch, pitch - size);
            Floats x = scores_.Take(rows * pitch);
            ScaleRows(x, factor, rows, AlignUp(size, BLOCK), pitch);
            PipeBarrier<PIPE_V>();
            WriteRows(slopesOut_, to[(pair.tile + row) * size], x, rows, size, pitch, 0);
            scores_.Release();
        }
    }

    // The same for all queries of the segment of a pair.
    __aicore__ inline void CollectQueries(const Pair &pair, const GlobalTensor<T> &to, const GlobalTensor<float> &sums)
    {
        Pair rows = pair;
        const int64_t first = pair.other - pair.start;
        for (int64_t row = 0; row < tiling_->rows; row += tiling_->tileRows) {
            rows.tile = first + row;
            rows.rows = Least(tiling_->rows - row, tiling_->tileRows);
            Collect(rows, to, sums[row * AlignUp(tiling_->size, FRACTAL)], tiling_->scale);
        }
    }

private:
    static constexpr int32_t FRACTAL = 16;

    // lse and deltas: of the rows of a tile of queries, each over one block; or of a block of queries, side by side.
    __aicore__ inline void LoadStatistics(const Pair &pair)
    {
        if (pair.keys) {
            lse_.Copy(pair.other, 1, pair.columns, AlignUp(pair.columns, BLOCK));
            deltas_.Copy(pair.other, 1, pair.columns, AlignUp(pair.columns, BLOCK));
            lseRow_ = lse_.Take(pair.columns);
            deltaRow_ = deltas_.Take(pair.columns);
        } else if (pair.first) {
            lse_.Copy(pair.tile, 1, pair.rows, AlignUp(pair.rows, BLOCK));
            deltas_.Copy(pair.tile, 1, pair.rows, AlignUp(pair.rows, BLOCK));
            SpreadOverBlocks(lseBlocks_, lse_.Take(pair.rows), pair.rows);
            SpreadOverBlocks(deltaBlocks_, deltas_.Take(pair.rows), pair.rows);
            lse_.Release();
            deltas_.Release();
        }
    }

    __aicore__ inline void CopyIn(const Pair &pair, const GlobalTensor<float> &scores,
                                  const GlobalTensor<float> &slopes, int32_t row)
    {
        const int32_t rows = Least(pair.rows - row, tiling_->sliceRows);
        const int32_t pitch = AlignUp(pair.columns, LANES);
        const int64_t at = static_cast<int64_t>(row) * tiling_->block;
        scores_.CopyFrom(scores[at], rows, pair.columns, pitch, tiling_->block - pair.columns);
        slopes_.CopyFrom(slopes[at], rows, pair.columns, pitch, tiling_->block - pair.columns);
    }

    __aicore__ inline void Compute(const Pair &pair, const Floats &x, const Floats &y, int32_t row, int32_t rows)
    {
        const int32_t columns = pair.columns;
        const int32_t pitch = AlignUp(columns, LANES);
        PadRows(x, 0.0f, rows, columns, pitch);
        PadRows(y, 0.0f, rows, columns, pitch);
        Muls(x, x, tiling_->scale, rows * pitch);
        PipeBarrier<PIPE_V>();
        if (pair.keys) {
            ApplyRowToRows<SubOp>(x, x, lseRow_, rows, columns, pitch);
            ApplyRowToRows<SubOp>(y, y, deltaRow_, rows, columns, pitch);
        } else {
            ApplyToRows<SubOp>(x, x, lseBlocks_[row * BLOCK], rows, pitch);
            ApplyToRows<SubOp>(y, y, deltaBlocks_[row * BLOCK], rows, pitch);
        }
        PipeBarrier<PIPE_V>();
        Exp(x, x, rows * pitch);
        PipeBarrier<PIPE_V>();
        Mul(y, y, x, rows * pitch);
        PipeBarrier<PIPE_V>();
        if (tiling_->causal != 0 && IsCut(pair)) {
            for (int32_t r = 0; r < rows; ++r) {
                Hide(pair, pair.row + row + r, x[r * pitch], y[r * pitch]);
            }
            PipeBarrier<PIPE_V>();
        }
    }

    // Whether a key of the pair comes after one of its queries.
    __aicore__ inline bool IsCut(const Pair &pair)
    {
        const int64_t first = (pair.keys ? pair.start : pair.row) % tiling_->queries;
        const int64_t queries = pair.keys ? pair.columns : pair.rows;
        const int64_t lowest = first + queries <= tiling_->queries ? first : 0;  // or they go on in the next head
        return (pair.keys ? pair.row + pair.rows : pair.start + pair.columns) - 1 > lowest;
    }

    // Zeros where a key comes after a query, in the row of a query or of a key.
    __aicore__ inline void Hide(const Pair &pair, int64_t row, const Floats &x, const Floats &y)
    {
        for (int32_t column = 0; column < pair.columns; column += LANES) {
            const int64_t place = pair.start + column;
            const int64_t visible = row % tiling_->queries + 1 - place;
            uint64_t lanes[2] = {pair.keys ? HiddenQueries(row, place) : Lanes(visible, LANES), 0};
            if (lanes[0] != 0) {
                Duplicate(x[column], 0.0f, lanes, 1, 1, BLOCK);
                Duplicate(y[column], 0.0f, lanes, 1, 1, BLOCK);
            }
        }
    }

    // Of the 64 queries from `place` on, those that come before a key.
    __aicore__ inline uint64_t HiddenQueries(int64_t key, int64_t place)
    {
        const int64_t queries = tiling_->queries;
        const int64_t hidden = key < queries ? key : queries;  // of each head
        uint64_t lanes = 0;
        for (int64_t head = place / queries * queries; head < place + LANES; head += queries) {
            lanes |= Lanes(head - place, head + hidden - place);
        }
        return lanes;
    }

    // A bit for each lane from `begin` to `end`, of 64.
    __aicore__ inline uint64_t Lanes(int64_t begin, int64_t end)
    {
        const uint64_t upTo = end >= LANES ? ~0ULL : (1ULL << (end > 0 ? end : 0)) - 1;
        return begin >= LANES ? 0 : upTo & (~0ULL << (begin > 0 ? begin : 0));
    }

    template <typename Queue>
    __aicore__ inline void WriteRows(Queue &queue, const GlobalTensor<T> &to, const Floats &x, int32_t rows,
                                     int32_t length, int32_t pitch, int64_t gap)
    {
        LocalTensor<T> y = queue.template AllocTensor<T>();
        if constexpr (IsSameType<T, float>::value) {
            Muls(y, x, 1.0f, rows * pitch);
        } else {
            Cast(y, x, RoundMode::CAST_RINT, rows * pitch);
        }
        queue.EnQue(y);
        y = queue.template DeQue<T>();
        CopyRowsOut(to, y, rows, length, pitch, gap);
        queue.FreeTensor(y);
    }

    RowsIn<float> scores_;
    RowsIn<float> slopes_;
    RowsIn<float, 1> lse_;
    RowsIn<float, 1> deltas_;
    TQue<TPosition::VECOUT, BUFFERS> weightsOut_;
    TQue<TPosition::VECOUT, BUFFERS> slopesOut_;
    TBuf<TPosition::VECCALC> spread_;
    Floats lseBlocks_;    // of the queries of a tile
    Floats deltaBlocks_;
    Floats lseRow_;       // of a block of queries
    Floats deltaRow_;
    const FlashAttentionBackwardTilingData *tiling_ = nullptr;
};

#endif
