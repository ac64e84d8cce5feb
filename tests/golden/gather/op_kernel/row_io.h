// Rows between GM and UB through double-buffered queues. Kernels see fp32: 16-bit types are cast when a tile is taken
// out of its queue, and rounded once when a result is handed to its own.
#ifndef ROW_IO_H
#define ROW_IO_H

#include "kernel_operator.h"

#include "row_ops.h"
#include "row_split.h"

namespace row_ops {
constexpr int32_t BUFFERS = 2;  // double buffering: a tile is copied while another one is computed
constexpr int32_t BLOCK_BYTES = 32;

// The work items [begin, end) of a core.
struct Share {
    int64_t begin;
    int64_t end;
};

__aicore__ inline Share ShareOfThisCore(const RowSplit &split)
{
    const int64_t core = GetBlockIdx();
    const int64_t former = split.formerCores;
    if (core < former) {
        return {core * split.formerUnits, (core + 1) * split.formerUnits};
    }
    const int64_t begin = former * split.formerUnits + (core - former) * split.tailUnits;
    return {begin, begin + split.tailUnits};
}

__aicore__ inline int32_t AlignUp(int32_t n, int32_t to) { return (n + to - 1) / to * to; }

__aicore__ inline int32_t Least(int64_t left, int32_t most) { return left < most ? static_cast<int32_t>(left) : most; }

// A tile of RowTiles: where it starts, and how large it is; rows start every `pitch` elements in UB.
struct Tile {
    int64_t row;
    int64_t column;
    int32_t rows;
    int32_t width;
    int32_t pitch;
};

__aicore__ inline Tile TileOf(const RowTiles &tiles, int64_t unit, int32_t pitchAlign)
{
    const int64_t perRow = (tiles.columns + tiles.tileColumns - 1) / tiles.tileColumns;
    const int64_t row = unit / perRow * tiles.tileRows;
    const int64_t column = unit % perRow * tiles.tileColumns;
    const int32_t width = Least(tiles.columns - column, tiles.tileColumns);
    return {row, column, Least(tiles.rows - row, tiles.tileRows), width, AlignUp(width, pitchAlign)};
}

// `rows` rows of `length` elements: `gap` elements lie between them in GM, and they start every `pitch` elements in UB.
// Each is padded with zeros up to the next 32 bytes; what lies between there and the pitch is left as it was.
template <typename T>
__aicore__ inline void CopyRowsIn(const LocalTensor<T> &to, const GlobalTensor<T> &from, int32_t rows, int32_t length,
                                  int32_t pitch, int64_t gap = 0)
{
    constexpr int32_t block = BLOCK_BYTES / sizeof(T);
    const int32_t padded = AlignUp(length, block);
    const DataCopyExtParams copy{static_cast<uint16_t>(rows), static_cast<uint32_t>(length * sizeof(T)),
                                 static_cast<uint32_t>(gap * sizeof(T)),
                                 static_cast<uint32_t>((pitch - padded) / block), 0};
    DataCopyPadExtParams<T> pad;
    pad.isPad = true;
    pad.rightPadding = static_cast<uint8_t>(padded - length);
    DataCopyPad(to, from, copy, pad);
}

template <typename T>
__aicore__ inline void CopyRowsOut(const GlobalTensor<T> &to, const LocalTensor<T> &from, int32_t rows, int32_t length,
                                   int32_t pitch, int64_t gap = 0)
{
    constexpr int32_t block = BLOCK_BYTES / sizeof(T);
    const DataCopyExtParams copy{static_cast<uint16_t>(rows), static_cast<uint32_t>(length * sizeof(T)),
                                 static_cast<uint32_t>((pitch - AlignUp(length, block)) / block),
                                 static_cast<uint32_t>(gap * sizeof(T)), 0};
    DataCopyPad(to, from, copy);
}

// A tensor that is read tile by tile: Copy, then Take, then Release. A queue needs as many events as it has buffers,
// and there are 8 for all queues of a direction.
template <typename T, int32_t DEPTH = BUFFERS>
class RowsIn {
public:
    static constexpr bool DIRECT = IsSameType<T, float>::value;  // the tiles in the queue need no cast

