// permute of whole rows: neighbours in both tensors. A row is the last dim (copy), or the dims that change places
// among themselves (gather), whose elements are put into their order in UB.
#ifndef PERMUTE_ROWS_H
#define PERMUTE_ROWS_H

#include "row_io.h"
#include "permute_tiling.h"

namespace permute_permute {
using namespace AscendC;
using namespace row_ops;

using Axes = PermuteAxes;

// Where number i of all combinations of the dims starts, in elements of x.
__aicore__ inline int64_t PlaceOf(const Axes &axes, const int64_t (&strides)[PERMUTE_MAX_RANK], int64_t i)
{
    int64_t place = 0;
    for (int32_t axis = axes.rank - 1; axis >= 0; --axis) {
        place += i % axes.size[axis] * strides[axis];
        i /= axes.size[axis];
    }
    return place;
}

template <typename T>
class Rows {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const PermuteTilingData *tiling)
    {
        tiling_ = tiling;
        const int32_t last = tiling->outer.rank - 1;
        step_ = last < 0 ? 0 : tiling->outer.from[last];
        together_ = last < 0 ? 1 : tiling->outer.size[last];
        if ((step_ - tiling->rows.tileColumns) * static_cast<int64_t>(sizeof(T)) > UINT32_MAX) {
            together_ = 1;  // the rows are farther apart than one copy can say
        }
        xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(x));
        yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(y));
    }

    // Rows of the result follow each other; in x, those that differ in the last of the outer dims only are one copy.
    __aicore__ inline void CopyIn(const LocalTensor<T> &to, const Tile &tile)
    {
        for (int32_t done = 0; done < tile.rows;) {
            const int64_t row = tile.row + done;
            const int32_t rows = Least(tile.rows - done, static_cast<int32_t>(together_ - row % together_));
            const int64_t from = PlaceOf(tiling_->outer, tiling_->outer.from, row) + tile.column;
            CopyRowsIn(to[done * tile.pitch], xGm_[from], rows, tile.width, tile.pitch,
                       rows == 1 ? 0 : step_ - tile.width);
            done += rows;
        }
    }

    __aicore__ inline void CopyOut(const LocalTensor<T> &from, const Tile &tile)
    {
        const int64_t columns = tiling_->rows.columns;
        CopyRowsOut(yGm_[tile.row * columns + tile.column], from, tile.rows, tile.width, tile.pitch,
                    columns - tile.width);
    }

private:
    GlobalTensor<T> xGm_;
    GlobalTensor<T> yGm_;
    const PermuteTilingData *tiling_ = nullptr;
    int64_t step_ = 0;      // elements of x from one row to the next
    int64_t together_ = 1;  // rows for which that holds
};

// Key 1: the copy engines do all of it.
template <typename T>
class CopyRows {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const PermuteTilingData *tiling, TPipe *pipe)
    {
        tiling_ = tiling;
        rows_.Init(x, y, tiling);
        pipe->InitBuffer(tiles_, BUFFERS, tiling->tileElements * sizeof(T));
    }

    __aicore__ inline void Process()
    {
        const Share share = ShareOfThisCore(tiling_->rows.split);
        for (int64_t unit = share.begin; unit < share.end; ++unit) {
            const Tile tile = TileOf(tiling_->rows, unit, BLOCK_BYTES / sizeof(T));
            LocalTensor<T> rows = tiles_.template AllocTensor<T>();
            rows_.CopyIn(rows, tile);
            tiles_.EnQue(rows);
            rows = tiles_.template DeQue<T>();
            rows_.CopyOut(rows, tile);
            tiles_.FreeTensor(rows);
        }
    }

private:
    Rows<T> rows_;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, BUFFERS> tiles_;
    const PermuteTilingData *tiling_ = nullptr;
};

