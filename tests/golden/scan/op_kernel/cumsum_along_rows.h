// cumsum along the last dim. A tile of 64 lanes, each with `part` neighbouring elements, is transposed: then
// the elements of the lanes with the same place in them are a vector, and adding each vector to the next one is the
// scan of all lanes. Lanes are 64 rows, or 64 parts of one row.
#ifndef CUMSUM_ALONG_ROWS_H
#define CUMSUM_ALONG_ROWS_H

#include "row_io.h"
#include "transpose.h"
#include "cumsum_tiling.h"

namespace cumsum_scan {
using namespace AscendC;
using namespace row_ops;

template <typename T>
class AlongRows {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const CumsumTilingData *tiling, TPipe *pipe)
    {
        tiling_ = tiling;
        part_ = tiling->part;
        const int32_t room = LANES * part_;
        xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(x));
        y_.Init(y, pipe, room);
        pipe->InitBuffer(x_, BUFFERS, room * sizeof(T));
        if constexpr (!DIRECT) {
            pipe->InitBuffer(wide_, room * sizeof(float));
        }
        pipe->InitBuffer(turned_, room * sizeof(float));
        pipe->InitBuffer(lanes_, 4 * LANES * sizeof(float) + LANES * BLOCK * sizeof(float));
        Clear(room);
        Floats lanes = lanes_.template Get<float>();
        ladder_ = lanes;
        shifted_ = lanes[2 * LANES];
        offsets_ = lanes[3 * LANES].template ReinterpretCast<int32_t>();
        blocks_ = lanes[4 * LANES];
        carry_ = blocks_[(BLOCK - 1) * BLOCK];
        Duplicate(ladder_, 0.0f, LANES);
        CreateVecIndex(offsets_, 0, LANES);
        PipeBarrier<PIPE_V>();
        Muls(offsets_, offsets_, static_cast<int32_t>(sizeof(float)), LANES);
        PipeBarrier<PIPE_V>();
    }

    // Key 1: lanes are rows.
    __aicore__ inline void ProcessRows()
    {
        const Share share = ShareOfThisCore(tiling_->split);
        const int32_t length = static_cast<int32_t>(tiling_->length);
        for (int64_t unit = share.begin; unit < share.end; ++unit) {
            const int64_t row = unit * LANES;
            const int32_t rows = Least(tiling_->outer - row, LANES);
            CopyIn(row * length, rows, length);
            const int32_t lanes = AlignUp(rows, transposing::GROUP);
            Floats x = Take(rows * part_);
            Floats y = y_.Begin(x);
            ScanLanes(x, lanes);
            TurnBack(y, lanes);
            y_.End(y, rows * part_);
            Release();
            y_.Copy(row * length, rows, length, part_);
        }
    }

    // Key 2: lanes are parts of a row.
    __aicore__ inline void ProcessParts()
    {
        const Share share = ShareOfThisCore(tiling_->split);
        const int32_t tile = LANES * part_;
        for (int64_t row = share.begin; row < share.end; ++row) {
            Duplicate(blocks_, 0.0f, LANES);
            PipeBarrier<PIPE_V>();
            for (int64_t done = 0; done < tiling_->length; done += tile) {
                const int32_t n = Least(tiling_->length - done, tile);
                const int64_t at = row * tiling_->length + done;
                CopyIn(at, 1, n);
                Floats x = Take(n);
                Floats y = y_.Begin(x);
                ScanLanes(x, LANES);
                AddWhatCameBefore();
                TurnBack(y, LANES);
                y_.End(y, n);
                Release();
                y_.Copy(at, 1, n, AlignUp(n, part_));
            }
        }
    }

