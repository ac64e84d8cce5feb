// Rows of fp32 elements in UB: folding each to one value, and combining each with one value. Values never go through
// the scalar unit: WholeReduce... puts them side by side, and Brcb spreads each over a block, from where instructions
// repeat it.
#ifndef ROW_OPS_H
#define ROW_OPS_H

#include "kernel_operator.h"

namespace row_ops {
using namespace AscendC;
using Floats = LocalTensor<float>;

constexpr int32_t LANES = 64;        // fp32 elements of one vector repeat (256 bytes)
constexpr int32_t BLOCK = 8;         // fp32 elements of one block (32 bytes)
constexpr int32_t MAX_REPEAT = 255;  // repeats of one instruction, and blocks from one repeat to the next
constexpr float INFINITE = __builtin_inff();
constexpr float NOT_A_NUMBER = __builtin_nanf("");

// An operation between rows. NEUTRAL leaves the other operand as it is; lanes, repeat and strides are the
// instruction's.
struct SumOp {
    static constexpr float NEUTRAL = 0.0f;
    static __aicore__ inline void Row(const Floats &y, const Floats &a, const Floats &b, int32_t n) { Add(y, a, b, n); }
    static __aicore__ inline void Repeats(const Floats &y, const Floats &a, const Floats &b, uint64_t lanes,
                                          uint8_t repeat, const BinaryRepeatParams &strides)
    {
        Add(y, a, b, lanes, repeat, strides);
    }
    static __aicore__ inline void Reduce(const Floats &y, const Floats &a, int32_t lanes, int32_t repeat,
                                         int32_t stride)
    {
        WholeReduceSum(y, a, lanes, repeat, 1, 1, stride);
    }
};

struct MaxOp {
    static constexpr float NEUTRAL = -INFINITE;
    static __aicore__ inline void Row(const Floats &y, const Floats &a, const Floats &b, int32_t n) { Max(y, a, b, n); }
    static __aicore__ inline void Repeats(const Floats &y, const Floats &a, const Floats &b, uint64_t lanes,
                                          uint8_t repeat, const BinaryRepeatParams &strides)
    {
        Max(y, a, b, lanes, repeat, strides);
    }
    static __aicore__ inline void Reduce(const Floats &y, const Floats &a, int32_t lanes, int32_t repeat,
                                         int32_t stride)
    {
        WholeReduceMax(y, a, lanes, repeat, 1, 1, stride, ReduceOrder::ORDER_ONLY_VALUE);
    }
};

struct MinOp {
    static constexpr float NEUTRAL = INFINITE;
    static __aicore__ inline void Row(const Floats &y, const Floats &a, const Floats &b, int32_t n) { Min(y, a, b, n); }
    static __aicore__ inline void Repeats(const Floats &y, const Floats &a, const Floats &b, uint64_t lanes,
                                          uint8_t repeat, const BinaryRepeatParams &strides)
    {
        Min(y, a, b, lanes, repeat, strides);
    }
    static __aicore__ inline void Reduce(const Floats &y, const Floats &a, int32_t lanes, int32_t repeat,
                                         int32_t stride)
    {
        WholeReduceMin(y, a, lanes, repeat, 1, 1, stride, ReduceOrder::ORDER_ONLY_VALUE);
    }
};

struct MulOp {
    static __aicore__ inline void Row(const Floats &y, const Floats &a, const Floats &b, int32_t n) { Mul(y, a, b, n); }
    static __aicore__ inline void Repeats(const Floats &y, const Floats &a, const Floats &b, uint64_t lanes,
                                          uint8_t repeat, const BinaryRepeatParams &strides)
    {
        Mul(y, a, b, lanes, repeat, strides);
    }
};

struct SubOp {
    static __aicore__ inline void Row(const Floats &y, const Floats &a, const Floats &b, int32_t n) { Sub(y, a, b, n); }
    static __aicore__ inline void Repeats(const Floats &y, const Floats &a, const Floats &b, uint64_t lanes,
                                          uint8_t repeat, const BinaryRepeatParams &strides)
    {
        Sub(y, a, b, lanes, repeat, strides);
    }
};

struct DivOp {
    static __aicore__ inline void Repeats(const Floats &y, const Floats &a, const Floats &b, uint64_t lanes,
                                          uint8_t repeat, const BinaryRepeatParams &strides)
    {
        Div(y, a, b, lanes, repeat, strides);
    }
};

// y[r][c] = Op(a[r][c], b[r][c]) for c < width; rows start every `...Pitch` elements.
// One instruction per 64 columns (the rows are its repeats) or per row, whichever needs fewer.
template <typename Op>
__aicore__ inline void CombineRows(const Floats &y, int32_t yPitch, const Floats &a, int32_t aPitch, const Floats &b,
                                   int32_t bPitch, int32_t rows, int32_t width)
{
    constexpr int32_t widest = MAX_REPEAT * BLOCK;
    if (rows * LANES < width || yPitch > widest || aPitch > widest || bPitch > widest) {
        for (int32_t row = 0; row < rows; ++row) {
            Op::Row(y[row * yPitch], a[row * aPitch], b[row * bPitch], width);
        }
        return;
    }
    const BinaryRepeatParams strides(1, 1, 1, yPitch / BLOCK, aPitch / BLOCK, bPitch / BLOCK);
    for (int32_t column = 0; column < width; column += LANES) {
        const uint64_t lanes = width - column < LANES ? width - column : LANES;
        for (int32_t row = 0; row < rows; row += MAX_REPEAT) {
            const uint8_t repeat = rows - row < MAX_REPEAT ? rows - row : MAX_REPEAT;
            Op::Repeats(y[row * yPitch + column], a[row * aPitch + column], b[row * bPitch + column], lanes, repeat,
                        strides);
        }
    }
}

// Folds rows of whole repeats in halves, as a tree, until each is one repeat; returns where these are and, in pitch,
// how far apart. The rows themselves are kept: the first level writes to work (half as large).
template <typename Op>
__aicore__ inline Floats FoldRows(const Floats &x, const Floats &work, int32_t rows, int32_t &pitch)
{
    if (pitch == LANES) {
        return x;
    }
    int32_t half = pitch / LANES / 2 * LANES;
    const int32_t workPitch = half;
    CombineRows<Op>(work, workPitch, x, pitch, x[half], pitch, rows, half);
    PipeBarrier<PIPE_V>();
    if (pitch != 2 * half) {
        CombineRows<Op>(work, workPitch, work, workPitch, x[2 * half], pitch, rows, LANES);
        PipeBarrier<PIPE_V>();
    }
    for (int32_t width = half; width > LANES; width -= half) {
        half = width / LANES / 2 * LANES;
        CombineRows<Op>(work, workPitch, work, workPitch, work[width - half], workPitch, rows, half);
        PipeBarrier<PIPE_V>();
    }
    pitch = workPitch;
    return work;
}

// values[r] = Op over row r of x, which has `columns` elements and is padded to `pitch` with Op's neutral element.
template <typename Op>
__aicore__ inline void ReduceRows(const Floats &values, const Floats &x, const Floats &work, int32_t rows,
                                  int32_t columns, int32_t pitch)
{
    Floats lanes = x;
    if (columns > LANES) {
        lanes = FoldRows<Op>(x, work, rows, pitch);
    }
    for (int32_t row = 0; row < rows; row += MAX_REPEAT) {
        const int32_t repeat = rows - row < MAX_REPEAT ? rows - row : MAX_REPEAT;
        Op::Reduce(values[row], lanes[row * pitch], columns < LANES ? columns : LANES, repeat, pitch / BLOCK);
    }
    PipeBarrier<PIPE_V>();
}

// y[c] = Op(x[c], operand) for one row; the operand is one block (stride 0) or one repeat (stride 1), used again and
// again.
template <typename Op>
__aicore__ inline void ApplyToRow(const Floats &y, const Floats &x, const Floats &operand, uint8_t stride,
                                  int32_t length)
{
    const BinaryRepeatParams strides(1, 1, stride, BLOCK, BLOCK, 0);
    const int32_t repeats = length / LANES;
    for (int32_t done = 0; done < repeats; done += MAX_REPEAT) {
        const uint8_t repeat = repeats - done < MAX_REPEAT ? repeats - done : MAX_REPEAT;
        Op::Repeats(y[done * LANES], x[done * LANES], operand, LANES, repeat, strides);
    }
    if (length % LANES != 0) {
        Op::Repeats(y[repeats * LANES], x[repeats * LANES], operand, length % LANES, 1, strides);
    }
}

// y[r][c] = Op(x[r][c], value of row r); blocks[r] holds that value 8 times.
template <typename Op>
__aicore__ inline void ApplyToRows(const Floats &y, const Floats &x, const Floats &blocks, int32_t rows, int32_t pitch)
{
    if (rows * LANES < pitch || pitch > MAX_REPEAT * BLOCK) {
        for (int32_t row = 0; row < rows; ++row) {
            ApplyToRow<Op>(y[row * pitch], x[row * pitch], blocks[row * BLOCK], 0, pitch);
        }
        return;
    }
    const BinaryRepeatParams strides(1, 1, 0, pitch / BLOCK, pitch / BLOCK, 1);
    for (int32_t column = 0; column < pitch; column += LANES) {
        const uint64_t lanes = pitch - column < LANES ? pitch - column : LANES;
        for (int32_t row = 0; row < rows; row += MAX_REPEAT) {
            const uint8_t repeat = rows - row < MAX_REPEAT ? rows - row : MAX_REPEAT;
            const int32_t at = row * pitch + column;
            Op::Repeats(y[at], x[at], blocks[row * BLOCK], lanes, repeat, strides);
        }
    }
}

// y[r][c] = Op(x[r][c], row[c]) for c < width; rows start every `pitch` elements.
template <typename Op>
__aicore__ inline void ApplyRowToRows(const Floats &y, const Floats &x, const Floats &row, int32_t rows, int32_t width,
                                      int32_t pitch)
{
    if (rows * LANES < width || pitch > MAX_REPEAT * BLOCK) {
        for (int32_t r = 0; r < rows; ++r) {
            Op::Row(y[r * pitch], x[r * pitch], row, width);
        }
        return;
    }
    const BinaryRepeatParams strides(1, 1, 1, pitch / BLOCK, pitch / BLOCK, 0);
    for (int32_t column = 0; column < width; column += LANES) {
        const uint64_t lanes = width - column < LANES ? width - column : LANES;
        for (int32_t r = 0; r < rows; r += MAX_REPEAT) {
            const uint8_t repeat = rows - r < MAX_REPEAT ? rows - r : MAX_REPEAT;
            const int32_t at = r * pitch + column;
            Op::Repeats(y[at], x[at], row[column], lanes, repeat, strides);
        }
    }
}

// x[r][c] *= factor for c < width; rows start every `pitch` elements.
__aicore__ inline void ScaleRows(const Floats &x, float factor, int32_t rows, int32_t width, int32_t pitch)
{
    if (rows * LANES < width || pitch > MAX_REPEAT * BLOCK) {
        for (int32_t row = 0; row < rows; ++row) {
            Muls(x[row * pitch], x[row * pitch], factor, width);
        }
        return;
    }
    const UnaryRepeatParams strides(1, 1, pitch / BLOCK, pitch / BLOCK);
    for (int32_t column = 0; column < width; column += LANES) {
        const uint64_t lanes = width - column < LANES ? width - column : LANES;
        for (int32_t row = 0; row < rows; row += MAX_REPEAT) {
            const uint8_t repeat = rows - row < MAX_REPEAT ? rows - row : MAX_REPEAT;
            Muls(x[row * pitch + column], x[row * pitch + column], factor, lanes, repeat, strides);
        }
    }
}

// Spreads values[r] over block r, for all rows.
__aicore__ inline void SpreadOverBlocks(const Floats &blocks, const Floats &values, int32_t rows)
{
    Brcb(blocks, values, static_cast<uint8_t>((rows + BLOCK - 1) / BLOCK), {1, BLOCK});
    PipeBarrier<PIPE_V>();
}

// Fills columns..pitch of each row with the value; the pitch is whole repeats.
__aicore__ inline void PadRows(const Floats &x, float value, int32_t rows, int32_t columns, int32_t pitch)
{
    if (columns % LANES == 0) {
        return;
    }
    uint64_t lanes[2] = {~0ULL << (columns % LANES), 0};
    if (pitch > MAX_REPEAT * BLOCK) {
        for (int32_t row = 0; row < rows; ++row) {
            Duplicate(x[row * pitch + columns / LANES * LANES], value, lanes, 1, 1, BLOCK);
        }
    } else {
        for (int32_t row = 0; row < rows; row += MAX_REPEAT) {
            const uint8_t repeat = rows - row < MAX_REPEAT ? rows - row : MAX_REPEAT;
            Duplicate(x[row * pitch + columns / LANES * LANES], value, lanes, repeat, 1, pitch / BLOCK);
        }
    }
    PipeBarrier<PIPE_V>();
}
// y = 1 / sqrt(x + eps); x is overwritten. Rsqrt is not used: its error is not documented.
__aicore__ inline void ReciprocalRoot(const Floats &y, const Floats &x, float eps, int32_t n)
{
    Adds(x, x, eps, n);
    Duplicate(y, 1.0f, n);
    PipeBarrier<PIPE_V>();
    Sqrt(x, x, n);
    PipeBarrier<PIPE_V>();
    Div(y, y, x, n);
    PipeBarrier<PIPE_V>();
}
}  // namespace row_ops

#endif
