// Where a computed base block of a Matmul object goes.
#include <algorithm>
#include <cstring>

#include "cube_convert.h"
#include "matmul_block.h"

namespace ascendc_twin {

namespace {

Quant quant_of(const Mm &mm) {
    const bool ints = integers(mm);
    switch (mm.c.dt) {
        case Dt::F16: return !ints ? Quant::F32_F16 : mm.has_table ? Quant::V_DEQ_F16 : Quant::DEQ_F16;
        case Dt::BF16: return Quant::F32_BF16;
        case Dt::I8:
        case Dt::U8: return ints ? (mm.has_table ? Quant::V_REQ_B8 : Quant::REQ_B8) : (mm.has_table ? Quant::V_F32_B8 : Quant::F32_B8);
        default: return Quant::NONE;
    }
}

// The place of rows and columns in the destination.
struct Target {
    uint64_t start, row_step, column_step;  // elements; column_step from one run of `width` columns to the next
    uint32_t width;
};

Target target_of(const Mm &mm, const MmOut &out, uint32_t row, uint32_t column, uint64_t e) {
    const MmBlock &b = *mm.block;
    const uint32_t c0 = static_cast<uint32_t>(kBlock32 / e), whole = std::max(b.columns, 1u);
    const bool local = out.dst.mem != Mem::GM;
    const auto up = [](uint64_t x, uint64_t to) { return (x + to - 1) / to * to; };
    const uint64_t base_n = static_cast<uint64_t>(mm.t.baseN), single_n = static_cast<uint64_t>(mm.n);
    if (mm.c.format == MmFormat::NZ) {
        const uint32_t width = mm.split_channels ? 8 : e == 1 ? 32 : 16;
        const uint64_t rows = out.sequential ? up(b.rows, 16) : up(static_cast<uint64_t>(local ? mm.m : mm.org_m), 16);
        const uint64_t start = out.sequential ? 0 : column / width * rows * width + uint64_t{row} * width;
        return {b.slot_c.start + start, width, rows * width, width};
    }
    uint64_t pitch = local ? single_n : static_cast<uint64_t>(mm.org_kc != 0 ? mm.org_kc : mm.org_n);
    if (out.sequential) pitch = base_n;
    if (mm.c.format == MmFormat::ND_ALIGN || local) pitch = up(pitch, c0);
    if (b.slot_c.pitch != 0) pitch = b.slot_c.pitch;
    const uint64_t start = out.sequential ? 0 : row * pitch + column;
    return {b.slot_c.start + start, pitch, whole, whole};
}

bool touch_target(Inst &inst, const Span &dst, const Target &t, uint32_t rows, uint32_t columns, uint64_t e) {
    const uint32_t runs = (columns + t.width - 1) / t.width;
    const uint64_t run = std::min(t.width, columns) * e;
    if (t.row_step == t.width) {  // NZ: rows of a column of fractals follow each other
        return touch_result(inst, dst, walk(run * rows, runs, static_cast<int64_t>(t.column_step * e), 1, 0, static_cast<int64_t>(t.start * e)));
    }
    return touch_result(inst, dst, walk(run, rows, static_cast<int64_t>(t.row_step * e), runs, static_cast<int64_t>(t.column_step * e),
                                        static_cast<int64_t>(t.start * e)));
}

}  // namespace

void mm_write(Mm &mm, const MmOut &out, uint32_t row, uint32_t column) {
    MmBlock &b = *mm.block;
    const bool ints = integers(mm);
    Converter convert{quant_of(mm), mm.relu, ints, false, mm.c.dt, nullptr, scale_of(mm.quant_scalar)};
    if (ints && convert.quant != Quant::NONE && !mm.has_scalar && !mm.has_table) {
        finding("CUBE-QUANT", "a Matmul object of int8_t with %s results needs SetQuantScalar or SetQuantVector", mm.c.dt == Dt::F16 ? "half" : "8-bit");
    }
    Inst inst("GetTensorC", PipeId::FIX);
    priv().gm_clip = false;
    if (mm.has_table) {
        const Span &table = mm.quant_table;
        if (own(table) && !touch(inst, table, Rw::READ, walk(b.columns * 8, 1, 0, 1, 0, int64_t{column} * 8), 0)) return;
        convert.table = reinterpret_cast<const uint64_t *>(table.p);
    }
    const uint64_t e = bytes_of_type(convert.out);
    const Target t = target_of(mm, out, row, column, e);
    const uint8_t atomic = t_core->atomic;
    const Dt atomic_dt = t_core->atomic_dt;
    if (out.atomic != 0) set_atomic(out.atomic, mm.c.dt);
    if (own(out.dst) && !touch_target(inst, out.dst, t, b.rows, b.columns, e)) {
        set_atomic(atomic, atomic_dt);
        return;
    }
    const uint64_t pitch = uint64_t{ceil_div(b.rows, kCube)} * kCube * kCube;
    std::vector<uint8_t> line((uint64_t{ceil_div(b.columns, kCube)} * kCube) * e);
    ++priv().in_runtime;
    for (uint32_t r = 0; r < b.rows; ++r) {
        for (uint32_t n = 0; n < b.columns; n += kCube) {
            const uint64_t at = n / kCube * pitch + r * kCube;
            const auto *in = ints ? reinterpret_cast<const uint8_t *>(b.ic.data() + at) : reinterpret_cast<const uint8_t *>(b.c.data() + at);
            convert.row(in, column + n, std::min(kCube, b.columns - n), line.data() + n * e);
        }
        for (uint32_t n = 0; n < b.columns; n += t.width) {
            uint8_t *to = out.dst.p + (t.start + r * t.row_step + n / t.width * t.column_step) * e;
            store_result(out.dst, to, line.data() + n * e, std::min(t.width, b.columns - n) * e);
        }
    }
    --priv().in_runtime;
    set_atomic(atomic, atomic_dt);
    inst.moved = uint64_t{b.rows} * b.columns * e;
}

}  // namespace ascendc_twin
