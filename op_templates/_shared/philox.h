// Philox 4x32-10 (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011) with vector instructions. They
// multiply 32-bit integers to their low 32 bits, and know And and Or of 16-bit integers but no Xor.
#ifndef PHILOX_H
#define PHILOX_H

#include "kernel_operator.h"

namespace philox {
using namespace AscendC;
using Words = LocalTensor<int32_t>;

constexpr int32_t ROUNDS = 10;
constexpr int32_t TENSORS = 9;  // of one word per counter: the four words of the result first
constexpr uint32_t MULTIPLIER[2] = {0xD2511F53, 0xCD9E8D57};
constexpr uint32_t KEY_STEP[2] = {0x9E3779B9, 0xBB67AE85};

__aicore__ inline void Left(const Words &y, const Words &x, int32_t n)
{
    ShiftLeft(y.ReinterpretCast<uint32_t>(), x.ReinterpretCast<uint32_t>(), static_cast<uint32_t>(16), n);
    PipeBarrier<PIPE_V>();
}

__aicore__ inline void Right(const Words &y, const Words &x, int32_t n)
{
    ShiftRight(y.ReinterpretCast<uint32_t>(), x.ReinterpretCast<uint32_t>(), static_cast<uint32_t>(16), n);
    PipeBarrier<PIPE_V>();
}

__aicore__ inline void Times(const Words &y, const Words &x, uint32_t factor, int32_t n)
{
    Muls(y, x, static_cast<int32_t>(factor), n);
    PipeBarrier<PIPE_V>();
}

__aicore__ inline void Plus(const Words &y, const Words &a, const Words &b, int32_t n)
{
    Add(y, a, b, n);
    PipeBarrier<PIPE_V>();
}

// a = a ^ b, by (a | b) - (a & b); t is overwritten.
__aicore__ inline void Xor(const Words &a, const Words &b, const Words &t, int32_t n)
{
    Or(t.ReinterpretCast<uint16_t>(), a.ReinterpretCast<uint16_t>(), b.ReinterpretCast<uint16_t>(), 2 * n);
    PipeBarrier<PIPE_V>();
    And(a.ReinterpretCast<uint16_t>(), a.ReinterpretCast<uint16_t>(), b.ReinterpretCast<uint16_t>(), 2 * n);
    PipeBarrier<PIPE_V>();
    Sub(a, t, a, n);
    PipeBarrier<PIPE_V>();
}

// high = the upper 32 bits of x * factor, and x becomes the lower ones; from products of 16-bit halves.
__aicore__ inline void Multiply(const Words &high, const Words &x, uint32_t factor, const Words &a, const Words &b,
                                const Words &t, int32_t n)
{
    const uint32_t upper = factor >> 16;
    const uint32_t lower = factor & 0xFFFF;
    Left(a, x, n);
    Right(a, a, n);  // lower half of x
    Right(b, x, n);  // upper half
    Times(x, x, factor, n);
    Times(high, b, upper, n);
    Times(b, b, lower, n);
    Times(t, a, lower, n);
    Times(a, a, upper, n);
    Right(t, t, n);
    Plus(a, a, t, n);  // both products that are worth 2^16 are below 2^32 with this carry
    Right(t, a, n);
    Plus(high, high, t, n);
    Left(a, a, n);
    Right(a, a, n);
    Plus(b, b, a, n);
    Right(b, b, n);
    Plus(high, high, b, n);
}

// Four words for each of the n counters first, first + 1, ...: result k lies at words[order[k] * room]. n is a multiple
// of 64.
__aicore__ inline void Generate(const Words &words, int32_t room, int32_t first, const uint32_t (&offset)[2],
                                const uint32_t (&seed)[2], int32_t n, int32_t (&order)[4])
{
    int32_t slot[6] = {0, 1, 2, 3, 4, 5};  // four words, then two for the next round
    Words a = words[6 * room];
    Words b = words[7 * room];
    Words t = words[8 * room];
    Words start = words;
    CreateVecIndex(start, first, static_cast<uint32_t>(n));
    Duplicate(words[room], 0, n);
    Duplicate(words[2 * room], static_cast<int32_t>(offset[0]), n);
    Duplicate(words[3 * room], static_cast<int32_t>(offset[1]), n);
    PipeBarrier<PIPE_V>();
    uint32_t key[2] = {seed[0], seed[1]};
    for (int32_t round = 0; round < ROUNDS; ++round) {
        Words high[2] = {words[slot[4] * room], words[slot[5] * room]};
        for (int32_t half = 0; half < 2; ++half) {
            Multiply(high[half], words[slot[2 * half] * room], MULTIPLIER[half], a, b, t, n);
        }
        // (high1 ^ word1 ^ key0, low1, high0 ^ word3 ^ key1, low0)
        for (int32_t half = 0; half < 2; ++half) {
            Words other = high[1 - half];
            Duplicate(a, static_cast<int32_t>(key[half]), n);
            Xor(other, words[slot[2 * half + 1] * room], t, n);
            Xor(other, a, t, n);
            key[half] += KEY_STEP[half];
        }
        const int32_t next[6] = {slot[5], slot[2], slot[4], slot[0], slot[1], slot[3]};
        for (int32_t i = 0; i < 6; ++i) {
            slot[i] = next[i];
        }
    }
    for (int32_t i = 0; i < 4; ++i) {
        order[i] = slot[i];
    }
}
}  // namespace philox

#endif
