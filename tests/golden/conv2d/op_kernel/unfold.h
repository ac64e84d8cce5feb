// The pixels under each window as columns of a matrix: one row for each channel and place in the window, one column for
// each pixel of a tile. Rows of the image come to UB with the padding around them; Gather picks every stride-th pixel.
#ifndef UNFOLD_H
#define UNFOLD_H

#include "kernel_operator.h"

#include "conv2d_tiling.h"

namespace unfold {
using namespace AscendC;

constexpr int32_t BUFFERS = 2;  // double buffering
constexpr int32_t BLOCK_BYTES = 32;

__aicore__ inline int32_t AlignUp(int32_t n, int32_t to) { return (n + to - 1) / to * to; }

__aicore__ inline int32_t Least(int64_t left, int32_t most) { return left < most ? static_cast<int32_t>(left) : most; }

// A tile: its first pixel, and how many of them it has.
struct Tile {
    int64_t image;
    int32_t row;
    int32_t column;
    int32_t rows;
    int32_t columns;
};

// What of a row of the image lies under the windows of a tile.
struct Span {
    int32_t zeros;   // padding before it
    int32_t first;   // pixel of the image
    int32_t length;  // how many there are
    bool padded;     // on either side
};

// Bits is an unsigned integer as large as an element: nothing is computed.
template <typename Bits>
class Columns {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR columns, const Conv2dTilingData *tiling, TPipe *pipe)
    {
        tiling_ = tiling;
        const Conv2dTiles &tiles = tiling->tiles;
        xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ Bits *>(x));
        outGm_.SetGlobalBuffer(reinterpret_cast<__gm__ Bits *>(columns));
        pipe->InitBuffer(in_, BUFFERS, tiles.rows * tiles.pitch * sizeof(Bits));
        pipe->InitBuffer(out_, BUFFERS, tiles.lines * tiles.most * sizeof(Bits));
        pipe->InitBuffer(offsets_, tiles.most * sizeof(int32_t));
        pipe->InitBuffer(work_, 2 * tiles.most * sizeof(int32_t));
        MakeOffsets(tiles.most);
    }

    // Writes the matrix of a tile; it is in GM when this returns.
    __aicore__ inline void Write(const Tile &tile)
    {
        line_ = 0;
        written_ = 0;
        for (int32_t channel = 0; channel < tiling_->channels; ++channel) {
            for (int32_t place = 0; place < tiling_->y.window; ++place) {
                WriteRowOfWindow(tile, channel, place);
            }
        }
        if (line_ > 0) {
            Flush(tile.rows * tile.columns);
        }
        PipeBarrier<PIPE_ALL>();  // the cube core reads it next
    }

