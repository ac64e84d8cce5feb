// Transposing matrices of 16- and 32-bit elements in UB.
#ifndef TRANSPOSE_H
#define TRANSPOSE_H

#include "kernel_operator.h"

namespace transposing {
using namespace AscendC;

constexpr int32_t GROUP = 16;  // rows that one TransDataTo5HD takes
constexpr int32_t REPEATS = 255;

// y[c][r] = x[r][c] for r < rows, a multiple of 16, and c < columns, a multiple of the elements of a block. Rows start
// every xPitch and yPitch elements, at blocks. Each repeat turns 16 rows of one block.
template <typename T>
__aicore__ inline void Transpose2D(const LocalTensor<T> &y, int32_t yPitch, const LocalTensor<T> &x, int32_t xPitch,
                                   int32_t rows, int32_t columns)
{
    constexpr int32_t block = 32 / sizeof(T);
    constexpr int32_t parts = GROUP / block;  // blocks that 16 elements of a column become
    TransDataTo5HDParams params;
    params.dstHighHalf = false;
    params.srcHighHalf = false;
    for (int32_t column = 0; column < columns; column += REPEATS * block) {
        const int32_t left = (columns - column) / block;
        const int32_t repeats = left < REPEATS ? left : REPEATS;
        params.repeatTimes = static_cast<uint8_t>(repeats);
        params.srcRepStride = repeats == 1 ? 0 : 1;
        params.dstRepStride = repeats == 1 ? 0 : static_cast<uint16_t>(yPitch);  // in blocks: `block` rows of y
        for (int32_t row = 0; row < rows; row += GROUP) {
            uint64_t from[GROUP];
            uint64_t to[GROUP];
            for (int32_t i = 0; i < GROUP; ++i) {
                const int32_t at = (column + i / parts) * yPitch + row + i % parts * block;
                from[i] = reinterpret_cast<uint64_t>(x[(row + i) * xPitch + column].GetPhyAddr());
                to[i] = reinterpret_cast<uint64_t>(y[at].GetPhyAddr());
            }
            TransDataTo5HD<T>(to, from, params);
        }
    }
    PipeBarrier<PIPE_V>();
}
}  // namespace transposing

#endif
