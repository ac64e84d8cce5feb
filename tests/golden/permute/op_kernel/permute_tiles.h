// permute of planes: the last dim of the result, and the last dim of x, which is another one. A tile is read along
// the latter, transposed in UB, and written along the former.
#ifndef PERMUTE_TILES_H
#define PERMUTE_TILES_H

#include "transpose.h"
#include "permute_rows.h"

namespace permute_permute {
template <typename T>
class Tiles {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const PermuteTilingData *tiling, TPipe *pipe)
    {
        tiling_ = tiling;
        xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(x));
        yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(y));
        const int32_t room = tiling->tileElements;
        pipe->InitBuffer(x_, BUFFERS, room * sizeof(T));
        pipe->InitBuffer(y_, BUFFERS, room * sizeof(T));
        // Groups of 16 rows are transposed, so all of a tile must have been written once.
        LocalTensor<T> tiles[BUFFERS];
        for (int32_t i = 0; i < BUFFERS; ++i) {
            tiles[i] = x_.template AllocTensor<T>();
            Duplicate(tiles[i], static_cast<T>(0), room);
        }
        for (int32_t i = 0; i < BUFFERS; ++i) {
            x_.FreeTensor(tiles[i]);
        }
    }

    __aicore__ inline void Process()
    {
        const Axes &plane = tiling_->inner;
        const Share share = ShareOfThisCore(tiling_->split);
        const int64_t across = (plane.size[1] + tiling_->tileColumns - 1) / tiling_->tileColumns;
        const int64_t perPlane = (plane.size[0] + tiling_->tileRows - 1) / tiling_->tileRows * across;
        for (int64_t unit = share.begin; unit < share.end; ++unit) {
            const int64_t number = unit / perPlane;
            const int64_t row = unit % perPlane / across * tiling_->tileRows;
            const int64_t column = unit % across * tiling_->tileColumns;
            const int32_t rows = Least(plane.size[0] - row, tiling_->tileRows);
            const int32_t columns = Least(plane.size[1] - column, tiling_->tileColumns);
            CopyIn(PlaceOf(tiling_->outer, tiling_->outer.from, number) + row * plane.from[0] + column, rows, columns);
            Turn(rows, columns);
            CopyOut(PlaceOf(tiling_->outer, tiling_->outer.to, number) + column * plane.to[1] + row, rows, columns);
        }
    }

private:
    static constexpr int32_t BLOCK_LENGTH = BLOCK_BYTES / sizeof(T);
    static constexpr int64_t FARTHEST = UINT32_MAX / sizeof(T);  // gap that one copy can say

    __aicore__ inline void CopyIn(int64_t from, int32_t rows, int32_t columns)
    {
        const int64_t step = tiling_->inner.from[0];
        const int32_t pitch = AlignUp(columns, BLOCK_LENGTH);
        const int32_t together = step <= FARTHEST ? rows : 1;
        LocalTensor<T> x = x_.template AllocTensor<T>();
        for (int32_t row = 0; row < rows; row += together) {
            CopyRowsIn(x[row * pitch], xGm_[from + row * step], together, columns, pitch,
                       together == 1 ? 0 : step - columns);
        }
        x_.EnQue(x);
    }

    __aicore__ inline void Turn(int32_t rows, int32_t columns)
    {
        const int32_t height = AlignUp(rows, transposing::GROUP);
        const int32_t width = AlignUp(columns, BLOCK_LENGTH);
        LocalTensor<T> x = x_.template DeQue<T>();
        LocalTensor<T> y = y_.template AllocTensor<T>();
        transposing::Transpose2D(y, height, x, width, height, width);
        y_.EnQue(y);
        x_.FreeTensor(x);
    }

    __aicore__ inline void CopyOut(int64_t to, int32_t rows, int32_t columns)
    {
        const int64_t step = tiling_->inner.to[1];
        const int32_t pitch = AlignUp(rows, transposing::GROUP);
        const int32_t together = step <= FARTHEST ? columns : 1;
        LocalTensor<T> y = y_.template DeQue<T>();
        for (int32_t column = 0; column < columns; column += together) {
            CopyRowsOut(yGm_[to + column * step], y[column * pitch], together, rows, pitch,
                        together == 1 ? 0 : step - rows);
        }
        y_.FreeTensor(y);
    }

    GlobalTensor<T> xGm_;
    GlobalTensor<T> yGm_;
    TQue<TPosition::VECIN, BUFFERS> x_;
    TQue<TPosition::VECOUT, BUFFERS> y_;
    const PermuteTilingData *tiling_ = nullptr;
};
}  // namespace permute_permute

#endif