    __aicore__ inline void Init(GM_ADDR address, TPipe *pipe, int32_t elements)
    {
        gm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(address));
        pipe->InitBuffer(queue_, DEPTH, elements * sizeof(T));
        if constexpr (!DIRECT) {
            pipe->InitBuffer(wide_, elements * sizeof(float));
        }
    }

    __aicore__ inline void Copy(int64_t offset, int32_t rows, int32_t length, int32_t pitch, int64_t gap = 0)
    {
        CopyFrom(gm_[offset], rows, length, pitch, gap);
    }

    __aicore__ inline void CopyFrom(const GlobalTensor<T> &from, int32_t rows, int32_t length, int32_t pitch,
                                    int64_t gap = 0)
    {
        LocalTensor<T> tile = queue_.template AllocTensor<T>();
        CopyRowsIn(tile, from, rows, length, pitch, gap);
        queue_.EnQue(tile);
    }

    // The first n elements of the oldest tile; they may be overwritten.
    __aicore__ inline Floats Take(int32_t n)
    {
        held_ = queue_.template DeQue<T>();
        if constexpr (DIRECT) {
            return held_;
        } else {
            Floats wide = wide_.template Get<float>();
            Cast(wide, held_, RoundMode::CAST_NONE, n);
            queue_.FreeTensor(held_);
            PipeBarrier<PIPE_V>();
            return wide;
        }
    }

    __aicore__ inline void Release()
    {
        if constexpr (DIRECT) {
            queue_.FreeTensor(held_);
        }
    }

private:
    GlobalTensor<T> gm_;
    TQue<TPosition::VECIN, DEPTH> queue_;
    TBuf<TPosition::VECCALC> wide_;
    LocalTensor<T> held_;
};

// A tensor that is written tile by tile: Begin, compute, End, then Copy.
template <typename T, int32_t DEPTH = BUFFERS>
class RowsOut {
public:
    static constexpr bool DIRECT = IsSameType<T, float>::value;

    __aicore__ inline void Init(GM_ADDR address, TPipe *pipe, int32_t elements)
    {
        gm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(address));
        pipe->InitBuffer(queue_, DEPTH, elements * sizeof(T));
    }

    // Where to compute the tile: in the queue itself, or in `spare` if it is to be rounded.
    __aicore__ inline Floats Begin(const Floats &spare)
    {
        held_ = queue_.template AllocTensor<T>();
        if constexpr (DIRECT) {
            return held_;
        } else {
            return spare;
        }
    }

    __aicore__ inline void End(const Floats &tile, int32_t n)
    {
        PipeBarrier<PIPE_V>();
        if constexpr (!DIRECT) {
            Cast(held_, tile, RoundMode::CAST_RINT, n);
            PipeBarrier<PIPE_V>();  // what comes next overwrites the tile
        }
        queue_.EnQue(held_);
    }

    __aicore__ inline void Copy(int64_t offset, int32_t rows, int32_t length, int32_t pitch, int64_t gap = 0)
    {
        LocalTensor<T> tile = queue_.template DeQue<T>();
        CopyRowsOut(gm_[offset], tile, rows, length, pitch, gap);
        queue_.FreeTensor(tile);
    }

private:
    GlobalTensor<T> gm_;
    TQue<TPosition::VECOUT, DEPTH> queue_;
    LocalTensor<T> held_;
};

// Reads rows that stay in UB, such as a weight, as fp32 into `to`, through the queue of a tensor of the same dtype.
template <typename T>
__aicore__ inline void LoadConstant(const Floats &to, RowsIn<T> &through, GM_ADDR address, int32_t rows, int32_t length,
                                    int32_t pitch)
{
    GlobalTensor<T> from;
    from.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(address));
    through.CopyFrom(from, rows, length, pitch);
    Floats values = through.Take(rows * pitch);
    Muls(to, values, 1.0f, rows * pitch);
    PipeBarrier<PIPE_V>();
    through.Release();
}
}  // namespace row_ops

#endif
