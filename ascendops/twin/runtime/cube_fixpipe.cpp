// Fixpipe: results leave L0C, with quantisation, ReLU and a change of layout on the way.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "checker.h"
#include "cube_contents.h"
#include "cube_convert.h"

namespace ascendc_twin {

void unit_flag_wait_for_mmad();
void unit_flag_free();

void store_result(const Span &dst, uint8_t *to, const uint8_t *from, uint64_t bytes) {
    Private &p = priv();
    if (dst.mem == Mem::GM && p.gm_clip) bytes = gm_inside(p, reinterpret_cast<uint64_t>(to), bytes);
    if (dst.mem == Mem::GM && t_core->atomic != 0) {
        atomic_run(to, from, bytes);
    } else if (dst.mem == Mem::GM) {
        put_global(to, from, bytes);
    } else {
        memcpy(to, from, bytes);
    }
}

bool touch_result(Inst &inst, const Span &dst, const Walk &w) {
    Private &p = priv();
    p.may_clip = true;
    const bool good = touch(inst, dst, Rw::WRITE, w, dst.mem == Mem::GM ? 0 : 32);
    p.may_clip = false;
    return good;
}

namespace {

void write_nd(Inst &inst, const Span &dst, const Span &src, const FixOut &p, const Converter &convert, uint64_t in_bytes) {
    const uint64_t e = bytes_of_type(convert.out), row_bytes = p.n * e;
    if (!touch_result(inst, dst, walk(row_bytes, p.m, static_cast<int64_t>(p.dst_stride * e), p.nd_count, static_cast<int64_t>(p.dst_nd * e)))) return;
    std::vector<uint8_t> line(ceil_div(p.n, kCube) * kCube * e);
    for (uint32_t nd = 0; nd < p.nd_count; ++nd) {
        for (uint32_t m = 0; m < p.m; ++m) {
            for (uint32_t n = 0; n < p.n; n += kCube) {
                const uint8_t *in = src.p + (uint64_t{nd} * p.src_nd * kCube + uint64_t{n / kCube} * p.src_stride + m) * kCube * in_bytes;
                convert.row(in, n, std::min(kCube, p.n - n), line.data() + n * e);
            }
            store_result(dst, dst.p + (nd * p.dst_nd + m * p.dst_stride) * e, line.data(), row_bytes);
        }
    }
}

// NZ: columns of fractals, 16 results a row; bytes join two columns to rows of 32; split floats make two columns of 8.
void write_nz(Inst &inst, const Span &dst, const Span &src, const FixOut &p, const Converter &convert, uint64_t in_bytes) {
    const uint64_t e = bytes_of_type(convert.out), step = p.dst_stride * kBlock32;
    const uint32_t width = e == 1 && p.n >= 32 ? 32 : p.split ? 8 : kCube;
    const uint32_t whole = p.n / width, rest = e == 1 ? p.n % width : 0;
    if (!touch_result(inst, dst, walk(uint64_t{p.m} * width * e, whole, static_cast<int64_t>(step)))) return;
    if (rest != 0 && !touch_result(inst, dst, walk(uint64_t{p.m} * kCube * e, 1, 0, 1, 0, static_cast<int64_t>(whole * step)))) return;
    uint8_t line[kCube * 4];
    for (uint32_t n = 0; n < p.n; n += kCube) {
        const uint32_t count = std::min(kCube, p.n - n);
        for (uint32_t m = 0; m < p.m; ++m) {
            convert.row(src.p + (uint64_t{n / kCube} * p.src_stride + m) * kCube * in_bytes, n, count, line);
            if (p.split) {
                for (uint32_t half = 0; half < ceil_div(count, 8); ++half) {
                    store_result(dst, dst.p + (n / 8 + half) * step + m * 32, line + half * 32, 32);
                }
            } else if (n / width < whole) {
                store_result(dst, dst.p + n / width * step + (uint64_t{m} * width + n % width) * e, line, count * e);
            } else {
                store_result(dst, dst.p + whole * step + uint64_t{m} * kCube * e, line, count * e);
            }
        }
    }
}

bool good_types(const Span &dst, const Span &src, const FixOut &p) {
    const bool integers = src.dt == Dt::I32 || src.dt == Dt::U32;
    const Dt out = out_type(p.quant, dst.dt);
    const bool kind = p.quant == Quant::NONE ? bytes_of_type(dst.dt) == (src.dt == Dt::F16 ? 2u : 4u) : from_int(p.quant) == integers;
    if (kind && bytes_of_type(out) == bytes_of_type(dst.dt)) return true;
    finding("CUBE-QUANT", "%s: quantPre %d does not turn %s results of L0C into elements of %u bytes", priv().api, static_cast<int>(p.quant),
            integers ? "int32_t" : "float", bytes_of_type(dst.dt));
    return false;
}

}  // namespace

void fixpipe(Inst &inst, const Span &dst, const Span &src, const Span *table, const FixOut &p) {
    if (p.n == 0 || p.m == 0 || p.nd_count == 0 || !core_has(src.mem)) return;
    if (!check_memory(src, "the source", {Mem::L0C})) return;
    if (dst.mem != Mem::GM && !check_memory(dst, "the destination", {Mem::L1, Mem::UB})) return;
    if (p.m > (p.nd ? 8192u : 65535u) || p.n > 4095) {
        finding("CUBE-RANGE", "%s of %u x %u: mSize may be up to %u, nSize up to 4095", priv().api, p.m, p.n, p.nd ? 8192u : 65535u);
        return;
    }
    if (!good_types(dst, src, p)) return;
    const uint64_t in_bytes = src.dt == Dt::F16 ? 2 : 4;
    Converter convert{p.quant, p.relu, src.dt == Dt::I32 || src.dt == Dt::U32, src.dt == Dt::F16, out_type(p.quant, dst.dt), nullptr, scale_of(p.scale)};
    std::vector<uint64_t> parameters;  // they are in the Fixpipe buffer before results go out, also over where they came from
    if (takes_table(p.quant)) {
        if (table == nullptr || table->p == nullptr) {
            finding("CUBE-QUANT", "%s with a parameter per column (quantPre %d), but no tensor of parameters", priv().api, static_cast<int>(p.quant));
            return;
        }
        if (!touch_cube(inst, *table, Rw::READ, walk(uint64_t{p.n} * 8))) return;
        parameters.assign(reinterpret_cast<const uint64_t *>(table->p), reinterpret_cast<const uint64_t *>(table->p) + p.n);
        convert.table = parameters.data();
    }
    if (p.unit_flag != 0) unit_flag_wait_for_mmad();
    const uint32_t columns = ceil_div(p.n, kCube);
    Judge judge(priv());
    if (!touch(inst, src, Rw::READ, walk(uint64_t{p.m} * kCube * in_bytes, columns, static_cast<int64_t>(p.src_stride * kCube * in_bytes), p.nd_count,
                                         static_cast<int64_t>(p.src_nd * kCube * kCube * in_bytes)), 64)) {
        return;
    }
    if (judge.found()) {
        for (uint32_t i = 0; i < p.nd_count; ++i) {
            Span matrix = src;
            matrix.addr += uint64_t{i} * p.src_nd * kCube * kCube * in_bytes;
            judge_results(matrix, dst, p.m, p.n, p.src_stride, in_bytes);
        }
    }
    ++priv().in_runtime;
    if (p.nd) {
        write_nd(inst, dst, src, p, convert, in_bytes);
    } else {
        write_nz(inst, dst, src, p, convert, in_bytes);
    }
    --priv().in_runtime;
    if (p.unit_flag != 0) unit_flag_free();
    inst.moved = uint64_t{p.m} * p.n * p.nd_count * bytes_of_type(convert.out);
    inst.runs = p.nd ? p.m * p.nd_count : columns;
}

}  // namespace ascendc_twin
