// transpose:
// y[..., j, i] = x[..., i, j].
// Elements are moved, not computed, so the kernel knows only their size; TransDataTo5HD does not take bfloat16.
#include "kernel_operator.h"

#include "row_io.h"
#include "transpose.h"
#include "transpose_tiling.h"

using namespace AscendC;
using namespace row_ops;

template <typename T>
class KernelTranspose {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const TransposeTilingData *tiling, TPipe *pipe)
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
        const Share share = ShareOfThisCore(tiling_->split);
        const int64_t across = (tiling_->columns + tiling_->tileColumns - 1) / tiling_->tileColumns;
        const int64_t perMatrix = (tiling_->rows + tiling_->tileRows - 1) / tiling_->tileRows * across;
        for (int64_t unit = share.begin; unit < share.end; ++unit) {
            const int64_t start = unit / perMatrix * tiling_->rows * tiling_->columns;
            const int64_t row = unit % perMatrix / across * tiling_->tileRows;
            const int64_t column = unit % across * tiling_->tileColumns;
            const int32_t rows = Least(tiling_->rows - row, tiling_->tileRows);
            const int32_t columns = Least(tiling_->columns - column, tiling_->tileColumns);
            CopyIn(start + row * tiling_->columns + column, rows, columns);
            Turn(rows, columns);
            CopyOut(start + column * tiling_->rows + row, rows, columns);
        }
    }

private:
    static constexpr int32_t BLOCK_LENGTH = BLOCK_BYTES / sizeof(T);

    __aicore__ inline void CopyIn(int64_t offset, int32_t rows, int32_t columns)
    {
        LocalTensor<T> x = x_.template AllocTensor<T>();
        CopyRowsIn(x, xGm_[offset], rows, columns, AlignUp(columns, BLOCK_LENGTH), tiling_->columns - columns);
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

    __aicore__ inline void CopyOut(int64_t offset, int32_t rows, int32_t columns)
    {
        LocalTensor<T> y = y_.template DeQue<T>();
        const int32_t height = AlignUp(rows, transposing::GROUP);
        CopyRowsOut(yGm_[offset], y, columns, rows, height, tiling_->rows - rows);
        y_.FreeTensor(y);
    }

    GlobalTensor<T> xGm_;
    GlobalTensor<T> yGm_;
    TQue<TPosition::VECIN, BUFFERS> x_;
    TQue<TPosition::VECOUT, BUFFERS> y_;
    const TransposeTilingData *tiling_ = nullptr;
};

// Elements that stay in order.
template <typename T>
class CopyTranspose {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const TransposeTilingData *tiling, TPipe *pipe)
    {
        tiling_ = tiling;
        xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(x));
        yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(y));
        pipe->InitBuffer(tiles_, BUFFERS, tiling->tileElements * sizeof(T));
    }

    __aicore__ inline void Process()
    {
        const Share share = ShareOfThisCore(tiling_->split);
        for (int64_t unit = share.begin; unit < share.end; ++unit) {
            const int64_t at = unit * tiling_->tileColumns;
            const int32_t n = Least(tiling_->elements - at, tiling_->tileColumns);
            const int32_t padded = AlignUp(n, BLOCK_BYTES / sizeof(T));
            LocalTensor<T> tile = tiles_.template AllocTensor<T>();
            CopyRowsIn(tile, xGm_[at], 1, n, padded);
            tiles_.EnQue(tile);
            tile = tiles_.template DeQue<T>();
            CopyRowsOut(yGm_[at], tile, 1, n, padded);
            tiles_.FreeTensor(tile);
        }
    }

private:
    GlobalTensor<T> xGm_;
    GlobalTensor<T> yGm_;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, BUFFERS> tiles_;
    const TransposeTilingData *tiling_ = nullptr;
};

template <size_t SIZE>
struct Word {
    using Type = uint32_t;
};

template <>
struct Word<2> {
    using Type = uint16_t;
};

extern "C" __global__ __aicore__ void transpose(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    REGISTER_TILING_DEFAULT(TransposeTilingData);
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    if (TILING_KEY_IS(1)) {
        KernelTranspose<Word<sizeof(DTYPE_X)>::Type> kernel;
        kernel.Init(x, y, &tilingData, &pipe);
        kernel.Process();
    } else if (TILING_KEY_IS(2)) {
        CopyTranspose<Word<sizeof(DTYPE_X)>::Type> kernel;
        kernel.Init(x, y, &tilingData, &pipe);
        kernel.Process();
    }
}
