// Base blocks that the user's functions copy: MatmulCallBackFunc.
#include <algorithm>
#include <cstring>

#include "matmul_block.h"

namespace ascendc_twin {

namespace {

// A base block that the user's function copied to L1 in NZ: read from there.
template <typename T, typename Copy>
bool read_by_callback(const Mm &mm, bool left, Copy copy, uint32_t rows, uint32_t columns, T *to, uint32_t depth_done, uint32_t depth) {
    Private &p = priv();
    LocalMemory &l1 = p.mem[static_cast<int>(Mem::L1)];
    const uint32_t c0 = c0_of(left ? mm.a.dt : mm.b.dt);
    const bool turned = left ? mm.a.transposed : mm.b.transposed;
    const uint32_t high = turned ? columns : rows, wide = turned ? rows : columns;
    const uint64_t bytes = uint64_t{ceil_div(wide, c0)} * ceil_div(high, 16) * kFractal;
    const uint64_t at = std::min((l1.used + 511) / 512 * 512, l1.size > bytes ? l1.size - bytes : 0);
    TensorRef ref = local_at(left ? 1 : 3, at, bytes);
    memset(ref.p, 0, bytes);
    copy(ref);
    Mm block = mm;
    MmSide &side = left ? block.a : block.b;
    side.span = {ref.p, at, bytes, -1, Mem::L1, side.dt};
    side.format = MmFormat::NZ;
    Inst inst("Matmul", PipeId::MTE1);
    std::vector<T> part(uint64_t{ceil_div(std::max(rows, columns), kCube)} * kCube * std::max(rows, columns));
    if (left) {
        block.org_m = static_cast<int32_t>(rows);
        block.org_ka = static_cast<int32_t>(columns);
        if (!read_left(inst, block, {}, 0, rows, 0, columns, part.data())) return false;
        for (uint32_t r = 0; r < rows; ++r) memcpy(to + uint64_t{r} * depth + depth_done, part.data() + uint64_t{r} * columns, columns * sizeof(T));
        return true;
    }
    block.org_kb = static_cast<int32_t>(rows);
    block.org_n = static_cast<int32_t>(columns);
    part.resize(uint64_t{ceil_div(columns, kCube)} * kCube * rows);
    if (!read_right(inst, block, {}, 0, rows, 0, columns, part.data())) return false;
    for (uint32_t c = 0; c < ceil_div(columns, kCube); ++c) {
        memcpy(to + (uint64_t{c} * depth + depth_done) * kCube, part.data() + uint64_t{c} * rows * kCube, uint64_t{rows} * kCube * sizeof(T));
    }
    return true;
}

}  // namespace

template <typename T>
bool left_by_callback(const Mm &mm, uint32_t rows, uint32_t from, uint32_t depth, T *to) {
    const auto base = static_cast<uint32_t>(mm.t.baseK);
    for (uint32_t k = 0; k < depth; k += base) {
        const uint32_t part = std::min(base, depth - k);
        const auto copy = [&](const TensorRef &l1) {
            mm.callbacks.copy_a(l1, mm.a.span.p, mm.at_m, static_cast<int>((from + k) / base), static_cast<int>(rows), static_cast<int>(part), mm.callbacks.tiling, mm.callbacks.data);
        };
        if (!read_by_callback(mm, true, copy, rows, part, to, k, depth)) return false;
    }
    return true;
}

template <typename T>
bool right_by_callback(const Mm &mm, uint32_t columns, uint32_t from, uint32_t depth, T *to) {
    const auto base = static_cast<uint32_t>(mm.t.baseK);
    for (uint32_t k = 0; k < depth; k += base) {
        const uint32_t part = std::min(base, depth - k);
        const auto copy = [&](const TensorRef &l1) {
            mm.callbacks.copy_b(l1, mm.b.span.p, static_cast<int>((from + k) / base), mm.at_n, static_cast<int>(part), static_cast<int>(columns), mm.callbacks.tiling, mm.callbacks.data);
        };
        if (!read_by_callback(mm, false, copy, part, columns, to, k, depth)) return false;
    }
    return true;
}

template bool left_by_callback<float>(const Mm &, uint32_t, uint32_t, uint32_t, float *);
template bool left_by_callback<int32_t>(const Mm &, uint32_t, uint32_t, uint32_t, int32_t *);
template bool right_by_callback<float>(const Mm &, uint32_t, uint32_t, uint32_t, float *);
template bool right_by_callback<int32_t>(const Mm &, uint32_t, uint32_t, uint32_t, int32_t *);

void copy_out_by_callback(Mm &mm, const MmOut &out) {
    // DataCopyOutParams of the documents, and the block in L0C
    struct {
        uint16_t bursts, length, src_stride;
        uint32_t dst_stride;
        uint16_t columns;
        bool unit_flag;
        uint64_t scalar, table;
    } params{static_cast<uint16_t>(ceil_div(mm.block->columns, kCube)),
             static_cast<uint16_t>(mm.block->rows),
             static_cast<uint16_t>(ceil_div(mm.block->rows, kCube) * kCube),
             static_cast<uint32_t>(mm.org_kc != 0 ? mm.org_kc : mm.org_n),
             static_cast<uint16_t>(mm.block->columns),
             false,
             mm.quant_scalar,
             reinterpret_cast<uint64_t>(mm.quant_table.p)};
    const auto &c = mm.block->c;
    const auto &ic = mm.block->ic;
    const uint64_t bytes = integers(mm) ? ic.size() * 4 : c.size() * 4;
    TensorRef l0c = local_at(7, 0, bytes);
    memcpy(l0c.p, integers(mm) ? static_cast<const void *>(ic.data()) : c.data(), bytes);
    const uint64_t pitch = static_cast<uint64_t>(params.dst_stride), e = kBlock32 / c0_of(mm.c.dt);
    const uint8_t *to = out.dst.p + (out.sequential ? 0 : (static_cast<uint64_t>(mm.at_m) * mm.t.baseM * pitch + static_cast<uint64_t>(mm.at_n) * mm.t.baseN) * e);
    mm.callbacks.copy_out(to, l0c, &params, mm.callbacks.tiling, mm.callbacks.data);
}

}  // namespace ascendc_twin
