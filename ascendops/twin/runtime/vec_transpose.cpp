// Data layout: TransDataTo5HD, the 16 x 16 Transpose, and swaps of two axes.
#include <cstring>
#include <vector>

#include "vec_lanes.h"

namespace ascendc_twin {

// Takes element i of 16 source blocks to destination i. 8-bit elements fill or read one half of a block; the 8 elements of a
// 32-bit block go to two destinations each.
void vec_trans_5hd(Inst &inst, const Span dst[16], const Span src[16], bool dst_high, bool src_high, uint32_t repeat,
                   uint32_t dst_rep, uint32_t src_rep) {
    const uint32_t size = size_of(dst[0].dt);
    if (repeat == 0) {
        return;
    }
    inst.cycles += 24.0 + 16.0 * repeat;
    inst.moved += uint64_t{repeat} * 16 * BLOCK;
    // With one repeat the strides are an offset from the start.
    const int64_t dst_skip = repeat == 1 ? int64_t{dst_rep} * BLOCK : 0, src_skip = repeat == 1 ? int64_t{src_rep} * BLOCK : 0;
    bool ok = true;
    for (int i = 0; i < 16; ++i) {
        ok = touch(inst, src[i], Rw::READ, Walk{src_skip, BLOCK, repeat, int64_t{src_rep} * BLOCK, 1, 0}) && ok;
        ok = touch(inst, dst[i], Rw::WRITE, Walk{dst_skip, BLOCK, repeat, int64_t{dst_rep} * BLOCK, 1, 0}) && ok;
    }
    if (!ok) {
        return;
    }
    for (uint32_t r = 0; r < repeat; ++r) {
        uint8_t blocks[16][BLOCK];
        for (int i = 0; i < 16; ++i) {
            std::memcpy(blocks[i], src[i].p + src_skip + int64_t{r} * src_rep * BLOCK, BLOCK);
        }
        for (uint32_t i = 0; i < 16; ++i) {
            uint8_t *base = dst[i].p + dst_skip + int64_t{r} * dst_rep * BLOCK;
            if (size == 4) {
                const uint32_t first = i % 2 * 8;  // sources 0..7 or 8..15 of element i / 2
                for (uint32_t j = 0; j < 8; ++j) {
                    std::memcpy(base + j * 4, blocks[first + j] + i / 2 * 4, 4);
                }
                continue;
            }
            const uint32_t from = size == 1 && src_high ? 16 : 0, to = size == 1 && dst_high ? 16 : 0;
            for (uint32_t j = 0; j < 16; ++j) {
                std::memcpy(base + to + j * size, blocks[j] + from + i * size, size);
            }
        }
    }
}

void vec_transpose16(Inst &inst, const Span &dst, const Span &src) {
    uint16_t matrix[16][16];
    const Walk all{0, sizeof matrix, 1, 0, 1, 0};
    const bool readable = touch(inst, src, Rw::READ, all);
    inst.cycles += 40.0;
    inst.moved += sizeof matrix;
    if (!touch(inst, dst, Rw::WRITE, all) || !readable) {
        return;
    }
    std::memcpy(matrix, src.p, sizeof matrix);
    for (int i = 0; i < 16; ++i) {
        for (int j = 0; j < 16; ++j) {
            std::memcpy(dst.p + (j * 16 + i) * 2, &matrix[i][j], 2);
        }
    }
}

void vec_transpose_axes(Inst &inst, const Span &dst, const Span &src, const uint32_t shape[3]) {
    const uint32_t size = size_of(dst.dt);
    const uint64_t rows = shape[1], columns = shape[2], bytes = uint64_t{shape[0]} * rows * columns * size;
    if (bytes == 0) {
        return;
    }
    const bool readable = touch(inst, src, Rw::READ, Walk{0, bytes, 1, 0, 1, 0});
    inst.cycles += 24.0 + static_cast<double>(bytes) / BLOCK;
    inst.moved += bytes;
    if (!touch(inst, dst, Rw::WRITE, Walk{0, bytes, 1, 0, 1, 0}) || !readable) {
        return;
    }
    const std::vector<uint8_t> copy(src.p, src.p + bytes);
    for (uint64_t n = 0; n < shape[0]; ++n) {
        const uint64_t base = n * rows * columns;
        for (uint64_t i = 0; i < rows; ++i) {
            for (uint64_t j = 0; j < columns; ++j) {
                std::memcpy(dst.p + (base + j * rows + i) * size, copy.data() + (base + i * columns + j) * size, size);
            }
        }
    }
}

}  // namespace ascendc_twin