private:
    static constexpr bool DIRECT = IsSameType<T, float>::value;

    // Whole tiles are transposed, so all of it must have been written once; what lies behind a row is never used.
    __aicore__ inline void Clear(int32_t room)
    {
        if constexpr (DIRECT) {
            LocalTensor<T> tiles[BUFFERS];
            for (int32_t i = 0; i < BUFFERS; ++i) {
                tiles[i] = x_.template AllocTensor<T>();
                Duplicate(tiles[i], 0.0f, room);
            }
            for (int32_t i = 0; i < BUFFERS; ++i) {
                x_.FreeTensor(tiles[i]);
            }
        } else {
            Duplicate(wide_.template Get<float>(), 0.0f, room);
        }
        Duplicate(turned_.template Get<float>(), 0.0f, room);
    }

    __aicore__ inline void CopyIn(int64_t offset, int32_t rows, int32_t length)
    {
        LocalTensor<T> tile = x_.template AllocTensor<T>();
        CopyRowsIn(tile, xGm_[offset], rows, length, AlignUp(length, part_));
        x_.EnQue(tile);
    }

    __aicore__ inline Floats Take(int32_t n)
    {
        held_ = x_.template DeQue<T>();
        if constexpr (DIRECT) {
            return held_;
        } else {
            Floats wide = wide_.template Get<float>();
            Cast(wide, held_, RoundMode::CAST_NONE, n);
            PipeBarrier<PIPE_V>();
            return wide;
        }
    }

    __aicore__ inline void Release() { x_.FreeTensor(held_); }

    __aicore__ inline void ScanLanes(const Floats &x, int32_t lanes)
    {
        Floats turned = turned_.template Get<float>();
        transposing::Transpose2D(turned, LANES, x, part_, lanes, part_);
        for (int32_t i = 1; i < part_; ++i) {
            Add(turned[i * LANES], turned[i * LANES], turned[(i - 1) * LANES], lanes);
            PipeBarrier<PIPE_V>();
        }
    }

    __aicore__ inline void TurnBack(const Floats &y, int32_t lanes)
    {
        transposing::Transpose2D(y, part_, turned_.template Get<float>(), LANES, part_, lanes);
    }

    // Adds to each lane the sum of the lanes before it and of the tiles before this one. The sums of the lanes are
    // scanned in 6 steps: each adds the value 1, 2, 4, ... lanes before, or 0, which Gather finds in the ladder.
    __aicore__ inline void AddWhatCameBefore()
    {
        Floats turned = turned_.template Get<float>();
        Floats sums = ladder_[LANES];
        const BinaryRepeatParams strides(1, 1, 1, BLOCK, BLOCK, 0);
        Muls(sums, turned[(part_ - 1) * LANES], 1.0f, LANES);
        PipeBarrier<PIPE_V>();
        Add(sums, sums, carry_, 1, 1, strides);
        PipeBarrier<PIPE_V>();
        for (int32_t distance = 1; distance < LANES; distance *= 2) {
            Shift(distance);
            Add(sums, sums, shifted_, LANES);
            PipeBarrier<PIPE_V>();
        }
        Shift(1);
        Add(shifted_, shifted_, carry_, 1, 1, strides);
        PipeBarrier<PIPE_V>();
        Brcb(blocks_, sums[LANES - BLOCK], 1, {1, BLOCK});  // the last one is the next carry
        Add(turned, turned, shifted_, LANES, static_cast<uint8_t>(part_), strides);
        PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void Shift(int32_t distance)
    {
        const uint32_t base = static_cast<uint32_t>((LANES - distance) * sizeof(float));
        Gather(shifted_, ladder_, offsets_.template ReinterpretCast<uint32_t>(), base, LANES);
        PipeBarrier<PIPE_V>();
    }

    GlobalTensor<T> xGm_;
    TQue<TPosition::VECIN, BUFFERS> x_;
    RowsOut<T> y_;
    TBuf<TPosition::VECCALC> wide_;
    TBuf<TPosition::VECCALC> turned_;  // part x 64
    TBuf<TPosition::VECCALC> lanes_;
    Floats ladder_;   // 64 zeros, then a value for each lane
    Floats shifted_;  // those of other lanes
    Floats blocks_;
    Floats carry_;    // the sum of the tiles before, in one block
    LocalTensor<int32_t> offsets_;
    LocalTensor<T> held_;
    const CumsumTilingData *tiling_ = nullptr;
    int32_t part_ = 0;
};
}  // namespace cumsum_scan

#endif
