// Row-wise functions of the high-level library: SoftMax and its flash variant, Broadcast, SelectWithBytesMask.

#include "adv_rows.h"
#include "vec_math.h"

namespace ascendc_twin {

namespace {

bool touch_stats(Inst &inst, const Span *span, const SoftmaxArgs &args, Rw rw) {
    return !span || touch(inst, *span, rw, Walk{0, uint64_t{args.m} * (args.dense_stats ? size_of(span->dt) : BLOCK), 1, 0, 1, 0});
}

}  // namespace

void vec_softmax(Inst &inst, const SoftmaxArgs &args) {
    const uint64_t all = uint64_t{args.m} * args.k;
    const bool first_flash = args.kind == SoftmaxArgs::FLASH_V1 || args.kind == SoftmaxArgs::FLASH_V1_UPDATE;
    const bool updates = args.kind == SoftmaxArgs::FLASH_UPDATE || args.kind == SoftmaxArgs::FLASH_V1_UPDATE;
    const bool simple = args.kind == SoftmaxArgs::SIMPLE;
    if (all == 0 || args.n == 0) {
        return;
    }
    inst.cycles += 24.0 * 8 + static_cast<double>(all * 4) / REPEAT * 12;
    inst.moved += all * size_of(args.src.dt);
    bool ok = touch(inst, args.src, Rw::READ, Walk{0, all * size_of(args.src.dt), 1, 0, 1, 0});
    ok = touch(inst, args.dst, Rw::WRITE, Walk{0, all * size_of(args.dst.dt), 1, 0, 1, 0}) && ok;
    ok = touch_stats(inst, args.sum, args, simple ? Rw::READ : Rw::WRITE) && ok;
    ok = touch_stats(inst, args.max, args, simple ? Rw::READ : Rw::WRITE) && ok;
    ok = (!updates || (touch_stats(inst, args.exp_max, args, Rw::WRITE) && touch_stats(inst, args.in_sum, args, Rw::READ) &&
                       touch_stats(inst, args.in_max, args, Rw::READ) && touch_stats(inst, args.row_max, args, Rw::WRITE))) && ok;
    if (!ok) {
        return;
    }
    const bool dense = args.dense_stats;
    std::vector<float> row(args.k);
    for (uint32_t r = 0; r < args.m; ++r) {
        const uint64_t at = uint64_t{r} * args.k;
        float *direct = float_row(args.dst, args.src, at, all), *x = direct ? direct : row.data();
        const float *in = direct ? reinterpret_cast<const float *>(args.src.p) + at : x;
        if (!direct) {
            load_row(args.src, at, x, args.k);
        }
        const float before = updates ? load_stat(*args.in_max, r, dense) : 0;
        float top = simple ? load_stat(*args.max, r, dense) : row_max(in, args.n);
        if (updates && args.row_max) {
            store_stat(*args.row_max, r, top, dense);
        }
        top = updates && before > top ? before : top;
        exp_row(in, top, x, args.k);
        float sum = simple ? load_stat(*args.sum, r, dense) : row_sum(x, args.n);
        if (updates) {
            const float scale = exp_f(before - top) * (first_flash ? load_stat(*args.in_sum, r, dense) : 1.0f);
            sum = first_flash ? scale + sum : scale * load_stat(*args.in_sum, r, dense) + sum;
            store_stat(*args.exp_max, r, first_flash ? scale / sum : scale, dense);
        }
        if (args.kind == SoftmaxArgs::SOFTMAX || simple || first_flash) {
#pragma GCC ivdep
            for (size_t i = 0; i < args.k; ++i) {
                x[i] = x[i] / sum;
            }
        }
        if (!direct) {
            store_row(args.dst, at, x, args.k);
        }
        if (!simple && args.sum) {
            store_stat(*args.sum, r, sum, dense);
            store_stat(*args.max, r, top, dense);
        }
    }
}

void vec_broadcast(Inst &inst, const Span &dst, const Span &src, uint32_t rows, uint32_t columns, bool along_rows) {
    const uint32_t size = size_of(dst.dt);
    const uint64_t all = uint64_t{rows} * columns;
    if (all == 0) {
        return;
    }
    inst.cycles += 48.0 + static_cast<double>(all * size) / REPEAT * 2;
    inst.moved += all * size;
    const bool readable = touch(inst, src, Rw::READ, Walk{0, uint64_t{along_rows ? columns : rows} * size, 1, 0, 1, 0});
    if (!touch(inst, dst, Rw::WRITE, Walk{0, all * size, 1, 0, 1, 0}) || !readable) {
        return;
    }
    for (uint64_t i = 0; i < all; ++i) {
        std::memcpy(dst.p + i * size, src.p + (along_rows ? i % columns : i / columns) * size, size);
    }
}

void vec_select_bytes(Inst &inst, const Span &dst, const Span &src, const Scalar &scalar, const Span &mask, uint32_t rows,
                      uint32_t columns, uint32_t mask_columns, bool zero_takes_tensor) {
    const uint32_t size = size_of(dst.dt), mask_size = size_of(mask.dt);
    const uint64_t all = uint64_t{rows} * columns;
    if (all == 0) {
        return;
    }
    inst.cycles += 96.0 + static_cast<double>(all * size) / REPEAT * 6;
    inst.moved += all * size;
    bool ok = touch(inst, src, Rw::READ, Walk{0, all * size, 1, 0, 1, 0});
    ok = touch(inst, mask, Rw::READ, Walk{0, uint64_t{columns} * mask_size, rows, int64_t{mask_columns} * mask_size, 1, 0}) && ok;
    if (!touch(inst, dst, Rw::WRITE, Walk{0, all * size, 1, 0, 1, 0}) || !ok) {
        return;
    }
    const uint32_t pattern = size == 2 ? half_pattern(scalar.f) : float_bits(scalar.f);
    for (uint64_t i = 0; i < all; ++i) {
        uint32_t flag = 0;
        std::memcpy(&flag, mask.p + (i / columns * mask_columns + i % columns) * mask_size, mask_size);
        const bool tensor = (flag == 0) == zero_takes_tensor;
        std::memmove(dst.p + i * size, tensor ? src.p + i * size : reinterpret_cast<const uint8_t *>(&pattern), size);
    }
}

}  // namespace ascendc_twin