private:
    static constexpr int32_t BLOCK = BLOCK_BYTES / sizeof(Bits);

    // Where pixel i of a tile lies in UB, in bytes from the first one: row i / columns, every stride-th of a row. The
    // quotient is exact, for i is small.
    __aicore__ inline void MakeOffsets(int32_t n)
    {
        const int32_t size = sizeof(Bits);
        const int32_t columns = tiling_->tiles.columns;
        LocalTensor<int32_t> offsets = offsets_.template Get<int32_t>();
        LocalTensor<int32_t> rows = work_.template Get<int32_t>();
        LocalTensor<float> quotients = rows[n].template ReinterpretCast<float>();
        CreateVecIndex(offsets, 0, n);
        PipeBarrier<PIPE_V>();
        Cast(quotients, offsets, RoundMode::CAST_NONE, n);
        PipeBarrier<PIPE_V>();
        Adds(quotients, quotients, 0.5f, n);
        PipeBarrier<PIPE_V>();
        Muls(quotients, quotients, 1.0f / static_cast<float>(columns), n);
        PipeBarrier<PIPE_V>();
        Cast(rows, quotients, RoundMode::CAST_FLOOR, n);
        PipeBarrier<PIPE_V>();
        Muls(rows, rows, (tiling_->tiles.pitch - columns * tiling_->x.stride) * size, n);
        Muls(offsets, offsets, tiling_->x.stride * size, n);
        PipeBarrier<PIPE_V>();
        Add(offsets, offsets, rows, n);
        PipeBarrier<PIPE_V>();
    }

    // The rows of the matrix for one channel and one row of the window.
    __aicore__ inline void WriteRowOfWindow(const Tile &tile, int32_t channel, int32_t place)
    {
        const Conv2dSide &side = tiling_->x;
        const int32_t pixels = tile.rows * tile.columns;
        const Span span = SpanOf(tile);
        Load(tile, span, channel, place);
        LocalTensor<Bits> in = in_.template DeQue<Bits>();
        LocalTensor<uint32_t> offsets = offsets_.template Get<uint32_t>();
        for (int32_t column = 0; column < side.window; ++column) {
            if (line_ == 0) {
                lines_ = out_.template AllocTensor<Bits>();
            }
            const int32_t base = AlignUp(span.zeros, BLOCK) - span.zeros + column * side.dilation;
            LocalTensor<Bits> line = lines_[line_ * tiling_->tiles.most];
            Gather(line, in, offsets, static_cast<uint32_t>(base * sizeof(Bits)), static_cast<uint32_t>(pixels));
            if (++line_ == tiling_->tiles.lines) {
                Flush(pixels);
            }
        }
        in_.FreeTensor(in);
    }

    __aicore__ inline Span SpanOf(const Tile &tile)
    {
        const Conv2dSide &side = tiling_->x;
        const int32_t left = tile.column * side.stride - side.padding;
        const int32_t covered = (tile.columns - 1) * side.stride + (side.window - 1) * side.dilation + 1;
        const int32_t end = left + covered;
        const int32_t first = left > 0 ? left : 0;
        const int32_t length = (end < side.in ? end : side.in) - first;
        const int32_t zeros = left < 0 ? (-left < covered ? -left : covered) : 0;
        return {zeros, first, length > 0 ? length : 0, left < 0 || end > side.in};
    }

    // Rows of the image, stride apart, start every `pitch` elements in UB. Those outside of it are zeros.
    __aicore__ inline void Load(const Tile &tile, const Span &span, int32_t channel, int32_t place)
    {
        const Conv2dSide &side = tiling_->y;
        const int32_t pitch = tiling_->tiles.pitch;
        const int32_t top = tile.row * side.stride - side.padding + place * side.dilation;
        const int32_t before = top < 0 ? Least((-top + side.stride - 1) / side.stride, tile.rows) : 0;
        const int32_t end = top < side.in ? Least((side.in - top + side.stride - 1) / side.stride, tile.rows) : 0;
        LocalTensor<Bits> in = in_.template AllocTensor<Bits>();
        if (span.padded || before > 0 || end < tile.rows) {
            Duplicate(in, static_cast<Bits>(0), tile.rows * pitch);
            const TEventID zeroed = GetTPipePtr()->FetchEventID(HardEvent::V_MTE2);
            SetFlag<HardEvent::V_MTE2>(zeroed);
            WaitFlag<HardEvent::V_MTE2>(zeroed);
        }
        if (before < end && span.length > 0) {
            const int64_t plane = tile.image * tiling_->channels + channel;
            const int64_t from = (plane * side.in + top + before * side.stride) * tiling_->x.in + span.first;
            const int64_t gap = static_cast<int64_t>(side.stride) * tiling_->x.in - span.length;
            const int32_t padded = AlignUp(span.length, BLOCK);
            const DataCopyExtParams copy{static_cast<uint16_t>(end - before),
                                         static_cast<uint32_t>(span.length * sizeof(Bits)),
                                         static_cast<uint32_t>(gap * sizeof(Bits)),
                                         static_cast<uint32_t>((pitch - padded) / BLOCK), 0};
            DataCopyPadExtParams<Bits> pad;
            pad.isPad = true;
            pad.rightPadding = static_cast<uint8_t>(padded - span.length);
            DataCopyPad(in[before * pitch + AlignUp(span.zeros, BLOCK)], xGm_[from], copy, pad);
        }
        in_.EnQue(in);
    }

    // The rows of the matrix that were gathered leave UB together.
    __aicore__ inline void Flush(int32_t pixels)
    {
        out_.EnQue(lines_);
        LocalTensor<Bits> lines = out_.template DeQue<Bits>();
        const int32_t most = tiling_->tiles.most;
        const DataCopyExtParams copy{static_cast<uint16_t>(line_), static_cast<uint32_t>(pixels * sizeof(Bits)),
                                     static_cast<uint32_t>((most - AlignUp(pixels, BLOCK)) / BLOCK),
                                     static_cast<uint32_t>((most - pixels) * sizeof(Bits)), 0};
        DataCopyPad(outGm_[static_cast<int64_t>(written_) * most], lines, copy);
        out_.FreeTensor(lines);
        written_ += line_;
        line_ = 0;
    }

    GlobalTensor<Bits> xGm_;
    GlobalTensor<Bits> outGm_;
    TQue<TPosition::VECIN, BUFFERS> in_;
    TQue<TPosition::VECOUT, BUFFERS> out_;
    TBuf<TPosition::VECCALC> offsets_;
    TBuf<TPosition::VECCALC> work_;
    LocalTensor<Bits> lines_;  // rows of the matrix that are being gathered
    int32_t line_ = 0;         // how many of them there are
    int32_t written_ = 0;      // rows of the matrix in GM
    const Conv2dTilingData *tiling_ = nullptr;
};
}  // namespace unfold

#endif
