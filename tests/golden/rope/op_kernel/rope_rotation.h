// The two ways in which rope pairs the elements of a head. Each has sin with the signs of the rotation, and
// Rotate, which writes the partners of x times that sin to `to`; rows are heads, `heads` of them for each row of sin.
#ifndef ROPE_ROTATION_H
#define ROPE_ROTATION_H

#include "row_io.h"
#include "rope_tiling.h"

using namespace row_ops;

// y[r] = x[r] * row of its position, for c < width.
__aicore__ inline void MulByPosition(const Floats &y, const Floats &x, const Floats &row, int32_t positions,
                                     int32_t heads, int32_t width, int32_t pitch)
{
    if (heads == 1) {
        CombineRows<MulOp>(y, pitch, x, pitch, row, pitch, positions, width);
        return;
    }
    for (int32_t i = 0; i < positions; ++i) {
        ApplyRowToRows<MulOp>(y[i * heads * pitch], x[i * heads * pitch], row[i * pitch], heads, width, pitch);
    }
}

// Element c of the first half with element c of the second; the halves lie `part` elements apart in UB.
class RopeHalves {
public:
    __aicore__ inline void Init(const RopeTilingData *tiling, TPipe *)
    {
        part_ = tiling->pitch;
        pitch_ = 2 * part_;
    }

    __aicore__ inline void Sign(const Floats &sin, const Floats &, int32_t positions)
    {
        ScaleRows(sin, -1.0f, positions, part_, pitch_);
        PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void Rotate(const Floats &to, const Floats &x, const Floats &sin, int32_t positions,
                                  int32_t heads)
    {
        MulByPosition(to, x[part_], sin, positions, heads, part_, pitch_);
        MulByPosition(to[part_], x, sin[part_], positions, heads, part_, pitch_);
    }

private:
    int32_t part_ = 0;
    int32_t pitch_ = 0;
};

// Elements 2c and 2c + 1; Gather swaps them.
class RopeNeighbours {
public:
    __aicore__ inline void Init(const RopeTilingData *tiling, TPipe *pipe)
    {
        pitch_ = tiling->pitch;
        const int32_t n = AlignUp(tiling->tilePositions * tiling->tileHeads * pitch_, LANES);
        pipe->InitBuffer(offsets_, n * sizeof(int32_t));
        LocalTensor<int32_t> offsets = offsets_.Get<int32_t>();
        CreateVecIndex(offsets, static_cast<int32_t>(0), static_cast<uint32_t>(n));
        PipeBarrier<PIPE_V>();
        Muls(offsets, offsets, static_cast<int32_t>(sizeof(float)), n);
        PipeBarrier<PIPE_V>();
        for (int32_t done = 0; done < n; done += MAX_REPEAT * LANES) {
            const uint8_t repeat = (n - done) / LANES < MAX_REPEAT ? (n - done) / LANES : MAX_REPEAT;
            Adds(offsets[done], offsets[done], static_cast<int32_t>(sizeof(float)), even_, repeat, strides_);
            PipeBarrier<PIPE_V>();
            Adds(offsets[done], offsets[done], -static_cast<int32_t>(sizeof(float)), odd_, repeat, strides_);
        }
        PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void Sign(const Floats &sin, const Floats &, int32_t positions)
    {
        const int32_t n = positions * pitch_;
        const int32_t repeats = n / LANES;
        for (int32_t done = 0; done < repeats; done += MAX_REPEAT) {
            const uint8_t repeat = repeats - done < MAX_REPEAT ? repeats - done : MAX_REPEAT;
            Muls(sin[done * LANES], sin[done * LANES], -1.0f, even_, repeat, strides_);
        }
        if (n % LANES != 0) {
            uint64_t rest[2] = {even_[0] & ((1ULL << (n % LANES)) - 1), 0};
            Muls(sin[repeats * LANES], sin[repeats * LANES], -1.0f, rest, 1, strides_);
        }
        PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void Rotate(const Floats &to, const Floats &x, const Floats &sin, int32_t positions,
                                  int32_t heads)
    {
        Swap(to, x, positions * heads * pitch_);
        MulByPosition(to, to, sin, positions, heads, pitch_, pitch_);
    }

private:
    __aicore__ inline void Swap(const Floats &to, const Floats &x, int32_t n)
    {
        Gather(to, x, offsets_.Get<int32_t>().ReinterpretCast<uint32_t>(), 0, static_cast<uint32_t>(n));
        PipeBarrier<PIPE_V>();
    }

    TBuf<TPosition::VECCALC> offsets_;  // of each element's partner, in bytes
    uint64_t even_[2] = {0x5555555555555555ULL, 0};
    uint64_t odd_[2] = {0xaaaaaaaaaaaaaaaaULL, 0};
    const UnaryRepeatParams strides_{1, 1, BLOCK, BLOCK};
    int32_t pitch_ = 0;
};

#endif