// Key 3: a table says for each element of a tile where in the tile it comes from.
template <typename T>
class GatherRows {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const PermuteTilingData *tiling, TPipe *pipe)
    {
        tiling_ = tiling;
        rows_.Init(x, y, tiling);
        const int32_t room = tiling->tileElements;
        pipe->InitBuffer(x_, BUFFERS, room * sizeof(T));
        pipe->InitBuffer(y_, BUFFERS, room * sizeof(T));
        pipe->InitBuffer(table_, room * sizeof(int32_t));
        pipe->InitBuffer(work_, 3 * room * sizeof(int32_t));
        MakeTable(tiling->rows.tileRows * AlignUp(tiling->rows.tileColumns, BLOCK_LENGTH));
    }

    __aicore__ inline void Process()
    {
        LocalTensor<uint32_t> table = table_.Get<uint32_t>();
        const Share share = ShareOfThisCore(tiling_->rows.split);
        for (int64_t unit = share.begin; unit < share.end; ++unit) {
            const Tile tile = TileOf(tiling_->rows, unit, BLOCK_LENGTH);
            LocalTensor<T> x = x_.template AllocTensor<T>();
            rows_.CopyIn(x, tile);
            x_.EnQue(x);
            x = x_.template DeQue<T>();
            LocalTensor<T> y = y_.template AllocTensor<T>();
            Gather(y, x, table, 0, static_cast<uint32_t>(tile.rows * tile.pitch));
            x_.FreeTensor(x);
            y_.EnQue(y);
            y = y_.template DeQue<T>();
            rows_.CopyOut(y, tile);
            y_.FreeTensor(y);
        }
    }

private:
    static constexpr int32_t BLOCK_LENGTH = BLOCK_BYTES / sizeof(T);
    using Integers = LocalTensor<int32_t>;

    // Takes the numbers 0, 1, 2, ... apart into a row and the dims of a row, largest first. Elements behind the end of
    // a row come from anywhere in it: nobody reads them.
    __aicore__ inline void MakeTable(int32_t n)
    {
        const Axes &axes = tiling_->inner;
        const int32_t pitch = n / tiling_->rows.tileRows;
        Integers table = table_.Get<int32_t>();
        Integers left = work_.Get<int32_t>();
        CreateVecIndex(left, 0, static_cast<uint32_t>(n));
        Duplicate(table, 0, n);
        PipeBarrier<PIPE_V>();
        TakeApart(table, left, n, pitch, pitch);
        Mins(left, left, static_cast<int32_t>(tiling_->rows.columns) - 1, n);
        PipeBarrier<PIPE_V>();
        for (int32_t axis = 0; axis < axes.rank; ++axis) {
            TakeApart(table, left, n, static_cast<int32_t>(axes.to[axis]), static_cast<int32_t>(axes.from[axis]));
        }
        Muls(table, table, static_cast<int32_t>(sizeof(T)), n);
        PipeBarrier<PIPE_V>();
    }

    // table += left / size * step, left = left % size. (left + 0.5) / size is never so close to a whole number that
    // its rounding in fp32 could reach it: both are far below 2^20.
    __aicore__ inline void TakeApart(const Integers &table, const Integers &left, int32_t n, int32_t size, int32_t step)
    {
        Integers quotient = left[tiling_->tileElements];
        Integers product = left[2 * tiling_->tileElements];
        Floats ratio = product.template ReinterpretCast<float>();
        Cast(ratio, left, RoundMode::CAST_RINT, n);
        PipeBarrier<PIPE_V>();
        Adds(ratio, ratio, 0.5f, n);
        PipeBarrier<PIPE_V>();
        Muls(ratio, ratio, 1.0f / static_cast<float>(size), n);
        PipeBarrier<PIPE_V>();
        Cast(quotient, ratio, RoundMode::CAST_FLOOR, n);
        PipeBarrier<PIPE_V>();
        Muls(product, quotient, size, n);
        PipeBarrier<PIPE_V>();
        Sub(left, left, product, n);
        Muls(quotient, quotient, step, n);
        PipeBarrier<PIPE_V>();
        Add(table, table, quotient, n);
        PipeBarrier<PIPE_V>();
    }

    Rows<T> rows_;
    TQue<TPosition::VECIN, BUFFERS> x_;
    TQue<TPosition::VECOUT, BUFFERS> y_;
    TBuf<TPosition::VECCALC> table_;
    TBuf<TPosition::VECCALC> work_;
    const PermuteTilingData *tiling_ = nullptr;
};
}  // namespace permute_permute

#endif
