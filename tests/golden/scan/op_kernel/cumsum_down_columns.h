// cumsum along a dim that is not the last one: each row of a tile is added to the next one.
#ifndef CUMSUM_DOWN_COLUMNS_H
#define CUMSUM_DOWN_COLUMNS_H

#include "row_io.h"
#include "cumsum_tiling.h"

namespace cumsum_scan {
using namespace AscendC;
using namespace row_ops;

template <typename T>
class DownColumns {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const CumsumTilingData *tiling, TPipe *pipe)
    {
        tiling_ = tiling;
        x_.Init(x, pipe, tiling->tileElements);
        y_.Init(y, pipe, tiling->tileElements);
        pipe->InitBuffer(sums_, tiling->tileColumns * sizeof(float));
    }

    __aicore__ inline void Process()
    {
        const Share share = ShareOfThisCore(tiling_->split);
        const int64_t perOuter = (tiling_->inner + tiling_->tileColumns - 1) / tiling_->tileColumns;
        for (int64_t unit = share.begin; unit < share.end; ++unit) {
            const int64_t column = unit % perOuter * tiling_->tileColumns;
            const int32_t width = Least(tiling_->inner - column, tiling_->tileColumns);
            Scan(unit / perOuter * tiling_->length * tiling_->inner + column, width);
        }
    }

private:
    __aicore__ inline void Scan(int64_t offset, int32_t width)
    {
        const int32_t pitch = AlignUp(width, BLOCK_BYTES / sizeof(T));
        const int32_t most = Least(tiling_->tileElements / pitch, MAX_ROWS);
        const int64_t gap = tiling_->inner - width;
        Floats sums = sums_.template Get<float>();
        Duplicate(sums, 0.0f, pitch);
        PipeBarrier<PIPE_V>();
        for (int64_t row = 0; row < tiling_->length; row += most) {
            const int32_t rows = Least(tiling_->length - row, most);
            const int64_t at = offset + row * tiling_->inner;
            x_.Copy(at, rows, width, pitch, gap);
            Floats x = x_.Take(rows * pitch);
            Floats y = y_.Begin(x);
            Add(y, x, sums, width);
            PipeBarrier<PIPE_V>();
            for (int32_t i = 1; i < rows; ++i) {
                Add(y[i * pitch], x[i * pitch], y[(i - 1) * pitch], width);
                PipeBarrier<PIPE_V>();
            }
            Muls(sums, y[(rows - 1) * pitch], 1.0f, width);
            y_.End(y, rows * pitch);
            x_.Release();
            y_.Copy(at, rows, width, pitch, gap);
        }
    }

    static constexpr int32_t MAX_ROWS = 4095;  // blocks of one DataCopyPad

    RowsIn<T> x_;
    RowsOut<T> y_;
    TBuf<TPosition::VECCALC> sums_;  // of the tiles before
    const CumsumTilingData *tiling_ = nullptr;
};
}  // namespace cumsum_scan

#endif
