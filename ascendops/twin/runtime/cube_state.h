// Registers of the cube unit, and helpers that its instructions share.
#pragma once

#include <algorithm>
#include <vector>

#include "ascendc_twin/rt_cube.h"
#include "core.h"

namespace ascendc_twin {

constexpr uint64_t kFractal = 512, kBlock32 = 32;
constexpr uint32_t kCube = 16;  // rows of a fractal

struct CubeState {
    uint32_t image_h[2] = {0, 0}, image_w[2] = {0, 0};  // left, right
    uint8_t image_pad[2][4] = {};
    uint64_t load_padding = 0;
    uint32_t repeat_stride = 0, repeat_times = 1, repeat_mode = 0;
    uint32_t boundary = 0;                              // of an image in L1
    std::vector<uint8_t> sparse;                        // indices of the fractals of L0B, 128 bytes each
    bool hf32 = false, hf32_to_zero = false;
    FixRegisters fix;
    Flag unit_done, unit_free;           // Mmad to Fixpipe and back, where unit flags order them
    std::vector<float> a, b;             // operands of one Mmad, unpacked
    std::vector<int32_t> ia, ib;
};
inline CubeState &cube() { return *priv().cube; }

inline uint32_t ceil_div(uint32_t a, uint32_t b) { return (a + b - 1) / b; }
// Elements of a 32-byte block; int4b_t packs two into a byte.
inline uint32_t c0_of(Dt dt) {
    switch (dt) {
        case Dt::I4: return 64;
        case Dt::I8:
        case Dt::U8:
        case Dt::BOOL: return 32;
        case Dt::I16:
        case Dt::U16:
        case Dt::F16:
        case Dt::BF16: return 16;
        case Dt::I32:
        case Dt::U32:
        case Dt::F32: return 8;
        default: return 4;
    }
}
// Alignment of an operand by its memory (asc-devkit, docs/zh/api, constraints of operands).
inline uint32_t alignment_of(Mem mem) {
    switch (mem) {
        case Mem::GM: return 0;
        case Mem::L0A:
        case Mem::L0B: return 512;
        case Mem::L0C:
        case Mem::BT: return 64;
        case Mem::FB: return 128;
        default: return 32;
    }
}
inline Walk walk(uint64_t run, uint32_t n1 = 1, int64_t s1 = 0, uint32_t n2 = 1, int64_t s2 = 0, int64_t off = 0) {
    return {off, run, n1, s1, n2, s2};
}
inline bool touch_cube(Inst &inst, const Span &span, Rw rw, const Walk &w) {
    return touch(inst, span, rw, w, alignment_of(span.mem));
}
// c[m x 16 per column] += a[m x k] b[k x 16 per column]; columns of C lie `c_pitch` elements apart (cube_mmad.cpp).
void multiply_blocks(float *c, uint64_t c_pitch, const float *a, const float *b, uint32_t m, uint32_t columns, uint32_t k);
void multiply_blocks(int32_t *c, uint64_t c_pitch, const int32_t *a, const int32_t *b, uint32_t m, uint32_t columns, uint32_t k);
float as_hf32(float x);
// Makes k rows of B, 16 columns a block, out of k / 2 dense ones; `pick(column, quad)` gives the 4 bits of two indices.
template <typename T, typename Pick>
void spread_sparse(const T *dense, uint32_t k, uint32_t columns, T *to, Pick pick) {
    std::fill_n(to, uint64_t{k} * columns * kCube, T{});
    for (uint32_t column = 0; column < columns * kCube; ++column) {
        const T *from = dense + uint64_t{column / kCube} * (k / 2) * kCube + column % kCube;
        T *block = to + uint64_t{column / kCube} * k * kCube + column % kCube;
        for (uint32_t quad = 0; quad < k / 4; ++quad) {  // the first index is of the first three elements, the second of the last three
            const uint32_t indices = pick(column, quad);
            block[(quad * 4 + (indices & 3)) * kCube] += from[quad * 2 * kCube];
            block[(quad * 4 + 1 + std::min(indices >> 2 & 3, 2u)) * kCube] += from[(quad * 2 + 1) * kCube];
        }
    }
}
// An operand in a memory that the instruction cannot use.
bool check_memory(const Span &span, const char *what, std::initializer_list<Mem> allowed);

}  // namespace ascendc_twin
